"""Answers and lists as text for a terminal. What abstracts hold is hostile here too: no control character passes."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Sequence

from rag.index.store import Store
from rag.reader.passage import Passage
from rag.records import Abstract, Answer

_HARMLESS = "\n\u2060\u200b\u200c\u200d\u00ad"


def show_answer(answer: Answer, store: Store) -> str:
    """Return the answer, then its sources, or the nearest abstracts of a refusal."""
    lines = [_wrap(answer.text)]
    if answer.standalone_question != answer.question:
        lines.insert(0, _wrap(f"({answer.standalone_question})") + "\n")
    if answer.citations:
        lines.append("")
    for citation in answer.citations:
        lines.append(_wrap(f"[{citation.number}] {citation.label} ({citation.source})", "    "))
        if citation.url:
            lines.append(f"    {printable(citation.url)}")
    if not answer.answerable and answer.retrieved:
        lines.append("\nNearest:")
        lines += [_wrap(f"  - {store.abstract(near.abstract_id).label}", "    ") for near in answer.retrieved[:3]]
    return "\n".join(lines)


def show_passages(passages: list[Passage]) -> str:
    """Return one line an abstract: rank, score, id, label, source."""
    return "\n".join(
        printable(
            f"{rank:>3}  {passage.score:.4f}  {passage.reading.abstract.id}  {passage.reading.abstract.label}"
            f"  ({passage.reading.abstract.sources[0]})"
        )
        for rank, passage in enumerate(passages, 1)
    )


def printable(text: str) -> str:
    """Return `text` with every control and direction character but the line feed made visible as `\\x1b`."""
    return "".join(
        character if character in _HARMLESS or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
        else character.encode("unicode_escape").decode()
        for character in text
    )  # fmt: skip


def _wrap(text: str, indent: str = "") -> str:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.fill(
        printable(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def show_abstract(abstract: Abstract, chunks: Sequence[str], twins: Sequence[str]) -> str:
    """Return all that the store knows of one abstract, its text last."""
    facts = {
        "id": abstract.id,
        "title": abstract.title,
        "authors": ", ".join(abstract.authors),
        "year": abstract.year,
        "venue": abstract.venue,
        "url": abstract.url,
        "keys": ", ".join(abstract.keys),
        "keywords": ", ".join(abstract.keywords),
        "sources": ", ".join(abstract.sources),
        "chunks": ", ".join(chunks),
        "nearly the same": ", ".join(twins),
    }
    lines = [_wrap(f"{name:<10}{value}", " " * 10) for name, value in facts.items() if value]
    return "\n".join([*lines, "", _wrap(abstract.text), ""])
