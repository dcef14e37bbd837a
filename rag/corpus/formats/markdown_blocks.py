"""Markdown's front matter, and its headings and paragraphs one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import yaml  # type: ignore[import-untyped]

from rag.corpus.formats.json_shapes import is_deep
from rag.corpus.formats.pieces import COST_OF_LINE, MAX_RECORD

_ATX = re.compile(r" {0,3}(#{1,6})(?=\s|$)")
_CLOSING_HASHES = re.compile(r"(?:^|\s)#+$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MAX_UNDERLINED = 300
_MAX_FRONT_MATTER = 65_536


@dataclass(frozen=True, slots=True)
class Block:
    """A heading with its level, or a paragraph: level 0; `is_long` of one that was too long to hold."""

    level: int
    lines: tuple[str, ...]
    is_long: bool = False

    @property
    def size(self) -> int:
        """How many characters it counts for."""
        return MAX_RECORD + 1 if self.is_long else sum(len(line) + COST_OF_LINE for line in self.lines)


def blocks(lines: Iterable[str | None]) -> Iterator[Block]:
    """Return the headings and the paragraphs of lines, where None is a line too long."""
    held = _Held()
    fence = ""
    for line in lines:
        if line is None or fence:
            held.add(line)
            closes = line is not None and line.strip().startswith(fence) and not line.strip().strip(fence[:1])
            fence = "" if closes else fence
        elif opened := _FENCE.match(line):
            fence = opened[1]
            held.add(line)
        elif found := _ATX.match(line):
            yield from held.taken()
            held = _Held()
            yield Block(len(found[1]), (_CLOSING_HASHES.sub("", line[found.end() :].strip()).strip(),))
        elif held.is_underlined_by(line):
            yield Block(1 if "=" in line else 2, tuple(held.lines))
            held = _Held()
        elif not line.strip() or _RULE.match(line):
            yield from held.taken()
            held = _Held()
        else:
            held.add(line)
    yield from held.taken()


def front_matter(lines: Iterator[str | None]) -> tuple[dict[str, Any] | str, Iterable[str | None]]:
    """Return front matter, or what is wrong with it, and the lines behind; nothing and all lines if it is none."""
    held: list[str | None] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line) if line is not None else MAX_RECORD
        if size > _MAX_FRONT_MATTER:
            break
        if line is not None and line.rstrip() in ("---", "..."):
            front = _from_yaml("".join(one or "" for one in held[:-1]))
            return ({}, chain(held, lines)) if front is None else (front, lines)
    return {}, chain(held, lines)


class _WithoutAliases(yaml.BaseLoader):  # type: ignore[misc]
    """YAML with all values as text, as an arXiv number needs, and without aliases, which can make a little much."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="an alias is in it", problem_mark=self.peek_event().start_mark)
        return super().compose_node(parent, index)


def _from_yaml(text: str) -> dict[str, Any] | str | None:
    """Return names and values, or what is wrong with them, or None for text that is no front matter."""
    try:
        front = yaml.load(text, _WithoutAliases)  # noqa: S506 (it makes text, lists and mappings alone)
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return f"its front matter is not YAML: {error.problem}{line}"
    except (yaml.YAMLError, RecursionError, ValueError):
        return "its front matter is not YAML"
    if not isinstance(front, dict):
        return None
    return {name: value for name, value in front.items() if value not in ("", "~", "null") and not is_deep(value)}


class _Held:
    """The lines of a paragraph so far."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._size = 0

    def add(self, line: str | None) -> None:
        self._size += len(line) + COST_OF_LINE if line is not None else MAX_RECORD + 1
        if self._size > MAX_RECORD:
            self.lines = []
        elif line is not None:
            self.lines.append(line.strip())

    def is_underlined_by(self, line: str) -> bool:
        is_short = len(self.lines) == 1 and len(self.lines[0]) <= _MAX_UNDERLINED
        return is_short and _UNDERLINE.match(line) is not None

    def taken(self) -> Iterator[Block]:
        if self.lines or self._size > MAX_RECORD:
            yield Block(0, tuple(self.lines), is_long=self._size > MAX_RECORD)
