"""The store: one folder that holds a collection of abstracts and all that is needed to find them.

store/catalog.sqlite3   abstracts, sources, sentence vectors, the encoder's name, the generation
store/chroma/           the chunks' vectors
store/lexical/          BM25
store/lock              held by the one process that writes
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.errors import OutsideError, StoreError
from rag.index.catalog import FORMAT, Catalog
from rag.index.encoder import Encoder, Vectors
from rag.index.lexical import LexicalIndex
from rag.index.lock import write_lock
from rag.index.vectors import VectorIndex
from rag.records import Abstract, Chunk

CACHED_ABSTRACTS = 5_000
FREE_BYTES_TO_WRITE = 100_000_000
"""A full disk breaks Chroma's files; with less than this free nothing is written."""


@dataclass(frozen=True, slots=True)
class Reading:
    """An abstract with its unit vectors: `vectors` holds one a sentence, `all_vectors` the title's too, if any."""

    abstract: Abstract
    all_vectors: Vectors

    @property
    def vectors(self) -> Vectors:
        """The sentences' vectors, of shape (sentences, dimension)."""
        return self.all_vectors[: len(self.abstract.sentences)]


class Store:
    """A facade over catalog, vectors and lexical index that follows what other processes write."""

    def __init__(self, path: Path, encoder: Encoder) -> None:
        self.path = path
        self.encoder = encoder
        self._lock = threading.RLock()
        self.catalog = Catalog(path / "catalog.sqlite3")
        self._check_encoder()
        self._open_indexes()

    @classmethod
    def open(cls, path: Path, encoder: Encoder) -> Store:
        """Open the store in the folder `path`, which is made where it is missing.

        Raises `StoreError` for a store of another encoder or format and for what is no store, `OutsideError`
        where the disk refuses.
        """
        if path.exists() and not (path / "catalog.sqlite3").exists() and (path.is_file() or any(path.iterdir())):
            raise StoreError(f"store {path}: this is no store; name a new or an empty folder (--store PATH)")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutsideError(f"store {path}: {error.strerror}") from error
        if not os.access(path, os.W_OK):
            raise OutsideError(f"store {path}: this folder is read-only, and a store is opened for writing")
        return cls(path, encoder)

    def close(self) -> None:
        """Let go of all files."""
        self.vectors.close()
        self.catalog.close()

    def __len__(self) -> int:
        return len(self.catalog)

    def __contains__(self, abstract_id: str) -> bool:
        return self.catalog.get(abstract_id) is not None

    def abstracts(self) -> list[Abstract]:
        """Return all abstracts, in the order of ingest."""
        return list(self.catalog)

    def abstract(self, abstract_id: str) -> Abstract:
        """Return one abstract. Raises `KeyError` where there is none."""
        return self.read(abstract_id).abstract

    def read(self, abstract_id: str) -> Reading:
        """Return an abstract with its sentences' vectors, from memory where it was read lately."""
        with self._lock:
            reading = self._cache.get(abstract_id)
            if reading is None:
                abstract = self.catalog.get(abstract_id)
                if abstract is None:
                    raise KeyError(abstract_id)
                reading = self._cache[abstract_id] = Reading(abstract, self.catalog.vectors(abstract_id))
                if len(self._cache) > CACHED_ABSTRACTS:
                    self._cache.popitem(last=False)
            return reading

    def nearest(self, vector: Vectors, count: int) -> list[tuple[str, float]]:
        """Return up to `count` chunks as (abstract id, cosine similarity), the nearest first."""
        with self._lock:  # `refresh` closes the index that it replaces, and must not do so under a search
            return self.vectors.nearest(vector, count)

    def matching(self, text: str, count: int) -> list[tuple[str, float]]:
        """Return up to `count` abstracts as (abstract id, BM25 score), the best first."""
        return self.lexical.nearest(text, count)

    def status(self) -> dict[str, str | int]:
        """Return what is in the store: counts, encoder, size in bytes, place."""
        abstracts = self.abstracts()
        sources = {source.partition("#")[0] for abstract in abstracts for source in abstract.sources}
        about = self.catalog.about()
        return {
            "store": str(self.path),
            "abstracts": len(abstracts),
            "chunks": len(self.vectors),
            "sentences": sum(len(abstract.sentences) for abstract in abstracts),
            "files": len(sources),
            "collections": ", ".join(sorted({abstract.collection for abstract in abstracts if abstract.collection})),
            "encoder": about.get("encoder", self.encoder.model_name),
            "dimension": int(about.get("dimension", 0)),
            "bytes": sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file()),
            "generation": self.catalog.generation,
        }

    def refresh(self) -> None:
        """Open the indexes anew where the catalog has moved on since; costs some microseconds where not."""
        with self._lock:
            if self.catalog.generation != self._generation:
                self.vectors.close()
                self._open_indexes()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store for writing, and index what was written. Raises `StoreError` where another holds it."""
        if shutil.disk_usage(self.path).free < FREE_BYTES_TO_WRITE:
            raise OutsideError(f"store {self.path}: less than {FREE_BYTES_TO_WRITE // 1_000_000} MB free on its disk")
        with write_lock(self.path):
            self.refresh()
            if "encoder" not in self.catalog.about():
                self.catalog.describe(format=FORMAT, encoder=self.encoder.model_name, dimension=self.encoder.dimension)
            yield
            self._index_words()

    def add(
        self,
        abstracts: Sequence[Abstract],
        sentence_vectors: Sequence[Vectors],
        chunks: Sequence[Chunk],
        chunk_vectors: Vectors,
    ) -> None:
        """Add abstracts; to be called while `writing`. The catalog's row comes last: it makes the abstract exist."""
        texts = {abstract.id: abstract.text for abstract in abstracts}
        self.vectors.upsert(chunks, [texts[c.abstract_id][c.start : c.end] for c in chunks], chunk_vectors)
        self.catalog.add(abstracts, sentence_vectors)

    def _open_indexes(self) -> None:
        self._generation = self.catalog.generation
        self._cache: OrderedDict[str, Reading] = OrderedDict()
        self.vectors = VectorIndex(self.path / "chroma")
        self.lexical = LexicalIndex.load(self.path / "lexical", self._generation) or self._build_lexical()

    def _build_lexical(self) -> LexicalIndex:
        return LexicalIndex.build((abstract.id, f"{abstract.title or ''} {abstract.text}") for abstract in self.catalog)

    def _index_words(self) -> None:
        with self._lock:
            if self.catalog.generation != self._generation:
                self._generation = self.catalog.generation
                self._cache.clear()
                self.lexical = self._build_lexical()
                self.lexical.save(self.path / "lexical", self._generation)

    def _check_encoder(self) -> None:
        about = self.catalog.about()
        if int(about.get("format", FORMAT)) != FORMAT:
            raise StoreError(f"store {self.path}: format {about['format']}, this version reads format {FORMAT}")
        made_with = about.get("encoder", self.encoder.model_name)
        if made_with != self.encoder.model_name:
            raise StoreError(
                f"store {self.path}: made with encoder {made_with!r}, the settings say {self.encoder.model_name!r}; "
                f"set encoder.model = {made_with!r} or use another store (--store PATH)"
            )
