"""What was talked about: the abstracts that each earlier answer named, found again from the conversation's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rag.dialogue.pointers import depends
from rag.records import Turn

Find = Callable[[str, str, Sequence[str]], list[str]]
"""Finds the abstracts that a part of the answer to a question is from, as ids, the best first; some, already spoken of,
are likelier than others."""

FEW_WORDS: Final = 4
_MARKER = re.compile(r"\[(\d+)\]")
_ITEM = re.compile(r"\n+|;\s+|(?<=[.!?”\"])\s+(?=[-•*]|\[\d+\]\s)")
_PARTS = re.compile(
    r";\s+|,?\s+(?:and|while|whereas)\s+(?=another\b|the (?:other|second|third|last)\b|a (?:second|third)\b)"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, its answer, and the abstracts that the answer named, in its order; the first is what it is about."""

    question: str
    answer: str
    named: tuple[str, ...]


def exchanges(history: Sequence[Turn], find: Find) -> list[Exchange]:
    """Return the conversation as questions with their answers, the oldest first."""
    found: list[Exchange] = []
    question = ""
    for turn in history:
        if turn.role == "user":
            question = turn.content
        elif question:
            named = _named(question, turn.content, found, find) if turn.about is None else turn.about
            found.append(Exchange(question, turn.content, named))
            question = ""
    return found


def items(answer: str) -> list[str]:
    """Return the parts of an answer that enumerates: by its markers, lines or semicolons; else it is one part."""
    numbered: dict[str, list[str]] = {}
    pieces = _MARKER.split(answer)
    leading = bool(re.match(r"\s*(?:[^\n\[]*:\s*\n?)?\[\d+\]", answer))
    for place in range(1, len(pieces), 2):
        text = pieces[place + 1] if leading else pieces[place - 1]
        numbered.setdefault(pieces[place], []).append(text)
    if len(numbered) > 1:
        return [" ".join(numbered[number]) for number in sorted(numbered, key=int)]
    bare = _MARKER.sub("", answer)
    introduced = bare.split(":", 1)[1] if re.match(r"[^.;]{0,80}:", bare) else bare
    parts = (_ITEM if "\n" in bare.strip() else _PARTS).split(introduced.strip())
    parts = [part for part in parts if len(part.split()) >= FEW_WORDS]
    return parts if len(parts) > 1 else [bare]


def _named(question: str, answer: str, before: Sequence[Exchange], find: Find) -> tuple[str, ...]:
    parts = items(answer)
    spoken_of = before[-1].named if before and depends(question) else ()
    return tuple(dict.fromkeys(nearest for part in parts for nearest in find(question, part, spoken_of)[:1]))
