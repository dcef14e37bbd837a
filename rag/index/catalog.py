"""The catalog: every abstract with its sources and its sentences' vectors, in one SQLite file.

An abstract exists when it stands here. Ingest writes the vectors to Chroma first and the rows last, so that
what a kill in the middle leaves behind in Chroma belongs to no abstract, and is swept up by the next writer.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from rag.corpus.record import Record
from rag.errors import InputError, StoreError
from rag.index.encoder import Vectors
from rag.index.schema import migrate
from rag.index.twins import signature
from rag.records import Abstract, Where

CATALOG: Final = "catalog.sqlite3"
DEFAULT: Final = "default"
_NAME: Final = re.compile(r"\w[\w .+\-]{0,62}\w|\w")

Place = tuple[str, str]
"""Where a record stands: the path of its file, and the place in it."""

UNFINISHED = "?unfinished"
"""What hangs on the path of a file whose ingest goes on."""

_SELECT = """
SELECT id, text, label, sentences, record,
       (SELECT json_group_array(source) FROM
           (SELECT DISTINCT name || place AS source FROM sources JOIN files ON files.id = file
            WHERE abstract_id = abstracts.id ORDER BY name, place))
FROM abstracts
"""
_RECORD_FIELDS = ("heading", "title", "authors", "year", "venue", "url", "keys", "keywords")
_FEW = 500
_LISTS = ("authors", "keys", "keywords")


class Catalog:
    """The abstracts of one collection. Safe to use from several threads; one process writes at a time."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.RLock()
        self._database = sqlite3.connect(file, timeout=30, check_same_thread=False, isolation_level=None)
        try:
            self._database.create_function("has", 2, _has, deterministic=True)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA foreign_keys = ON")
            migrate(self._database)
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise StoreError(f"{file}: not a catalog that can be read: {error} (rag doctor says more)") from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __len__(self) -> int:
        return int(self._one("SELECT count(*) FROM abstracts"))

    def __contains__(self, abstract_id: str) -> bool:
        return bool(self._all("SELECT 1 FROM abstracts WHERE id = ?", abstract_id))

    def __iter__(self) -> Iterator[Abstract]:
        return iter([_abstract(row) for row in self._all(f"{_SELECT} ORDER BY position")])

    @property
    def generation(self) -> int:
        """A number that grows whenever a writer has finished, in whichever process."""
        return int(self._one("PRAGMA user_version"))

    @property
    def build(self) -> int:
        """The number of the build whose vectors count: 0, and one more with each rebuild."""
        return int(self.about().get("build", 0))

    def about(self) -> dict[str, str]:
        """Return what the store says of itself: format, encoder, the vectors' dimension, an unfinished writer."""
        return dict(self._all("SELECT key, value FROM about"))

    def describe(self, **about: str | int | None) -> None:
        """Record what the store says of itself; None takes a word back."""
        with self.changing():
            for key, value in about.items():
                self._run("DELETE FROM about WHERE key = ?", key)
                if value is not None:
                    self._run("INSERT INTO about VALUES (?, ?)", key, str(value))

    def publish(self) -> int:
        """Raise the generation, which tells other processes to look again, and return it."""
        with self.changing():
            generation = self.generation + 1
            self._run(f"PRAGMA user_version = {generation}")
        return generation

    def get(self, abstract_id: str) -> Abstract | None:
        """Return one abstract, or None where there is none."""
        rows = self._all(f"{_SELECT} WHERE id = ?", abstract_id)
        return _abstract(rows[0]) if rows else None

    def find(self, key: str) -> list[str]:
        """Return the ids of the abstracts of this id or key (with or without its kind: `doi:10.1/x`, `10.1/x`)."""
        return [
            row[0]
            for row in self._all(
                "SELECT id FROM abstracts WHERE id = lower(?1) UNION SELECT abstract_id FROM keys "
                "WHERE key = ?1 OR key IN ('doi:' || ?1, 'arxiv:' || ?1, 'pmid:' || ?1, 'openreview:' || ?1)", key,
            )
        ]  # fmt: skip

    def ids(self) -> list[str]:
        """Return all ids, in the order of ingest."""
        return [row[0] for row in self._all("SELECT id FROM abstracts ORDER BY position")]

    def where(self, where: Where) -> list[str]:
        """Return the ids of the abstracts that count, in the order of ingest. Texts are compared without their case."""
        conditions = {
            "json_extract(record, '$.year') >= ?": where.first,
            "json_extract(record, '$.year') <= ?": where.last,
            "has(coalesce(json_extract(record, '$.venue'), ''), ?)": where.venue,
            "EXISTS (SELECT 1 FROM json_each(record, '$.authors') WHERE has(value, ?))": where.author,
            "EXISTS (SELECT 1 FROM sources JOIN files ON files.id = file WHERE abstract_id = abstracts.id "
            "AND has(name || place, ?))": where.source,
        }
        asked = {condition: value for condition, value in conditions.items() if value}
        query = f"SELECT id FROM abstracts WHERE {' AND '.join(asked) or '1'} ORDER BY position"  # noqa: S608  ours
        return [row[0] for row in self._all(query, *asked.values())]

    def chunk_ids(self, ids: Iterable[str] | None = None) -> list[str]:
        """Return the ids of all chunks, or of the chunks of some abstracts."""
        chosen = None if ids is None else set(ids)
        if chosen is not None and len(chosen) < _FEW:
            counts = [row for one in chosen for row in self._all("SELECT id, chunks FROM abstracts WHERE id = ?", one)]
        else:
            counts = self._all("SELECT id, chunks FROM abstracts ORDER BY position")
        return [f"{one}:{n}" for one, count in counts if chosen is None or one in chosen for n in range(count)]

    def vectors(self, abstract_id: str) -> Vectors:
        """Return the unit vectors of the sentences and, last, of the title where there is one: one a row."""
        rows = self._all("SELECT vectors FROM vectors WHERE abstract_id = ? AND build = ?", abstract_id, self.build)
        if not rows:
            raise KeyError(abstract_id)
        vectors: Vectors = np.frombuffer(rows[0][0], dtype=np.float16).astype(np.float32)
        return vectors.reshape(-1, int(self.about()["dimension"]))

    def files(self) -> dict[str, tuple[str, str]]:
        """Return path -> (name, stamp) of every file that something came from."""
        rows = self._all("SELECT path, name, stamp FROM files WHERE path NOT LIKE '%' || ?", UNFINISHED)
        return {path: (name, stamp) for path, name, stamp in rows}

    def places(self, path: str) -> dict[str, tuple[str, str]]:
        """Return place -> (abstract id, record as JSON) of one file."""
        rows = self._all(
            "SELECT place, abstract_id, record FROM sources JOIN files ON files.id = file WHERE path = ?", path
        )
        return {place: (abstract_id, record) for place, abstract_id, record in rows}

    def records(self, abstract_id: str) -> dict[Place, tuple[str, Record]]:
        """Return (path, place) -> (source, record) for every place where an abstract stands."""
        rows = self._all(
            "SELECT path, place, name || place, abstracts.text, sources.record FROM sources "
            "JOIN files ON files.id = file JOIN abstracts ON abstracts.id = abstract_id WHERE abstract_id = ?",
            abstract_id,
        )  # fmt: skip
        return {(path, place): (source, load_record(record, text, place)) for path, place, source, text, record in rows}

    def standing_at(self, place: Place) -> str | None:
        """Return the id of the abstract at a place, or None where there is none."""
        rows = self._all(
            "SELECT abstract_id FROM sources WHERE place = ? AND file = (SELECT id FROM files WHERE path = ?)",
            place[1], place[0],
        )  # fmt: skip
        return rows[0][0] if rows else None

    def places_of(self, abstract_id: str) -> int:
        """Return in how many places an abstract stands, those in unfinished files apart."""
        query = "SELECT path FROM sources JOIN files ON files.id = file WHERE abstract_id = ?"
        return sum(not path.endswith(UNFINISHED) for (path,) in self._all(query, abstract_id))

    def twins(self) -> list[tuple[str, str, float]]:
        """Return the pairs of near-duplicates, with the Jaccard similarity of their shingles."""
        return self._all("SELECT one, other, similarity FROM twins")

    def signatures(self) -> list[tuple[str, str | None, bytes]]:
        """Return (abstract id, title, MinHash signature) of every abstract."""
        return self._all("SELECT id, json_extract(record, '$.title'), signature FROM abstracts ORDER BY position")

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Do what is done inside as one transaction."""
        with self._lock:
            if self._database.in_transaction:
                yield
                return
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:
                yield

    def put(self, abstract: Abstract, vectors: Vectors | None, chunks: int, minima: bytes) -> None:
        """Write an abstract over what was there of it; without `vectors`, `chunks` and `minima` stay as they are."""
        record = json.dumps({name: getattr(abstract, name) for name in _RECORD_FIELDS}, ensure_ascii=False)
        with self.changing():
            if vectors is None:
                self._run(
                    "UPDATE abstracts SET label = ?, record = ? WHERE id = ?", abstract.label, record, abstract.id
                )
            else:
                self._run(
                    "INSERT INTO abstracts (id, text, label, sentences, record, chunks, signature) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
                    "SET label = excluded.label, record = excluded.record, chunks = excluded.chunks",
                    abstract.id, abstract.text, abstract.label, json.dumps(abstract.sentences), record, chunks, minima,
                )  # fmt: skip
                self.put_vectors(abstract.id, vectors, self.build)
            self._run("DELETE FROM keys WHERE abstract_id = ?", abstract.id)
            self._database.executemany(
                "INSERT OR IGNORE INTO keys VALUES (?, ?)", [(key, abstract.id) for key in abstract.keys]
            )

    def put_vectors(self, abstract_id: str, vectors: Vectors, build: int) -> None:
        """Write the vectors of an abstract's sentences and title for one build."""
        blob = vectors.astype(np.float16).tobytes()
        with self.changing():
            self._run("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", build, abstract_id, blob)

    def put_file(self, path: str, name: str, stamp: str) -> None:
        """Note a file, or what has become of it."""
        with self.changing():
            self._run(
                "INSERT INTO files (path, name, stamp) VALUES (?, ?, ?) "
                "ON CONFLICT (path) DO UPDATE SET name = excluded.name, stamp = excluded.stamp", path, name, stamp,
            )  # fmt: skip

    def rename_file(self, old: str, new: str) -> None:
        """Give a file another path."""
        with self.changing():
            self._run("UPDATE files SET path = ? WHERE path = ?", new, old)

    def put_source(self, place: Place, abstract_id: str, record: str) -> None:
        """Note where an abstract stands, with what is said of it there."""
        with self.changing():
            self._run(
                "INSERT OR REPLACE INTO sources (file, place, abstract_id, record) "
                "SELECT id, ?, ?, ? FROM files WHERE path = ?", place[1], abstract_id, record, place[0],
            )  # fmt: skip

    def put_twins(self, pairs: Iterable[tuple[str, str, float]]) -> None:
        """Note pairs of near-duplicates."""
        with self.changing():
            self._database.executemany("INSERT OR REPLACE INTO twins VALUES (?, ?, ?)", list(pairs))

    def drop_source(self, place: Place) -> None:
        """Forget that something stands at a place."""
        with self.changing():
            self._run(
                "DELETE FROM sources WHERE place = ? AND file = (SELECT id FROM files WHERE path = ?)",
                place[1], place[0],
            )  # fmt: skip

    def drop(self, abstract_id: str) -> None:
        """Delete an abstract with all that hangs on it; its files are read again when they are told of next."""
        with self.changing():
            self._run(
                "UPDATE files SET stamp = '' WHERE id IN (SELECT file FROM sources WHERE abstract_id = ?)", abstract_id
            )
            self._run("DELETE FROM abstracts WHERE id = ?", abstract_id)

    def count_chunks(self, chunk_ids: Iterable[str]) -> None:
        """Take the number of chunks of abstracts of an earlier format from the chunks that there are."""
        counts = Counter(chunk_id.partition(":")[0] for chunk_id in chunk_ids)
        with self.changing():
            for abstract_id, text in self._all("SELECT id, text FROM abstracts WHERE chunks = 0"):
                self._run(
                    "UPDATE abstracts SET chunks = ?, signature = ? WHERE id = ?",
                    counts[abstract_id], signature(text).tobytes(), abstract_id,
                )  # fmt: skip

    def recount_chunks(self, chunk_ids: Iterable[str]) -> None:
        """Take the number of chunks of all abstracts from the chunks that there are."""
        with self.changing():
            self._run("UPDATE abstracts SET chunks = 0")
            self.count_chunks(chunk_ids)

    def inconsistencies(self) -> list[str]:
        """Return what is wrong between the tables, in words."""
        wrong = {
            "have no source": "id NOT IN (SELECT abstract_id FROM sources)",
            "have no vectors": f"id NOT IN (SELECT abstract_id FROM vectors WHERE build = {self.build})",  # noqa: S608
            "have no chunks": "chunks = 0",
        }
        counts = {
            what: self._one(f"SELECT count(*) FROM abstracts WHERE {condition}")  # noqa: S608  ours
            for what, condition in wrong.items()
        }
        return [f"{count:,} abstracts {what}" for what, count in counts.items() if count]

    def drop_file(self, path: str) -> None:
        """Forget a file that nothing stands in any more."""
        with self.changing():
            self._run("DELETE FROM files WHERE path = ? AND id NOT IN (SELECT file FROM sources)", path)

    def forget_file(self, path: str) -> None:
        """Forget a file and that anything stands in it."""
        with self.changing():
            self._run("DELETE FROM files WHERE path = ?", path)

    def drop_builds(self, but: int) -> None:
        """Delete all vectors but those of one build."""
        with self.changing():
            self._run("DELETE FROM vectors WHERE build != ?", but)

    def built(self, build: int) -> set[str]:
        """Return the ids of the abstracts that have vectors in a build."""
        return {row[0] for row in self._all("SELECT abstract_id FROM vectors WHERE build = ?", build)}

    def _run(self, statement: str, *values: Any) -> None:
        self._database.execute(statement, values)

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _one(self, query: str) -> Any:
        return self._all(query)[0][0]


def unfinished(path: str) -> str:
    """Return the path under which the places of a file are noted while its ingest goes on."""
    return path + UNFINISHED


def dump_record(record: Record) -> str:
    """Return a record without its text and place, as JSON; fields that it lacks are left out."""
    fields = {name: value for name, value in asdict(record).items() if name not in ("text", "place") and value}
    return json.dumps(fields, ensure_ascii=False, sort_keys=True)


def load_record(dumped: str, text: str, place: str) -> Record:
    """Return the record that was dumped."""
    return Record(text=text, place=place, **_with_tuples(json.loads(dumped)))


def open_catalog(root: Path, collection: str) -> Catalog:
    """Open the catalog of a collection that is there. Raises `InputError` where it is not."""
    file = collection_folder(root, collection) / CATALOG
    if not file.exists():
        raise InputError(f"store {file.parent}: there is none; `rag ingest PATH` makes one")
    return Catalog(file)


def collection_folder(root: Path, collection: str = DEFAULT) -> Path:
    """Return the folder of a collection in the store `root`. Raises `InputError` for what is no name of one."""
    if not _NAME.fullmatch(collection):
        raise InputError(f"collection {collection!r}: a name has letters, digits, spaces and . + - _, 64 at most")
    return root if collection == DEFAULT else root / "collections" / collection


def collections(root: Path) -> list[str]:
    """Return the names of a store's collections, the default one first where it is there."""
    named = sorted(file.parent.name for file in root.glob(f"collections/*/{CATALOG}"))
    return [DEFAULT] * (root / CATALOG).exists() + named


def _has(text: str, part: str) -> bool:
    return part.casefold() in str(text).casefold()


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name in _LISTS else value for name, value in fields.items()}


def _abstract(row: Sequence[str]) -> Abstract:
    abstract_id, text, label, sentences, record, sources = row
    return Abstract(
        id=abstract_id,
        text=text,
        label=label,
        sentences=tuple((start, end) for start, end in json.loads(sentences)),
        sources=tuple(json.loads(sources)),
        **_with_tuples(json.loads(record)),
    )
