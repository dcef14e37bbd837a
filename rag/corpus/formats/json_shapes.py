"""Where the records are in a JSON value, and where their fields are in the shapes that sources give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rag.corpus.fields import NAMES, translate
from rag.corpus.formats import Options

_ENVELOPES = ("content", "metadata", "attributes", "_source", "data")
"""Objects within a record that hold its fields: OpenReview, BEIR, DataCite, Elasticsearch, Zotero."""

_PATHS = {
    "abstractNote": "text",
    "authorships.author.display_name": "authors",
    "versions.created": "year",
    "publication_year": "year",
    "primary_location.source.display_name": "venue",
    "publicationTitle": "venue",
    "externalIds.DOI": "doi",
    "externalIds.ArXiv": "arxiv",
    "externalIds.PubMed": "pmid",
    "display_name": "title",
}
"""Where a field is that does not lie open under a name of its own: arXiv, OpenAlex, Semantic Scholar, Zotero."""

_MOMENTS = ("pdate", "cdate")
_TEXTS = frozenset(NAMES["text"]) | {"abstract_inverted_index", "abstractnote"}
_TITLES = frozenset(NAMES["title"]) - {"name"}

_LEVELS = 4
"""Records lie no deeper in a value, as in `{"hits": {"hits": [{…}]}}`."""

_FIELD_LEVELS = 12


@dataclass(frozen=True, slots=True)
class Found:
    """A record as its source has it, and the name that it stands under there."""

    key: str
    given: Mapping[str, Any]


def text_names(options: Options) -> frozenset[str]:
    """Return the names, in lower case, by which an object shows that it is a record."""
    return _TEXTS | {theirs for theirs, ours in options.fields.items() if ours == "text"}


def records_in(value: Any, key: str, texts: frozenset[str], levels: int = _LEVELS) -> list[Found]:
    """Return the records in a value: itself, if it names an abstract or has only a title, else those within."""
    names = _names(value) if isinstance(value, dict) else frozenset()
    if names & texts:
        return [Found(key, value)]
    inner = [found for name, one in _children(value) if levels for found in records_in(one, name, texts, levels - 1)]
    if names & _TITLES and not any(_names(found.given) & texts for found in inner):
        return [Found(key, value)]
    return inner


def fields_of(record: Found, options: Options) -> dict[str, Any]:
    """Return a record's fields under the product's names; the name that it stands under is its id if it has none."""
    fields = translate(_known(record.given), options.fields)
    fields = {name: value for name, value in fields.items() if not is_deep(value)}
    own = fields.get("id")
    if isinstance(own, str) and own.startswith(("http://", "https://")):
        if "doi" not in fields:
            fields.setdefault("url", own)
        fields["id"] = own.rstrip("/").rpartition("/")[2]
    elif record.key and not fields.keys() & {"id", "doi"}:
        fields["id"] = record.key
    return fields


def _known(given: Mapping[str, Any]) -> dict[str, Any]:
    known = _opened(given)
    for path, ours in _PATHS.items():
        first, *steps = path.split(".")
        if first in known and not known.get(ours) and (value := _at(known[first], steps)):
            known[ours] = value
    if isinstance(parsed := given.get("authors_parsed"), list):
        known["authors"] = [_arxiv_name(parts) for parts in parsed if isinstance(parts, list)]
    if isinstance(index := given.get("abstract_inverted_index"), dict):
        known["text"] = _in_order(index)
    moments = [year for name in _MOMENTS if (year := _year_of(given.get(name)))]
    if moments and not known.get("year"):
        known["year"] = moments[0]
    return known


def _at(value: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(value, list):
            value = [one.get(step) for one in value if isinstance(one, dict)]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _arxiv_name(parts: list[Any]) -> str:
    family, given, suffix = ([str(part) for part in parts] + ["", "", ""])[:3]
    return " ".join(part for part in (given, family, suffix) if part)


def _in_order(index: Mapping[str, Any]) -> str:
    """Return the text of an index of words with their positions."""
    words = [
        (place, word)
        for word, places in index.items()
        if isinstance(places, list)
        for place in places
        if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(words))


def _year_of(milliseconds: Any) -> int | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).year if milliseconds > 1e11 else None
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def is_deep(value: Any, levels: int = _FIELD_LEVELS) -> bool:
    """Tell whether a value is nested deeper than any field is."""
    return levels == 0 or any(is_deep(one, levels - 1) for _, one in _children(value))


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return [("", one) for one in value] if isinstance(value, list) else []


def _names(given: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name.casefold() for name in _opened(given))


def _opened(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record with those of its envelopes; its own come first."""
    opened: dict[str, Any] = {}
    for name in _ENVELOPES:
        if isinstance(inner := given.get(name), dict):
            opened |= inner
    return {**opened, **given}
