"""From files to a store: read, encode each sentence once, write in batches. A second run changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rag.corpus.chunks import chunk
from rag.corpus.files import find_files, read_abstracts
from rag.corpus.markup import plain
from rag.index.encoder import Encoder, Vectors
from rag.index.store import Store
from rag.records import Abstract, Chunk

BATCH = 64
"""Abstracts encoded and written at once: what a kill can cost, and what lies in memory."""

Progress = Callable[[Sequence[Abstract]], Iterable[Abstract]]
"""Wraps the abstracts that are about to be encoded, and counts them as they pass."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did: files and paragraphs read, abstracts added, abstracts that were there, in the store now."""

    files: int
    paragraphs: int
    added: int
    unchanged: int
    new_sources: int
    total: int

    def __str__(self) -> str:
        different = self.added + self.unchanged
        twins = "" if different == self.paragraphs else f" ({different} different)"
        read = f"read {_count(self.paragraphs, 'abstract')}{twins} from {_count(self.files, 'file')}"
        if not self.added and not self.new_sources:
            return f"{read}: nothing changed, the store holds {self.total}"
        sources = f", {_count(self.new_sources, 'source')} noted for known ones" if self.new_sources else ""
        return f"{read}: {self.added} added, {self.unchanged} unchanged{sources}; the store holds {self.total}"


def ingest(store: Store, paths: Iterable[Path], max_word_pieces: int, progress: Progress = iter) -> IngestReport:
    """Add the abstracts of files and folders to the store. Nothing is written before all files were read.

    Raises `InputError` for what cannot be read, and `StoreError` where another process writes.
    """
    files = find_files(paths)
    paragraphs = list(read_abstracts(files))
    abstracts = _merge_twins(paragraphs)
    new, further = add_abstracts(store, abstracts, max_word_pieces, progress)
    return IngestReport(len(files), len(paragraphs), new, len(abstracts) - new, further, len(store))


def add_abstracts(
    store: Store, abstracts: Sequence[Abstract], max_word_pieces: int, progress: Progress = iter
) -> tuple[int, int]:
    """Add different abstracts; return how many were new, and how many sources were noted for known ones."""
    with store.writing():
        known = store.catalog.sources()
        new = [abstract for abstract in abstracts if abstract.id not in known]
        further = [
            (abstract.id, source)
            for abstract in abstracts
            for source in abstract.sources
            if abstract.id in known and source not in known[abstract.id]
        ]
        if further:
            store.catalog.add_sources(further)
        for batch in _batches(progress(new), BATCH):
            store.add(batch, *embed(batch, store.encoder, max_word_pieces))
    return len(new), len(further)


def embed(
    abstracts: Sequence[Abstract], encoder: Encoder, max_word_pieces: int
) -> tuple[list[Vectors], list[Chunk], Vectors]:
    """Return each abstract's vectors (its sentences', then its title's), all chunks, and the chunks' vectors.

    Every sentence is encoded once, and a chunk's vector is the direction of its sentences' mean: it finds
    the right abstract more often than the encoding of the whole chunk does, and costs nothing more.
    """
    texts = [
        [plain(abstract.sentence(i)) for i in range(len(abstract.sentences))]
        + ([plain(abstract.title)] if abstract.title else [])
        for abstract in abstracts
    ]
    flat = [text for sentences in texts for text in sentences]
    vectors, pieces = encoder.encode(flat), encoder.count_word_pieces(flat)
    sentence_vectors: list[Vectors] = []
    chunks: list[Chunk] = []
    chunk_vectors: list[Vectors] = []
    first = 0
    for abstract, sentences in zip(abstracts, texts, strict=True):
        rows = slice(first, first + len(sentences))
        first = rows.stop
        own = vectors[rows]
        sentence_vectors.append(own)
        for piece in chunk(abstract, pieces[rows], max_word_pieces):
            chunks.append(piece)
            title = own[len(abstract.sentences) :]
            chunk_vectors.append(mean_direction(np.vstack([own[piece.first : piece.last], title])))
    return sentence_vectors, chunks, np.stack(chunk_vectors)


def mean_direction(vectors: Vectors) -> Vectors:
    """Return the unit vector along the mean of unit vectors of shape (n, dimension)."""
    mean: Vectors = vectors.mean(axis=0)
    return mean / np.float32(np.linalg.norm(mean) or 1.0)


def _merge_twins(abstracts: Iterable[Abstract]) -> list[Abstract]:
    merged: dict[str, Abstract] = {}
    for abstract in abstracts:
        twin = merged.get(abstract.id)
        sources = dict.fromkeys((*twin.sources, *abstract.sources)) if twin else abstract.sources
        merged[abstract.id] = replace(twin or abstract, sources=tuple(sources))
    return list(merged.values())


def _batches(items: Iterable[Abstract], size: int) -> Iterator[list[Abstract]]:
    batch: list[Abstract] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
