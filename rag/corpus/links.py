"""Links that an abstract gives in its text: code, data, a project's page."""

from __future__ import annotations

import re

_LINK = re.compile(r"(?:https?://|(?<![\w./@-])(?:www\.)?github\.com/)[^\s<>\"'{}|\\^`]+", re.I)
_CLOSING = {")": "(", "]": "["}


def find_links(text: str) -> list[tuple[int, int]]:
    """Return the spans of the http(s) links, and of bare ones to GitHub, without punctuation that ends them."""
    spans = []
    for match in _LINK.finditer(text):
        start, end = match.start(), match.start() + len(match[0].partition("](")[0])  # Markdown writes a link twice
        while text[end - 1] in ".,;:!?*_)]" and not _closes_own_bracket(text[start:end]):
            end -= 1
        spans.append((start, end))
    return spans


def first_link(text: str) -> str | None:
    """Return the first link, or None."""
    return next((address(text[start:end]) for start, end in find_links(text)), None)


def address(link: str) -> str:
    """Return a link as a browser takes it: one to GitHub may come without its scheme."""
    return link if link[:4].lower() == "http" else f"https://{link}"


def _closes_own_bracket(link: str) -> bool:
    opening = _CLOSING.get(link[-1])
    return opening is not None and link.count(opening) >= link.count(link[-1])
