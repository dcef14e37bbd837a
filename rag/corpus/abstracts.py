"""From a record to an abstract: identity, label, sentences; and what several records of one text say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.corpus.identity import abstract_id, normalize
from rag.corpus.labels import label
from rag.corpus.record import Record
from rag.corpus.sentences import split_sentences
from rag.records import Abstract


def to_abstract(records: Sequence[Record], sources: Sequence[str]) -> Abstract:
    """Return the abstract whose one text the records hold; of each field the first record's that has it.

    `sources` says where the records stand, and the keys of all of them find it.
    """
    text = records[0].text
    title = _first(records, "title")
    authors: tuple[str, ...] = _first(records, "authors") or ()
    year, venue = _first(records, "year"), _first(records, "venue")
    return Abstract(
        id=abstract_id(text),
        text=text,
        label=label(text, title, authors, year, venue),
        sentences=tuple(split_sentences(text)),
        sources=tuple(sources),
        heading=_first(records, "heading") or "",
        title=title,
        authors=authors,
        year=year,
        venue=venue,
        url=_first(records, "url"),
        keys=tuple(dict.fromkeys(key for record in records for key in record.keys)),
        keywords=_first(records, "keywords") or (),
    )


def _first(records: Sequence[Record], name: str) -> Any:
    return next((value for record in records if (value := getattr(record, name))), None)


def from_text(text: str, source: str, title: str | None = None) -> Abstract:
    """Return the abstract of a text of which nothing but its source, and its title, is known."""
    title = normalize(title) if title else None
    return to_abstract([Record(text=normalize(text), place=source, title=title)], [source])


def to_record(abstract: Abstract, place: str) -> Record:
    """Return the record that says of a place what an abstract says."""
    return Record(
        abstract.text, place, abstract.heading, abstract.title, abstract.authors, abstract.year, abstract.venue,
        abstract.url, abstract.keys, abstract.keywords,
    )  # fmt: skip
