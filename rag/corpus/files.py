"""Find the files that paths mean, also inside archives, and read the records out of them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from rag.corpus.characters import open_binary, open_text
from rag.corpus.fields import to_record
from rag.corpus.formats import SUFFIXES, Options, kind_of, reader_of
from rag.corpus.record import Record, Skipped
from rag.errors import InputError

STDIN = "-"
ARCHIVE = ".zip"
MAX_MEMBERS = 100_000
SETTLED_SECONDS = 2
"""A file just written may change again and keep its time, which some disks count in whole seconds."""

_HEAD = 4096
_OTHERS = {"questions.jsonl", "feedback.jsonl"}
"""Files of the product's own beside abstracts."""

_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, UnicodeError)


@dataclass(frozen=True, slots=True)
class File:
    """A file, or a member of an archive: its absolute path (`…/a.zip!member`, `-` for the standard input), its name in
    sources, and a stamp that changes when it does; without one it is always read.
    """

    path: str
    name: str
    stamp: str
    size: int
    open: Callable[[], BinaryIO]


def seeds_path() -> Path:
    """Return the folder of the abstracts that come with the product, in a checkout or in an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    return next(folder for folder in (package / "seeds", package.parent / "seeds") if folder.is_dir())


def find_files(paths: Iterable[Path]) -> list[File]:
    """Return the files that `paths` (files, folders, archives, `-`) mean, each once, folders in order of names.

    Raises `InputError` for a path that does not exist, is of no kind that is read, or holds nothing.
    """
    found: dict[str, File] = {}
    for path in paths:
        for file in _below(path):
            found.setdefault(file.path, file)
    return list(found.values())


def read_records(file: File, options: Options | None = None, encoding: str | None = None) -> Iterator[Record | Skipped]:
    """Yield a record for each abstract of a file, twins included, and what had to be skipped. Every place comes once.

    Raises `InputError` that names the file where nothing of it can be read.
    """
    seen: Counter[str] = Counter()
    for item in _items(file, options or Options(), encoding):
        seen[item.place] += 1
        again = seen[item.place]
        yield item if again == 1 else replace(item, place=f"{item.place}~{again}")


def _items(file: File, options: Options, encoding: str | None) -> Iterator[Record | Skipped]:
    begun = False
    try:
        with open_binary(file.open()) as binary:
            head = binary.peek(_HEAD)[:_HEAD]
            kind = kind_of(Path(file.name).name, open_text(open_binary(io.BytesIO(head)), encoding).read())
            if kind is None:
                raise InputError("not a kind of file that is read here")
            for raw in reader_of(kind)(open_text(binary, encoding), options):
                begun = True
                yield raw if isinstance(raw, Skipped) else to_record(raw)
    except (InputError, *_BROKEN) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if not begun:
            raise InputError(f"{file.name}: {reason}") from error
        yield Skipped("", f"the file breaks off: {reason}", breaks_off=True)


def _below(path: Path) -> list[File]:
    if str(path) == STDIN:
        return [File(STDIN, "stdin", "", 0, lambda: sys.stdin.buffer)]
    if path.is_dir():
        files = [file for found in _walk(path) for file in _open_kind(found)]
        if not files:
            raise InputError(
                f"{path}: no file of abstracts ({', '.join((*SUFFIXES, ARCHIVE))}, each also .gz) in this folder"
            )
        return files
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    return _open_kind(path)


def _walk(folder: Path) -> list[Path]:
    """Return the files of a folder that may hold abstracts; of a BEIR folder only the corpus, not queries and qrels."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        corpus = [name for name in names if name.removesuffix(".gz") == "corpus.jsonl"]
        if corpus and any(name.removesuffix(".gz") == "queries.jsonl" for name in names):
            folders.clear()
            names = corpus
        found += [Path(place, name) for name in sorted(names) if _is_read(name)]
    return found


def _is_read(name: str) -> bool:
    return (
        not name.startswith(".")
        and name not in _OTHERS
        and name.lower().removesuffix(".gz").endswith((*SUFFIXES, ARCHIVE))
    )


def _open_kind(path: Path) -> list[File]:
    try:
        path = path.resolve()
        stat = path.stat()
        settled = time.time() - stat.st_mtime > SETTLED_SECONDS
        stamp = f"{stat.st_size}:{stat.st_mtime_ns}" if settled else ""
        if path.suffix.lower() == ARCHIVE:
            return _members(path, stamp)
        return [File(str(path), path.name, stamp, stat.st_size, lambda: _open(path))]
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _open(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.open(path))
    return path.open("rb")


def _members(path: Path, stamp: str) -> list[File]:
    with zipfile.ZipFile(path) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir() and _is_read(Path(info.filename).name)]
    if len(infos) > MAX_MEMBERS:
        raise InputError(f"{path}: {len(infos):,} files inside (at most {MAX_MEMBERS:,})")
    return [
        File(
            f"{path}!{info.filename}",
            f"{path.name}/{info.filename}",
            stamp,
            info.file_size,
            _member(path, info.filename),
        )
        for info in infos
        if not info.filename.lower().endswith((ARCHIVE, ".gz"))
    ]


def _member(path: Path, name: str) -> Callable[[], Any]:
    return lambda: zipfile.ZipFile(path).open(name)
