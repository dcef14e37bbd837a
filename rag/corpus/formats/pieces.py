"""Cuts a stream of characters into lines or into JSON values, and never holds more than one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

MAX_RECORD = 16_000_000
"""A record of more characters is none: a quote or a bracket of it was never closed, or it is no text."""

TOO_LONG = f"it is too long for a record (at most {MAX_RECORD:,} characters)"

COST_OF_LINE = 50
"""A line that is held counts for so many characters more: a million of short ones are not small."""

_CHUNK = 65_536
_NOT_SPACE = re.compile(r"\S")
_BARE = re.compile(r'[^\s,:\[\]{}"]*')
_MAX_BARE = 1_000

# A string ends at its line's end too: JSON allows no line break in one, so a quote too many costs one line
_IN_STRING = re.compile(r'(?:[^"\\\n]++|\\.)*+', re.S)
_TO_BRACKET = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\\n]++|\\.)*+["\n])*+', re.S)
_OPENING = re.compile(r"[\[{]*")
_CLOSING = re.compile(r"[\]}]*")


def bounded_lines(text: TextIO) -> Iterator[str | None]:
    """Return each line with its end, or None for a line of more than `MAX_RECORD` characters."""
    while line := text.readline(MAX_RECORD + 1):
        if len(line) <= MAX_RECORD:
            yield line
            continue
        while line and not line.endswith("\n"):
            line = text.readline(_CHUNK)
        yield None


class JsonStream:
    """JSON's characters, taken one value at a time; values that are no JSON inside have their bounds all the same."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._chunk = ""
        self._at = 0
        self._nesting = _Nesting()

    def next(self) -> str:
        """Return the next character that is not white space, without taking it, or nothing at the end."""
        while not (found := _NOT_SPACE.search(self._chunk, self._at)):
            self._at = len(self._chunk)
            if not self._more():
                return ""
        self._at = found.start()
        return found[0]

    def skip(self) -> None:
        """Take one character."""
        self._at += 1

    def value(self) -> tuple[str, bool]:
        """Take the string, object or array that comes next: its characters, and whether they are all of it."""
        self._nesting = _Nesting()
        parts, size = [], 0
        if self._chunk[self._at] == '"':
            self._nesting.is_in_string = True
            parts.append('"')
            self._at += 1
        while True:
            end = self._nesting.follow(self._chunk, self._at)
            parts.append(self._chunk[self._at : end])
            size += end - self._at
            self._at = end
            if self._nesting.is_closed or size > MAX_RECORD or not self._more():
                return "".join(parts), self._nesting.is_closed

    def skip_rest(self) -> bool:
        """Take what is left of the value that was taken last, and tell whether it came to an end."""
        while not self._nesting.is_closed:
            if not self._more():
                return False
            self._at = self._nesting.follow(self._chunk, self._at)
        return True

    def bare(self) -> str:
        """Take a number, `true`, or whatever else stands without quotes; of a long one the beginning."""
        taken = ""
        while len(taken) < _MAX_BARE:
            found = _BARE.match(self._chunk, self._at)
            taken += found[0] if found else ""
            self._at = found.end() if found else self._at
            if self._at < len(self._chunk) or not self._more():
                break
        return taken[:_MAX_BARE]

    def put_back(self, taken: str) -> None:
        """Have `taken` come next again."""
        self._chunk, self._at = taken + self._chunk[self._at :], 0

    def _more(self) -> bool:
        read = self._text.read(_CHUNK)
        self._chunk, self._at = self._chunk[self._at :] + read, 0
        return bool(read)


class _Nesting:
    """How deep the brackets go so far, from the first one of a value to the one that closes it."""

    def __init__(self) -> None:
        self.depth = 0
        self.is_in_string = False
        self.is_closed = False

    def follow(self, chunk: str, at: int) -> int:
        """Return where the value ends in `chunk`, else up to where `chunk` has been followed."""
        while at < len(chunk) and not self.is_closed:
            if self.is_in_string:
                at = _end(_IN_STRING, chunk, at)
                if chunk[at : at + 1] in ("", "\\"):  # the character behind a last backslash is yet to come
                    return at
                self.is_in_string = False
                at += 1
            else:
                at = self._follow_brackets(chunk, _end(_TO_BRACKET, chunk, at))
            self.is_closed = self.depth == 0 and not self.is_in_string
        return at

    def _follow_brackets(self, chunk: str, at: int) -> int:
        if chunk[at : at + 1] == '"':
            self.is_in_string = True
            return at + 1
        opened = _end(_OPENING, chunk, at)
        self.depth += opened - at
        closed = min(_end(_CLOSING, chunk, opened), opened + self.depth)
        self.depth -= closed - opened
        return closed


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
