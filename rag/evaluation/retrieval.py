"""Retrieval measures by ir-measures, and TREC's files in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rag.errors import InputError

MEASURES = ("nDCG@10", "R@1", "R@5", "R@20", "RR@10")
"""nDCG with log2 discount (Järvelin and Kekäläinen 2002), recall, reciprocal rank; each 0..1."""

Run = Mapping[str, Sequence[tuple[str, float]]]
"""Question id -> (abstract id, score), the best first."""
Qrels = Mapping[str, Mapping[str, int]]
"""Question id -> abstract id -> grade."""


def retrieval_scores(qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    """Return measure -> question id -> value. A question with nothing retrieved counts 0."""
    import ir_measures

    measures = {name: ir_measures.parse_measure(name) for name in MEASURES}
    # scores are replaced by ranks: ties would be broken by id, and fused scores tie often
    ranked = {q: {document: 1.0 / rank for rank, (document, _) in enumerate(found, 1)} for q, found in run.items()}
    scores = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES}
    names = {measure: name for name, measure in measures.items()}
    judged = {q: dict(grades) for q, grades in qrels.items()}
    for metric in ir_measures.iter_calc(list(measures.values()), judged, ranked):
        scores[names[metric.measure]][metric.query_id] = float(metric.value)
    return scores


def first_relevant_rank(relevant: Sequence[str], found: Sequence[tuple[str, float]]) -> int | None:
    """Return the rank, from 1, of the first relevant abstract, or None where none was retrieved."""
    return next((rank for rank, (document, _) in enumerate(found, 1) if document in relevant), None)


def write_trec_run(run: Run, file: Path, tag: str) -> None:
    """Write `question Q0 abstract rank score tag` lines."""
    lines = [
        f"{question} Q0 {document} {rank} {score:.6f} {tag}\n"
        for question, found in run.items()
        for rank, (document, score) in enumerate(found, 1)
    ]
    file.write_text("".join(lines), encoding="utf-8")


def read_trec_run(file: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a TREC run, sorted by rank. Raises `InputError` with the line."""
    found: dict[str, list[tuple[int, str, float]]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        cells = line.split()
        if not cells:
            continue
        try:
            question, _, document, rank, score, _ = cells
            found.setdefault(question, []).append((int(rank), document, float(score)))
        except ValueError as error:
            raise InputError(f"{file}:{number}: not six columns of a TREC run") from error
    return {question: [(document, score) for _, document, score in sorted(rows)] for question, rows in found.items()}


def write_qrels(qrels: Qrels, file: Path) -> None:
    """Write `question 0 abstract grade` lines."""
    lines = [f"{q} 0 {document} {grade}\n" for q, grades in qrels.items() for document, grade in grades.items()]
    file.write_text("".join(lines), encoding="utf-8")
