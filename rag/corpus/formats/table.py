"""CSV and its kin with a header: tables of Scopus, Web of Science, Zotero or spreadsheets, with tab, comma or `;`."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from typing import TextIO

from rag.corpus.fields import translate
from rag.corpus.formats import Items, Options
from rag.corpus.formats.pieces import COST_OF_LINE, MAX_RECORD, TOO_LONG, bounded_lines
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

_DELIMITERS = ("\t", ",", ";")
_FULLER = {"author full names": "authors", "af": "au"}
"""Columns of Scopus and Web of Science that say what another one says, and say it in full."""

_NO_ABSTRACT = "[no abstract available]"
_MAX_LINES = 10_000
_MAX_READ_AGAIN = 200_000_000
"""Lines of broken rows are read again up to so many characters: a hostile file would have it done without end."""

_COLUMNS_NAMED, _CHARACTERS_NAMED = 40, 60


class _RowError(Exception):
    pass


def read_table(text: TextIO, options: Options) -> Items:
    """Return the record of each row; `place` is `:line`, where the row begins.

    Raises `InputError` where the first row names no column that holds the abstract.
    """
    csv.field_size_limit(MAX_RECORD)
    lines = _Lines(text)
    header, delimiter = _header(lines, options)
    for number, row in _rows(lines, delimiter, len(header)):
        if isinstance(row, str):
            yield Skipped(f":{number}", row, breaks_off=lines.is_lost)
        elif any(cell.strip() for cell in row):
            yield Raw(f":{number}", translate(_named(header, row), options.fields))


def _header(lines: _Lines, options: Options) -> tuple[list[str], str]:
    first = next((line for line in lines if line is None or line.strip()), None) or ""
    readings = [(next(csv.reader([first], delimiter=delimiter), []), delimiter) for delimiter in _DELIMITERS]
    header, delimiter = max(readings, key=lambda reading: len(reading[0]))
    header = [name.strip() for name in header]
    if "text" not in translate(dict.fromkeys(header, "any"), options.fields):
        names = ", ".join(name[:_CHARACTERS_NAMED] for name in header[:_COLUMNS_NAMED] if name)
        raise InputError(f"no column holds the abstract; its columns are {names or 'none'} (--field text=COLUMN)")
    return header, delimiter


def _rows(lines: _Lines, delimiter: str, columns: int) -> Iterator[tuple[int, list[str] | str]]:
    """Return the line and the cells of each row, or what is wrong with it."""
    is_mending = False
    while not lines.is_lost:
        number = lines.number + 1
        try:
            row = next(csv.reader(lines.of_a_row(), delimiter=delimiter, strict=True), None)
            if row is None:
                return
            _check_width(row, columns, is_mending)
            yield number, row
            is_mending = is_mending and not row
        except (csv.Error, _RowError) as error:
            unquoted = lines.taken[0].rstrip("\n").split(delimiter) if delimiter == "\t" and lines.taken[0] else []
            lines.take_back()
            reason = f"not CSV: {error}" if isinstance(error, csv.Error) else str(error)
            is_mending = len(unquoted) != columns
            yield number, reason if is_mending else unquoted


def _check_width(row: list[str], columns: int, is_mending: bool) -> None:
    """Raises `_RowError` for a row too wide, and behind a broken one for one too narrow: it is a part of that."""
    if any(row[columns:]) or (is_mending and 0 < len(row) < columns):
        raise _RowError(f"has {len(row)} columns, the header has {columns}")


def _named(header: list[str], row: list[str]) -> dict[str, str]:
    """Return the cells that say something by their columns' names; of two columns of one name, the first."""
    given: dict[str, str] = {}
    for name, cell in zip(header, row, strict=False):
        if cell.strip() and cell.strip().casefold() != _NO_ABSTRACT:
            given.setdefault(name.casefold(), cell)
    for fuller, other in _FULLER.items():
        if fuller in given and other in given:
            given[other] = given[fuller]
    return given


class _Lines:
    """A file's lines, of which those that an unfinished row has taken can be taken again, but for its first."""

    def __init__(self, text: TextIO) -> None:
        self.number = 0
        self.taken: list[str | None] = []
        self.is_lost = False
        self._lines = bounded_lines(text)
        self._again: deque[str | None] = deque()
        self._read_again = 0

    def __iter__(self) -> Iterator[str | None]:
        return self

    def __next__(self) -> str | None:
        line = self._again.popleft() if self._again else next(self._lines)
        self.number += 1
        return line

    def of_a_row(self) -> Iterator[str]:
        """Return lines as long as they are wanted. Raises `_RowError` where they cannot be of one row any more."""
        self.taken, size = [], 0
        for line in self:
            self.taken.append(line)
            size += len(line) if line is not None else MAX_RECORD + 1
            if line is None or size > MAX_RECORD or len(self.taken) > _MAX_LINES:
                raise _RowError(TOO_LONG if len(self.taken) == 1 else "a quote in it is never closed")
            yield line

    def take_back(self) -> None:
        """Have all taken lines but the first come next again, unless that has been done too much."""
        rest = self.taken[1:]
        self._read_again += sum(len(line or "") + COST_OF_LINE for line in rest)
        self.is_lost = self._read_again > _MAX_READ_AGAIN
        self._again.extendleft(reversed(rest))
        self.number -= len(rest)
