"""Runs end to end over the seeds: generated, scored as the yardstick scores, resumed, compared, and gated."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag.chain.chain import Chain
from rag.cli import cli
from rag.corpus.files import seeds_path
from rag.errors import InputError
from rag.evaluation.compare import compare_runs
from rag.evaluation.datasets import load_dataset
from rag.evaluation.run import generate
from rag.evaluation.score import score_run
from rag.reader.passage import Passage
from rag.reader.read import Findings

QUESTIONS = seeds_path() / "questions.jsonl"


@pytest.fixture(scope="module")
def run(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run over the seeds' questions."""
    folder = tmp_path_factory.mktemp("runs") / "today"
    generate(load_dataset(str(QUESTIONS)), chain, folder)
    score_run(folder)
    return folder


def read(file: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def test_the_folder_holds_what_it_should(run: Path) -> None:
    assert {file.name for file in run.iterdir()} == {
        "run.json", "questions.jsonl", "answers.jsonl", "abstracts.jsonl", "per_question.jsonl", "metrics.json",
        "run.trec", "qrels.trec", "junit.xml",
    }  # fmt: skip
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["overall"]["n"] == len(read(run / "per_question.jsonl")) == 86
    assert metrics["overall"]["broken"]["value"] == 0
    assert metrics["kinds"]["single"]["right"]["value"] >= 0.7
    assert 0.9 <= metrics["retrieval"]["nDCG@10"]["value"] <= 1
    assert metrics["errors"] == 0


def test_the_curve_passes_through_the_operating_point(run: Path) -> None:
    metrics = json.loads((run / "metrics.json").read_text())
    curve, point = metrics["curve"], metrics["operating_point"]
    assert curve[0]["coverage"] == 1.0
    assert [p["coverage"] for p in curve] == sorted((p["coverage"] for p in curve), reverse=True)
    near = min(curve, key=lambda p: abs(p["coverage"] - point["coverage"]))
    assert near["accuracy"] == pytest.approx(point["accuracy"], abs=0.03)


def test_scoring_again_changes_nothing(run: Path) -> None:
    before = (run / "metrics.json").read_bytes()
    score_run(run)
    assert (run / "metrics.json").read_bytes() == before


def test_a_run_is_gone_on_with(run: Path, chain: Chain, tmp_path: Path) -> None:
    dataset = load_dataset(str(QUESTIONS))
    generate(dataset, chain, tmp_path / "again")
    lines = (tmp_path / "again" / "answers.jsonl").read_bytes().split(b"\n")
    (tmp_path / "again" / "answers.jsonl").write_bytes(b"\n".join(lines[:40]) + b"\n" + lines[40][:100])
    with pytest.raises(InputError, match=r"answers.jsonl:41: not JSON"):
        score_run(tmp_path / "again")
    generate(dataset, chain, tmp_path / "again")
    score_run(tmp_path / "again")
    found = compare_runs(run, tmp_path / "again")
    assert found["overall"]["right"]["difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert (found["worse"], found["better"]) == ([], [])


def test_an_unfinished_run_says_so(run: Path, tmp_path: Path) -> None:
    for name in ("run.json", "questions.jsonl", "abstracts.jsonl"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    lines = (run / "answers.jsonl").read_text(encoding="utf-8").split("\n")
    (tmp_path / "answers.jsonl").write_text("\n".join(lines[:80]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"6 of 86 questions have no answer \(first: d081\)"):
        score_run(tmp_path)


def test_a_folder_of_another_run_is_not_gone_on_with(run: Path, chain: Chain) -> None:
    with pytest.raises(InputError, match="another retrieval only"):
        generate(load_dataset(str(QUESTIONS)), chain, run, retrieval_only=True)


def test_a_run_killed_in_the_middle_gives_an_equal_result(run: Path, chain: Chain, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "rag", "eval", "run", str(QUESTIONS), "--out", str(folder)]
    with subprocess.Popen(command, env=os.environ | {"RAG_STORE__PATH": str(chain.store.path)}) as process:
        for _ in range(3000):
            if (folder / "answers.jsonl").exists() and (folder / "answers.jsonl").stat().st_size > 20_000:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    done = (folder / "answers.jsonl").read_bytes().count(b"\n")
    assert 0 < done < 86
    generate(load_dataset(str(QUESTIONS)), chain, folder)
    score_run(folder)
    assert compare_runs(run, folder)["overall"]["right"]["ties"] == 86


class SecondBest(Chain):
    """A deliberate regression: it cites the second-best sentence."""

    def _answer(self, asked, standalone, passages: Sequence[Passage], findings: Findings, why):  # type: ignore[no-untyped-def]
        return super()._answer(asked, standalone, passages, Findings(findings.evidence[1:2], findings.confidence), why)


def test_a_deliberate_regression_is_found(run: Path, chain: Chain, tmp_path: Path) -> None:
    worse = SecondBest(chain.store, chain.settings)
    generate(load_dataset(str(QUESTIONS)), worse, tmp_path / "worse")
    score_run(tmp_path / "worse")
    found = compare_runs(run, tmp_path / "worse")
    right = found["overall"]["right"]
    assert right["significant"]
    assert right["difference"]["high"] < 0
    assert right["p"] < 0.01
    assert found["worse"][0]["before"]["text"] != found["worse"][0]["after"]["text"]


def test_errors_are_counted_and_not_dropped(chain: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Chain, "ask", lambda *_, **__: 1 / 0)
    generate(load_dataset(str(QUESTIONS)), chain, tmp_path)
    metrics = score_run(tmp_path)
    assert (metrics["errors"], metrics["overall"]["right"]["value"], metrics["overall"]["broken"]["value"]) == (
        86,
        0,
        1,
    )
    assert "ZeroDivisionError" in read(tmp_path / "per_question.jsonl")[0]["error"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"relevant": ["000000000000"]}, r"question d001: the store has no abstract 000000000000"),
        ({"support": ["It is not there."]}, r"question d001: no relevant abstract has the support 'It is not there.'"),
    ],
    ids=["unknown id", "support that is no substring"],
)
def test_a_dataset_that_does_not_fit_the_store(chain: Chain, tmp_path: Path, change: dict, message: str) -> None:  # type: ignore[type-arg]
    first = read(QUESTIONS)[0] | change
    (tmp_path / "q.jsonl").write_text(json.dumps(first))
    texts = {abstract.id: abstract.text for abstract in chain.store.abstracts()}
    with pytest.raises(InputError, match=message):
        load_dataset(str(tmp_path / "q.jsonl")).check(texts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a"', r"q.jsonl:1: not JSON"),
        ('{"id": "a"}', r"q.jsonl:1: the field 'kind' is missing"),
        ("[]", r"q.jsonl:1: not an object"),
        ("", r"q.jsonl: no questions"),
        (
            '{"id": 1, "kind": "k", "question": "?", "relevant": [], "answerable": "no"}',
            r"q.jsonl:1: answerable must be",
        ),
    ],
)
def test_a_broken_question_file_is_named_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "q.jsonl").write_text(content)
    with pytest.raises(InputError, match=message):
        load_dataset(str(tmp_path / "q.jsonl"))


def test_a_twin_id_is_named(tmp_path: Path) -> None:
    line = json.dumps(read(QUESTIONS)[0])
    (tmp_path / "q.jsonl").write_text(f"{line}\n\n{line}\n")
    with pytest.raises(InputError, match=r"q.jsonl:3: the id 'd001' stands on an earlier line too"):
        load_dataset(str(tmp_path / "q.jsonl"))


def test_foreign_answers_and_gates_on_the_command_line(
    run: Path, chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_STORE__PATH", str(chain.store.path))
    command = ["eval", "score", str(QUESTIONS), "--answers", str(run / "answers.jsonl")]
    own = json.loads((run / "metrics.json").read_text())
    theirs = json.loads(CliRunner().invoke(cli, [*command, "--json"]).stdout)
    assert theirs["overall"] == own["overall"]
    assert CliRunner().invoke(cli, [*command, "--fail-under", "right=0.1"]).exit_code == 0
    failed = CliRunner().invoke(cli, [*command, "--fail-under", "single.right=0.999"])
    assert failed.exit_code == 1
    assert "gate not met: single.right is 0." in failed.stderr
    for gate, message in (("right", "a gate is METRIC=VALUE"), ("wrong=1", "no such metric")):
        bad = CliRunner().invoke(cli, [*command, "--fail-under", gate])
        assert bad.exit_code == 2
        assert message in bad.stderr


def test_a_regression_gate_takes_the_latest_run_beside_it(
    run: Path, chain: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_STORE__PATH", str(chain.store.path))
    command = ["eval", "run", str(QUESTIONS), "--max-regression", "right=0.02", "--out"]
    missing = CliRunner().invoke(cli, [*command, str(tmp_path / "first")])
    assert missing.exit_code == 2
    assert "no earlier run of" in missing.stderr
    same = CliRunner().invoke(cli, [*command, str(run.parent / "same")])
    assert same.exit_code == 0, same.output
    assert (run.parent / "same" / "report.html").exists()
    metrics = json.loads((run / "metrics.json").read_text())
    metrics["overall"]["right"]["value"] = 1.0
    for folder in (run.parent / "better", run.parent / "worse"):
        folder.mkdir()
    (run.parent / "better" / "metrics.json").write_text(json.dumps(metrics))
    about = json.loads((run / "run.json").read_text()) | {"started": "2999-01-01T00:00:00+00:00"}
    (run.parent / "better" / "run.json").write_text(json.dumps(about))
    worse = CliRunner().invoke(cli, [*command, str(run.parent / "worse")])
    assert worse.exit_code == 1
    assert "gate not met: right fell by 0." in worse.stderr


def test_compare_on_the_command_line(run: Path) -> None:
    done = CliRunner().invoke(cli, ["eval", "compare", str(run), str(run)])
    assert done.exit_code == 0
    assert "+0.000 [+0.000, +0.000]  1.0000   1.0000  0/0/86" in done.stdout
    assert CliRunner().invoke(cli, ["eval", "compare", str(run), "nowhere"]).exit_code == 2
