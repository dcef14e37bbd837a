"""The same answers through an independent scorer, where one lies beside the checkout."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.corpus.files import seeds_path
from rag.evaluation.datasets import load_dataset
from rag.evaluation.run import generate
from rag.evaluation.score import score_run

YARDSTICK = Path(__file__).parents[3] / "shared" / "bench" / "score_answers.py"


@pytest.mark.skipif(not YARDSTICK.exists(), reason="the independent scorer is not beside this checkout")
def test_our_metrics_are_the_yardsticks(chain: Chain, tmp_path: Path) -> None:
    questions = seeds_path() / "questions.jsonl"
    generate(load_dataset(str(questions)), chain, tmp_path)
    ours = score_run(tmp_path)["kinds"]
    command = [sys.executable, str(YARDSTICK), str(questions), str(tmp_path / "answers.jsonl"), str(seeds_path())]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = json.loads(printed.strip().split("\n")[-1])
    for kind, row in theirs.items():
        for name in ("right", "abstract", "sentence", "refused", "broken"):
            mine = ours[kind][name]
            assert row[name] == (None if mine is None else pytest.approx(mine["value"], abs=6e-4)), (kind, name)
        assert row["words"] == ours[kind]["words"]
