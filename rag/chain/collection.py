"""Questions about the collection itself, answered from its records: how many, which ones, where, by whom, when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rag.corpus.identity import file_of
from rag.corpus.links import find_links
from rag.index.lexical import query_terms, terms
from rag.records import Abstract, Evidence

Has = Callable[[Abstract], str]
"""Returns what an abstract's record holds of a field, "" for nothing."""


@dataclass(frozen=True, slots=True)
class Field:
    """Something a record may hold: what it is called, the words that ask for it, and how it is read."""

    name: str
    asked: re.Pattern[str]
    read: Has


@dataclass(frozen=True, slots=True)
class Counted:
    """An answer from the records: what is said, and for each abstract it names the sentence that shows it."""

    text: str
    named: tuple[Evidence, ...] = ()
    missing: bool = False


def _link(abstract: Abstract, host: str = "") -> str:
    links = [abstract.text[start:end] for start, end in find_links(abstract.text)]
    return next((link for link in [*links, abstract.url or ""] if host in link.lower()), "")


def _field(name: str, words: str, read: Has) -> Field:
    return Field(name, re.compile(rf"\b(?:{words})\b", re.I), read)


FIELDS: Final = (
    _field("GitHub link", "github|git hub", lambda abstract: _link(abstract, "github.com")),
    _field("code link", r"code|repo(?:sitory|s)?|implementation|link(?:s|ed)?|url|open[- ]?sourced?|website"
           r"|project page|software|download(?:ed)?|available|release[ds]?", _link),
    _field("DOI or other key", r"doi|pmid|arxiv(?: id| number)?|identifier|key|id",
           lambda abstract: ", ".join(abstract.keys)),
    _field("authors", r"authors?|auther|wrote|written by|who (?:is|are|made|did) .*(?:behind|paper)|by whom",
           lambda abstract: ", ".join(abstract.authors)),
    _field("venue", r"venues?|journals?|conferences?|published (?:at|in)|appeared?|accepted",
           lambda abstract: abstract.venue or abstract.heading),
    _field("year", r"years?|newest|latest|oldest|most recent|when|date|how (?:old|new|recent)|published",
           lambda abstract: str(abstract.year or "")),
    _field("file", r"files?|source|where (?:does|is|did) .*(?:from|in)|paragraph",
           lambda abstract: ", ".join(abstract.sources)),
    _field("title", r"titles?|called", lambda abstract: abstract.title or ""),
)  # fmt: skip
_DUPLICATES = re.compile(
    r"\bduplicat\w*|\btwins?\b|\btwice\b|\bmore than once\b|\brepeated\b|\bsame (?:abstract|paper)\b", re.I
)
_COUNT = re.compile(
    r"\bh(?:ow|wo) (?:many|large|big)\b|\bnumber of\b|\bcount\b|\bsize of\b|\btotal\b|\bhow much\b", re.I
)
_ALL = re.compile(
    r"\b(?:which|list|all|any|every|show|what) (?:\w+ ){0,3}(?:abstract|paper|one|work|entrie|record|title)s?\b"
    r"|\b(?:list|of them)\b",
    re.I,
)
_ABOUT_RECORDS = frozenset(
    """abstract paper collect entri record file code github link repo repositori url doi pmid arxiv author venu journal
    confer year newest latest oldest recent publish titl duplic count mani number total differ includ contain have give
    avail releas open sourc public list all date store here current hold load databas librari corpus document size
    larg big uniqu distinct implement download websit page come provid offer share access""".split()
)
MOST_NAMED: Final = 50


def about_records(
    question: str,
    abstracts: Sequence[Abstract],
    nearest: Callable[[str], Abstract | None],
    meant: Abstract | None = None,
) -> Counted | None:
    """Answer a question about some abstracts, or about the one that is meant; None where records hold nothing of it."""
    field = next((field for field in FIELDS if field.asked.search(question)), None)
    topic = _topic(question, abstracts)
    if _DUPLICATES.search(question) and not topic:
        return _duplicates(abstracts)
    if field is None:
        return _size(abstracts) if _COUNT.search(question) and not topic else None
    if (topic or meant) and not (_COUNT.search(question) or _ALL.search(question)):
        abstract = meant or nearest(question)
        return _of_one(field, abstract) if abstract else None
    among = ""
    if topic:
        abstracts = [abstract for abstract in abstracts if set(topic) <= set(terms(abstract.text))]
        among = " whose text has " + " and ".join(f"“{word}”" for word in topic.values())
    if not abstracts:
        return None
    if field.name in ("year", "venue") and not _COUNT.search(question):
        return _range(field, abstracts, question)
    return _with(field, abstracts, among)


def _topic(question: str, abstracts: Sequence[Abstract]) -> dict[str, str]:
    """Return the terms that narrow a question down, with the words for them: neither a field's nor a collection's."""
    collections = {term for name in {abstract.heading for abstract in abstracts} for term in terms(name)}
    words = {word: terms(word) for word in re.findall(r"[\w.+\-]+", question)}
    asked = set(query_terms(question)) - _ABOUT_RECORDS - collections
    return {found[0]: word for word, found in words.items() if found and found[0] in asked}


def _size(abstracts: Sequence[Abstract]) -> Counted:
    sources = {source for abstract in abstracts for source in abstract.sources}
    files = {file_of(source) for source in sources}
    return Counted(
        f"This collection holds {_count(len(abstracts), 'different abstract')}, "
        f"read from {_count(len(sources), 'place')} in {_count(len(files), 'file')}."
    )


def _duplicates(abstracts: Sequence[Abstract]) -> Counted:
    twins = [abstract for abstract in abstracts if len(abstract.sources) > 1]
    if not twins:
        return Counted("No abstract stands in the collection twice.")
    places = "; ".join(f"“{abstract.label}” in {' and '.join(abstract.sources)}" for abstract in twins[:MOST_NAMED])
    return Counted(
        f"{_count(len(twins), 'abstract')} came more than once, and {'is' if len(twins) == 1 else 'are'} kept once: "
        f"{places}.", tuple(Evidence(abstract, 0, 1.0) for abstract in twins[:MOST_NAMED]),
    )  # fmt: skip


def _with(field: Field, abstracts: Sequence[Abstract], among: str) -> Counted:
    having = [abstract for abstract in abstracts if field.read(abstract)]
    more = f", of which {MOST_NAMED} are shown" if len(having) > MOST_NAMED else ""
    have = "has" if len(having) == 1 else "have"
    text = f"{len(having)} of the {_count(len(abstracts), 'abstract')}{among} {have} a {field.name}{more}."
    return Counted(text, tuple(_shown(field, abstract) for abstract in having[:MOST_NAMED]))


def _of_one(field: Field, abstract: Abstract) -> Counted:
    value = field.read(abstract)
    name = f"“{abstract.label}”"
    if not value:
        return Counted(f"The record of {name} gives no {field.name}.", missing=True)
    return Counted(f"{field.name[0].upper()}{field.name[1:]} of {name}: {value}", (_shown(field, abstract),))


def _range(field: Field, abstracts: Sequence[Abstract], question: str) -> Counted:
    values = Counter(value for abstract in abstracts if (value := field.read(abstract)))
    if not values:
        return Counted(f"The records give no {field.name}.")
    if field.name == "year" and re.search(r"\b(?:newest|latest|most recent|oldest|earliest)\b", question, re.I):
        pick = min if re.search(r"\b(?:oldest|earliest)\b", question, re.I) else max
        year = pick(values)
        named = [abstract for abstract in abstracts if field.read(abstract) == year][:MOST_NAMED]
        which = "newest" if pick is max else "oldest"
        text = f"The {which} year is {year}, with {_count(values[year], 'abstract')}."
        return Counted(text, tuple(Evidence(abstract, 0, 1.0) for abstract in named))
    counts = "; ".join(f"{value}: {count}" for value, count in values.most_common(MOST_NAMED))
    return Counted(f"{field.name[0].upper()}{field.name[1:]}s of the records, with the number of abstracts: {counts}.")


def _shown(field: Field, abstract: Abstract) -> Evidence:
    """Return the sentence that holds the field's value, or the first one."""
    value = field.read(abstract)
    places = [place for place, text in enumerate(abstract.texts) if value and value in text]
    return Evidence(abstract, places[0] if places else 0, 1.0)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
