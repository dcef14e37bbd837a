"""Markdown: a record below each heading, the one record of a file with front matter, or a record a paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TextIO

from rag.corpus.characters import from_html
from rag.corpus.fields import NAMES, translate
from rag.corpus.formats import Items, Options
from rag.corpus.formats.markdown_blocks import Block, blocks, front_matter
from rag.corpus.formats.pieces import MAX_RECORD, TOO_LONG, bounded_lines
from rag.corpus.formats.text import MAX_HEADING_CHARACTERS
from rag.corpus.record import Raw, Skipped

_MAX_PREAMBLE = 1_000_000
"""A file with no heading in so many characters has none: each of its paragraphs is a record."""

_UNLABELLED = {"abstract", "summary"}
_SECTIONS = {*_UNLABELLED, "materials and methods"} | set(
    "aim aims background conclusion conclusions design discussion findings introduction method methods objective "
    "objectives purpose result results".split()
)
_ASIDES = {"table of contents"} | set(
    "acknowledgements acknowledgments author authors bibliography bibtex citation contents funding keywords links "
    "notes references".split()
)

_FIELD_NAMES = {name: ours for ours, names in NAMES.items() for name in names if len(name) > 2}
_FIELD = re.compile(r"\s*(?:[-*+]\s+)?[*_]{0,3}([^\W\d_][\w ./\-]{0,30}?)[*_]{0,3}\s*:\s*[*_]{0,3}(?!//)\s*(.*)")
_LINK = re.compile(r"\[([^\[\]]{1,2000})\]\(<?([^()<>\s]{1,2000})>?\)")
_WRAPPED = re.compile(r"^([*_`]{1,3})([^*_`]+)\1$")
_NUMBERING = re.compile(r"^[\d.\s]{0,20}")


def read_markdown(text: TextIO, options: Options) -> Items:
    """Return the records of a file; `place` is `#number`, counted from 1."""
    lines = bounded_lines(text)
    first = next(lines, "")
    body: Iterable[str | None] = chain([first], lines)
    front: dict[str, Any] | str = {}
    if first is not None and first.rstrip() == "---":
        front, body = front_matter(lines)
    if isinstance(front, str):
        yield Skipped("#1", front, breaks_off=True)
        return
    file = _File(options, front)
    for block in () if "text" in translate(front, options.fields) else blocks(body):
        yield from file.heading(block) if block.level else file.paragraph(block)
    yield from file.end()


class _Record:
    """What has been read of a record: its fields as the file names them, and its text."""

    def __init__(self, level: int, options: Options, given: dict[str, Any]) -> None:
        self.level = level
        self.given = given
        self.texts: list[str] = []
        self.section = ""
        self.is_long = False
        self._options = options
        self._size = 0

    def add(self, block: Block) -> None:
        """Add a paragraph to the text, or the fields that it begins with where there is no text yet."""
        self._size += block.size
        self.is_long = self._size > MAX_RECORD
        if self.is_long:
            self.texts = []
        elif self.section in _ASIDES:
            if self.section in _FIELD_NAMES:
                self.given.setdefault(self.section, " ".join(block.lines))
        else:
            self._add_text(block.lines)

    def fields(self) -> dict[str, Any]:
        """Return the fields under the product's names."""
        text = {"text": from_html(" ".join(self.texts))} if self.texts else {}
        return translate(self.given, self._options.fields) | text

    def _add_text(self, lines: tuple[str, ...]) -> None:
        rest = list(lines)
        while rest and not self.texts and (field := self._field(rest[0])):
            name, value = field
            if (self._options.fields.get(name) or _FIELD_NAMES.get(name)) == "text":
                rest[0] = value
                break
            self.given.setdefault(name, value.strip("*_\\ "))
            rest.pop(0)
        if rest and not self.texts and _plain(rest[0]) in _UNLABELLED:
            rest.pop(0)
        text = " ".join(rest).strip()
        if text and self.section and self.section not in _UNLABELLED:
            text = f"{self.section.upper()}: {text}"
        self.section = "" if text else self.section
        self.texts += [text] if text else []

    def _field(self, line: str) -> tuple[str, str] | None:
        found = _FIELD.match(line)
        name = found[1].casefold() if found else ""
        if not found or not (name in _FIELD_NAMES or name in self._options.fields):
            return None
        return name, _LINK.sub(r"\2" if _FIELD_NAMES.get(name) == "url" else r"\1", found[2]).strip("<>")


class _File:
    """What has been read of a file: its heading, and the record that is open."""

    def __init__(self, options: Options, front: dict[str, Any]) -> None:
        self._options = options
        self._record = _Record(0, options, front) if front else None
        self._has_front = bool(front)
        self._heading = ""
        self._number = 0
        self._preamble: list[Block] | None = None if front else []
        self._preamble_size = 0

    def heading(self, block: Block) -> Iterator[Raw | Skipped]:
        """Begin a section of the open record, or a new record."""
        title = block.lines[0]
        name = _plain(title)
        yield from self._preamble_ends(is_listed=False)
        if self._record and (name in _SECTIONS or name in _ASIDES):
            self._record.section = name
        elif self._record and self._has_front and self._record.texts:
            self._record.section = "notes"  # front matter is of one record, and this is not its abstract
        elif not (self._record and self._has_front and self._is_its_title(title)):
            yield from self._record_ends(block.level)
            self._has_front = False
            self._record = _Record(block.level, self._options, _titled(title))
            if name in _SECTIONS or name in _ASIDES:
                self._record.given, self._record.section = {}, name

    def paragraph(self, block: Block) -> Iterator[Raw | Skipped]:
        """Add a paragraph to the open record, or hold it until it is known whether the file has headings."""
        if self._record:
            self._record.add(block)
            return
        if self._preamble is None:
            yield self._listed(block)
            return
        self._preamble.append(block)
        self._preamble_size += block.size
        if self._preamble_size > _MAX_PREAMBLE:
            yield from self._preamble_ends(is_listed=True)

    def end(self) -> Iterator[Raw | Skipped]:
        yield from self._preamble_ends(is_listed=True)
        yield from self._record_ends(0)

    def _is_its_title(self, title: str) -> bool:
        own = self._record.given.setdefault("title", title) if self._record else ""
        return _plain(str(own)) == _plain(title)

    def _preamble_ends(self, is_listed: bool) -> Iterator[Raw | Skipped]:
        held, self._preamble = self._preamble or [], None
        if held and len(held[0].lines) == 1 and len(held[0].lines[0]) <= MAX_HEADING_CHARACTERS:
            self._heading = held.pop(0).lines[0]
        if is_listed:
            yield from map(self._listed, held)
        elif held:
            self._number += 1
            yield Skipped(f"#{self._number}", "it stands above the first heading")

    def _listed(self, block: Block) -> Raw | Skipped:
        record = _Record(0, self._options, {})
        record.add(block)
        return self._item(record)

    def _record_ends(self, next_level: int) -> Iterator[Raw | Skipped]:
        record = self._record
        if not record:
            return
        title = str(record.given.get("title", ""))
        if record.texts or record.is_long:
            yield self._item(record)
        elif next_level > record.level:
            self._heading = self._heading or title
        elif record.given:
            yield self._item(record)

    def _item(self, record: _Record) -> Raw | Skipped:
        self._number += 1
        if record.is_long:
            return Skipped(f"#{self._number}", TOO_LONG)
        return Raw(f"#{self._number}", record.fields(), self._heading, is_clean=True)


def _titled(title: str) -> dict[str, Any]:
    link = _LINK.fullmatch(title)
    given = {"title": _WRAPPED.sub(r"\2", link[1] if link else title)}
    return given | {"url": link[2]} if link else given


def _plain(heading: str) -> str:
    return _NUMBERING.sub("", heading.strip("*_` ")).strip("*_`:. ").casefold()
