"""Which abstracts are asked: a collection of the store, narrowed by year, venue, author and source."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import gradio as gr

from rag.filters import parse_where
from rag.index.catalog import collections
from rag.records import Where

if TYPE_CHECKING:
    from rag.chain.chain import Chain

MOST_LETTERS = 100
FILTERS = (
    ("year", "Years", "2024, 2019-2021, 2021-"),
    ("venue", "Venue", "ICML"),
    ("author", "Author", "Lovelace"),
    ("source", "Source", "pubmed.xml"),
)
"""What a filter is called in the API, on the page, and an example of it."""


class Scope(NamedTuple):
    """A chain over one collection, and which of its abstracts count."""

    chain: Chain
    where: Where | None


class Scopes:
    """The store's collections, each with a chain that is opened at its first use and shares encoder and reader."""

    def __init__(self, chain: Chain) -> None:
        self.first = chain
        self.root: Path = chain.settings.store.path
        self._lock = Lock()
        self._chains = {chain.settings.store.collection: chain}

    def names(self) -> list[str]:
        """Return the names of the collections, the one that is served first."""
        own = self.first.settings.store.collection
        return [own, *(name for name in collections(self.root) if name != own)]

    def chain(self, name: str | None = None) -> Chain:
        """Return the chain over a collection, or the one that is served. Raises `InputError` for an unknown one."""
        with self._lock:
            name = name or self.first.settings.store.collection
            if name not in self._chains:
                self._chains[name] = self.first.sibling(name)
            return self._chains[name]

    def scope(self, collection: str | None, filters: dict[str, Any]) -> Scope:
        """Return what is asked. Raises `InputError` for an unknown collection and for what is no filter."""
        return Scope(self.chain(collection), parse_where(filters))


class Panel(NamedTuple):
    """The components that say which abstracts are asked, in the order in which `given` takes their values."""

    collection: gr.Dropdown
    year: gr.Textbox
    venue: gr.Textbox
    author: gr.Textbox
    source: gr.Textbox


def build(scopes: Scopes) -> Panel:
    """Build the folded panel."""
    names = scopes.names()
    with gr.Accordion("Which abstracts", open=False, elem_id="scope"):
        collection = gr.Dropdown(
            names, value=names[0], label="Collection", visible=len(names) > 1, filterable=False, elem_id="which",
        )  # fmt: skip
        with gr.Row():
            boxes = [_box(*words) for words in FILTERS]
    return Panel(collection, *boxes)


def _box(name: str, label: str, example: str) -> gr.Textbox:
    return gr.Textbox(label=label, placeholder=example, max_length=MOST_LETTERS, min_width=120, elem_id=f"only-{name}")


def given(scopes: Scopes, collection: str | None, *filters: str) -> Scope:
    """Return what the panel's values ask for."""
    return scopes.scope(collection, dict(zip((name for name, *_ in FILTERS), filters, strict=True)))
