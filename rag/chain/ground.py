"""Nothing is shown that an abstract does not say: every line of a draft must be a quote of its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from rag.records import Dropped, Evidence


def ground(draft: str, evidence: Sequence[Evidence]) -> tuple[list[Evidence], list[Dropped]]:
    """Return the evidence that the draft's lines quote, in the draft's order, and the lines that quote none."""
    quoted = {one.text: one for one in evidence}
    lines = [line for line in draft.split("\n") if line.strip()]
    kept = [quoted[line] for line in lines if line in quoted]
    return kept, [Dropped(line, "no sentence of the evidence") for line in lines if line not in quoted]
