"""From grounded sentences to the answer object: numbers, quotes, text, and the plain words of a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.corpus.links import first_link
from rag.records import Abstract, Citation, Evidence, Quote, Refusal, Statement

_LOOKS_LIKE_MARKER = re.compile(r"\[(?=\d+\])")
_WORD_JOINER = "\u2060"

REFUSALS: dict[Refusal, str] = {
    "empty_store": "There are no abstracts here yet. Add some with: rag ingest",
    "off_topic": "The abstracts in this collection do not deal with this.",
    "not_stated": "I found no sentence in this collection that answers this.",
}


def cite(evidence: Sequence[Evidence]) -> tuple[list[Statement], list[Citation]]:
    """Number the abstracts in the order in which the sentences name them, one number each, from 1."""
    numbers: dict[str, int] = {}
    quotes: dict[str, list[Quote]] = {}
    abstracts: dict[str, Abstract] = {}
    statements = []
    for one in evidence:
        abstract = one.abstract
        abstracts[abstract.id] = abstract
        number = numbers.setdefault(abstract.id, len(numbers) + 1)
        start, end = abstract.sentences[one.index]
        quotes.setdefault(abstract.id, []).append(Quote(start, end, one.text))
        statements.append(Statement(one.text, (number,), support=1.0))
    citations = [
        Citation(
            number, abstract_id, abstracts[abstract_id].label, abstracts[abstract_id].sources[0],
            abstracts[abstract_id].url or first_link(abstracts[abstract_id].text), tuple(quotes[abstract_id]),
        )
        for abstract_id, number in numbers.items()
    ]  # fmt: skip
    return statements, citations


def write_out(statements: Sequence[Statement]) -> str:
    """Return the answer's text: each sentence with its markers, `Sentence. [1]`.

    A bracketed number of the abstract's own, `[7]`, gets an invisible word joiner behind its bracket, so that
    every `[number]` in the text is a marker and nothing else is.
    """
    return " ".join(
        f"{_LOOKS_LIKE_MARKER.sub('[' + _WORD_JOINER, statement.text)} "
        + "".join(f"[{number}]" for number in statement.citations)
        for statement in statements
    )


def refuse(why: Refusal, nearest: Evidence | None) -> str:
    """Return the plain words of a refusal; where only the fact is missing they say what is nearest to it, and where."""
    text = REFUSALS[why]
    if why == "not_stated" and nearest is not None:
        text += f" The nearest is in “{nearest.abstract.label}”: “{nearest.text}”"
    return _LOOKS_LIKE_MARKER.sub("[" + _WORD_JOINER, text)
