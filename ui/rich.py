"""A stretch of an abstract as HTML, with cited spans highlighted exactly.

Each piece of the text is written with its tags opened and closed around it, so a mark that cuts through emphasis or
a formula breaks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ui.markup import Piece, pieces, plain


class Mark(NamedTuple):
    """A stretch of a text to highlight, with the ids that links lead to."""

    start: int
    end: int
    ids: tuple[str, ...]


_TAGS = {"em": "<em>", "strong": "<strong>", "code": "<code>", "caps": '<span class="caps">'}


def rich(text: str, marks: Iterable[Mark] = (), start: int = 0, end: int | None = None) -> str:
    """Return `text[start:end]` as safe HTML that reads as its author meant it, with `marks` highlighted.

    All offsets are of `text`. An edge inside a formula or a link moves out to the whole of it; marks that then
    overlap become one, which keeps the ids of all.
    """
    stop = len(text) if end is None else end
    merged = _merged(_widened(mark, text) for mark in marks)
    written: list[str] = []
    tags: list[str] = []
    for piece in _cut(pieces(text), {start, stop, *(edge for mark in merged for edge in mark[:2])}):
        if piece.html == "" or piece.end <= start or piece.start >= stop:
            continue
        wanted = [_opening(mark) for mark in merged if mark.start < piece.end and piece.start < mark.end]
        wanted += [_TAGS[style] for style in piece.styles]
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(tags, wanted, strict=False)))
        written += _closings(tags[kept:]) + wanted[kept:]
        written.append(plain(text[piece.start : piece.end]) if piece.html is None else piece.html)
        tags = wanted
    return "".join(written + _closings(tags))


def _cut(whole: Sequence[Piece], edges: Iterable[int]) -> Iterator[Piece]:
    """Yield the pieces, those that show the text itself cut at `edges`."""
    for piece in whole:
        start = piece.start
        if piece.html is None:
            for edge in sorted(edge for edge in edges if piece.start < edge < piece.end):
                yield piece._replace(start=start, end=edge)
                start = edge
        yield piece._replace(start=start)


def _widened(mark: Mark, text: str) -> Mark:
    whole = [p for p in pieces(text) if p.html and p.start < mark.end and mark.start < p.end]
    return Mark(min([mark.start, *(p.start for p in whole)]), max([mark.end, *(p.end for p in whole)]), mark.ids)


def _merged(marks: Iterable[Mark]) -> list[Mark]:
    """Return `marks` in order, those that overlap joined."""
    merged: list[Mark] = []
    for mark in sorted(marks):
        if merged and mark.start < merged[-1].end:
            last = merged.pop()
            mark = Mark(last.start, max(last.end, mark.end), last.ids + mark.ids)
        merged.append(mark)
    return merged


def _opening(mark: Mark) -> str:
    first, *others = mark.ids
    return f'<mark id="{first}">' + "".join(f'<span id="{other}"></span>' for other in others)


def _closings(tags: Sequence[str]) -> list[str]:
    return [f"</{tag[1 : re.search('[ >]', tag).start()]}>" for tag in reversed(tags)]  # type: ignore[union-attr]
