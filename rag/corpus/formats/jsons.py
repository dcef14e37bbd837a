"""JSON: a record a line, or an array, an object or a mere sequence of records, in the shapes that sources export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

from rag.corpus.formats import Items, Options
from rag.corpus.formats.json_shapes import Found, fields_of, records_in, text_names
from rag.corpus.formats.pieces import TOO_LONG, JsonStream, bounded_lines
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ATOM = re.compile(r"true|false|null|NaN|-?Infinity|-?\d[\d.eE+\-]*")
_CITABLE = re.compile(r"[^\s#]{1,200}")

# Both bound how often a hostile file is read again
_LEVELS = 4
_MENDS = 20


@dataclass(frozen=True, slots=True)
class _Lost:
    reason: str
    breaks_off: bool = False


_BROKEN_OFF = _Lost("not JSON: it breaks off", breaks_off=True)


def read_jsonl(text: TextIO, options: Options) -> Items:
    """Return the record of each line; `place` is `:line`."""
    for number, line in enumerate(bounded_lines(text), 1):
        if line is None:
            yield Skipped(f":{number}", TOO_LONG)
        elif line.strip():
            value = _parse(line)
            if isinstance(value, _Lost):
                yield Skipped(f":{number}", value.reason)
            elif isinstance(value, dict):
                yield Raw(f":{number}", fields_of(Found("", value), options))
            else:
                yield Skipped(f":{number}", "not an object")


def read_json(text: TextIO, options: Options) -> Items:
    """Return the records of a file wherever they lie in it; `place` is `#key`, or `#number` of one that has none.

    Raises `InputError` for a file that begins neither an array nor an object.
    """
    stream = JsonStream(text)
    if (first := stream.next()) and first not in "[{":
        raise InputError(f"not JSON: it begins with {first!r}")
    for number, item in enumerate(_Walk(stream, text_names(options)).items(), 1):
        if isinstance(item, _Lost):
            yield Skipped(f"#{number}", item.reason, item.breaks_off)
        else:
            fields = fields_of(item, options)
            yield Raw(f"#{_own_key(fields) or number}", fields)


def _own_key(fields: Mapping[str, Any]) -> str:
    """Return what a record is called in its source, if that can stand in a citation."""
    keys = (str(fields[name]) for name in ("id", "doi") if isinstance(fields.get(name), str | int))
    return next((key for key in keys if _CITABLE.fullmatch(key) and key.isprintable()), "")


class _Walk:
    """Goes through a file's arrays, and through an object of it that is broken or too long to be one record."""

    def __init__(self, stream: JsonStream, texts: frozenset[str]) -> None:
        self._stream = stream
        self._texts = texts
        self._key = ""
        self._mends = 0
        self._around: list[str] = []
        self._troubles: list[str] = []

    def items(self) -> Iterator[Found | _Lost]:
        while char := self._stream.next():
            if char in ",:":
                self._stream.skip()
            elif char in "]}":
                yield from self._leave()
            elif char == "[" and "[" not in self._around:
                self._enter(char, "")
            else:
                for item in self._container(char) if char in "[{" else self._scalar(char):
                    yield item
                    if isinstance(item, _Lost) and item.breaks_off:
                        return
        if self._around:
            yield _BROKEN_OFF

    def _enter(self, bracket: str, trouble: str) -> None:
        self._key = ""
        self._stream.skip()
        self._around.append(bracket)
        self._troubles.append(trouble)

    def _leave(self) -> Iterator[_Lost]:
        self._stream.skip()
        if self._around:
            self._around.pop()
            if trouble := self._troubles.pop():
                yield _Lost(trouble)

    def _container(self, bracket: str) -> Iterator[Found | _Lost]:
        taken, is_whole = self._stream.value()
        value = _parse(taken) if is_whole else _Lost(TOO_LONG)
        if not isinstance(value, _Lost):
            yield from self._records(value)
        elif "[" in self._around:
            yield self._lost_element(taken, is_whole, value)
        elif bracket == "{" and len(self._around) < _LEVELS:
            self._stream.put_back(taken)
            self._enter(bracket, value.reason)
        else:
            yield value if is_whole or self._stream.skip_rest() else _BROKEN_OFF

    def _lost_element(self, taken: str, is_whole: bool, lost: _Lost) -> _Lost:
        """Go on behind a broken element: where its brackets close, or at a line that looks like the next one."""
        next_one = taken.find("\n{")
        if next_one > 0 and self._mends < _MENDS:
            self._mends += 1
            self._stream.put_back(taken[next_one:])
            error = _parse(taken[:next_one])
            return error if isinstance(error, _Lost) else lost
        return lost if is_whole or self._stream.skip_rest() else _BROKEN_OFF

    def _scalar(self, first: str) -> Iterator[_Lost]:
        is_element = self._around[-1:] == ["["]
        if first == '"':
            self._key = self._stream.value()[0][1:-1]
            self._stream.skip_rest()
        elif not _ATOM.fullmatch(found := self._stream.bare()) and (is_element or not self._around):
            yield _Lost(f"not JSON: unexpected {found[:20]!r}", breaks_off=True)
            return
        if is_element:
            yield _Lost("not an object")

    def _records(self, value: Any) -> Iterator[Found | _Lost]:
        found = records_in(value, self._key, self._texts)
        if found:
            self._troubles = [""] * len(self._troubles)
            yield from found
        elif "{" not in self._around:
            yield Found("", value) if isinstance(value, dict) else _Lost("not an object")
        self._key = ""


def _parse(text: str) -> Any:
    """Return JSON's value, or what is wrong with it as `_Lost`."""
    try:
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):  # half a pair is no character, and nothing could write it
            value = _DECODER.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode())
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} of it, " if error.lineno > 1 else ""
        return _Lost(f"not JSON: {error.msg.removesuffix(' at')} at {line}column {error.colno}")
    except RecursionError:
        return _Lost("its brackets are nested too deep")
    except ValueError:
        return _Lost("not JSON: it has a number of thousands of digits")
    return value
