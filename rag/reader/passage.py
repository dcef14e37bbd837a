"""What is read: a retrieved abstract."""

from __future__ import annotations

from dataclasses import dataclass

from rag.index.store import Reading


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved abstract: its reading, its fused score (above 0) and its closeness (-2..2) to the question."""

    reading: Reading
    score: float
    closeness: float
