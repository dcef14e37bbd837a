"""What a reader of files gives: a record for each abstract, and a reason for each that it had to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

FieldName = Literal[
    "text", "title", "authors", "year", "venue", "url", "keywords", "doi", "pmid", "arxiv", "openreview", "id"
]  # fmt: skip
FIELD_NAMES: tuple[str, ...] = get_args(FieldName)


@dataclass(frozen=True, slots=True)
class Raw:
    """The fields of one record under the product's names, as a file has them; `place` is `:line` or `#key`.

    Values are text, numbers or lists of text. `is_clean` says that the text is as it is meant, with no HTML or LaTeX.
    """

    place: str
    fields: Mapping[str, Any]
    heading: str = ""
    is_clean: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One abstract of a file, cleaned; `text` is in normal form, and `place` stands behind the file's name."""

    text: str
    place: str
    heading: str = ""
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    keys: tuple[str, ...] = field(default=())
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """What was left out and why; `breaks_off` where nothing behind it could be read either."""

    place: str
    reason: str
    breaks_off: bool = False
