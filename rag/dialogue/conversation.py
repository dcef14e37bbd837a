"""From a question in a conversation to one that stands alone, and to the abstracts that it points back to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rag.dialogue.pointers import (
    BOTH,
    CORRECTS,
    MARKER,
    NUMBERS,
    ORDINAL,
    OTHER,
    PLURAL,
    POSSESSIVE,
    PRONOUN,
    carries_on,
    depends,
)
from rag.dialogue.talk import Exchange

Name = Callable[[str], str]
"""Gives the name of an abstract, from its id."""

_CHANGES_TOPIC = re.compile(
    r"^(?:(?:ok|okay|thanks|thank you|great|now|so|alright|cool)[,.!]?\s+)*"
    r"(?:(?:a\s+)?(?:different|new|another|unrelated|separate)\s+(?:question|topic|thing|subject)|unrelated"
    r"|something else|(?:let'?s |let us )?(?:now )?(?:mov(?:e|ing) on|chang(?:e|ing) (?:the )?(?:topic|subject))"
    r"|forget\b[^:,.]*|leaving\b[^:,.]*aside|(?:let'?s )?(?:switch|switching) (?:to|topics?)\b[^:,.]*)\s*[:,.\-–—]+\s*",
    re.I,
)
_NEXT_QUESTION = re.compile(
    r"(?<=\?)\s+(?:(?:also|and)\b,?\s*)?(?=\w.*\?)"
    r"|,?\s+and\s+(?:also\s+)?(?=(?:what|which|how|who|why|where|when|by how)\b)",
    re.I | re.S,
)
FEWEST_WORDS: Final = 4
MOST_NAMES: Final = 4


@dataclass(frozen=True, slots=True)
class Understood:
    """A question that stands alone, how it was said, the abstracts it points back to, and those it does not mean."""

    question: str
    said: str
    focus: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    numbered: bool = False
    """Whether it says which of several it means: the second one, [2], the other one."""

    before: str = ""
    """The question before one that points back."""


def understand(question: str, talk: Sequence[Exchange], name: Name) -> Understood:
    """Return what a question means in a conversation.

    One that stands alone comes back as it is, without the words that change the topic. One that points back gets the
    name of what it points at in place of the pronoun; one that only carries on stands behind the question before.
    """
    asked = _CHANGES_TOPIC.sub("", question).strip() or question
    if not talk or asked != question:
        return Understood(asked, asked)
    if corrected := CORRECTS.search(question):
        last = talk[-1]
        again = f"{_bare(last.question)}? {question[corrected.end() :].lstrip(' ,:')}".strip()
        return Understood(again, last.question, points_at(question, talk) if OTHER.search(question) else (), last.named)
    focus = points_at(question, talk)
    if not focus:
        return Understood(question, question)
    if len(focus) > 1:
        names = ", ".join(name(one) for one in focus[:MOST_NAMES])
        more = f" and {len(focus) - MOST_NAMES} more" if len(focus) > MOST_NAMES else ""
        return Understood(f"{_bare(question)} ({names}{more})?", question, focus, numbered=bool(BOTH.search(question)))
    numbered = any(pattern.search(question) for pattern in (MARKER, ORDINAL, OTHER))
    complete = _complete(question, talk[-1], name(focus[0]), focus[0] in talk[-1].named)
    return Understood(complete, question, focus, numbered=numbered, before=talk[-1].question)


def split_questions(question: str) -> list[str]:
    """Return the questions that a message asks at once, in order; a message that asks one is one."""
    parts = [part.strip() for part in _NEXT_QUESTION.split(question)]
    whole = all(len(part.split()) >= FEWEST_WORDS for part in parts)
    return parts if whole else [question]


def points_at(question: str, talk: Sequence[Exchange]) -> tuple[str, ...]:
    """Return the ids of the abstracts that a question points back to; none where it stands alone."""
    last = talk[-1].named
    spoken_of = list(dict.fromkeys(one for exchange in talk for one in exchange.named))
    if marker := MARKER.search(question):
        number = int(marker[1] or marker[2])
        listed = next((e.named for e in reversed(talk) if len(e.named) >= number and len(e.named) > 1), spoken_of)
        return tuple(listed[number - 1 : number]) or last[:1]
    if ordinal := ORDINAL.search(question):
        place = NUMBERS[ordinal[1].lower()]
        listed = next((list(e.named) for e in reversed(talk) if len(e.named) > max(place, 1)), spoken_of)
        return (listed[place],) if -len(listed) <= place < len(listed) else last[:1]
    if OTHER.search(question):
        listed = next((list(e.named) for e in reversed(talk) if len(e.named) > 1), [])
        rest = [one for one in listed if one != last[0]] if len(last) == 1 else listed[1:]
        return tuple(rest[:1])
    if len(last) > 1 and (BOTH.search(question) or PLURAL.search(question)):
        return last
    return last[:1] if depends(question) else ()


def _complete(question: str, before: Exchange, name: str, same: bool) -> str:
    if name.casefold() in question.casefold():
        return question
    for pattern, put in ((MARKER, name), (ORDINAL, name), (OTHER, name), (POSSESSIVE, f"{name}'s")):
        if (found := pattern.search(question)) and not question[found.end() :].startswith("'s"):
            return _put(question, found, put)
    found = PRONOUN.search(question)
    if carries_on(question) and same:
        return f"{_bare(before.question)}? {question} ({name})"
    if found:
        word = found[0].split()[0] if found[0].split()[-1].lower() in ("that", "this") and " " in found[0] else ""
        return _put(question, found, f"{word} {name}".strip())
    return f"{_bare(question)} ({name})?"


def _put(question: str, found: re.Match[str], name: str) -> str:
    return question[: found.start()] + name + question[found.end() :]


def _bare(question: str) -> str:
    return question.strip().rstrip("?!. ")
