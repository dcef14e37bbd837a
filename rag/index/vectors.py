"""The chunks' vectors, in an embedded Chroma collection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import OutsideError
from rag.index.encoder import Vectors
from rag.records import Chunk

os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")

COLLECTION = "abstracts"


class VectorIndex:
    """A thin face of one Chroma collection: upsert chunks, find the nearest ones."""

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
            raise OutsideError(f"{folder}: Chroma cannot open it: {error}") from error

    def __len__(self) -> int:
        return int(self._collection.count())

    def close(self) -> None:
        """Let go of the files; what another process wrote is seen by a newly opened one."""
        self._client.close()  # type: ignore[attr-defined]

    def upsert(self, chunks: Sequence[Chunk], texts: Sequence[str], vectors: Vectors) -> None:
        """Write chunks with their texts and vectors, of shape (chunks, dimension)."""
        step = self._client.get_max_batch_size()
        for first in range(0, len(chunks), step):
            batch = slice(first, first + step)
            self._collection.upsert(
                ids=[chunk.id for chunk in chunks[batch]],
                documents=list(texts[batch]),
                embeddings=vectors[batch],
                metadatas=[_metadata(chunk) for chunk in chunks[batch]],
            )

    def nearest(self, vector: Vectors, count: int) -> list[tuple[str, float]]:
        """Return up to `count` chunks as (abstract id, cosine similarity -1..1), the nearest first."""
        count = min(count, len(self))
        if count == 0:
            return []
        found: Any = self._collection.query(
            query_embeddings=np.atleast_2d(vector),
            n_results=count,
            include=["distances"],
        )
        return [
            (chunk_id.partition(":")[0], 1.0 - distance)
            for chunk_id, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]


def _metadata(chunk: Chunk) -> dict[str, str | int]:
    return {
        "abstract_id": chunk.abstract_id,
        "number": chunk.number,
        "start": chunk.start,
        "end": chunk.end,
    }
