"""The seeds' text format: a heading on the first line, then one abstract a paragraph, with blank lines between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

from rag.corpus.fields import MAX_CHARACTERS
from rag.corpus.formats import Items, Options
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

MAX_HEADING_CHARACTERS = 200
"""A longer first line is an abstract of a file that has no heading."""

_CHUNK = 100_000
_SHORTEST_WRAPPED_LINE = 50
_WORD = re.compile(r"\w{4,}")


def read_text(text: TextIO, _options: Options) -> Items:
    """Read paragraphs; `place` is `#paragraph`, counted from 1 without the heading.

    A file of one paragraph below a heading that speaks of the same things has its title there. Raises `InputError`
    for a file that is empty, binary or has only a heading.
    """
    paragraphs = _paragraphs(text)
    first = next(paragraphs, None)
    if first is None:
        raise InputError("the file is empty")
    if "\0" in first:
        raise InputError("a binary file, not text")
    heading, rest = _split_heading(first)
    body = chain([rest] if rest else [], paragraphs)
    one, two = next(body, None), next(body, None)
    if one is None:
        raise InputError("no abstract below the heading on its first line")
    title = heading if two is None and _is_title(heading, one) else ""
    for number, paragraph in enumerate(chain([one], [two] if two else [], body), 1):
        place = f"#{number}"
        if len(paragraph) > MAX_CHARACTERS:
            yield Skipped(
                place, f"this paragraph has more than {MAX_CHARACTERS:,} characters; are its blank lines lost?"
            )
        else:
            yield Raw(place, {"text": paragraph, "title": title}, heading, is_clean=True)


def _paragraphs(text: TextIO) -> Iterator[str]:
    """Yield runs of lines that are not blank; of one that is too long, only the beginning."""
    held: list[str] = []
    length = 0
    at_line_start = True
    while line := text.readline(_CHUNK):
        if line.strip():
            length += len(line)
            if length <= MAX_CHARACTERS + _CHUNK:
                held.append(line)
        elif at_line_start and held:
            yield "".join(held).strip()
            held, length = [], 0
        at_line_start = line.endswith("\n")
    if held:
        yield "".join(held).strip()


def _split_heading(paragraph: str) -> tuple[str, str]:
    line, _, rest = paragraph.partition("\n")
    wrapped = len(line) >= _SHORTEST_WRAPPED_LINE and rest[:1].islower()
    return ("", paragraph) if len(line) > MAX_HEADING_CHARACTERS or wrapped else (line.strip(), rest)


def _is_title(heading: str, paragraph: str) -> bool:
    """Tell a title, whose words the abstract takes up, from the name of a collection."""
    words = {word.casefold() for word in _WORD.findall(heading)}
    return len(words & {word.casefold() for word in _WORD.findall(paragraph)}) >= 2
