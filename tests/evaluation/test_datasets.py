"""Collections of other people's: read from folders of the same shape, made here."""

import gzip
import json
from pathlib import Path

import pytest

from rag.corpus.identity import is_held_out
from rag.errors import InputError
from rag.evaluation.datasets import load_dataset, read_qrels
from rag.evaluation.retrieval import read_trec_run, retrieval_scores, write_qrels, write_trec_run
from rag.evaluation.run import generate, open_chain
from rag.evaluation.score import score_run
from rag.settings import Settings

DOCUMENTS = [
    {"_id": "d1", "title": "Zebra stripes", "text": "Stripes confuse flies. Zebras have them."},
    {"_id": "d2", "title": "", "text": "Lions hunt at night. They live in groups."},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BEIR folder with SciFact's claims beside it."""
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt", encoding="utf-8") as corpus:
        corpus.write("\n".join(json.dumps(document) for document in DOCUMENTS))
    queries = [{"_id": "q1", "text": "why do zebras have stripes"}, {"_id": "q2", "text": "unjudged"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(json.dumps(query) for query in queries))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    claims = [
        {"id": 1, "claim": "Stripes confuse flies", "evidence": {"d1": [{"sentences": [0], "label": "SUPPORT"}]}},
        {"id": 2, "claim": "Nothing", "evidence": {}},
    ]
    (tmp_path / "claims_dev.jsonl").write_text("\n".join(json.dumps(claim) for claim in claims))
    return tmp_path


def test_a_beir_folder(folder: Path) -> None:
    dataset = load_dataset(f"beir:{folder}")
    assert dataset.abstracts is not None
    assert [(a.title, a.sources) for a in dataset.abstracts] == [("Zebra stripes", ("d1",)), (None, ("d2",))]
    assert [(q.id, q.question, q.relevant) for q in dataset.questions] == [
        ("q1", "why do zebras have stripes", (dataset.abstracts[0].id,))
    ]


def test_scifact_claims(folder: Path) -> None:
    (question,) = load_dataset(f"scifact:{folder}").questions
    assert (question.question, question.support) == ("Stripes confuse flies", ("Stripes confuse flies.",))


def test_pubmedqa(tmp_path: Path) -> None:
    record = {
        "id": "p1",
        "question": "Do they?",
        "abstract": "We looked. They do.",
        "conclusion": "They do.",
        "verdict": "yes",
    }
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    (question,) = load_dataset(f"pubmedqa:{tmp_path / 'p.jsonl'}").questions
    assert (question.kind, question.support) == ("yes", ("They do.",))


def test_a_dataset_has_a_store_of_its_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    dataset = load_dataset(f"beir:{folder}")
    settings = Settings()
    chain = open_chain(dataset, settings)
    assert len(chain.store) == 2
    assert chain.store.path.is_relative_to(tmp_path / "cache")
    generate(dataset, chain, tmp_path / "run", retrieval_only=True)
    metrics = score_run(tmp_path / "run")
    assert metrics["retrieval"]["RR@10"]["value"] == 1.0
    assert metrics["ranks"] == {"1": 1}


@pytest.mark.parametrize(
    ("qrels", "message"),
    [("q1\td1\tx\nq1\td1\ty\n", r"test.tsv:2: not query, document and grade"), ("q1\td9\t1\n", r"qrels name 'd9'")],
    ids=["no grade", "unknown document"],
)
def test_bad_qrels_are_named(folder: Path, qrels: str, message: str) -> None:
    (folder / "qrels" / "test.tsv").write_text(qrels)
    with pytest.raises(InputError, match=message):
        load_dataset(f"beir:{folder}")


def test_trec_files_go_out_and_come_back(tmp_path: Path) -> None:
    run = {"q1": [("b", 0.5), ("a", 0.5)], "q2": []}
    qrels = {"q1": {"a": 1}, "q2": {"c": 2}}
    write_trec_run(run, tmp_path / "run.trec", "ours")
    write_qrels(qrels, tmp_path / "qrels.trec")
    assert read_trec_run(tmp_path / "run.trec") == {"q1": run["q1"]}
    assert read_qrels(tmp_path / "qrels.trec") == qrels
    (tmp_path / "run.trec").write_text("q1 Q0 a one 0.5 ours\n")
    with pytest.raises(InputError, match=r"run.trec:1: not six columns"):
        read_trec_run(tmp_path / "run.trec")


def test_retrieval_measures_by_hand() -> None:
    scores = retrieval_scores({"q1": {"a": 1}, "q2": {"c": 1}}, {"q1": [("b", 0.5), ("a", 0.5)]})
    assert scores["RR@10"] == {"q1": 0.5, "q2": 0.0}
    assert scores["nDCG@10"]["q1"] == pytest.approx(0.6309, abs=1e-4)  # 1 / log2(3)
    assert (scores["R@1"]["q1"], scores["R@5"]["q1"]) == (0.0, 1.0)


def test_held_out_questions_of_training_data(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(40)]
    measuring = [key for key in keys if is_held_out(key)]
    assert 0 < len(measuring) < len(keys)
    abstracts = [{"id": key, "sentences": [f"We looked at {key}.", "It is  there."]} for key in keys]
    questions = [{"id": key, "q": f"where is {key}?", "gold": [1]} for key in keys]
    questions.append({"id": measuring[0], "q": "why?", "gold": []})
    (tmp_path / "abstracts.jsonl").write_text("\n".join(json.dumps(record) for record in abstracts))
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps(record) for record in questions))
    dataset = load_dataset(f"heldout:{tmp_path}")
    assert dataset.abstracts is not None
    assert len(dataset.abstracts) == len(keys)
    assert len(dataset.questions) == len(measuring) + 1
    assert {(q.kind, q.support, q.answerable) for q in dataset.questions} == {
        ("fact", ("It is there.",), True),
        ("near miss", (), False),
    }
    dataset.check({abstract.id: abstract.text for abstract in dataset.abstracts})
