"""RIS and PubMed's MEDLINE format: one tag at the start of each line, one record behind another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any, TextIO

from rispy import RisParser

from rag.corpus.fields import translate
from rag.corpus.formats import Items, Options
from rag.corpus.formats.pieces import MAX_RECORD, TOO_LONG
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

Tags = Mapping[str, tuple[str, ...]]

_RIS: Tags = {
    "text": ("AB", "N2"), "title": ("TI", "T1"), "authors": ("AU", "A1"), "year": ("PY", "Y1", "DA"),
    "venue": ("T2", "JO", "JF", "JA"), "doi": ("DO",), "url": ("UR",), "keywords": ("KW",), "id": ("AN", "ID"),
}  # fmt: skip
_RIS_LISTS = ("AU", "A1", "UR", "KW")
_RIS_BEGINS = re.compile(r"TY  -")
_RIS_LINE_END = re.compile(r"\n(?=[A-Z][A-Z0-9]  -)")
_NEXT_URL = re.compile(r"[;\s]\s*(?=https?://)")

_MEDLINE: Tags = {
    "text": ("AB",), "title": ("TI", "BTI"), "authors": ("FAU", "AU"), "year": ("DP",), "venue": ("JT", "TA"),
    "pmid": ("PMID",), "doi": ("LID", "AID"), "keywords": ("OT", "MH"),
}  # fmt: skip
_MEDLINE_LISTS = ("FAU", "AU", "CN", "LID", "AID", "OT", "MH")
_MEDLINE_BEGINS = re.compile(r"PMID- ")
_MEDLINE_LINE_END = re.compile(r"\n(?=[A-Z][A-Z0-9 ]{3}-[ \n])")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")

_SEPARATOR = "\x1e"
"""Parts the tags for rispy, so that a value keeps its line breaks: it would take quadratic time to join the lines."""

_CHUNK = 65_536


class _Ris(RisParser):
    def __init__(self, tags: Tags, lists: tuple[str, ...], options: Options) -> None:
        known = {tag for some in tags.values() for tag in some} | {tag.upper() for tag in options.fields}
        mapping = {tag: tag for tag in (*known, *lists, self.START_TAG)}
        super().__init__(
            mapping=mapping,
            list_tags=list(lists),
            delimiter_tags_mapping={},
            skip_unknown_tags=True,
            newline=_SEPARATOR,
        )

    def tags_of(self, record: str, line_end: re.Pattern[str]) -> dict[str, Any]:
        lines = line_end.sub(_SEPARATOR, record.replace(_SEPARATOR, " "))
        tags: dict[str, Any] = self.parse(f"{lines}{_SEPARATOR}{self.END_TAG}  - ")[0]
        return tags


class _Medline(_Ris):
    START_TAG = "PMID"

    def parse_line(self, line: str) -> tuple[str, str]:
        return line[:4].strip(), line[6:].strip()


def read_ris(text: TextIO, options: Options) -> Items:
    """Read RIS; `place` is `:line` of a record's `TY`. Raises `InputError` for a file that has none."""
    parser = _Ris(_RIS, _RIS_LISTS, options)
    line = 0
    for line, record in records_from(text, _RIS_BEGINS):
        if record is None:
            yield Skipped(f":{line}", TOO_LONG)
            continue
        tags = parser.tags_of(record, _RIS_LINE_END)
        given = _by_our_names(tags, _RIS)
        given["authors"] = [_suffix_before_given(name) for name in given.get("authors", [])]
        given["keywords"] = [word for value in given.get("keywords", []) for word in value.split("\n")]
        given["url"] = [url for value in given.get("url", []) for url in _NEXT_URL.split(value)]
        yield Raw(f":{line}", translate({**tags, **given}, options.fields))
    if not line:
        raise InputError("no RIS record is in it: no line begins with 'TY  - '")


def read_medline(text: TextIO, options: Options) -> Items:
    """Read PubMed's format; `place` is `#PMID`. Raises `InputError` for a file that has no record."""
    parser = _Medline(_MEDLINE, _MEDLINE_LISTS, options)
    line = 0
    for line, record in records_from(text, _MEDLINE_BEGINS):
        if record is None:
            yield Skipped(f":{line}", TOO_LONG)
            continue
        end = _BLANK_LINE.search(record)
        tags = parser.tags_of(record[: end.start()] if end else record, _MEDLINE_LINE_END)
        place = f"#{tags['PMID']}" if re.fullmatch(r"\d{1,9}", tags["PMID"]) else f":{line}"
        yield Raw(place, translate({**tags, **_medline_fields(tags)}, options.fields))
        if end and (behind := record[end.end() :].lstrip()):
            number = line + record.count("\n", 0, len(record) - len(behind))
            yield Skipped(f":{number}", "it does not begin with its PMID")
    if not line:
        raise InputError("no MEDLINE record is in it: no line begins with 'PMID- '")


def records_from(text: TextIO, begins: re.Pattern[str]) -> Iterator[tuple[int, str | None]]:
    """Return what stands from each line that `begins` a record to the next, with its line; None for one too long."""
    first, size, kept = 0, 0, StringIO()
    for number, part, is_line in _parts_of_lines(text):
        if is_line and begins.match(part):
            if first:
                yield first, kept.getvalue() if size <= MAX_RECORD else None
            first, size, kept = number, 0, StringIO()
        size += len(part)
        if first and size <= MAX_RECORD:
            kept.write(part)
    if first:
        yield first, kept.getvalue() if size <= MAX_RECORD else None


def without_brackets(title: str) -> str:
    """Return the title of a paper in another language, which PubMed puts in brackets, without them."""
    found = re.fullmatch(r"\[(.*)\](\.?)", title.strip(), re.S)
    if not found or re.search(r"[\[\]]", re.sub(r"\[[^\[\]]*\]", "", found[1])):
        return title
    return found[1] if found[1].endswith((".", "?", "!")) else found[1] + found[2]


def _parts_of_lines(text: TextIO) -> Iterator[tuple[int, str, bool]]:
    """Return each line in parts, with its number and whether the line begins with the part."""
    number, is_line = 1, True
    while part := text.readline(_CHUNK):
        yield number, part, is_line
        is_line = part.endswith("\n")
        number += is_line


def _by_our_names(tags: Mapping[str, Any], known: Tags) -> dict[str, Any]:
    found = {ours: next((tags[tag] for tag in theirs if tags.get(tag)), None) for ours, theirs in known.items()}
    return {ours: value for ours, value in found.items() if value}


def _medline_fields(tags: Mapping[str, Any]) -> dict[str, Any]:
    given = _by_our_names(tags, _MEDLINE)
    named = [*tags.get("LID", []), *tags.get("AID", [])]
    given["doi"] = next((name.removesuffix("[doi]").strip() for name in named if name.endswith("[doi]")), "")
    given["authors"] = [*given.get("authors", []), *tags.get("CN", [])]
    given["keywords"] = [word.replace("*", "") for word in (*tags.get("OT", []), *tags.get("MH", []))]
    given["title"] = without_brackets(given.get("title", ""))
    return given


def _suffix_before_given(name: str) -> str:
    """Turn RIS's `Family, Given, Jr.` into BibTeX's `Family, Jr., Given`."""
    parts = name.split(",")
    return f"{parts[0]},{parts[2]},{parts[1]}" if len(parts) == 3 else name
