"""The chunks' vectors, in an embedded Chroma collection."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from rag.errors import OutsideError
from rag.index.encoder import Vectors
from rag.records import Abstract, Chunk

os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")

COLLECTION: Final = "abstracts"
PAGE: Final = 10_000
MOST_NAMED_IN_A_QUERY: Final = 20_000
"""With more chunks to choose among, a search goes over all and leaves out what is not among them."""


def vectors_folder(store: Path, build: int) -> Path:
    """Return where a store keeps the vectors of a build; the first one's folder has no number."""
    return store / (f"chroma-{build}" if build else "chroma")


class VectorIndex:
    """A thin face of one Chroma collection: upsert chunks, find the nearest ones, delete."""

    def __init__(self, folder: Path) -> None:
        import chromadb
        from chromadb.config import Settings

        self.folder = folder
        try:
            self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
            # Chroma's own embedding function would fetch a model: all vectors come from our encoder
            self._collection = self._client.get_or_create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": 200}}
            )
        except Exception as error:  # Chroma's Rust core raises its own kinds
            raise OutsideError(f"{folder}: Chroma cannot open it: {error} (rag doctor says more)") from error

    def __len__(self) -> int:
        return int(self._collection.count())

    def close(self) -> None:
        """Let go of the files; what another process wrote is seen by a newly opened one."""
        self._client.close()  # type: ignore[attr-defined]

    def upsert(self, abstracts: Sequence[Abstract], chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Write the abstracts' chunks with their texts and vectors, of shape (chunks, dimension)."""
        by_id = {abstract.id: abstract for abstract in abstracts}
        step = self._client.get_max_batch_size()
        for first in range(0, len(chunks), step):
            batch = chunks[first : first + step]
            self._collection.upsert(
                ids=[chunk.id for chunk in batch],
                documents=[by_id[chunk.abstract_id].text[chunk.start : chunk.end] for chunk in batch],
                embeddings=vectors[first : first + step],
                metadatas=[_metadata(chunk, by_id[chunk.abstract_id]) for chunk in batch],
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete chunks."""
        step = self._client.get_max_batch_size()
        for first in range(0, len(ids), step):
            self._collection.delete(ids=list(ids[first : first + step]))

    def ids(self) -> list[str]:
        """Return the ids of all chunks."""
        return [chunk_id for page in self._pages([]) for chunk_id in page["ids"]]

    def stored(self) -> Iterator[tuple[str, str, dict[str, Any], Vectors]]:
        """Yield (chunk id, text, metadata, vector) of every chunk."""
        for page in self._pages(["documents", "metadatas", "embeddings"]):
            yield from zip(page["ids"], page["documents"], page["metadatas"], page["embeddings"], strict=True)

    def nearest(self, vector: Vectors, count: int, among: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `count` chunks as (abstract id, cosine similarity -1..1), the nearest first.

        `among` holds the ids of the only chunks that count.
        """
        size = len(self)
        if among is None or len(among) > MOST_NAMED_IN_A_QUERY:
            share = 1.0 if among is None else len(among) / max(size, 1)
            found = self._query(vector, min(size, count if among is None else int(2 * count / share) + count))
            kept = found if among is None else [pair for pair in found if pair[0] in among]
        else:
            kept = self._query(vector, min(len(among), count), sorted(among))
        return [(chunk_id.partition(":")[0], 1.0 - distance) for chunk_id, distance in kept[:count]]

    def nearest_of_each(self, vectors: Vectors, count: int) -> list[list[str]]:
        """Return for each row of `vectors` the ids of the `count` nearest chunks."""
        found: Any = self._collection.query(query_embeddings=vectors, n_results=min(count, len(self)), include=[])
        ids: list[list[str]] = found["ids"]
        return ids

    def _query(self, vector: Vectors, count: int, ids: list[str] | None = None) -> list[tuple[str, float]]:
        if count <= 0:
            return []
        found: Any = self._collection.query(
            query_embeddings=np.atleast_2d(vector), n_results=count, include=["distances"], ids=ids
        )
        return list(zip(found["ids"][0], found["distances"][0], strict=True))

    def _pages(self, include: list[str]) -> Iterator[Any]:
        first = 0
        while (page := self._collection.get(limit=PAGE, offset=first, include=include))["ids"]:  # type: ignore[arg-type]
            yield page
            first += PAGE


def _metadata(chunk: Chunk, abstract: Abstract) -> dict[str, str | int]:
    """Return where a chunk stands; an abstract's first also says what is known of it, should the catalog be lost."""
    place: dict[str, str | int] = {
        "abstract_id": chunk.abstract_id,
        "number": chunk.number,
        "start": chunk.start,
        "end": chunk.end,
    }
    if chunk.number == 0:
        names = ("heading", "title", "authors", "year", "venue", "url", "keys", "keywords", "sources")
        known = {name: value for name in names if (value := getattr(abstract, name))}
        place["record"] = json.dumps(known, ensure_ascii=False)
    return place
