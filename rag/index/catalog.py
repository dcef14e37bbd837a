"""The catalog: every abstract with its sources and its sentences' vectors, in one SQLite file.

An abstract exists when it stands here. Ingest writes the vectors to Chroma first and the row last, so that
what a kill in the middle leaves behind in Chroma belongs to no abstract, and is written again by the next run.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import StoreError
from rag.index.encoder import Vectors
from rag.records import Abstract

FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS abstracts (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    label TEXT NOT NULL,
    sentences TEXT NOT NULL,
    record TEXT NOT NULL,
    vectors BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS sources (
    abstract_id TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    PRIMARY KEY (abstract_id, source)
) WITHOUT ROWID;
"""
_SELECT = """
SELECT id, text, label, sentences, record,
       (SELECT json_group_array(source) FROM (SELECT source FROM sources WHERE abstract_id = id ORDER BY source))
FROM abstracts
"""
_RECORD_FIELDS = ("collection", "title", "authors", "year", "venue", "url", "keys")


class Catalog:
    """The abstracts of one store. Safe to use from several threads; one process writes at a time."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, timeout=30, check_same_thread=False, isolation_level=None)
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{file}: not a catalog that can be read: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __len__(self) -> int:
        return int(self._one("SELECT count(*) FROM abstracts"))

    @property
    def generation(self) -> int:
        """A number that grows with every change, in whichever process it was made."""
        return int(self._one("PRAGMA user_version"))

    def about(self) -> dict[str, str]:
        """Return what the store says of itself: its format, its encoder and the vectors' dimension."""
        return dict(self._all("SELECT key, value FROM about"))

    def describe(self, **about: str | int) -> None:
        """Record what the store says of itself."""
        with self._lock, self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO about VALUES (?, ?)", [(key, str(value)) for key, value in about.items()]
            )

    def ids(self) -> list[str]:
        """Return all ids, in the order of ingest."""
        return [row[0] for row in self._all("SELECT id FROM abstracts ORDER BY position")]

    def sources(self) -> dict[str, list[str]]:
        """Return abstract id -> its sources."""
        found: dict[str, list[str]] = {}
        for abstract_id, source in self._all("SELECT abstract_id, source FROM sources ORDER BY source"):
            found.setdefault(abstract_id, []).append(source)
        return found

    def get(self, abstract_id: str) -> Abstract | None:
        """Return one abstract, or None where there is none."""
        rows = self._all(f"{_SELECT} WHERE id = ?", abstract_id)
        return _abstract(rows[0]) if rows else None

    def __iter__(self) -> Iterator[Abstract]:
        return iter([_abstract(row) for row in self._all(f"{_SELECT} ORDER BY position")])

    def vectors(self, abstract_id: str) -> Vectors:
        """Return the unit vectors of the sentences and, last, of the title where there is one: one a row."""
        blob = self._all("SELECT vectors FROM abstracts WHERE id = ?", abstract_id)[0][0]
        dimension = int(self.about()["dimension"])
        vectors: Vectors = np.frombuffer(blob, dtype=np.float16).astype(np.float32).reshape(-1, dimension)
        return vectors

    def add(self, abstracts: Sequence[Abstract], vectors: Sequence[Vectors]) -> None:
        """Add abstracts with their sentences' vectors, all or none, and raise the generation."""
        with self._lock, self._transaction():
            self._database.executemany(
                "INSERT INTO abstracts (id, text, label, sentences, record, vectors) VALUES (?, ?, ?, ?, ?, ?)",
                [_row(abstract, rows) for abstract, rows in zip(abstracts, vectors, strict=True)],
            )
            self._add_sources((abstract.id, source) for abstract in abstracts for source in abstract.sources)

    def add_sources(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Note further sources, as (abstract id, source), and raise the generation."""
        with self._lock, self._transaction():
            self._add_sources(pairs)

    def _add_sources(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", list(pairs))
        generation = self._database.execute("PRAGMA user_version").fetchone()[0]
        self._database.execute(f"PRAGMA user_version = {int(generation) + 1}")

    def _transaction(self) -> sqlite3.Connection:
        self._database.execute("BEGIN IMMEDIATE")
        return self._database

    def _all(self, query: str, *values: str) -> list[Any]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _one(self, query: str) -> Any:
        return self._all(query)[0][0]


def _row(abstract: Abstract, vectors: Vectors) -> tuple[str, str, str, str, str, bytes]:
    record = json.dumps({name: getattr(abstract, name) for name in _RECORD_FIELDS}, ensure_ascii=False)
    blob = vectors.astype(np.float16).tobytes()
    return abstract.id, abstract.text, abstract.label, json.dumps(abstract.sentences), record, blob


def _abstract(row: Sequence[str]) -> Abstract:
    abstract_id, text, label, sentences, record, sources = row
    fields = json.loads(record)
    for name in ("authors", "keys"):
        fields[name] = tuple(fields[name])
    return Abstract(
        id=abstract_id,
        text=text,
        label=label,
        sentences=tuple((start, end) for start, end in json.loads(sentences)),
        sources=tuple(json.loads(sources)),
        **fields,
    )
