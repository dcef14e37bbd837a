"""Abstracts arrive with LaTeX and Markdown in them; labels, encoders and word counts want the plain words."""

from __future__ import annotations

import logging
import re
import unicodedata

from pylatexenc.latex2text import LatexNodes2Text

logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)  # it warns of every macro that it cannot spell out

_LATEX = LatexNodes2Text(  # type: ignore[no-untyped-call]
    math_mode="text", keep_comments=True, strict_latex_spaces=False
)
# As Pandoc has it: no white space inside the marks, no digit behind them; so "$5 and $6" are prices
_MATHS = re.compile(r"\$\$([^$]{1,800})\$\$|\$(?!\s)([^$]{1,800})(?<!\s)\$(?!\d)")
_COMMAND = re.compile(r"\\[a-zA-Z]+\{([^{}]*)\}")
_ESCAPE = re.compile(r"\\+([%&#_$,;])")
_EMPHASIS = re.compile(r"(?<!\\)(\*{1,3}|`{1,2})(?=\S)([^*`]{1,300}?)(?<=\S)\1")
_RAISED = re.compile(r"\^\{?([0-9+\-]{1,4})\}?")
_SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def plain(text: str) -> str:
    """Return `text` without LaTeX and Markdown markup: `**P**APO`, `T$^2$PO`, `\\emph{x}` -> `PAPO`, `T²PO`, `x`.

    The result is for reading by machines and for labels; it has other offsets than `text`.
    """
    if "$" in text:
        text = _MATHS.sub(lambda match: _maths(match[1] or match[2]), text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", _COMMAND.sub(r"\1", text))
    if "*" in text or "`" in text:
        text = _EMPHASIS.sub(r"\2", text)
    return text


def fold(text: str) -> str:
    """Return `text` plain, in compatibility form (`T²PO` -> `t2po`) and in lower case, for matching words."""
    return unicodedata.normalize("NFKC", plain(text)).casefold()


def _maths(source: str) -> str:
    source = _RAISED.sub(lambda match: match[1].translate(_SUPERSCRIPTS), source)
    if "\\" not in source:
        return source
    try:
        return str(_LATEX.latex_to_text(source, tolerant_parsing=False))  # type: ignore[no-untyped-call]
    except Exception:  # pylatexenc raises many kinds on broken maths; the source itself is then the best text
        return f"${source}$"
