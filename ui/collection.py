"""What is in the collection: how many abstracts, of which files, and a list of labels that open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import gradio as gr

from rag.records import Abstract
from ui import cards

if TYPE_CHECKING:
    from rag.index.store import Store

PAGE = 100


@dataclass(frozen=True, slots=True)
class Panel:
    """The components of the collection's tab."""

    files: gr.Markdown
    shelf: gr.Markdown
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
        """Return all abstracts in the order of ingest."""
        generation = self._store.catalog.generation
        if generation != self._generation:
            self._abstracts = self._store.abstracts()
            self._generation = generation
        return self._abstracts

    def summary(self) -> str:
        """Return one line on the collection."""
        return cards.summary(self.abstracts())

    def show(self, page: int) -> tuple[str, str, int, dict[str, object], dict[str, object]]:
        """Return files, list and page number, and whether there is a page before and behind."""
        abstracts = self.abstracts()
        page = max(0, min(page, (len(abstracts) - 1) // PAGE))
        first = page * PAGE
        return (
            cards.files(abstracts),
            cards.shelf(abstracts[first : first + PAGE], first + 1),
            page,
            gr.update(visible=page > 0),
            gr.update(visible=first + PAGE < len(abstracts)),
        )


def build() -> Panel:
    """Build the tab's content; `Collection.show` fills it when the tab is opened."""
    with gr.Accordion("Files", open=False):
        files = gr.Markdown(latex_delimiters=[], elem_classes="files")
    shelf = gr.Markdown(latex_delimiters=[], elem_id="collection")
    with gr.Row(elem_classes="pages"):
        earlier = gr.Button("← Earlier", visible=False, size="sm")
        later = gr.Button("Later →", visible=False, size="sm")
    return Panel(files, shelf, gr.State(0), earlier, later)
