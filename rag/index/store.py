"""The store: a folder with a collection of abstracts and all that is needed to find them.

store/catalog.sqlite3   abstracts, sources, sentence vectors, the encoder's name, the generation
store/chroma/           the chunks' vectors (chroma-2/ after a rebuild)
store/lexical/          BM25
store/lock              held by the one process that writes
store/collections/NAME/ the same for each collection with a name of its own
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rag.corpus.identity import file_of
from rag.errors import OutsideError, StoreError
from rag.index import twins
from rag.index.catalog import CATALOG, DEFAULT, Catalog, collection_folder
from rag.index.encoder import Encoder, Vectors
from rag.index.lexical import LexicalIndex
from rag.index.lock import write_lock
from rag.index.schema import FORMAT
from rag.index.vectors import VectorIndex, vectors_folder
from rag.records import Abstract

CACHED_ABSTRACTS: Final = 5_000
FREE_BYTES_TO_WRITE: Final = 30_000_000
"""A full disk breaks Chroma's files; with less than this free nothing is written."""

BYTES_AN_ABSTRACT: Final = 50_000
"""What an abstract takes at most: 25,000 bytes were seen, and the database's log as much again."""

_OURS: Final = {"collections", "lock", "lock.pid", "feedback.jsonl"}


@dataclass(frozen=True, slots=True)
class Reading:
    """An abstract with its unit vectors: `vectors` holds one a sentence, `all_vectors` the title's too, if any."""

    abstract: Abstract
    all_vectors: Vectors

    @property
    def vectors(self) -> Vectors:
        """The sentences' vectors, of shape (sentences, dimension)."""
        return self.all_vectors[: len(self.abstract.sentences)]


def check_space(folder: Path, abstracts: int = 0) -> None:
    """Raise `OutsideError` where a folder's disk has not enough room for so many abstracts more."""
    needed, free = FREE_BYTES_TO_WRITE + abstracts * BYTES_AN_ABSTRACT, shutil.disk_usage(folder).free
    if free < needed:
        raise OutsideError(
            f"store {folder}: {free // 1_000_000:,} MB free on its disk, {needed // 1_000_000:,} MB are needed; "
            "nothing was written"
        )


class Store:
    """A facade over catalog, vectors and lexical index that follows what other processes write."""

    def __init__(self, path: Path, encoder: Encoder) -> None:
        self.path = path
        self.encoder = encoder
        self._lock = threading.RLock()
        self.vectors: VectorIndex
        self.lexical: LexicalIndex
        self._open_catalog()
        self._check_encoder()
        self._open_indexes()

    @classmethod
    def open(cls, path: Path, encoder: Encoder, collection: str = DEFAULT) -> Store:
        """Open a collection of the store in the folder `path`, which is made where it is missing.

        Raises `StoreError` for a store of another encoder or format and for what is no store, `OutsideError`
        where the disk refuses.
        """
        if not (path / CATALOG).exists() and list(path.glob("chroma*")):
            raise StoreError(f"store {path}: its catalog is missing (rag doctor says more, rag rebuild mends it)")
        if path.is_file() or (not (path / CATALOG).exists() and path.exists() and set(os.listdir(path)) - _OURS):
            raise StoreError(f"store {path}: this is no store; name a new or an empty folder (--store PATH)")
        folder = collection_folder(path, collection)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutsideError(f"store {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise OutsideError(f"store {folder}: this folder is read-only, and a store is opened for writing")
        return cls(folder, encoder)

    def close(self) -> None:
        """Let go of all files."""
        self.vectors.close()
        self.catalog.close()

    def __len__(self) -> int:
        return len(self.catalog)

    def __contains__(self, abstract_id: str) -> bool:
        return abstract_id in self.catalog

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

    def nearest(self, vector: Vectors, count: int, chunks: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `count` chunks as (abstract id, cosine similarity), the nearest first; of `chunks`, if given."""
        with self._lock:  # `refresh` closes the index that it replaces, and must not do so under a search
            return self.vectors.nearest(vector, count, chunks)

    def matching(self, text: str, count: int, among: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `count` abstracts as (abstract id, BM25 score), the best first."""
        return self.lexical.nearest(text, count, among)

    def group(self, abstract_id: str) -> frozenset[str]:
        """Return the near-duplicates of an abstract, itself among them; nothing where it has none."""
        return self.groups.get(abstract_id, frozenset())

    def status(self) -> dict[str, str | int]:
        """Return what is in the store: counts, encoder, size in bytes, place."""
        abstracts = self.abstracts()
        about = self.catalog.about()
        return {
            "store": str(self.path),
            "abstracts": len(abstracts),
            "chunks": len(self.vectors),
            "sentences": sum(len(abstract.sentences) for abstract in abstracts),
            "files": len({file_of(source) for abstract in abstracts for source in abstract.sources}),
            "headings": ", ".join(sorted({abstract.heading for abstract in abstracts if abstract.heading})),
            "near-duplicates": len(self.groups),
            "encoder": about.get("encoder", self.encoder.model_name),
            "dimension": int(about.get("dimension", 0)),
            "bytes": sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file()),
            "generation": self.catalog.generation,
            "unfinished": "yes: a writer was cut off; run the same command again" if self._is_cut_off() else "no",
        }

    def refresh(self) -> None:
        """Open anew what another process has changed since; costs some microseconds where nothing has."""
        with self._lock:
            if self._file != _identity(self.catalog.file):
                self.catalog.close()
                self._open_catalog()
                self._check_encoder()
            elif self.catalog.generation == self._generation:
                return
            self.vectors.close()
            self._open_indexes()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store for writing, sweep up what a killed writer left, and publish what was written.

        Raises `LockedError` where another process holds it, `OutsideError` where its disk is full.
        """
        with write_lock(self.path):
            check_space(self.path)
            self.refresh()
            about = self.catalog.about()
            if "encoder" not in about:
                self.catalog.describe(format=FORMAT, encoder=self.encoder.model_name, dimension=self.encoder.dimension)
            if "writing" in about:
                self._sweep()
            self._gone: list[str] = []
            self._changed: dict[str, None] = {}
            yield
            if self._changed or self._gone or "writing" in about:
                self._publish()

    def put(self, abstract: Abstract, vectors: Vectors, chunks: int, signature: bytes) -> None:
        """Write an abstract with its sentences' vectors into the catalog, while `writing`; its chunks are in Chroma."""
        self._gone += self.catalog.chunk_ids([abstract.id])[chunks:]
        self.catalog.put(abstract, vectors, chunks, signature)
        self._changed[abstract.id] = None

    def relabel(self, abstract: Abstract) -> None:
        """Write what is known of an abstract besides its text, while `writing`."""
        self.catalog.put(abstract, None, 0, b"")
        self._changed[abstract.id] = None

    def drop(self, abstract_id: str) -> None:
        """Delete an abstract, while `writing`. Its chunks go when all is written."""
        self._gone += self.catalog.chunk_ids([abstract_id])
        self._changed[abstract_id] = None
        self.catalog.drop(abstract_id)

    def index_words(self) -> None:
        """Build BM25 from zero, while `writing`."""
        self.lexical = self._build_lexical()
        self._changed |= dict.fromkeys(self.catalog.ids()[:1])

    def mark_unfinished(self) -> None:
        """Note that chunks are about to be written, so that the next writer sweeps up if this one is killed."""
        self.catalog.describe(writing=os.getpid())

    def _publish(self) -> None:
        """Delete what went, bring BM25 up to date, and tell everybody."""
        with self._lock:
            self.vectors.delete(self._gone)
            changed = (found for one in self._changed if (found := self.catalog.get(one)) is not None)
            self.lexical = self.lexical.changed(((one.id, _words(one)) for one in changed), self._changed)
            self.lexical.save(self.path / "lexical", self.catalog.generation + 1)
            with self.catalog.changing():
                self.catalog.describe(writing=None)
                self._generation = self.catalog.publish()
            self._cache.clear()
            self.groups = twins.groups(self.catalog.twins())

    def _sweep(self) -> None:
        """Make the vectors and BM25 agree with the catalog after a writer that was killed."""
        there = self.vectors.ids()
        self.catalog.count_chunks(there)
        expected = set(self.catalog.chunk_ids())
        self.vectors.delete([one for one in there if one not in expected])
        self.lexical = self._build_lexical()

    def _is_cut_off(self) -> bool:
        return "writing" in self.catalog.about()

    def _open_catalog(self) -> None:
        self.catalog = Catalog(self.path / CATALOG)
        self._file = _identity(self.catalog.file)

    def _open_indexes(self) -> None:
        self._generation = self.catalog.generation
        self._cache: OrderedDict[str, Reading] = OrderedDict()
        self.vectors = VectorIndex(vectors_folder(self.path, self.catalog.build))
        kept = LexicalIndex.load(self.path / "lexical")
        fresh = kept is not None and kept[1] == self._generation
        self.lexical = kept[0] if kept and fresh else self._build_lexical()
        self.groups = twins.groups(self.catalog.twins())

    def _build_lexical(self) -> LexicalIndex:
        return LexicalIndex.build((abstract.id, _words(abstract)) for abstract in self.catalog)

    def _check_encoder(self) -> None:
        about = self.catalog.about()
        if int(about.get("format", FORMAT)) != FORMAT:
            raise StoreError(f"store {self.path}: format {about['format']}, this version reads format {FORMAT}")
        made_with = about.get("encoder", self.encoder.model_name)
        if made_with != self.encoder.model_name:
            raise StoreError(
                f"store {self.path}: made with encoder {made_with!r}, the settings say {self.encoder.model_name!r}; "
                f"`rag rebuild` makes it anew with that one, encoder.model = {made_with!r} keeps it"
            )


def _words(abstract: Abstract) -> str:
    return f"{abstract.title or ''} {abstract.text}"


def _identity(file: Path) -> tuple[int, int]:
    """Return what changes where a file is replaced by another."""
    try:
        stat = file.stat()
    except OSError:
        return (0, 0)
    return stat.st_dev, stat.st_ino
