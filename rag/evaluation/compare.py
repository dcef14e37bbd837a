"""Two runs of the same questions, paired: what got better, what got worse, and whether it is real."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.errors import InputError
from rag.evaluation.files import read_answers
from rag.evaluation.intervals import mcnemar, paired_bootstrap, permutation_test

COMPARED = ("right", "abstract", "sentence", "refused", "broken", "citation_precision", "citation_recall")
SIGNIFICANT = 0.05
Row = Mapping[str, Any]


def compare_runs(before: Path, after: Path, force: bool = False, seed: int = 0) -> dict[str, Any]:
    """Compare two scored runs, `after` against `before`, question by question.

    Raises `InputError` where the datasets differ, unless `force`: then the questions that both have are compared.
    """
    old, new = (_about(folder) for folder in (before, after))
    for name in ("dataset_fingerprint", "corpus_fingerprint"):
        if old[name] != new[name] and not force:
            raise InputError(
                f"{before} and {after} have another {name.replace('_', ' ')}; --force compares all the same"
            )
    rows_before, rows_after = (read_answers(folder / "per_question.jsonl") for folder in (before, after))
    shared = [key for key in rows_before if key in rows_after]
    if not shared:
        raise InputError(f"{before} and {after} have no question in common")
    pairs = [(rows_before[key], rows_after[key]) for key in shared]
    kinds = dict.fromkeys(row["kind"] for row, _ in pairs)
    return {
        "before": str(before),
        "after": str(after),
        "questions": len(pairs),
        "overall": _differences(pairs, seed),
        "kinds": {kind: _differences([pair for pair in pairs if pair[0]["kind"] == kind], seed) for kind in kinds},
        "worse": [_side_by_side(pair) for pair in pairs if pair[1]["right"] < pair[0]["right"]],
        "better": [_side_by_side(pair) for pair in pairs if pair[1]["right"] > pair[0]["right"]],
    }


def compare_rows(
    before: Sequence[float], after: Sequence[float], groups: Sequence[str], seed: int = 0
) -> dict[str, Any]:
    """Return the paired difference of one measure: interval, permutation p, McNemar's p for 0/1, wins, losses, ties."""
    interval = paired_bootstrap(before, after, groups, seed)
    p = permutation_test(before, after, groups, seed)
    binary = set(before) | set(after) <= {0.0, 1.0}
    wins, losses = (sum(sign * (b - a) > 0 for a, b in zip(before, after, strict=True)) for sign in (1, -1))
    return {
        "before": sum(before) / len(before),
        "after": sum(after) / len(after),
        "difference": interval.as_dict(),
        "p": p,
        "mcnemar": mcnemar(before, after) if binary else None,
        "wins": wins,
        "losses": losses,
        "ties": len(before) - wins - losses,
        "significant": p < SIGNIFICANT and not interval.low <= 0 <= interval.high,
    }


def _differences(pairs: Sequence[tuple[Row, Row]], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(pairs)}
    for name in COMPARED:
        both = [(a, b) for a, b in pairs if a.get(name) is not None and b.get(name) is not None]
        if both:
            old, new = [a[name] for a, _ in both], [b[name] for _, b in both]
            found[name] = compare_rows(old, new, [a["conversation"] for a, _ in both], seed)
    return found


def _side_by_side(pair: tuple[Row, Row]) -> dict[str, Any]:
    old, new = pair
    return {
        "id": old["id"], "kind": old["kind"], "question": old["question"],
        "before": {"verdict": old["verdict"], "text": old["text"]},
        "after": {"verdict": new["verdict"], "text": new["text"]},
    }  # fmt: skip


def _about(folder: Path) -> dict[str, Any]:
    if not (folder / "per_question.jsonl").exists():
        raise InputError(f"{folder}: no scored run of answers; rag eval run and rag eval score make one")
    about: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return about
