"""Some abstracts of a store: what a filter lets through, behind the store's own face."""

from __future__ import annotations

from collections.abc import Collection

from rag.index.catalog import Catalog
from rag.index.encoder import Vectors
from rag.index.lexical import LexicalIndex
from rag.index.store import Reading, Store
from rag.records import Abstract


class Selection(Store):
    """Only the abstracts of some ids; the others are not there. It is read, and never written to."""

    def __init__(self, store: Store, ids: Collection[str]) -> None:
        self.path = store.path
        self.encoder = store.encoder
        self._store = store
        self._ids = dict.fromkeys(ids)
        self._chunks = frozenset(store.catalog.chunk_ids(ids))

    @property
    def catalog(self) -> Catalog:  # type: ignore[override]
        """The whole store's catalog."""
        return self._store.catalog

    @property
    def lexical(self) -> LexicalIndex:  # type: ignore[override]
        """The whole store's index: how rare a word is does not depend on the filter."""
        return self._store.lexical

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, abstract_id: str) -> bool:
        return abstract_id in self._ids and abstract_id in self._store

    def abstracts(self) -> list[Abstract]:
        """Return those abstracts, in the order of ingest."""
        return [abstract for one in self._ids if (abstract := self.catalog.get(one))]

    def read(self, abstract_id: str) -> Reading:
        """Return an abstract with its vectors. Raises `KeyError` for one that is not of the selection."""
        if abstract_id not in self._ids:
            raise KeyError(abstract_id)
        return self._store.read(abstract_id)

    def nearest(self, vector: Vectors, count: int, chunks: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return the nearest chunks of the selection."""
        return self._store.nearest(vector, count, self._chunks if chunks is None else chunks)

    def matching(self, text: str, count: int, among: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return the best of the selection by BM25."""
        return self._store.matching(text, count, self._ids if among is None else among)

    def group(self, abstract_id: str) -> frozenset[str]:
        """Return the near-duplicates of an abstract."""
        return self._store.group(abstract_id)

    def refresh(self) -> None:
        """Do nothing: the whole store is refreshed by who selects."""
