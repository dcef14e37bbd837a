"""Damage of every kind is told with what mends it, and what mends it does: no text that survived is lost."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag.errors import LockedError, OutsideError, StoreError
from rag.index import doctor
from rag.index.doctor import Finding, examine
from rag.index.encoder import Encoder
from rag.index.ingest import ingest, silent
from rag.index.lock import write_lock
from rag.index.rebuild import rebuild
from rag.index.store import Store
from rag.settings import Settings, load_settings

RECORDS = [
    {"text": f"Abstract {n} deals with animal {n}. It has {n} legs.", "title": f"Animal {n}", "year": 1900 + n}
    for n in range(100)
]


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """A store of a hundred abstracts."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "animals.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    with closing(Store.open(folder / "store", encoder)) as store:
        ingest(store, [folder / "animals.jsonl"], 128)
    return folder / "store"


@pytest.fixture
def settings(sound: Path, tmp_path: Path) -> Settings:
    """Settings over a copy of that store."""
    shutil.copytree(sound, tmp_path / "store")
    return load_settings(flags={"store": {"path": tmp_path / "store"}}, environ={})


def problems(settings: Settings) -> list[Finding]:
    return [finding for finding in examine(settings) if not finding.sound]


def truncate(file: Path, part: float = 0.5) -> None:
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * part)])


def segment(settings: Settings) -> Path:
    """The folder of the HNSW index's files."""
    return next(path for path in (settings.store.path / "chroma").iterdir() if path.is_dir())


def checkpoint(settings: Settings) -> None:
    """Bring all of the catalog into its one file."""
    with closing(sqlite3.connect(settings.store.path / "catalog.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_sound_store_has_no_problem(settings: Settings) -> None:
    findings = list(examine(settings))
    assert [finding for finding in findings if not finding.sound] == []
    assert "each of 100 chunks is found by its own vector" in [finding.seen for finding in findings]


def lose_hnsw_files(settings: Settings) -> None:
    shutil.rmtree(segment(settings))


def truncate_hnsw_files(settings: Settings) -> None:
    for file in segment(settings).iterdir():
        truncate(file)


def truncate_chroma(settings: Settings) -> None:
    truncate(settings.store.path / "chroma" / "chroma.sqlite3")


def lose_chroma(settings: Settings) -> None:
    shutil.rmtree(settings.store.path / "chroma")


def lose_chunks(settings: Settings) -> None:
    with closing(Store.open(settings.store.path, Encoder())) as store:
        store.vectors.delete(store.vectors.ids()[:3])


def swap_vectors(settings: Settings) -> None:
    with closing(Store.open(settings.store.path, Encoder())) as store:
        ids = store.vectors.ids()[:2]
        one = np.eye(384, dtype=np.float32)[:2]
        store.vectors._collection.update(ids=ids, embeddings=one)


def lose_bm25(settings: Settings) -> None:
    shutil.rmtree(settings.store.path / "lexical")


def truncate_bm25(settings: Settings) -> None:
    for file in (settings.store.path / "lexical").glob("*.npy"):
        truncate(file)


def truncate_catalog(settings: Settings) -> None:
    checkpoint(settings)
    truncate(settings.store.path / "catalog.sqlite3", 0.6)


def scribble_over_catalog(settings: Settings) -> None:
    checkpoint(settings)
    (settings.store.path / "catalog.sqlite3").write_bytes(b"not a database, by any means" * 1000)


def lose_catalog(settings: Settings) -> None:
    for file in settings.store.path.glob("catalog.sqlite3*"):
        file.unlink()


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (truncate_chroma, "damaged"),
        (lose_chroma, "is missing"),
        (lose_chunks, "3 chunks are missing"),
        (swap_vectors, "2 of 100 chunks are not found by their own vector"),
        (lose_bm25, "missing or of another version"),
        (truncate_bm25, "missing or of another version"),
        (truncate_catalog, "damaged"),
        (scribble_over_catalog, "is damaged: file is not a database"),
        (lose_catalog, "is missing, chroma is there"),
    ],
)
def test_damage_is_told_and_rebuild_brings_every_abstract_back(
    settings: Settings, damage: Callable[[Settings], None], word: str
) -> None:
    damage(settings)
    found = problems(settings)
    assert word in " ".join(finding.seen for finding in found)
    assert "rag rebuild" in {finding.remedy for finding in found}
    rebuild(settings, silent)
    assert problems(settings) == []
    with closing(Store.open(settings.store.path, Encoder())) as store:
        back = {abstract.text: (abstract.title, abstract.year, abstract.sources) for abstract in store.abstracts()}
        assert back == {r["text"]: (r["title"], r["year"], (f"animals.jsonl:{n}",)) for n, r in enumerate(RECORDS, 1)}
        assert store.matching("animal 77", 1)


@pytest.mark.parametrize("damage", [lose_hnsw_files, truncate_hnsw_files])
def test_damaged_hnsw_files_are_mended(settings: Settings, damage: Callable[[Settings], None]) -> None:
    """With few vectors Chroma may keep them all in its database, and lose nothing; the big test is in tests/bench."""
    damage(settings)
    problems(settings)
    rebuild(settings, silent)
    assert problems(settings) == []


def test_a_rebuilt_store_is_brought_up_to_date_by_its_source(settings: Settings, sound: Path) -> None:
    truncate_catalog(settings)
    rebuild(settings, silent)
    source = sound.parent / "animals.jsonl"
    with closing(Store.open(settings.store.path, Encoder())) as store:
        report = ingest(store, [source], 128)
        assert (len(report.added), len(report.removed), report.total) == (0, 0, 100)
        assert {source for abstract in store.abstracts() for source in abstract.sources} == {
            f"animals.jsonl:{n}" for n in range(1, 101)
        }


def test_an_index_that_kills_its_reader_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(doctor, "PROBE", ["-c", code])
    (found,) = problems(settings)
    assert "reading them killed the process (signal 11)" in found.seen
    assert found.remedy == "rag rebuild"


def test_no_text_left_is_told(settings: Settings) -> None:
    scribble_over_catalog(settings)
    lose_chroma(settings)
    with pytest.raises(OutsideError, match="no text in it can be read any more"):
        rebuild(settings, silent)


def test_no_store_is_told(tmp_path: Path) -> None:
    settings = load_settings(flags={"store": {"path": tmp_path / "none"}}, environ={})
    (found,) = problems(settings)
    assert (found.what, found.remedy) == ("store", "rag ingest PATH makes one")
    with pytest.raises(StoreError, match="there is none; `rag ingest PATH` makes one"):
        rebuild(settings, silent)
    assert not (tmp_path / "none").exists()


def test_a_full_disk_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FREE_BYTES_TO_WRITE", 1 << 60)
    (found,) = problems(settings)
    assert found.what == "disk"


def test_a_writer_that_was_cut_off_is_told(settings: Settings) -> None:
    with closing(Store.open(settings.store.path, Encoder())) as store:
        store.mark_unfinished()
    (found,) = problems(settings)
    assert found.seen == "the last one was cut off"


def test_another_encoder_is_told_and_rebuild_changes_to_it(settings: Settings, tmp_path: Path) -> None:
    from rag.index.minilm import minilm_folder

    other = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"model": str(minilm_folder())})})
    with pytest.raises(StoreError, match=r"`rag rebuild` makes it anew with that one"):
        Store.open(settings.store.path, Encoder(other.encoder))
    assert [finding.remedy for finding in problems(other)] == ["rag rebuild"]
    assert "100 abstracts embedded anew" in rebuild(other, silent)
    assert problems(other) == []
    assert [path.name for path in settings.store.path.glob("chroma*")] == ["chroma-1"]
    with closing(Store.open(settings.store.path, Encoder(other.encoder))) as store:
        assert store.status()["encoder"] == str(minilm_folder())


def test_a_killed_rebuild_goes_on_where_it_was(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag.index import rebuild as module

    encoded: list[int] = []
    embed = module.embed

    def counted(abstracts, *rest):  # type: ignore[no-untyped-def]
        if len(encoded) == 1:
            raise KeyboardInterrupt
        encoded.append(len(abstracts))
        return embed(abstracts, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(module, "embed", counted)
        with pytest.raises(KeyboardInterrupt):
            rebuild(settings, silent)
    assert problems(settings) == []  # the old vectors are what counts until the new ones are all there
    monkeypatch.setattr(module, "embed", lambda new, *rest: (encoded.append(len(new)), embed(new, *rest))[1])
    rebuild(settings, silent)
    assert encoded == [64, 36]
    assert problems(settings) == []


def test_a_running_page_sees_the_rebuilt_store(settings: Settings) -> None:
    with closing(Store.open(settings.store.path, Encoder())) as store:
        rebuild(settings, silent)
        store.refresh()
        vector = store.encoder.encode_query("animal 77")
        assert len(store.nearest(vector, 5)) == 5
        scribble_over_catalog(settings)
        rebuild(settings, silent)
        store.refresh()
        assert len(store) == 100
        assert len(store.nearest(vector, 5)) == 5


def test_rebuild_waits_for_nobody(settings: Settings) -> None:
    with write_lock(settings.store.path), pytest.raises(LockedError, match="is writing to it"):
        rebuild(settings, silent)
