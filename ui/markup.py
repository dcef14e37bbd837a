"""What authors write into an abstract, read as HTML: maths, emphasis, links, LaTeX's escapes; all else escaped.

The text is read in two steps. *Atoms* are stretches shown as one thing: a formula, a link, `\\%`. What is left is
searched for *styles*: stretches between two delimiters, such as `*x*` or `\\emph{x}`. A delimiter that has no partner,
or that looks like a product (`k*m`), a name (`snake_case`) or a price (`$5`), is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import NamedTuple

from ui.maths import mathml


class Piece(NamedTuple):
    """A stretch of the text and the HTML that shows it; None where the text itself is shown and may be cut."""

    start: int
    end: int
    html: str | None
    styles: tuple[str, ...] = ()


_MASK = "\ufffc"
_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_URL = r"https?://[^\s<>\"`{}|\\^\[\]]{1,2000}"
_ATOM = re.compile(
    rf"""
      \$\$ (?P<display> [^$]{{1,500}} ) \$\$  |  \\\[ (?P<display_tex> .{{1,500}}? ) \\\]
    | (?<![\\$]) \$ (?![\s$\d]) (?P<inline> (?: \\. | [^$\\] ){{1,500}}? ) (?<!\s) \$
    | (?<![\\$]) \$ (?=\d) (?P<inline_number> (?: \\. | [^$\\] ){{1,500}}? ) (?<!\s) \$ (?!\d)
    | (?<![\\$]) \$ [ ] (?P<inline_spaced> (?= [^$]* [\\^_] ) (?: \\. | [^$\\] ){{1,500}}? ) [ ] \$
    | \\\( (?P<inline_tex> .{{1,500}}? ) \\\)
    | `` (?P<fence> (?: (?!'') [^`"] ){{1,300}} ) ``  |  (?<!`) ` (?P<code> [^`\s] (?: [^`]{{0,300}} [^`\s] )? ) ` (?!`)
    | \\ (?:url|nolinkurl) \{{ (?P<url> {_URL} ) \}}
    | \\ href \{{ (?P<href> {_URL} ) \}} \{{ (?P<href_text> [^{{}}]{{1,300}} ) \}}
    | \[ (?P<link_text> [^\[\]]{{1,300}} ) \] \( (?P<link> https?://[^\s<>()"]{{1,2000}} ) \)
    | (?P<bare> {_URL} )
    | \\{{1,2}} (?P<escaped> [%&\#_$] )  |  \\ (?P<brace> [{{}}] )  |  \\ (?P<space> [ ,;] )  |  (?P<tie> ~ (?=\\) )
    | \\ (?P<accent> ["'`^~=.] \{{ [A-Za-z] \}} | ["^=.] [A-Za-z] | ['`] [aeiouyAEIOUY] | [cvuHk] \{{ [A-Za-z] \}} )
    | (?: (?<=\S) | (?= -{{2,3}}\W ) ) (?<![-<!]) (?P<dash> ---? ) (?![->])
    | \\ (?P<dots> l?dots \b )
    | (?P<control> {_CONTROL} )
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACED = r"(?:[^{}]|\{[^{}]{0,300}\}){1,600}"
_FREE = r"(?<![^\W_]) (?<![*\\])"
_ENDED = r"(?![^\W_]) (?!\*)"
"""A star opens behind, and closes before, what is neither a letter, a digit nor a star."""

_STYLED = re.compile(
    rf"""
      {_FREE} \*\*\* (?=[^\s*]) (?P<both> [^*]{{1,400}}? ) (?<=[^\s\\]) \*\*\* {_ENDED}
    | (?: {_FREE} \*\* (?=\S) | (?<=[a-z]) \*\* (?=[A-Z]) ) (?P<strong> .{{1,400}}? ) (?<=[^\s\\]) \*\* (?!\*)
    | {_FREE} \* (?=[^\s*]) (?P<em> (?: [^*] | \*\*[^*]{{1,300}}\*\* ){{1,400}}? ) (?<=[^\s\\]) \* {_ENDED}
    | (?<![\w\\]) __ (?=[^\s_]) (?P<strong_line> [^_]{{1,300}}? ) (?<=[^\s\\]) __ (?!\w)
    | (?<![\w\\]) _ (?=[^\s_]) (?P<em_line> [^_]{{1,300}}? ) (?<=[^\s\\]) _ (?!\w)
    | `` (?=\S) (?P<quote> [^`]{{1,400}}? ) (?: '' | " )  |  ` (?=\w) (?P<single> [^`'\s] [^`']{{0,80}}? ) ' (?!\w)
    | \$ (?P<text> \\(?:emph|text[a-z]*) \{{[^{{}}]{{1,300}}\}} ) \$
    | \\ (?:emph|textit|textsl) \{{ (?P<em_tex> {_BRACED} ) \}}
    | \{{ \\(?:em|it|sl)\s (?P<em_group> [^{{}}]{{1,300}} ) \}}
    | \\ textbf \{{ (?P<strong_tex> {_BRACED} ) \}}  |  \{{ \\bf\s (?P<strong_group> [^{{}}]{{1,300}} ) \}}
    | \\ texttt \{{ (?P<code> {_BRACED} ) \}}  |  \\ textsc \{{ (?P<caps> {_BRACED} ) \}}
    | \\ (?:text|textrm|textsf|mbox|underline) \{{ (?P<text_tex> {_BRACED} ) \}}
    | \\ enquote \{{ (?P<quote_tex> {_BRACED} ) \}}
    """,
    re.VERBOSE | re.DOTALL,
)
_STYLES = {"em": ("em",), "strong": ("strong",), "both": ("strong", "em"), "code": ("code",), "caps": ("caps",)}
_QUOTES = {"quote": ("“", "”"), "quote_tex": ("“", "”"), "single": ("‘", "’")}
_MARKS = "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328"
_ACCENTS = dict(zip("\"'`^~=.cvuHk", _MARKS, strict=True))
_SPACES = {" ": " ", ",": "\u202f", ";": " "}
_PROSE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}[ ,;]+[A-Za-z]{2,}")
_TEXT_ONLY = re.compile(r"\\(?:emph|text[a-z]*)\{[^{}]+\}")


@lru_cache(maxsize=1024)
def pieces(text: str) -> tuple[Piece, ...]:
    """Return `text` cut into pieces, in order and without gaps; delimiters are pieces with no HTML."""
    atoms = {atom.start: atom for atom in _atoms(text)}
    masked = list(text)
    for atom in atoms.values():
        masked[atom.start : atom.end] = _MASK * (atom.end - atom.start)
    return tuple(_styled("".join(masked), atoms, 0, len(text), ()))


def plain(text: str) -> str:
    """Return `text` as it stands, escaped; characters that would hide or turn it are named instead (`U+202E`)."""
    return re.sub(_CONTROL, lambda match: _named(match[0]), escape(text))


def _styled(masked: str, atoms: Mapping[int, Piece], start: int, end: int, styles: tuple[str, ...]) -> Iterator[Piece]:
    position = start
    while match := _STYLED.search(masked, position, end):
        name = match.lastgroup or ""
        inside = styles + _STYLES.get(name.partition("_")[0], ())
        before, after = _QUOTES.get(name, ("", ""))
        yield from _unstyled(masked, atoms, position, match.start(), styles)
        yield Piece(match.start(), match.start(name), before, styles)
        yield from _styled(masked, atoms, *match.span(name), inside)
        yield Piece(match.end(name), match.end(), after, styles)
        position = match.end()
    yield from _unstyled(masked, atoms, position, end, styles)


def _unstyled(
    masked: str, atoms: Mapping[int, Piece], start: int, end: int, styles: tuple[str, ...]
) -> Iterator[Piece]:
    while start < end:
        if start in atoms:
            yield atoms[start]._replace(styles=styles)
            start = atoms[start].end
        else:
            stop = masked.find(_MASK, start + 1, end)
            yield Piece(start, stop if stop > 0 else end, None, styles)
            start = stop if stop > 0 else end


def _atoms(text: str) -> Iterator[Piece]:
    position = 0
    while match := _ATOM.search(text, position):
        position = match.start() + 1
        html = _shown(match)
        if html is not None:
            position = match.start() + len(_trimmed(match["bare"])) if match["bare"] else match.end()
            yield Piece(match.start(), position, html)


def _shown(match: re.Match[str]) -> str | None:
    """Return an atom's HTML, or None where it is none after all and the search goes on inside."""
    name = match.lastgroup or ""
    found = match[name]
    match name:
        case "display" | "display_tex" | "inline" | "inline_number" | "inline_spaced" | "inline_tex":
            return _formula(match[0], found, display=name.startswith("display"))
        case "fence" | "code":
            return f"<code>{plain(found)}</code>"
        case "url" | "bare":
            return _link(_trimmed(found), _trimmed(found))
        case "href_text":
            return _link(match["href"], found)
        case "link":
            words = match["link_text"]
            return None if "://" in words and words != found else _link(found, words)  # an address that leads elsewhere
        case "control":
            return _named(found)
        case "tie":
            return "" if match.string[match.start() - 1] == " " else "\u00a0"
    return escape(_character(name, found))


def _character(name: str, found: str) -> str:
    """Return what LaTeX prints for an escape."""
    match name:
        case "accent":
            return unicodedata.normalize("NFC", found.strip("{}")[-1] + _ACCENTS[found[0]])
        case "space":
            return _SPACES[found]
        case "dash":
            return "—" if found == "---" else "–"
        case "dots":
            return "…"
    return found


def _formula(source: str, tex: str, *, display: bool) -> str | None:
    if _TEXT_ONLY.fullmatch(tex) or _PROSE.search(re.sub(r"\{[^{}]*\}", "{}", tex)):
        return None
    return mathml(tex, display) or escape(source)


def _link(url: str, words: str) -> str:
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{plain(words)}</a>'


def _trimmed(url: str) -> str:
    """Return `url` without the punctuation that belongs to the sentence around it."""
    url = url.rstrip(".,;:!?'*_~")
    return _trimmed(url[:-1]) if url.endswith(")") and url.count(")") > url.count("(") else url


def _named(character: str) -> str:
    return f'<span class="control">U+{ord(character):04X}</span>'
