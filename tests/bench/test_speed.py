"""How fast it is: make bench. Machines differ and are noisy, so most of this prints, and the bounds are wide."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.corpus.files import seeds_path
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store

pytestmark = pytest.mark.bench


def test_help_answers_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "rag", "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\nrag --help: {seconds:.2f} s of CPU")
    assert seconds < 0.5


def test_ingest(encoder: Encoder, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", encoder)
    encoder.load()
    begun = time.perf_counter()
    report = ingest(store, [seeds_path()], 128)
    seconds = time.perf_counter() - begun
    again = time.perf_counter()
    ingest(store, [seeds_path()], 128)
    print(f"\ningest: {report.added / seconds:.1f} abstracts a second; again {time.perf_counter() - again:.2f} s")
    assert report.added == 92


def test_a_warm_question(chain: Chain) -> None:
    lines = (seeds_path() / "questions.jsonl").read_text(encoding="utf-8").split("\n")
    questions = [json.loads(line)["question"] for line in lines if line]
    stages: dict[str, list[float]] = {}
    for question in ["warm up", *questions]:
        for stage, milliseconds in chain.ask(question).timings_ms.items():
            stages.setdefault(stage, []).append(milliseconds)
    medians = {stage: round(statistics.median(times), 1) for stage, times in stages.items()}
    print(f"\nask, median ms by stage: {medians}")
    assert medians["total"] < 100
