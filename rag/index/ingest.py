"""From sources to a store that says what they say: survey, encode each new sentence once, write in batches.

Every batch is encoded, written to Chroma, and only then into the catalog. What is edited or gone is replaced in one
transaction at the end: at any moment an abstract is there as it was or as it is now, and an ingest that was killed goes
on where it was.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from rag.corpus.abstracts import to_abstract, to_record
from rag.corpus.chunks import chunk
from rag.corpus.files import File
from rag.corpus.formats import Options
from rag.corpus.identity import abstract_id
from rag.corpus.markup import plain
from rag.corpus.record import Record
from rag.errors import InputError, OutsideError
from rag.index.catalog import UNFINISHED, Place, dump_record, unfinished
from rag.index.encoder import Encoder, Vectors
from rag.index.store import FREE_BYTES_TO_WRITE, Store, check_space
from rag.index.survey import Change, Left, Surveyor, stamp
from rag.index.twins import TwinFinder
from rag.records import Abstract, Chunk

Item = TypeVar("Item")

BATCH = 64
"""Abstracts encoded and written at once: what a kill can cost, and what lies in memory."""


class Progress(Protocol):
    """Wraps so many items that are about to be worked on, and counts them as they pass."""

    def __call__(self, items: Iterable[Item], count: int, /) -> Iterable[Item]:
        """Return the items."""
        ...


def silent(items: Iterable[Item], _count: int) -> Iterable[Item]:
    """Show no progress."""
    return items


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did, or would do: the abstracts' ids by what became of them, and what was skipped and why."""

    files: int
    records: int
    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    sources: int
    skipped: tuple[Left, ...]
    total: int
    dry_run: bool = False

    def __str__(self) -> str:
        different = len(self.added) + len(self.updated) + self.unchanged
        twins = "" if different == self.records else f" ({different} different)"
        read = f"read {_count(self.records, 'abstract')}{twins} from {_count(self.files, 'file')}"
        numbers = ((self.added, "added"), (self.updated, "updated"), (self.removed, "removed"))
        done = [f"{len(ids)} {word}" for ids, word in numbers if ids or word == "added"]
        done.append(f"{self.unchanged} unchanged")
        done += [f"{_count(self.sources, 'source')} noted for known ones"] if self.sources else []
        done += [f"{len(self.skipped)} skipped"] if self.skipped else []
        nothing = not (self.added or self.updated or self.removed or self.sources)
        done = ["nothing changed", *done[2:]] if nothing else done
        would, holds = ("would be: ", "would hold") if self.dry_run else ("", "holds")
        return f"{read}: {would}{', '.join(done)}; the store {holds} {self.total}"


def ingest(
    store: Store,
    paths: Iterable[Path],
    max_word_pieces: int,
    progress: Progress = silent,
    options: Options | None = None,
    encoding: str | None = None,
    dry_run: bool = False,
) -> IngestReport:
    """Make the store say what files, folders and archives say: add, update, and remove what vanished from them.

    What came from elsewhere stays. Raises `InputError` for a path that means nothing and where nothing could be read,
    `LockedError` where another process writes, `OutsideError` where the disk is full.
    """
    options = options or Options()
    with nullcontext() if dry_run else store.writing():
        survey = Surveyor(store.catalog, options, encoding).survey(paths)
        if not dry_run:
            check_space(store.path, len(survey.added) + len(survey.updated))
            _note_files(store, survey.read, survey.vanished)
            if survey.changes:
                _Writer(store, max_word_pieces).write(survey, survey.changes, progress)
            for file in survey.read:
                store.catalog.put_file(file.path, file.name, stamp(file, options, encoding))
            for path in survey.vanished:
                store.catalog.drop_file(path)
    total = len(store)
    if dry_run:
        total += sum(one not in store for one in (*survey.added, *survey.updated)) - survey.gone
    return IngestReport(
        survey.files, survey.records, tuple(survey.added), tuple(survey.updated), tuple(survey.removed),
        survey.unchanged, survey.sources, tuple(survey.skipped), total, dry_run,
    )  # fmt: skip


def add_abstracts(
    store: Store, abstracts: Sequence[Abstract], max_word_pieces: int, progress: Progress = silent
) -> None:
    """Add abstracts that come from no file."""
    with store.writing():
        store.catalog.put_file("", "", "")
        changes = [
            Change(("", source), to_record(abstract, source)) for abstract in abstracts for source in abstract.sources
        ]
        _Writer(store, max_word_pieces).write(changes, len(changes), progress)


def remove(store: Store, ids: Iterable[str]) -> list[Abstract]:
    """Take abstracts out of the store and return them; a source that still holds one brings it back at its next ingest.

    Raises `InputError` for an id or key that is not there, before anything is removed.
    """
    with store.writing():
        found = dict.fromkeys(one for given in ids for one in _look_up(store, given))
        removed = [store.abstract(one) for one in found]
        store.mark_unfinished()
        for one in found:
            store.drop(one)
    return removed


def remove_source(store: Store, source: str) -> int:
    """Forget a file, or all below a folder, by its path or its name; return how many abstracts went with it.

    Raises `InputError` where nothing in the store came from there.
    """
    with store.writing():
        path = str(Path(source).resolve())
        below = (f"{path}/", f"{path}!")
        files = store.catalog.files()
        paths = [
            known for known, (name, _) in files.items() if known == path or known.startswith(below) or name == source
        ]
        if not paths:
            raise InputError(f"{source}: nothing in the store came from there")
        before = len(store)
        changes = [Change((path, place), None) for path in paths for place in store.catalog.places(path)]
        _Writer(store, 0).write(changes, len(changes), silent)
        for path in paths:
            store.catalog.drop_file(path)
        return before - len(store)


def _look_up(store: Store, key: str) -> list[str]:
    found = store.catalog.find(key)
    if not found:
        raise InputError(f"{key}: no abstract of the store has this id or key")
    return found


def _note_files(store: Store, files: Sequence[File], vanished: Sequence[str]) -> None:
    """Make the files known; they count as read when all of theirs is written."""
    known = store.catalog.files()
    for file in files:
        if file.path not in known and file.name in known:
            store.catalog.rename_file(file.name, file.path)
        store.catalog.put_file(file.path, file.name, "")
    for path in vanished:
        store.catalog.put_file(path, known[path][0], "")


class _Writer:
    """Carries changes out: new abstracts a batch at a time, then all places in one transaction.

    Until then a new abstract stands at its place in an unfinished file, and what it replaces is there as it was.
    """

    def __init__(self, store: Store, max_word_pieces: int) -> None:
        self._store = store
        self._catalog = store.catalog
        self._max_word_pieces = max_word_pieces
        self._texts: dict[str, str] = {}
        self._twins = TwinFinder(self._catalog.signatures(), self._text)
        self._names = {path: name for path, (name, _) in self._catalog.files().items()}

    def write(self, changes: Iterable[Change], count: int, progress: Progress) -> None:
        """Carry out `count` changes, which can be gone through twice."""
        self._store.mark_unfinished()
        rest = iter(progress(changes, count))
        while batch := list(islice(rest, BATCH)):
            if shutil.disk_usage(self._store.path).free < FREE_BYTES_TO_WRITE:
                raise OutsideError(
                    f"store {self._store.path}: its disk is full; what was added so far stays, "
                    "and the same command goes on from there when there is room"
                )
            self._add(batch)
        self._settle(changes)

    def _add(self, batch: Sequence[Change]) -> None:
        """Encode and write what is new in a batch: an abstract, or a title of a known one."""
        new: dict[str, Abstract] = {}
        for change in batch:
            if change.record is not None:
                abstract = _merge(self._standing(change.record, change.place))
                before = self._catalog.get(abstract.id)
                if before is None or before.title != abstract.title:
                    new[abstract.id] = abstract
        if not new:
            return
        abstracts = list(new.values())
        sentence_vectors, chunks, chunk_vectors = embed(abstracts, self._store.encoder, self._max_word_pieces)
        self._store.vectors.upsert(abstracts, chunks, chunk_vectors)
        self._texts = {abstract.id: abstract.text for abstract in abstracts}
        found = [self._twins.add(abstract.id, abstract.title, abstract.text) for abstract in abstracts]
        counts = Counter(piece.abstract_id for piece in chunks)
        with self._catalog.changing():
            for abstract, vectors, (signature, _) in zip(abstracts, sentence_vectors, found, strict=True):
                self._store.put(abstract, vectors, counts[abstract.id], signature)
            for change in batch:
                if change.record is not None and abstract_id(change.record.text) in new:
                    self._stand(change.record, (unfinished(change.place[0]), change.place[1]))
            self._catalog.put_twins(pair for _, pairs in found for pair in pairs)

    def _settle(self, changes: Iterable[Change]) -> None:
        """Put every record at its place, and drop the abstracts that stand nowhere any more, all at once."""
        touched: dict[str, None] = {}
        with self._catalog.changing():
            paths: dict[str, None] = {}
            for change in changes:
                paths[change.place[0]] = None
                before = self._catalog.standing_at(change.place)
                touched |= dict.fromkeys([before] if before else [])
                self._catalog.drop_source(change.place)
                if change.record is not None:
                    self._stand(change.record, change.place)
                    touched[abstract_id(change.record.text)] = None
            for path in paths:
                touched |= dict.fromkeys(one for one, _ in self._catalog.places(unfinished(path)).values())
                self._catalog.forget_file(unfinished(path))
            for one in touched:
                self._look_again(one)

    def _look_again(self, one: str) -> None:
        records = self._catalog.records(one)
        if not records:
            self._store.drop(one)
            return
        abstract = _merge(records)
        if abstract != self._catalog.get(one):
            self._store.relabel(abstract)

    def _stand(self, record: Record, place: Place) -> None:
        if place[0] not in self._names:
            self._names[place[0]] = self._names[place[0].removesuffix(UNFINISHED)]
            self._catalog.put_file(place[0], self._names[place[0]], "")
        self._catalog.put_source(place, abstract_id(record.text), dump_record(record))

    def _standing(self, record: Record, place: Place) -> dict[Place, tuple[str, Record]]:
        """Return where the abstract of a record stands, with the record at its place."""
        source = self._names[place[0]] + place[1]
        return self._catalog.records(abstract_id(record.text)) | {place: (source, record)}

    def _text(self, one: str) -> str | None:
        if one in self._texts:
            return self._texts[one]
        found = self._catalog.get(one)
        return found.text if found else None


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
    if not flat:
        return [], [], np.zeros((0, 0), dtype=np.float32)
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
            chunk_vectors.append(chunk_vector(own, piece, len(abstract.sentences)))
    return sentence_vectors, chunks, np.stack(chunk_vectors)


def chunk_vector(vectors: Vectors, piece: Chunk, sentences: int) -> Vectors:
    """Return a chunk's vector from its abstract's: the direction of the mean of its sentences and the title, if any."""
    return mean_direction(np.vstack([vectors[piece.first : piece.last], vectors[sentences:]]))


def mean_direction(vectors: Vectors) -> Vectors:
    """Return the unit vector along the mean of unit vectors of shape (n, dimension)."""
    mean: Vectors = vectors.mean(axis=0)
    return mean / np.float32(np.linalg.norm(mean) or 1.0)


def _merge(records: dict[Place, tuple[str, Record]]) -> Abstract:
    pairs = [records[place] for place in sorted(records)]
    return to_abstract([record for _, record in pairs], sorted(dict.fromkeys(source for source, _ in pairs)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
