"""What an ingest is going to do: the sources are read and compared with what the store knows of them.

Nothing is written to the store. The changes lie in a temporary file in order, so that an ingest of any size is known
before it begins, and takes no more memory than the ids and places of the files that changed.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rag.corpus.files import STDIN, File, find_files, read_records
from rag.corpus.formats import Options
from rag.corpus.identity import abstract_id
from rag.corpus.record import Record, Skipped
from rag.errors import InputError
from rag.index.catalog import Catalog, Place, dump_record

READERS = 1
"""The version of what the readers make of a file: with another one, all files are read again."""


@dataclass(frozen=True, slots=True)
class Change:
    """What stands at a place from now on: a record, or nothing any more."""

    place: Place
    record: Record | None


@dataclass(frozen=True, slots=True)
class Left:
    """What was skipped: the file's name with the place, and why."""

    source: str
    reason: str


@dataclass(slots=True)
class Survey:
    """The changes that lead from what the store holds to what the sources say, and their numbers."""

    files: int = 0
    records: int = 0
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    gone: int = 0
    unchanged: int = 0
    sources: int = 0
    skipped: list[Left] = field(default_factory=list)
    read: list[File] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    changes: int = 0
    spool: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def __iter__(self) -> Iterator[Change]:
        """Yield the changes in order."""
        self.spool.seek(0)
        for _ in range(self.changes):
            yield pickle.load(self.spool)  # noqa: S301  written by this process a moment ago

    def note(self, place: Place, record: Record | None) -> None:
        """Add a change."""
        pickle.dump(Change(place, record), self.spool, pickle.HIGHEST_PROTOCOL)
        self.changes += 1


class Surveyor:
    """Compares sources with a catalog."""

    def __init__(self, catalog: Catalog, options: Options, encoding: str | None) -> None:
        self._catalog = catalog
        self._options = options
        self._encoding = encoding
        self._known = catalog.files()
        self._survey = Survey()
        self._before: dict[str, str] = {}  # id -> its record, of those that stand where something changed
        self._standing: Counter[str] = Counter()  # id -> in how many more or fewer places than before
        self._seen: set[str] = set()
        self._moved: dict[str, str] = {}  # id that went -> id that stands in its place, or has its key
        self._reworded: set[str] = set()

    def survey(self, paths: Iterable[Path]) -> Survey:
        """Read what `paths` mean. Raises `InputError` where a path means nothing, and where nothing could be read."""
        paths = list(paths)
        files = self._find(paths)
        for file in files:
            self._file(file)
        roots = [str(path.resolve()) for path in paths if str(path) != STDIN]
        found = {file.path for file in files}
        for path in self._known:
            if path not in found and any(_is_below(path, root) for root in roots):
                self._vanished(path)
        self._count()
        if not self._survey.records and not self._survey.unchanged and self._survey.skipped:
            raise InputError(_nothing(self._survey.skipped))
        return self._survey

    def _find(self, paths: list[Path]) -> list[File]:
        try:
            return find_files(paths)
        except InputError as error:
            roots = [str(path.resolve()) for path in paths]
            owned = [path for path in self._known if any(_is_below(path, root) for root in roots)]
            if not owned:
                raise
            held = sum(len(self._catalog.places(path)) for path in owned)
            raise InputError(
                f"{error}; {held} abstracts of the store came from there, and stay (rag remove --source PATH)"
            ) from error

    def _file(self, file: File) -> None:
        survey = self._survey
        survey.files += 1
        before = self._catalog.places(self._adopt(file))
        if file.stamp and self._known.get(file.path, ("", ""))[1] == self._stamp(file):
            self._seen |= {abstract_id for abstract_id, _ in before.values()}
            survey.records += len(before)
            return
        seen: set[str] = set()
        complete, clean = file.path != STDIN, True
        try:
            for item in read_records(file, self._options, self._encoding):
                seen.add(item.place)
                if isinstance(item, Skipped):
                    clean = False
                    complete &= not item.breaks_off
                    survey.skipped.append(Left(file.name + item.place, item.reason))
                else:
                    self._record(file, item, before.get(item.place))
        except InputError as error:
            survey.skipped.append(Left(file.name, str(error).removeprefix(f"{file.name}: ")))
            return
        for place in before.keys() - seen if complete else ():
            self._gone((file.path, place), *before[place])
        survey.read.append(file if clean else File(file.path, file.name, "", file.size, file.open))

    def _adopt(self, file: File) -> str:
        """Return the path under which the store knows a file: of format 1 it knows the name only."""
        return file.name if file.path not in self._known and file.name in self._known else file.path

    def _record(self, file: File, record: Record, before: tuple[str, str] | None) -> None:
        self._survey.records += 1
        own = abstract_id(record.text)
        self._seen.add(own)
        if before is not None and before[0] == own and before[1] == dump_record(record):
            return
        self._survey.note((file.path, record.place), record)
        if before is not None and before[0] == own:
            self._reworded.add(own)
            return
        self._standing[own] += 1
        if before is not None:
            self._standing[before[0]] -= 1
            self._moved.setdefault(before[0], own)
        for key in record.keys[:1]:
            for other in self._catalog.find(key):
                self._moved[other] = own

    def _gone(self, place: Place, abstract_id: str, _record: str) -> None:
        self._survey.note(place, None)
        self._standing[abstract_id] -= 1

    def _vanished(self, path: str) -> None:
        for place, held in self._catalog.places(path).items():
            self._gone((path, place), *held)
        self._survey.vanished.append(path)

    def _stamp(self, file: File) -> str:
        return stamp(file, self._options, self._encoding)

    def _count(self) -> None:
        survey = self._survey
        there = {one: self._catalog.places_of(one) for one in self._standing}
        gone = [one for one, count in there.items() if count and count + self._standing[one] <= 0]
        new = [one for one, count in there.items() if not count]
        replaced = {one: self._moved[one] for one in gone if self._moved.get(one) in new}
        updated = dict.fromkeys([*replaced.values(), *(one for one in self._reworded if one not in new)])
        survey.updated = list(updated)
        survey.added = [one for one in new if one not in updated]
        survey.gone = len(gone)
        survey.removed = [one for one in gone if one not in replaced]
        survey.unchanged = len(self._seen - set(new) - set(updated))
        survey.sources = sum(1 for one, count in self._standing.items() if count > 0 and there[one] and one not in gone)


def stamp(file: File, options: Options, encoding: str | None) -> str:
    """Return what a file's content, and how it is read, are known by; nothing for one that must always be read."""
    how = f"{READERS}:{encoding or ''}:{sorted(options.fields.items())}"
    return f"{file.stamp}:{how}" if file.stamp else ""


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith((f"{root}/", f"{root}!"))


def _nothing(skipped: list[Left]) -> str:
    more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
    return f"{skipped[0].source}: {skipped[0].reason}{more}: no abstract could be read"
