"""What is in the collection: how many abstracts, of which files, and a list of labels that open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import gradio as gr

from rag.records import Abstract
from ui import cards
from ui.scope import Scopes

if TYPE_CHECKING:
    from rag.index.store import Store

PAGE = 100
"""Abstracts listed at once."""


class Panel(NamedTuple):
    """The components of the collection's tab, in the order in which `Collection.show` fills them."""

    listing: gr.Markdown
    page: gr.State
    earlier: gr.Button
    later: gr.Button


class Collection:
    """The abstracts of a store, read again only after the store changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._generation: int | None = None
        self._abstracts: list[Abstract] = []

    def abstracts(self) -> list[Abstract]:
        """Return all abstracts, in the order of ingest."""
        generation = self._store.catalog.generation
        if generation != self._generation:
            self._abstracts = self._store.abstracts()
            self._generation = generation
        return self._abstracts

    def summary(self) -> str:
        """Return one line on the collection."""
        return cards.summary(self.abstracts())

    def show(self, page: int) -> tuple[str, int, Any, Any]:
        """Return a page of the list, its number within bounds, and whether there are pages before and behind it."""
        abstracts = self.abstracts()
        page = max(0, min(page, (len(abstracts) - 1) // PAGE))
        first = page * PAGE
        listing = cards.listing(abstracts, first, PAGE)
        return listing, page, gr.update(visible=page > 0), gr.update(visible=first + PAGE < len(abstracts))


class Shelves:
    """The collections of a store, by name."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._shelves: dict[str, Collection] = {}

    def of(self, name: str | None) -> Collection:
        """Return a collection, or the one that is served."""
        store = self._scopes.chain(name).store
        return self._shelves.setdefault(str(store.path), Collection(store))


def build() -> Panel:
    """Build the tab; it is filled when it is opened. Gradio's sanitiser is a second wall here too."""
    listing = gr.Markdown(latex_delimiters=[], elem_id="collection")
    with gr.Row(elem_id="pages"):
        earlier = gr.Button("← Earlier", visible=False, size="sm")
        later = gr.Button("Later →", visible=False, size="sm")
    return Panel(listing, gr.State(0), earlier, later)
