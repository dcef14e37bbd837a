"""The training programs, over a folder of data as small as can be."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from rag.chain.lists import COLUMNS
from rag.corpus.identity import abstract_id, is_held_out
from rag.reader.transformer import Row
from rag.training import export, fields, fusion, kinds, lists, transformer
from rag.training.linear import conditional_logit, logistic
from rag.training.network import adapt, average, batch, build, save

REGIONS = 60
ANIMALS = ("zebra", "lion", "otter", "raven", "heron", "gecko", "bison", "koala", "lemur", "moose", "tapir", "viper")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Abstracts on both sides of the split, each with a question that it answers and one that it does not."""
    folder = tmp_path_factory.mktemp("data")
    abstracts = [
        {
            "id": f"{animal}:{number}",
            "sentences": [
                f"We watched the {animal} of region {number} for a year.",
                f"It sleeps {number + 5} hours a day.",
                f"The {animal} eats {'grass' if number % 2 else 'insects'} at dawn.",
            ],
        }
        for number in range(REGIONS)
        for animal in [ANIMALS[number % len(ANIMALS)]]
    ]
    questions = []
    for number, abstract in enumerate(abstracts):
        one = f"the {ANIMALS[number % len(ANIMALS)]} of region {number}"
        questions.append({"id": abstract["id"], "q": f"how many hours does {one} sleep?", "gold": [1]})
        questions.append({"id": abstract["id"], "q": f"what does {one} weigh?", "gold": []})
    assert {is_held_out(abstract["id"]) for abstract in abstracts} == {True, False}
    for name, records in (("abstracts", abstracts), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    return folder


def run(monkeypatch: pytest.MonkeyPatch, program: object, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["program", *map(str, arguments)])
    program.main()  # type: ignore[attr-defined]


def test_train_export_and_fit(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = tmp_path / "extra.jsonl"
    extra.write_text(
        json.dumps(
            {"q": "who barks?", "sentences": ["Dogs bark.", "Cats do not."], "gold": [0], "wrong": [["Cows moo."]]}
        )
    )
    run(monkeypatch, transformer, data, "--work", tmp_path, "--epochs", 1, "--extra", extra)
    measured = json.loads(capsys.readouterr().out.strip().split("\n")[-1])
    assert measured["epoch"] == 1
    assert set(measured) >= {"loss", "first", "two", "three", "auc"}
    wrong = json.loads((tmp_path / "wrong.json").read_text())
    assert len(wrong) == 2 * REGIONS
    assert not any(is_held_out(other) for near in wrong for other in near)
    run(monkeypatch, export, tmp_path / "reader.safetensors", "--out", tmp_path / "reader.onnx")
    assert 10_000_000 < (tmp_path / "reader.onnx").stat().st_size < 13_000_000
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(json.dumps({"question": f"how do I bake bread number {n}?"}) for n in range(30)))
    run(monkeypatch, fusion, data, "--work", tmp_path, "--out", tmp_path / "weights.json", "--off-topic", other)
    weights = json.loads((tmp_path / "weights.json").read_text())
    assert set(weights) == {"off", "linear", "transformer"}
    assert all(0 <= held["measured"]["sentence first"] <= 1 for held in weights.values())


def test_kinds_are_fitted_to_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {
        "fact": "how fast is {}?",
        "list": "which papers deal with {}?",
        "compare": "{} versus sleep, which is better?",
        "collection": "how many abstracts have a link to {} code?",
        "courtesy": "thanks, {} helped",
    }
    lines = [{"q": text.format(animal), "kind": kind} for kind, text in asked.items() for animal in ANIMALS]
    (tmp_path / "kinds.jsonl").write_text("\n".join(map(json.dumps, lines)))
    run(monkeypatch, kinds, "--data", tmp_path / "kinds.jsonl", "--out", tmp_path / "kinds.json")
    assert json.loads(capsys.readouterr().out)["all"] > 0.9
    held = json.loads((tmp_path / "kinds.json").read_text())
    assert len(held["offset"]) == len(held["vector"][0]) == 5
    assert "which papers" in held["words"]


def test_lists_are_fitted_to_collections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = []
    for name in ("one", "two"):
        texts = [
            f"We watched the {animal} at night in place {n}. It slept well." for animal in ANIMALS for n in range(3)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("Heading\n\n" + "\n\n".join(texts))
        records += [
            {
                "collection": name,
                "question": f"which papers are about the {animal}?",
                "relevant": [abstract_id(text) for text in texts if animal in text],
                "borderline": [],
            }
            for animal in ANIMALS
        ]
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, records)))
    run(monkeypatch, lists, tmp_path, "--work", tmp_path / "work", "--out", tmp_path / "lists.json")
    measured = json.loads(capsys.readouterr().out)
    assert measured["questions"] == 24
    assert measured["F1"] > 0.9
    assert set(json.loads((tmp_path / "lists.json").read_text())["weights"]) == set(COLUMNS)


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    model = build().eval()
    short, long = (
        Row((101, 7, 102, 9, 10, 102), ((3, 4), (4, 5))),
        Row((101, 7, 102, *range(200, 260), 102), ((3, 63),)),
    )
    with torch.inference_mode():
        together, alone = model(*batch([short, long])), model(*batch([short]))
    assert torch.allclose(together[0][0, :2], alone[0][0], atol=1e-5)
    assert torch.allclose(together[1][0], alone[1][0], atol=1e-5)


def test_adapters_are_merged_when_written(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = build().eval()
    adapt(model, rank=2)
    for name, parameter in model.named_parameters():
        if name.endswith("up"):
            torch.nn.init.normal_(parameter, std=0.05)
    save(model, tmp_path / "adapted.safetensors")
    row = batch([Row((101, 7, 102, 9, 10, 102), ((3, 4), (4, 5)))])
    with torch.inference_mode():
        before, after = model(*row), build(tmp_path / "adapted.safetensors").eval()(*row)
    assert torch.allclose(before[0], after[0], atol=2e-2)
    assert not torch.allclose(before[0], build().eval()(*row)[0], atol=2e-2)


def test_the_mean_of_weights_is_between_them(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for name, value in (("one", 1.0), ("two", 4.0)):
        save_file({"weight": torch.full((3,), value).half()}, tmp_path / name)
    average([tmp_path / "one", tmp_path / "two"], tmp_path / "mean")
    assert load_file(tmp_path / "mean")["weight"].tolist() == [2.5, 2.5, 2.5]


def test_other_fields_become_training_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fields, "MEASURE", 1)
    monkeypatch.setattr(fields, "WRONG", 2)
    corpus = [{"_id": n, "text": f"Mice number {n} sleep. They eat grain. They rest."} for n in range(4)]
    claims = [
        {
            "claim": f"Mice {n} eat.",
            "cited_doc_ids": [n],
            "evidence": {str(n): [{"sentences": [1]}]} if n else {},
        }
        for n in range(4)
    ]
    asked = [
        {
            "id": n,
            "question": f"Do rats {n} swim?",
            "abstract": f"We saw rats {n}. They swim well.",
            "conclusion": "They swim well.",
        }
        for n in range(4)
    ]
    for name, records in (("corpus", corpus), ("claims_train", claims), ("pubmedqa", asked)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    run(monkeypatch, fields, "--scifact", tmp_path, "--pubmedqa", tmp_path / "pubmedqa.jsonl", "--work", tmp_path)
    assert json.loads(capsys.readouterr().out) == {"claims": 4, "questions": 3, "written": 7}
    written = [json.loads(line) for line in (tmp_path / "extra.jsonl").read_text().split("\n") if line]
    assert [record["gold"] for record in written] == [[], [1], [1], [1], [1], [1], [1]]
    assert written[-1]["sentences"] == ["We saw rats 3.", "They swim well."]
    assert all(record["sentences"] not in record["wrong"] for record in written)


def test_weights_of_something_else_are_turned_down(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"something": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(OSError, match="not this network's weights"):
        build(tmp_path / "other.safetensors")


def test_the_conditional_logit_finds_the_column_that_decides() -> None:
    dice = np.random.default_rng(0)
    groups = [dice.normal(size=(6, 3)) for _ in range(80)]
    gold = [group[:, 1] == group[:, 1].max() for group in groups]
    fitted = conditional_logit(groups, gold)
    hits = [fitted(group).argmax() == right.argmax() for group, right in zip(groups, gold, strict=True)]
    assert np.mean(hits) > 0.9
    assert abs(fitted.weights).argmax() == 1


def test_the_logistic_fit_is_calibrated() -> None:
    dice = np.random.default_rng(0)
    rows = dice.normal(size=(4000, 2))
    truth = dice.random(4000) < 1 / (1 + np.exp(-(2 * rows[:, 0] - 1)))
    chance = logistic(rows, truth).chance(rows)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        here = (chance >= low) & (chance < high)
        assert chance[here].mean() == pytest.approx(truth[here].mean(), abs=0.05)
