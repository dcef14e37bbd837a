"""A sentence of an answer as HTML, with the marker that leads to its quote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from rag.records import Abstract, Citation, Statement
from ui.rich import rich

AbstractOf = Callable[[str], Abstract]
"""Looks an abstract up by its id; raises `KeyError` where the store holds it no more."""

LONGEST_LINE = 300


def clip(text: str, length: int = LONGEST_LINE) -> str:
    """Return `text`, cut to `length` characters with an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def target(turn: int, citation: Citation, statement: Statement) -> str:
    """Return the id of the quote that backs `statement`."""
    texts = [quote.text for quote in citation.quotes]
    place = texts.index(statement.text) if statement.text in texts else 0
    return f"s-{turn}-{citation.number}-{place}"


def marker(turn: int, citation: Citation, said: Statement | None) -> str:
    """Return the link from a sentence to its quote, or from the answer's own words to the card."""
    link = target(turn, citation, said) if said else f"c-{turn}-{citation.number}"
    title = escape(clip(citation.label))
    return f'&nbsp;<a class="cite" href="#{link}" title="{title}">[{citation.number}]</a>'


def sentence(statement: Statement, citations: Mapping[int, Citation], abstract_of: AbstractOf) -> str:
    """Show a sentence as its abstract does, where emphasis may begin before it and end behind it."""
    for number in statement.citations:
        for quote in citations[number].quotes if number in citations else ():
            if quote.text == statement.text:
                try:
                    return rich(abstract_of(citations[number].abstract_id).text, (), quote.start, quote.end)
                except KeyError:
                    break
    return rich(statement.text)
