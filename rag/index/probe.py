"""What the doctor looks for in Chroma's files, one check after the other; run in a process that may die of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np

from rag.errors import AskAbstractsError
from rag.index.catalog import Catalog
from rag.index.doctor import REBUILD, Finding
from rag.index.ingest import mean_direction
from rag.index.vectors import VectorIndex, vectors_folder
from rag.records import Chunk

BATCH: Final = 256
NEAREST: Final = 5
"""A chunk must be among so many nearest to its own vector: abstracts that are nearly the same share theirs."""

LEAST_COSINE: Final = 0.99
NAMED: Final = 5


def probe(folder: Path, catalog: Catalog) -> list[Callable[[], Finding | None]]:
    """Return the checks of the vectors of the store in `folder`."""
    place = vectors_folder(folder, catalog.build)
    return [lambda: _database(place), lambda: _counts(place, catalog), lambda: _found(place, catalog)]


def _database(place: Path) -> Finding | None:
    file = place / "chroma.sqlite3"
    if not file.exists():
        return Finding("vectors", False, f"{file} is missing", REBUILD)
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=10)) as database:
            problems = [row[0] for row in database.execute("PRAGMA quick_check(3)")]
    except sqlite3.Error as error:
        problems = [str(error)]
    return (
        Finding("vectors", False, f"{file} is damaged: {'; '.join(problems)}", REBUILD) if problems != ["ok"] else None
    )


def _counts(place: Path, catalog: Catalog) -> Finding | None:
    try:
        with closing(VectorIndex(place)) as index:
            there = set(index.ids())
    except AskAbstractsError as error:
        return Finding("vectors", False, str(error), REBUILD)
    expected = set(catalog.chunk_ids())
    missing, extra = sorted(expected - there), sorted(there - expected)
    if missing:
        return Finding("vectors", False, f"{len(missing):,} chunks are missing: {_some(missing)}", REBUILD)
    if extra:
        return Finding("vectors", False, f"{len(extra):,} chunks belong to no abstract: {_some(extra)}", REBUILD)
    return Finding("chunks", True, f"{len(there):,}, as the catalog has them")


def _found(place: Path, catalog: Catalog) -> Finding:
    """Look every chunk up by the vector that the catalog's sentences give it."""
    lost: list[str] = []
    count = 0
    with closing(VectorIndex(place)) as index:
        if not len(index):
            return Finding("vectors", True, "there are none")
        for chunks, own, stored in _batches(index, catalog):
            count += len(chunks)
            near = index.nearest_of_each(own, NEAREST)
            alike = (own * stored).sum(axis=1) >= LEAST_COSINE * np.linalg.norm(stored, axis=1)
            lost += [c.id for c, ids, same in zip(chunks, near, alike, strict=True) if c.id not in ids or not same]
    if lost:
        return Finding(
            "vectors",
            False,
            f"{len(lost):,} of {count:,} chunks are not found by their own vector: {_some(lost)}",
            REBUILD,
        )
    return Finding("vectors", True, f"each of {count:,} chunks is found by its own vector")


def _batches(index: VectorIndex, catalog: Catalog) -> Iterator[tuple[list[Chunk], np.ndarray, np.ndarray]]:
    chunks: list[Chunk] = []
    own: list[np.ndarray] = []
    stored: list[np.ndarray] = []
    for _, _, about, vector in index.stored():
        chunk, vectors = _chunk(catalog, about)
        chunks.append(chunk)
        own.append(vectors)
        stored.append(vector)
        if len(chunks) == BATCH:
            yield chunks, np.stack(own), np.stack(stored)
            chunks, own, stored = [], [], []
    if chunks:
        yield chunks, np.stack(own), np.stack(stored)


def _chunk(catalog: Catalog, about: dict[str, int]) -> tuple[Chunk, np.ndarray]:
    abstract = catalog.get(str(about["abstract_id"]))
    if abstract is None:
        raise KeyError(about["abstract_id"])
    start, end = about["start"], about["end"]
    inside = [place for place, (a, b) in enumerate(abstract.sentences) if start <= a and b <= end]
    chunk = Chunk(abstract.id, about["number"], inside[0], inside[-1] + 1, start, end)
    vectors = catalog.vectors(abstract.id)
    own = np.vstack([vectors[chunk.first : chunk.last], vectors[len(abstract.sentences) :]])
    return chunk, mean_direction(own)


def _some(ids: list[str]) -> str:
    return ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")
