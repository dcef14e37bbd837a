"""From a reply to its citations and its text: numbers, quotes, markers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.chain.replies import Part
from rag.corpus.links import first_link
from rag.records import Abstract, Citation, Evidence, Form, Quote, Statement

_LOOKS_LIKE_MARKER = re.compile(r"\[(?=\d+\])")
_WORD_JOINER = "\u2060"


def cite(evidence: Sequence[Evidence]) -> tuple[list[Statement], list[Citation]]:
    """Number the abstracts in the order in which the sentences name them, one number each, from 1."""
    numbers: dict[str, int] = {}
    quotes: dict[str, dict[Quote, None]] = {}
    abstracts: dict[str, Abstract] = {}
    statements = []
    for one in evidence:
        abstract = one.abstract
        abstracts[abstract.id] = abstract
        number = numbers.setdefault(abstract.id, len(numbers) + 1)
        start, end = abstract.sentences[one.index]
        quotes.setdefault(abstract.id, {})[Quote(start, end, one.text)] = None
        statements.append(Statement(one.text, (number,), support=1.0))
    citations = [
        Citation(
            number, abstract_id, abstracts[abstract_id].label, abstracts[abstract_id].sources[0],
            abstracts[abstract_id].url or first_link(abstracts[abstract_id].text), tuple(quotes[abstract_id]),
        )
        for abstract_id, number in numbers.items()
    ]  # fmt: skip
    return statements, citations


def write_out(parts: Sequence[Part], form: Form, statements: Sequence[Statement]) -> str:
    """Return the answer's text: each sentence with its markers, `Sentence. [1]`, and own words as they stand.

    Sentences of prose follow each other; everything else has a line of its own. A bracketed number that is no marker,
    `[7]`, gets an invisible word joiner behind its bracket, so that every `[number]` in the text is a marker.
    """
    said = iter(statements)
    text = ""
    before: Part | None = None
    for part in parts:
        if before is not None:
            text += " " if form == "prose" and isinstance(before, Evidence) and isinstance(part, Evidence) else "\n"
        text += unmarked(part) if isinstance(part, str) else _marked(next(said))
        before = part
    return text


def unmarked(text: str) -> str:
    """Return a text in which nothing looks like a marker."""
    return _LOOKS_LIKE_MARKER.sub("[" + _WORD_JOINER, text)


def _marked(statement: Statement) -> str:
    return f"{unmarked(statement.text)} " + "".join(f"[{number}]" for number in statement.citations)
