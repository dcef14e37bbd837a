"""A store of the earlier format becomes one of this when it is opened, and loses nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from rag.index.doctor import examine
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.settings import load_settings

EARLIER = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE abstracts (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, label TEXT NOT NULL,
    sentences TEXT NOT NULL, record TEXT NOT NULL, vectors BLOB NOT NULL
);
CREATE TABLE sources (
    abstract_id TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE, source TEXT NOT NULL,
    PRIMARY KEY (abstract_id, source)
) WITHOUT ROWID;
"""


def turn_back(catalog: Path) -> None:
    """Write a catalog as format 1 had it."""
    with closing(sqlite3.connect(catalog)) as new:
        rows = new.execute(
            "SELECT id, text, label, sentences, record, vectors FROM abstracts JOIN vectors ON abstract_id = id"
        ).fetchall()
        sources = new.execute("SELECT abstract_id, name || place FROM sources JOIN files ON files.id = file").fetchall()
        generation = new.execute("PRAGMA user_version").fetchone()[0]
    for file in catalog.parent.glob("catalog.sqlite3*"):
        file.unlink()
    with closing(sqlite3.connect(catalog)) as old:
        old.executescript(EARLIER)
        for one, text, label, sentences, record, vectors in rows:
            fields = json.loads(record)
            fields["collection"] = fields.pop("heading")
            del fields["keywords"]
            values = (one, text, label, sentences, json.dumps(fields), vectors)
            old.execute(
                "INSERT INTO abstracts (id, text, label, sentences, record, vectors) VALUES (?, ?, ?, ?, ?, ?)", values
            )
        old.executemany("INSERT INTO sources VALUES (?, ?)", sources)
        about = {"format": "1", "encoder": "minilm", "dimension": "384"}
        old.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        old.execute(f"PRAGMA user_version = {generation}")
        old.commit()


def test_a_store_of_format_1_is_taken_over(empty_store: Store, tmp_path: Path, encoder: Encoder) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("Zoo\n\nZebras have stripes.\n\nLions have manes.\n")
    ingest(empty_store, [folder], 128)
    before = empty_store.abstracts()
    empty_store.close()
    turn_back(empty_store.path / "catalog.sqlite3")
    with closing(Store.open(empty_store.path, encoder)) as store:
        assert store.abstracts() == before
        assert len(store.read(before[0].id).vectors) == 1
        assert [one for one, _ in store.matching("stripes", 5)] == [before[0].id]
        report = ingest(store, [folder], 128)
        assert (report.added, report.updated, report.removed, report.unchanged) == ((), (), (), 2)
        (folder / "a.txt").write_text("Zoo\n\nZebras have stripes.\n")
        assert ingest(store, [folder], 128).removed == (before[1].id,)
    settings = load_settings(flags={"store": {"path": empty_store.path}}, environ={})
    assert [finding for finding in examine(settings) if not finding.sound] == []
