"""The store: what goes in is found again, by both indexes, after a restart and from another process."""

import json
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from time import sleep

import numpy as np
import pytest

from rag.errors import LockedError, StoreError
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.index.vectors import VectorIndex
from rag.settings import EncoderSettings

ONE = "Heading\n\nWe propose FooBar, a fast sorting method. It sorts a million keys in 3 ms.\n"
TWO = ONE + "\nPenguins huddle against the cold. The huddle moves slowly.\n"


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_the_seeds_are_all_there(store: Store) -> None:
    assert len(store) == len(store.abstracts()) == 92
    twins = [abstract for abstract in store.abstracts() if len(abstract.sources) == 2]
    assert sorted(abstract.id for abstract in twins) == ["4ad7f1d5ed9b", "9a85d68d8953", "aa956fc255c8"]
    status = store.status()
    assert (status["abstracts"], status["files"], status["encoder"], status["dimension"]) == (92, 5, "minilm", 384)


def test_every_chunk_is_found_by_its_own_vector(store: Store) -> None:
    for abstract in store.abstracts():
        first = store.read(abstract.id).vectors[0]
        assert abstract.id in {found for found, _ in store.vectors.nearest(first, 20)}


def test_a_sentence_keeps_its_vector(store: Store, encoder: Encoder) -> None:
    reading = store.read("4ad7f1d5ed9b")
    again = encoder.encode([reading.abstract.sentence(3)])[0]
    assert reading.vectors.shape == (len(reading.abstract.sentences), 384)
    assert float(reading.vectors[3] @ again) > 0.999


def test_another_process_is_seen(empty_store: Store, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", "a.txt", ONE)
    run = [sys.executable, "-m", "rag", "ingest", str(folder), "--store", str(empty_store.path)]
    subprocess.run(run, check=True, capture_output=True)
    empty_store.refresh()
    vector = empty_store.encoder.encode_query("sorting keys")
    found = empty_store.abstracts()[0].id
    assert [i for i, _ in empty_store.vectors.nearest(vector, 5)] == [found]
    assert [i for i, _ in empty_store.lexical.nearest("FooBar", 5)] == [found]


def test_the_indexes_are_not_closed_under_a_search(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(empty_store, [write(tmp_path / "in", "a.txt", ONE)], 128)
    vector = empty_store.encoder.encode_query("sorting keys")
    searching, events, search, close = Event(), [], VectorIndex.nearest, VectorIndex.close

    def slow_search(index: VectorIndex, *arguments: object) -> object:
        searching.set()
        sleep(0.3)
        found = search(index, *arguments)  # type: ignore[arg-type]
        events.append("found")
        return found

    monkeypatch.setattr(VectorIndex, "nearest", slow_search)
    monkeypatch.setattr(VectorIndex, "close", lambda index: (events.append("closed"), close(index)))
    thread = Thread(target=empty_store.nearest, args=(vector, 5))
    thread.start()
    searching.wait()
    empty_store.catalog.publish()
    empty_store.refresh()
    thread.join()
    assert events == ["found", "closed"]


def test_the_lexical_index_is_loaded_where_it_is_fresh(
    empty_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(empty_store, [write(tmp_path / "in", "a.txt", TWO)], 128)
    monkeypatch.setattr(Store, "_build_lexical", lambda _: pytest.fail("it was built again"))
    again = Store.open(empty_store.path, empty_store.encoder)
    assert [i for i, _ in again.lexical.nearest("penguins", 5)] == [again.abstracts()[1].id]


def test_a_stale_lexical_index_is_built_again(empty_store: Store, tmp_path: Path) -> None:
    ingest(empty_store, [write(tmp_path / "in", "a.txt", ONE)], 128)
    about = empty_store.path / "lexical" / "about.json"
    about.write_text(json.dumps({"generation": 999, "ids": ["nobody"]}))
    again = Store.open(empty_store.path, empty_store.encoder)
    assert [i for i, _ in again.lexical.nearest("FooBar", 5)] == [again.abstracts()[0].id]


def test_a_second_writer_is_told_who_holds_the_store(empty_store: Store, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from rag.index.lock import write_lock\n"
        "with write_lock(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(empty_store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(LockedError, match=rf"process {holder.pid} is writing"):
            ingest(empty_store, [write(tmp_path / "in", "a.txt", ONE)], 128)
        holder.communicate()
    assert len(ingest(empty_store, [tmp_path / "in"], 128).added) == 1


def test_a_store_of_another_encoder_is_refused(empty_store: Store, tmp_path: Path) -> None:
    ingest(empty_store, [write(tmp_path / "in", "a.txt", ONE)], 128)
    with pytest.raises(StoreError, match=r"made with encoder 'minilm', the settings say 'other/model'"):
        Store.open(empty_store.path, Encoder(EncoderSettings(model="other/model")))


def test_what_is_no_store_is_left_alone(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    for path in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(StoreError, match="this is no store"):
            Store.open(path, encoder)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_broken_catalog_is_named(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "catalog.sqlite3").write_bytes(b"not a database, by any means" * 100)
    with pytest.raises(StoreError, match=r"catalog.sqlite3: not a catalog"):
        Store.open(tmp_path, encoder)


def test_an_unknown_abstract_is_a_key_error(store: Store) -> None:
    with pytest.raises(KeyError):
        store.abstract("nobody")


def test_vectors_are_unit_vectors(store: Store) -> None:
    lengths = np.linalg.norm(store.read("a81ba9e59f79").vectors, axis=1)
    assert np.allclose(lengths, 1, atol=2e-3)
