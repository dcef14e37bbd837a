"""BibTeX: entries are cut apart by the lines that begin them, so that a broken one costs only itself."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TextIO

from bibtexparser.model import Block, DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry, ParsingFailedBlock, String
from bibtexparser.splitter import Splitter

from rag.corpus.characters import from_bibtex
from rag.corpus.fields import MAX_AUTHORS, MAX_CHARACTERS, translate
from rag.corpus.formats import Items, Options
from rag.corpus.formats.pieces import MAX_RECORD, TOO_LONG
from rag.corpus.formats.tagged import records_from
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what is broken is told by its place

_BEGINS = re.compile(r"[\s%]*@\w+\s*[{(]")
_KEY = re.compile(r"\s*@\w+\s*[{(]\s*([^\s,{}\"]{1,200}?)\s*[,}]")
_NO_RECORD = re.compile(r"\s*@(?:comment|preamble)\b", re.I)
_MARK = re.compile(r'(?<!\\)[{}"#]')
_AND = re.compile(r"(?<!\\)[{}]|\s+and\s+", re.I)
_MAX_STRING = 10_000
_MAX_NAME = 500
_MOST_MARKS = 500_000
_REASONS = (
    ("end of file", "a brace or a quote in it is not closed"),
    ("Unexpected block start", "a brace or a quote in it is not closed"),
    ("after entry key", "a field in it has no '='"),
)
_EPRINTS = {"arxiv": "arxiv", "pubmed": "pmid"}


class _BrokenError(ValueError):
    """A value of a field is none; the message says why."""


def read_bibtex(text: TextIO, options: Options) -> Items:
    """Read BibTeX; `place` is `#key`. Raises `InputError` for a file that has no entry."""
    strings: dict[str, str] = {}
    line = 0
    for line, piece in records_from(text, _BEGINS):
        if piece is None:
            yield Skipped(f":{line}", TOO_LONG)
        elif sum(map(piece.count, '={}",')) + 10 * piece.count("@") > _MOST_MARKS:  # the parser keeps much for each
            yield Skipped(f":{line}", "it has too many braces, quotes, commas or '=' for an entry")
        elif not piece.lstrip().startswith("%"):
            for block in Splitter(piece).split().blocks:
                yield from _read(block, line, strings, options)
    if not line:
        raise InputError("no BibTeX entry is in it")


def _read(block: Block | None, line: int, strings: dict[str, str], options: Options) -> Items:
    if isinstance(block, DuplicateFieldKeyBlock | DuplicateBlockKeyBlock):
        yield from _read(block.ignore_error_block, line, strings, options)
        return
    if block is None:
        return
    place = _place(block, line)
    try:
        if isinstance(block, Entry):
            yield Raw(place, _fields(block, strings, options))
        elif isinstance(block, String):
            strings[block.key.lower()] = _resolved("value", block.value, strings, _MAX_STRING)
        elif isinstance(block, ParsingFailedBlock) and not _NO_RECORD.match(block.raw or ""):
            raise _BrokenError(_reason(block))
    except _BrokenError as error:
        yield Skipped(place, f"not BibTeX: {error}")


def _place(block: Block, line: int) -> str:
    found = _KEY.match(block.raw or "")
    return f"#{found[1]}" if found else f":{line + (block.start_line or 0)}"


def _reason(block: ParsingFailedBlock) -> str:
    told = str(getattr(block.error, "abort_reason", block.error))
    return next((reason for part, reason in _REASONS if part in told), told[:200])


def _fields(entry: Entry, strings: Mapping[str, str], options: Options) -> dict[str, Any]:
    values: dict[str, str] = {}
    for field in entry.fields:
        values.setdefault(field.key.lower(), _resolved(field.key, field.value, strings, MAX_RECORD))
    values.pop("key", None)  # BibTeX sorts by it
    _name_eprint(values)
    return {ours: _plain(ours, value) for ours, value in translate(values, options.fields).items()}


def _resolved(name: str, value: str, strings: Mapping[str, str], most: int) -> str:
    """Return a value such as `"a" # name # {b}` without its quotes and braces, and with the strings that it names."""
    parts, size = [], 0
    for part in _concatenated(value):
        if part is None:
            raise _BrokenError(f"a comma is missing behind its {name}")
        bare = part[1:-1] if part[:1] in ("{", '"') else strings.get(part.lower(), part)
        size += len(bare)
        if size > most:
            raise _BrokenError(f"its {name} has more than {most:,} characters")
        parts.append(bare)
    return "".join(parts)


def _concatenated(value: str) -> Iterator[str | None]:
    """Return the parts of a value between `#`; None for one that is neither a word nor all in quotes or in braces."""
    start, depth, is_quoted, closed = 0, 0, False, 0
    for mark in _MARK.finditer(value):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif mark[0] == '"' and depth == 0:
            is_quoted = not is_quoted
        if depth == 0 and not is_quoted:
            if mark[0] == "#":
                yield _part(value, start, closed, mark.start())
                start = mark.end()
            elif closed <= start:
                closed = mark.end()
    yield _part(value, start, closed, len(value))


def _part(value: str, start: int, closed: int, end: int) -> str | None:
    part = value[start:end].strip()
    if part[:1] in ("{", '"'):
        return None if value[closed:end].strip() else part
    return None if re.search(r"\s", part) else part


def _name_eprint(values: dict[str, str]) -> None:
    """Put the number of an eprint where it belongs: not each is arXiv's."""
    archive = values.get("archiveprefix") or values.get("eprinttype")
    number = values.pop("eprint", "") if archive else ""
    if archive and archive.lower() in _EPRINTS:
        values.setdefault(_EPRINTS[archive.lower()], number)


def _plain(ours: str, value: str) -> str | list[str]:
    value = " ".join(value.split())
    if ours == "authors":
        return [from_bibtex(name) for name in islice(_names(value), MAX_AUTHORS) if len(name) <= _MAX_NAME]
    if len(value) > MAX_CHARACTERS:  # too much to be an abstract, as to_record will say
        return value
    if ours in ("text", "title", "venue", "keywords"):
        return from_bibtex(value)
    return re.sub(r"\\([_%&#~$])", r"\1", re.sub(r"\\url\b|[{}]", "", value)).strip()


def _names(value: str) -> Iterator[str]:
    """Return the names between `and`, but not those in braces: `{Barnes and Noble}` is one."""
    start, depth = 0, 0
    for found in _AND.finditer(value):
        if found[0] in "{}":
            depth += 1 if found[0] == "{" else -1
        elif depth <= 0:
            yield value[start : found.start()]
            start = found.end()
    yield value[start:]
