"""Answers that are no prose, as HTML: a list, its tail folded, and a comparison, its sides beside each other."""

from __future__ import annotations

from rag.records import Answer, Side
from ui.markup import plain
from ui.sentences import AbstractOf, clip, marker, sentence

UNFOLDED = 8
"""Rows that a list shows before the rest is folded away."""


def steps(turn: int, answer: Answer, abstract_of: AbstractOf) -> list[str]:
    """Return the answer as it grows by a row or a side at a time, the last one whole; nothing where it is prose."""
    if answer.form == "list" and answer.sentences:
        rows = [f"<li>{_label(answer, place)}{_said(turn, answer, place, abstract_of)}</li>"
                for place in range(len(answer.sentences))]  # fmt: skip
        lead = f"<p>{plain(answer.text.split(chr(10))[0])}</p>"
        return [f"{lead}{_folded(rows[:count])}" for count in range(1, len(rows) + 1)]
    if answer.form == "comparison":
        sides = [_side(turn, answer, side, abstract_of) for side in answer.sides]
        return [f'<div class="sides">{"".join(sides[:count])}</div>' for count in range(1, len(sides) + 1)]
    return []


def _folded(rows: list[str]) -> str:
    shown, rest = rows[:UNFOLDED], rows[UNFOLDED:]
    tail = f'<ol start="{UNFOLDED + 1}">{"".join(rest)}</ol>'
    more = f"<details><summary>{len(rest)} more</summary>{tail}</details>" if rest else ""
    return f'<div class="found"><ol>{"".join(shown)}</ol>{more}</div>'


def _side(turn: int, answer: Answer, side: Side, abstract_of: AbstractOf) -> str:
    said = " ".join(_said(turn, answer, place, abstract_of) for place in side.sentences)
    missing = next((note for note in answer.notes if note.startswith(f"{side.name}: ")), "")
    body = said or f'<span class="note">{plain(missing[len(side.name) + 2 :])}</span>'
    return f"<section><h3>{plain(clip(side.name))}</h3><p>{body}</p></section>"


def _label(answer: Answer, place: int) -> str:
    numbers = answer.sentences[place].citations
    labels = [citation.label for citation in answer.citations if citation.number in numbers]
    return "".join(f'<span class="of">{plain(clip(label))}</span> ' for label in labels)


def _said(turn: int, answer: Answer, place: int, abstract_of: AbstractOf) -> str:
    statement = answer.sentences[place]
    citations = {citation.number: citation for citation in answer.citations}
    markers = [marker(turn, citations[number], statement) for number in statement.citations if number in citations]
    return sentence(statement, citations, abstract_of) + "".join(markers)
