"""Make a store's vectors anew from the texts that it holds, and swap them in when all are there.

The new vectors grow beside the old ones, in a build of the next number; a rebuild that was killed goes on where it was.
From a damaged store the texts are saved first: from the catalog row by row, then from Chroma's copies, which are right
where they give the id.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from rag.corpus.abstracts import from_text
from rag.corpus.identity import abstract_id
from rag.errors import AskAbstractsError, OutsideError, StoreError
from rag.index.catalog import CATALOG, Catalog, collection_folder
from rag.index.encoder import Encoder
from rag.index.ingest import BATCH, Progress, add_abstracts, embed
from rag.index.lock import write_lock
from rag.index.store import Store, check_space
from rag.index.vectors import VectorIndex, vectors_folder
from rag.records import Abstract
from rag.settings import Settings

DAMAGED = "damaged"


def rebuild(settings: Settings, progress: Progress) -> str:
    """Rebuild the collection that the settings name with their encoder; return what was done, in a line.

    Raises `StoreError` where there is none, `LockedError` where another process writes, `OutsideError` where no text
    survived.
    """
    folder = collection_folder(settings.store.path, settings.store.collection)
    if not folder.exists() or not ((folder / CATALOG).exists() or list(folder.glob("chroma*"))):
        raise StoreError(f"store {folder}: there is none; `rag ingest PATH` makes one")
    encoder = Encoder(settings.encoder)
    if not _is_sound(folder / CATALOG):
        return _from_ruins(folder, encoder, settings.chunks.max_word_pieces, progress)
    with write_lock(folder), closing(Catalog(folder / CATALOG)) as catalog:
        check_space(folder, len(catalog))
        build = _embed_all(folder, catalog, encoder, settings.chunks.max_word_pieces, progress)
        _swap(folder, catalog, encoder, build)
        count = len(catalog)
    with closing(Store(folder, encoder)) as store, store.writing():
        store.index_words()
    return f"{count:,} abstracts embedded anew with encoder {encoder.model_name!r}; the store is whole"


def _embed_all(folder: Path, catalog: Catalog, encoder: Encoder, max_word_pieces: int, progress: Progress) -> int:
    """Write all vectors of the next build and return its number."""
    build = catalog.build + 1
    wanted = f"{encoder.model_name}:{max_word_pieces}"
    if catalog.about().get("rebuilding") != wanted:
        catalog.drop_builds(but=catalog.build)
        shutil.rmtree(vectors_folder(folder, build), ignore_errors=True)
        catalog.describe(rebuilding=wanted)
    done = catalog.built(build)
    ids = [one for one in catalog.ids() if one not in done]
    with closing(VectorIndex(vectors_folder(folder, build))) as index:
        rest = iter(progress(ids, len(ids)))
        while batch := list(islice(rest, BATCH)):
            check_space(folder, len(batch))
            abstracts = [abstract for one in batch if (abstract := catalog.get(one))]
            vectors, chunks, chunk_vectors = embed(abstracts, encoder, max_word_pieces)
            index.upsert(abstracts, chunks, chunk_vectors)
            with catalog.changing():
                for abstract, own in zip(abstracts, vectors, strict=True):
                    catalog.put_vectors(abstract.id, own, build)
    return build


def _swap(folder: Path, catalog: Catalog, encoder: Encoder, build: int) -> None:
    old = vectors_folder(folder, catalog.build)
    with closing(VectorIndex(vectors_folder(folder, build))) as index:
        there = index.ids()
    with catalog.changing():
        catalog.recount_chunks(there)
        catalog.describe(
            build=build, encoder=encoder.model_name, dimension=encoder.dimension, rebuilding=None, writing="rebuild"
        )
        catalog.publish()
    catalog.drop_builds(but=build)
    shutil.rmtree(old, ignore_errors=True)


def _is_sound(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True)) as database:
            sound = [row[0] for row in database.execute("PRAGMA quick_check(1)")] == ["ok"]
            database.execute("SELECT count(*) FROM sources").fetchone()
            return sound
    except sqlite3.Error:
        return False


def _from_ruins(folder: Path, encoder: Encoder, max_word_pieces: int, progress: Progress) -> str:
    """Save what texts can be read, lay the damaged files aside, and make the store anew of them."""
    with write_lock(folder):
        saved = {abstract.id: abstract for abstract in _from_chroma(folder)}
        saved |= {abstract.id: abstract for abstract in _from_catalog(folder / CATALOG)}
        if not saved:
            raise OutsideError(
                f"store {folder}: no text in it can be read any more; `rag ingest` the sources into a new one"
            )
        check_space(folder, len(saved))
        new = folder / "salvaged"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        with closing(Store(new, encoder)) as store:
            add_abstracts(store, list(saved.values()), max_word_pieces, progress)
        aside = folder / f"{DAMAGED}-{time.strftime('%Y%m%d-%H%M%S')}"
        aside.mkdir()
        for file in _files(folder):
            file.rename(aside / file.name)
        for file in _files(new):
            file.rename(folder / file.name)
        shutil.rmtree(new)
    return f"{len(saved):,} abstracts saved from a damaged store and embedded anew; the damaged files are in {aside}"


def _files(folder: Path) -> list[Path]:
    """Return what a store consists of, the catalog last: without it there is no store."""
    parts = [*folder.glob("chroma*"), *folder.glob("lexical"), *folder.glob(f"{CATALOG}-*"), *folder.glob(CATALOG)]
    return [part for part in parts if part.exists()]


def _from_catalog(file: Path) -> Iterator[Abstract]:
    """Yield what can be read of a damaged catalog, row by row."""
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            for position in range(1, _last(database) + 1):
                try:
                    row = database.execute(
                        "SELECT id, text, record FROM abstracts WHERE position = ?", (position,)
                    ).fetchone()
                except sqlite3.Error:
                    continue
                if row and abstract_id(row[1]) == row[0]:
                    yield _abstract(row[1], json.loads(row[2]))
    except sqlite3.Error:
        return


def _last(database: sqlite3.Connection) -> int:
    try:
        return int(database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'abstracts'").fetchone()[0])
    except (sqlite3.Error, TypeError):
        return 0


def _from_chroma(folder: Path) -> Iterator[Abstract]:
    """Yield the abstracts whose chunks, put together, give the text that their id says."""
    for place in sorted(folder.glob("chroma*")):
        texts: dict[str, dict[int, str]] = defaultdict(dict)
        records: dict[str, dict[str, Any]] = {}
        try:
            with closing(VectorIndex(place)) as index:
                for _, text, about, _ in index.stored():
                    one = str(about["abstract_id"])
                    texts[one][int(about["number"])] = text
                    if "record" in about:
                        records[one] = json.loads(str(about["record"]))
        except AskAbstractsError:
            continue
        for one, chunks in texts.items():
            text = " ".join(chunks[number] for number in sorted(chunks))
            if abstract_id(text) == one:
                yield _abstract(text, records.get(one, {}))


def _abstract(text: str, known: dict[str, Any]) -> Abstract:
    """Return an abstract with what is known of it; it keeps its sources' names until they are told of again."""
    plain = from_text(text, "", known.get("title"))
    fields: dict[str, Any] = {
        name: known.get(name) or getattr(plain, name) for name in ("heading", "year", "venue", "url")
    }
    lists: dict[str, Any] = {name: tuple(known.get(name) or ()) for name in ("authors", "keys", "keywords")}
    sources = tuple(known.get("sources") or ("saved#" + plain.id,))
    return replace(plain, **fields, **lists, sources=sources)
