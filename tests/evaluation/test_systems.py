"""The table of what each part is worth."""

import json
from pathlib import Path

from rag.evaluation.datasets import load_dataset
from rag.evaluation.systems import SYSTEMS, measure_systems
from rag.index.store import Store
from rag.settings import Settings


def test_each_system_is_measured_in_a_run_of_its_own(store: Store, settings: Settings, tmp_path: Path) -> None:
    questions = tmp_path / "two.jsonl"
    lines = (Path(__file__).parents[2] / "seeds" / "questions.jsonl").read_text(encoding="utf-8").split("\n")
    kinds = {json.loads(line)["kind"]: line for line in lines if line}
    questions.write_text(kinds["single"] + "\n" + kinds["unanswerable"], encoding="utf-8")
    table = measure_systems([load_dataset(str(questions))], settings, tmp_path / "runs").split("\n")
    assert table[0].startswith("| questions | system | n | right |")
    assert len(table) == 2 + len(SYSTEMS) * 3
    changed = {}
    for file in (tmp_path / "runs").glob("*/*/run.json"):
        run = json.loads(file.read_text(encoding="utf-8"))["settings"]
        changed[file.parent.name] = (run["retriever"]["mode"], run["reader"]["model"])
    assert changed == {
        "as-it-is": ("hybrid", "transformer"),
        "dense-search-only": ("dense", "transformer"),
        "BM25-only": ("bm25", "transformer"),
        "no-reader": ("hybrid", "off"),
    }
