"""Bytes to characters: files' encodings, HTML's entities and tags, LaTeX's escapes."""

from __future__ import annotations

import codecs
import html
import io
import re
import unicodedata
from typing import BinaryIO, TextIO

from pylatexenc.latex2text import LatexNodes2Text

from rag.errors import InputError

_MARK = 0x10FF00
"""A byte that is no character of its encoding is read as this private character plus the byte."""

_MARKED = re.compile("[\U0010ff00-\U0010ffff]")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*encoding=["']([\w.\-]+)["']""")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip

_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_TAG_NAMES = (
    "p|br|div|span|i|b|em|strong|sub|sup|u|a|li|ul|ol|tt|code|small|font|h[1-6]|"
    "jats:[a-z\\-]+|mml:[a-z\\-]+|title|sec|italic|bold|abstract|inline-formula|tex-math|"
    "math|mi|mn|mo|mrow|msup|msub|inf|scp"
)
_TAG = re.compile(rf"</?(?P<name>{_TAG_NAMES})(?:\s+[\w:\-]+\s*=[^<>]{{0,500}})?\s*/?>", re.I)
_BLOCKS = re.compile(r"^(?:p|br|div|li|ul|ol|h[1-6]|title|sec|jats:(?:p|title|sec|list-item))$", re.I)
_SHIFTED = re.compile(r"<(?P<tag>sub|sup|jats:sub|jats:sup)>(?P<inside>[^<>]{1,20})</(?P=tag)>", re.I)

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327",
    "k": "\u0328", "b": "\u0331",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ",
}  # fmt: skip
_ACCENTED = re.compile(
    r"""\{?\\(?:(?P<mark>[`'^"~=.])\s*(?:\{\s*\\?(?P<a>[A-Za-z])\s*\}|\\?(?P<b>[A-Za-z]))"""
    r"""|(?P<letter>[uvHcdkbr])(?:\{\s*\\?(?P<c>[A-Za-z])\s*\}|\s+(?P<d>[A-Za-z])))(?P<end>\}?)"""
)
_LETTER = re.compile(
    r"\{\\(?P<a>ss|aa|AA|ae|AE|oe|OE|dh|DH|th|TH|[oOlLij])\}"
    r"|\\(?P<b>ss|aa|AA|ae|AE|oe|OE|o|O|l|L)(?:\{\}|\b ?)"
)
_CITATIONS = re.compile(
    r"~?\\(?:[a-zA-Z]*cite[a-zA-Z]*|ref|label|footnotemark)\*?(?:\[[^\]]{0,200}\])?\{[^{}]{0,500}\}"
)
_LINKS = re.compile(r"\\(?:url|href)\{(?P<address>[^{}]{0,500})\}(?:\{(?P<shown>[^{}]{0,500})\})?")
_ESCAPED = re.compile(r"\\([&%#_$])")
_MATHS = re.compile(  # bounded, so that many openings without an end stay cheap
    r"(\$\$[^$]{1,800}\$\$|(?<!\\)\$(?!\s)[^$]{1,800}(?<![\s\\])\$(?!\d)|\\\([^\\]{1,200}?\\\)|\\\[[^\\]{1,200}?\\\])"
)

_LATEX = LatexNodes2Text(  # type: ignore[no-untyped-call]
    math_mode="verbatim", keep_comments=True, strict_latex_spaces=False
)
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(_MARK + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error("rag-mark", _mark)


def bad_byte(text: str) -> int | None:
    """Return the first byte that was no character where `text` was read, or None."""
    found = _MARKED.search(text)
    return ord(found[0]) - _MARK if found else None


def open_text(binary: io.BufferedReader, encoding: str | None = None) -> TextIO:
    """Return a file's characters with line ends as `\\n`; the encoding is the one given, declared, or UTF-8.

    Raises `InputError` for an encoding that does not exist.
    """
    head = binary.peek(200)[:200]
    declared = _DECLARED.match(head.removeprefix(codecs.BOM_UTF8))
    found = next((name for bom, name in _BOMS if head.startswith(bom)), None)
    name = found or encoding or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        return io.TextIOWrapper(binary, encoding=codecs.lookup(name).name, errors="rag-mark")
    except LookupError as error:
        raise InputError(f"{error} (--encoding)") from error


class Utf8:
    """A text file as a stream of UTF-8 bytes, for parsers that want bytes."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, none at the end."""
        while size < 0 or len(self._rest) < size:
            characters = self._text.read(65_536)
            if not characters:
                break
            self._rest += characters.encode("utf-8", "replace")
        size = len(self._rest) if size < 0 else size
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def from_html(text: str) -> str:
    """Return `text` with HTML's (and JATS's) tags taken out and its entities as characters.

    Only tags of known names go: "p<0.05 and q>3" stays. `10<sup>-3</sup>` becomes `10⁻³`.
    """
    if "<" in text:
        text = _SHIFTED.sub(lambda match: shifted(match["inside"], match["tag"].lower().endswith("sup")), text)
        text = _TAG.sub(lambda match: " " if _BLOCKS.match(match["name"]) else "", text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return text


def shifted(text: str, up: bool) -> str:
    """Return a superscript (`up`) or a subscript in characters of its own where there are such, else as it is."""
    moved = text.strip().translate(_SUPERSCRIPTS if up else _SUBSCRIPTS)
    return moved if not any(a == b for a, b in zip(moved, text.strip(), strict=True)) else text


def from_latex(text: str) -> str:
    """Return `text` with LaTeX's accents, letters and escapes outside of maths as the characters that they mean."""
    if "\\" not in text:
        return text
    pieces = _MATHS.split(text)
    pieces[::2] = [_outside_maths(piece) for piece in pieces[::2]]
    return "".join(pieces)


def from_bibtex(text: str) -> str:
    """Return a BibTeX value as plain characters: braces, commands, ties, dashes and quotes resolved, maths kept."""
    if not re.search(r"[\\{}~`'%-]", text):
        return text
    pieces = _MATHS.split(text)
    pieces[::2] = [_plain_latex(piece) for piece in pieces[::2]]
    return "".join(pieces)


def _plain_latex(text: str) -> str:
    named = _LINKS.sub(lambda match: match["shown"] or match["address"], _CITATIONS.sub("", from_latex_accents(text)))
    escaped = re.sub(r"(?<!\\)([%&#])", r"\\\1", named)
    try:
        plain = str(_LATEX.latex_to_text(escaped, tolerant_parsing=True))  # type: ignore[no-untyped-call]
    except Exception:  # pylatexenc raises many kinds on broken input
        plain = re.sub(r"[{}]", "", _outside_maths(text))
    inside = text.strip()
    return text.replace(inside, plain.strip(), 1) if inside else text


def from_latex_accents(text: str) -> str:
    """Return `text` with accents such as `\\"{o}`, `{\\'e}` and `\\v{s}` as characters."""
    return _ACCENTED.sub(_accent, text) if "\\" in text else text


def _outside_maths(text: str) -> str:
    text = from_latex_accents(text)
    text = _LETTER.sub(lambda match: _LETTERS[match["a"] or match["b"]], text)
    return _ESCAPED.sub(r"\1", text)


def _accent(match: re.Match[str]) -> str:
    letter = match["a"] or match["b"] or match["c"] or match["d"]
    whole = unicodedata.normalize("NFC", letter + _ACCENTS[match["mark"] or match["letter"]])
    if len(whole) > 1:
        return match[0]
    opened, closed = match[0].startswith("{"), bool(match["end"])
    return whole if opened == closed else ("{" * opened) + whole + ("}" * closed)


def open_binary(raw: BinaryIO) -> io.BufferedReader:
    """Return `raw` with a buffer that can be looked into."""
    return raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[arg-type]
