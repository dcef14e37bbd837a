"""PubMed's XML and arXiv's Atom feeds. Records are cut out of the file and parsed alone, each without a document type.

So a broken record costs only itself, one that is cut off is never read as a whole, and no entity is ever expanded.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import TextIO

from lxml import etree  # type: ignore[import-untyped]

from rag.corpus.formats import Items, Options
from rag.corpus.formats.pieces import MAX_RECORD, TOO_LONG
from rag.corpus.formats.xml_records import from_atom, from_pubmed
from rag.corpus.record import Raw, Skipped
from rag.errors import InputError

_CHUNK = 65_536
_MOST_TAGS = 400_000
_LONGEST_MARK = 200
_PREFIX = r"(?:[\w.\-]{1,40}:)?"
_RECORDS = "PubmedArticle|PubmedBookArticle|entry"
_SETS = "PubmedArticleSet|PubmedBookArticleSet|feed"
_KNOWN = re.compile(rf"{_PREFIX}(?:{_RECORDS}|{_SETS})")

_PROLOG = re.compile(r"<\?|<!--|<!DOCTYPE|<(?P<root>[^\s<>/!?]{1,100})(?=[\s/>])")
_TAG = rf"<(?P<end>/?)(?P<name>{_PREFIX}(?:(?P<record>{_RECORDS})|{_SETS}))(?=[\s>]|/>)(?P<empty>\s{{0,9}}/>)?"
_MARK = re.compile(rf"<!--|<!\[CDATA\[|{_TAG}")
_ENDS = {"<?": re.compile(r"\?>"), "<!--": re.compile("-->"), "<![CDATA[": re.compile(r"\]\]>")}
_DOCTYPE_END = re.compile(r"[\[>]")
_SUBSET_END = re.compile(r"\]\s{0,40}>")

_ENTITY = re.compile(r"&([A-Za-z_][\w.\-]{0,60});")
_PREDEFINED = ("amp", "lt", "gt", "quot", "apos")
_KEY = re.compile(
    rf"<{_PREFIX}(?:PMID|id)(?:\s[^<>]{{0,99}})?>\s{{0,40}}(?:https?://arxiv\.org/abs/)?([^\s<>]{{1,99}})\s*<"
)


def read_xml(text: TextIO, _: Options) -> Items:
    """Read PubMed's and arXiv's records; `place` is `#PMID` or `#arXiv's number`, else `:line`.

    Raises `InputError` for a file that has another root element, or none.
    """
    scanner = _Scanner(text)
    _go_to_root(scanner)
    opened, line, sets = "", 0, 0
    while mark := scanner.pass_by(_MARK):
        name, record, is_end = mark["name"], mark["record"], bool(mark["end"])
        if not name:
            scanner.pass_by(_ENDS[mark[0]])
            continue
        if opened:
            closes = is_end and name == opened
            piece = scanner.take()
            yield _read(piece, line) if closes else Skipped(_place(piece, line), f"not XML: <{opened}> is not closed")
            opened = ""
            if closes:
                continue
        if record and not is_end and not mark["empty"]:
            opened, line = name, scanner.line
            scanner.begin(mark[0])
        elif not record and not mark["empty"]:
            sets += -1 if is_end else 1
    if opened:
        yield Skipped(f":{line}", f"the XML breaks off: <{opened}> is not closed", breaks_off=True)
    elif sets > 0:
        yield Skipped(f":{scanner.line}", "the XML breaks off: its root element is not closed", breaks_off=True)


class _Scanner:
    """Characters that are passed from mark to mark; those passed since `begin` are kept, up to a record's bound."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._ahead = ""
        self._at = 0
        self._kept: list[str] | None = None
        self._size = 0
        self.line = 1

    def reach(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go to the next match, or to the end of the file where there is none."""
        while not (found := pattern.search(self._ahead, self._at)):
            self._go(max(self._at, len(self._ahead) - _LONGEST_MARK))
            block = self._text.read(_CHUNK)
            if not block:
                self._go(len(self._ahead))
                return None
            self._ahead, self._at = self._ahead[self._at :] + block, 0
        self._go(found.start())
        return found

    def pass_by(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go behind the next match, or to the end of the file where there is none."""
        if found := self.reach(pattern):
            self._go(found.end())
        return found

    def begin(self, opening: str) -> None:
        """Keep what is passed from here on, behind `opening`."""
        self._kept, self._size = [opening], len(opening)

    def take(self) -> str | None:
        """Return what was kept, or None if that is too long, and keep no more."""
        piece = "".join(self._kept or []) if self._size <= MAX_RECORD else None
        self._kept = None
        return piece

    def _go(self, to: int) -> None:
        passed = self._ahead[self._at : to]
        self._at = to
        self.line += passed.count("\n")
        self._size += len(passed)
        if self._kept is not None and self._size <= MAX_RECORD:
            self._kept.append(passed)


def _go_to_root(scanner: _Scanner) -> None:
    while (mark := scanner.reach(_PROLOG)) and not mark["root"]:
        scanner.pass_by(_PROLOG)
        if mark[0] != "<!DOCTYPE":
            scanner.pass_by(_ENDS[mark[0]])
        elif (inside := scanner.pass_by(_DOCTYPE_END)) and inside[0] == "[":
            scanner.pass_by(_SUBSET_END)
    if not mark:
        raise InputError("not XML: it has no element")
    if not _KNOWN.fullmatch(mark["root"]):
        raise InputError(f"its root element <{mark['root']}> is neither PubMed's PubmedArticleSet nor an Atom feed")


def _place(piece: str | None, line: int) -> str:
    found = _KEY.search(piece or "")
    return f"#{found[1]}" if found else f":{line}"


def _read(piece: str | None, line: int) -> Raw | Skipped:
    if piece is None:
        return Skipped(f":{line}", TOO_LONG)
    place = _place(piece, line)
    if piece.count("<") + piece.count("=") > _MOST_TAGS:  # a tree is much larger than its text
        return Skipped(place, f"it has more than {_MOST_TAGS:,} tags and attributes")
    unknown = next((found[0] for found in _ENTITY.finditer(piece) if f"{found[1]};" not in html5), None)
    if unknown:
        return Skipped(place, f"it uses the entity {unknown}, and those that a file defines are not expanded")
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True, recover=True, encoding="utf-8",
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    content = _ENTITY.sub(_by_number, piece) + ">"  # the mark that ends a record ends before the bracket
    root = etree.fromstring(content.encode("utf-8", "replace"), parser)
    fatal = next((error for error in parser.error_log if error.level_name == "FATAL"), None)
    if root is None or fatal:
        told = re.sub(r" line \d+|, use .*", "", fatal.message).strip() if fatal else "it has no element"
        return Skipped(place, f"not XML: {told} (line {line + fatal.line - 1 if fatal else line})")
    for node in root.iter():
        local = re.split("[}:]", node.tag)[-1]
        node.tag = local if local.isidentifier() else "other"
    if root.tag == "entry" and "/api/errors" in place:
        return Skipped(place, f"arXiv's report of an error: {from_atom(root)['text']}")
    return Raw(place, from_atom(root) if root.tag == "entry" else from_pubmed(root))


def _by_number(entity: re.Match[str]) -> str:
    """Write an entity of HTML as XML can read it without a document type."""
    if entity[1] in _PREDEFINED:
        return entity[0]
    return "".join(f"&#{ord(character)};" for character in html5[f"{entity[1]};"])
