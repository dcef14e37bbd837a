"""The seeds' text format: UTF-8, a heading on the first line, then one abstract a paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rag.errors import InputError

MAX_CHARACTERS = 100_000
"""No abstract is longer; a paragraph that is has lost its blank lines, or is no abstract."""

MAX_HEADING_CHARACTERS = 200
"""A longer first line is an abstract of a file that has no heading."""

_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The text of one abstract as the file has it, where it stands, and the file's heading."""

    text: str
    source: str
    heading: str


def read_paragraphs(file: Path) -> list[Paragraph]:
    """Read all abstracts of a text file; `source` is `file name#paragraph`, counted from 1 without the heading.

    Raises `InputError` for a file that is empty, binary, not UTF-8 (with the line) or has only a heading.
    """
    heading, body = _split_heading(_decode(file).strip())
    paragraphs = [text for text in _BLANK_LINES.split(body.strip()) if text]
    if not paragraphs:
        raise InputError(f"{file}: no abstract below the heading on its first line")
    for number, text in enumerate(paragraphs, 1):
        if len(text) > MAX_CHARACTERS:
            raise InputError(f"{file}: paragraph {number} has {len(text):,} characters (at most {MAX_CHARACTERS:,})")
    return [Paragraph(text, f"{file.name}#{number}", heading) for number, text in enumerate(paragraphs, 1)]


def _split_heading(text: str) -> tuple[str, str]:
    heading, _, body = text.partition("\n")
    return (heading.strip(), body) if len(heading) <= MAX_HEADING_CHARACTERS else ("", text)


def _decode(file: Path) -> str:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    if b"\0" in data:
        raise InputError(f"{file}: a binary file, not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line}: byte 0x{data[error.start]:02x} is not UTF-8") from error
    if not text.strip():
        raise InputError(f"{file}: the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")
