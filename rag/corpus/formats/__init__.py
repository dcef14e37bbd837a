"""The kinds of files that are read, one module each, and how a file's kind is told from its content and its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TextIO

from rag.corpus.record import Raw, Skipped


@dataclass(frozen=True, slots=True)
class Options:
    """How the user wants files read: their names of fields, in lower case, with ours."""

    fields: Mapping[str, str] = field(default_factory=dict)


Items = Iterator[Raw | Skipped]
Reader = Callable[[TextIO, Options], Items]

_BY_SUFFIX = {
    ".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl",
    ".ndjson": "jsonl", ".json": "json", ".csv": "table", ".tsv": "table", ".tab": "table", ".bib": "bibtex",
    ".bibtex": "bibtex", ".ris": "ris", ".nbib": "medline", ".medline": "medline", ".xml": "xml", ".atom": "xml",
}  # fmt: skip
SUFFIXES = tuple(_BY_SUFFIX)

_HOMES = {
    "text": ("text", "read_text"),
    "markdown": ("markdown", "read_markdown"),
    "jsonl": ("jsons", "read_jsonl"),
    "json": ("jsons", "read_json"),
    "table": ("table", "read_table"),
    "bibtex": ("bibtex", "read_bibtex"),
    "ris": ("tagged", "read_ris"),
    "medline": ("tagged", "read_medline"),
    "xml": ("xml", "read_xml"),
}

_BY_CONTENT = (
    ("medline", re.compile(r"\s*PMID- ?\d")),
    ("ris", re.compile(r"\s*TY  - ?\w")),
    ("bibtex", re.compile(r"(?:\s|%[^\n]*\n)*@\w+\s*[{(]")),
    ("xml", re.compile(r"\s*<\?xml|\s*<(?:!DOCTYPE|PubmedArticleSet|PubmedArticle|feed)\b")),
    ("jsonl", re.compile(r"\s*\{[^\n]*\}\s*\n\s*\{")),
    ("json", re.compile(r"\s*(?:\[\s*[\{\]]|\{\s*\")")),
    ("table", re.compile(r"[^\n\t]*\t[^\n\t]*\t[^\n]*\n")),
)


def kind_of(name: str, head: str) -> str | None:
    """Return the kind of a file by its first characters, else by its name without `.gz`; None where neither says.

    A name that says more than the content (`.tsv`, `.md`) is believed.
    """
    suffix = next((suffix for suffix in SUFFIXES if name.lower().removesuffix(".gz").endswith(suffix)), None)
    named = _BY_SUFFIX.get(suffix or "")
    if named == "jsonl" and head.lstrip("\ufeff").lstrip().startswith("["):
        return "json"
    if named in ("table", "markdown", "bibtex", "jsonl"):
        return named
    found = next((kind for kind, pattern in _BY_CONTENT if pattern.match(head.lstrip("\ufeff"))), None)
    if named == "text" and found == "json":  # a heading or an abstract may begin with a bracket
        found = None
    return found or named or ("text" if not suffix and "\n\n" in head else None)


def reader_of(kind: str) -> Reader:
    """Return the reader of a kind, loaded at its first use: some need parsers that take time to import."""
    module, function = _HOMES[kind]
    reader: Reader = getattr(import_module(f"rag.corpus.formats.{module}"), function)
    return reader
