"""Links that an abstract gives in its text: code, data, a project's page."""

from __future__ import annotations

import re

_LINK = re.compile(r"https?://[^\s<>\"'{}|\\^`]+", re.I)
_CLOSING = {")": "(", "]": "["}


def find_links(text: str) -> list[tuple[int, int]]:
    """Return the spans of the http(s) links, without the punctuation of the sentence around them."""
    spans = []
    for match in _LINK.finditer(text):
        start, end = match.span()
        while text[end - 1] in ".,;:!?*_)]" and not _closes_own_bracket(text[start:end]):
            end -= 1
        spans.append((start, end))
    return spans


def first_link(text: str) -> str | None:
    """Return the first link, or None."""
    return next((text[start:end] for start, end in find_links(text)), None)


def _closes_own_bracket(link: str) -> bool:
    opening = _CLOSING.get(link[-1])
    return opening is not None and link.count(opening) >= link.count(link[-1])
