"""Filters as people write them: `2019-2021`, a part of a venue's, an author's or a file's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from rag.errors import InputError
from rag.records import Where

_YEARS: Final = re.compile(r"(\d{4})?(-)?(\d{4})?")
_NAMES: Final = ("year", "venue", "author", "source")
_LONGEST: Final = 200


def parse_where(given: Mapping[str, Any]) -> Where | None:
    """Return what `year`, `venue`, `author` and `source` ask for, None where they ask for nothing.

    Raises `InputError` that names what is no filter.
    """
    for name, value in given.items():
        if name not in _NAMES or not isinstance(value, str | int | None) or len(str(value)) > _LONGEST:
            raise InputError(f"filter {name!r}: expected {', '.join(_NAMES)} with a short text each")
    texts = {name: str(given.get(name) or "").strip() for name in _NAMES}
    first, last = parse_years(texts["year"])
    where = Where(first, last, venue=texts["venue"], author=texts["author"], source=texts["source"])
    return where if where != Where() else None


def parse_years(text: str) -> tuple[int | None, int | None]:
    """Return the first and the last year that `2021`, `2019-2021`, `2021-` or `-2019` mean. Raises `InputError`."""
    found = _YEARS.fullmatch(text.replace(" ", "").replace("–", "-"))
    if not found or (text and not (found[1] or found[3])) or (found[1] and found[3] and not found[2]):
        raise InputError(f"years {text!r}: expected 2021, 2019-2021, 2021- or -2019")
    first, last = (int(part) if part else None for part in (found[1], found[3]))
    return (first, first) if first and not found[2] else (first, last)
