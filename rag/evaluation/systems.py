"""What each part of the system is worth: the same questions with a part left out, side by side in one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rag.evaluation.datasets import Dataset
from rag.evaluation.run import Ticks, generate, open_chain
from rag.evaluation.score import score_run
from rag.index.ingest import Progress, silent
from rag.settings import Settings

SYSTEMS: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = {
    "as it is": {},
    "dense search only": {"retriever": {"mode": "dense"}},
    "BM25 only": {"retriever": {"mode": "bm25"}},
    "no reader": {"reader": {"model": "off"}},
}
"""Name of a system -> the settings that differ from the ones given."""

MEASURES: Final = {"right": "right", "abstract": "right abstract first", "sentence": "right sentence first",
                   "refused": "refused"}  # fmt: skip


def measure_systems(
    datasets: Iterable[Dataset], settings: Settings, out: Path, progress: Progress = silent, ticks: Ticks = iter
) -> str:
    """Answer every dataset with every system, each in a run of its own under `out`; return a Markdown table.

    Runs that are there already are gone on with, and not done again.
    """
    rows = [["questions", "system", "n", *MEASURES.values()]]
    for dataset in datasets:
        for system, changes in SYSTEMS.items():
            folder = out / _slug(dataset.name) / _slug(system)
            generate(dataset, open_chain(dataset, _changed(settings, changes), progress), folder, ticks=ticks)
            rows += [[f"{dataset.name}: {kind}", system, *cells] for kind, cells in _kinds(score_run(folder))]
    return _markdown(rows)


def _changed(settings: Settings, changes: Mapping[str, Mapping[str, str]]) -> Settings:
    return settings.model_copy(
        update={name: getattr(settings, name).model_copy(update=dict(keys)) for name, keys in changes.items()}
    )


def _kinds(metrics: Mapping[str, Any]) -> Iterable[tuple[str, list[str]]]:
    kinds = {**metrics["kinds"], "all": metrics["overall"]} if len(metrics["kinds"]) > 1 else metrics["kinds"]
    for kind, row in kinds.items():
        yield kind, [str(row["n"]), *(_cell(row[name]) for name in MEASURES)]


def _cell(interval: Mapping[str, float] | None) -> str:
    return "" if interval is None else f"{interval['value']:.3f} [{interval['low']:.2f}, {interval['high']:.2f}]"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-")
