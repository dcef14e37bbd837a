"""Abstracts as files that other programs, and `rag ingest`, read: JSONL, BibTeX, RIS, CSV."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from rag.records import Abstract

COLUMNS = ("id", "title", "authors", "year", "venue", "doi", "pmid", "arxiv", "url", "keywords", "abstract", "sources")
_SPECIAL = re.compile(r"(?<!\\)([%&#_])")
_MATHS = re.compile(r"(\$[^$]+\$)")


def write(abstracts: Iterable[Abstract], form: str, file: TextIO) -> int:
    """Write abstracts in one of `FORMS`; return how many."""
    return sum(1 for text in FORMS[form](abstracts) if file.write(text) >= 0)


def to_jsonl(abstracts: Iterable[Abstract]) -> Iterator[str]:
    """Yield a JSON object a line; `keys` are the ids that sources gave."""
    for one in abstracts:
        fields = {
            "id": one.id, "title": one.title, "abstract": one.text, "authors": one.authors, "year": one.year,
            "venue": one.venue, "doi": key(one, "doi"), "pmid": key(one, "pmid"), "arxiv": key(one, "arxiv"),
            "openreview": key(one, "openreview"), "url": one.url, "keywords": one.keywords, "keys": one.keys,
            "sources": one.sources,
        }  # fmt: skip
        yield json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False) + "\n"


def to_bibtex(abstracts: Iterable[Abstract]) -> Iterator[str]:
    """Yield a BibTeX entry each, under the citation key `familyYearid`."""
    for one in abstracts:
        fields = {
            "title": one.title and f"{{{_latex(one.title)}}}",
            "author": " and ".join(_latex(name) if " " in name else f"{{{_latex(name)}}}" for name in one.authors),
            "year": one.year, "journal": one.venue and _latex(one.venue), "doi": key(one, "doi"),
            "pmid": key(one, "pmid"), "eprint": key(one, "arxiv"),
            "archiveprefix": key(one, "arxiv") and "arXiv", "url": one.url,
            "keywords": ", ".join(_latex(word) for word in one.keywords), "abstract": _latex(one.text),
        }  # fmt: skip
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        yield f"@article{{{_cite_key(one)},\n{lines}}}\n\n"


def to_ris(abstracts: Iterable[Abstract]) -> Iterator[str]:
    """Yield a RIS record each."""
    for one in abstracts:
        pairs = [("TY", "JOUR"), ("ID", one.id), ("TI", one.title), *(("AU", _turned(name)) for name in one.authors),
                 ("PY", one.year), ("T2", one.venue), ("DO", key(one, "doi")), ("AN", key(one, "pmid")),
                 ("UR", one.url), *(("KW", word) for word in one.keywords), ("AB", one.text)]  # fmt: skip
        yield "".join(f"{tag}  - {value}\n" for tag, value in pairs if value) + "ER  - \n\n"


def to_csv(abstracts: Iterable[Abstract]) -> Iterator[str]:
    """Yield a header and a row each; what a spreadsheet would take for a formula gets an apostrophe before it."""
    row = _Row()
    writer = csv.writer(row, lineterminator="\n")
    writer.writerow(COLUMNS)
    header = row.taken()
    for one in abstracts:
        several = {
            "authors": "; ".join(one.authors),
            "keywords": "; ".join(one.keywords),
            "sources": "; ".join(one.sources),
        }
        fields = several | {"abstract": one.text} | {kind: key(one, kind) for kind in ("doi", "pmid", "arxiv")}
        writer.writerow(_harmless(fields.get(name, getattr(one, name, None))) for name in COLUMNS)
        yield header + row.taken()
        header = ""


def key(abstract: Abstract, kind: str) -> str | None:
    """Return the abstract's key of one kind: `doi`, `pmid`, `arxiv`, `openreview`."""
    return next((one.partition(":")[2] for one in abstract.keys if one.startswith(f"{kind}:")), None)


FORMS: dict[str, Callable[[Iterable[Abstract]], Iterator[str]]] = {
    "jsonl": to_jsonl,
    "bibtex": to_bibtex,
    "ris": to_ris,
    "csv": to_csv,
}


class _Row:
    """Takes what the csv module writes."""

    def __init__(self) -> None:
        self._text = ""

    def write(self, text: str) -> None:
        self._text += text

    def taken(self) -> str:
        text, self._text = self._text, ""
        return text


def _harmless(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def _latex(text: str) -> str:
    """Return a text that BibTeX reads back as it is: its special characters outside of maths escaped, braces paired."""
    pieces = _MATHS.split(text)
    pieces[::2] = [_SPECIAL.sub(r"\\\1", piece.replace("{", "").replace("}", "")) for piece in pieces[::2]]
    whole = "".join(pieces)
    return whole if whole.count("{") == whole.count("}") else whole.replace("{", "").replace("}", "")


def _turned(name: str) -> str:
    given, _, family = name.rpartition(" ")
    return f"{family}, {given}" if given else name


def _cite_key(abstract: Abstract) -> str:
    family = re.sub(r"[^a-z]", "", (abstract.authors[0].split()[-1] if abstract.authors else "anon").casefold())
    return f"{family or 'anon'}{abstract.year or ''}{abstract.id}"
