"""The catalog's tables, and how a catalog of an earlier format becomes one of this."""

from __future__ import annotations

import json
import sqlite3

FORMAT = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS abstracts (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    label TEXT NOT NULL,
    sentences TEXT NOT NULL,
    record TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    signature BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS vectors (
    build INTEGER NOT NULL,
    abstract_id TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    vectors BLOB NOT NULL,
    UNIQUE (abstract_id, build)
);
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS sources (
    file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    place TEXT NOT NULL,
    abstract_id TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    record TEXT NOT NULL,
    PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sources_of ON sources (abstract_id);
CREATE TABLE IF NOT EXISTS keys (
    key TEXT NOT NULL COLLATE NOCASE,
    abstract_id TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    PRIMARY KEY (key, abstract_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keys_of ON keys (abstract_id);
CREATE TABLE IF NOT EXISTS twins (
    one TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    other TEXT NOT NULL REFERENCES abstracts(id) ON DELETE CASCADE,
    similarity REAL NOT NULL,
    PRIMARY KEY (one, other)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS twins_of ON twins (other);
"""


def migrate(database: sqlite3.Connection) -> None:
    """Make the tables where they are missing, and turn those of format 1 into those of this one."""
    columns = [row[1] for row in database.execute("PRAGMA table_info(abstracts)")]
    if "vectors" in columns:
        _from_1(database)
    elif not columns:
        database.executescript(_TABLES)


def _from_1(database: sqlite3.Connection) -> None:
    """Format 1 knew sources as `name#place`: their files are known by name until they are told of again."""
    abstracts = database.execute("SELECT id, text, label, sentences, record, vectors FROM abstracts ORDER BY position")
    rows = abstracts.fetchall()
    sources = database.execute("SELECT abstract_id, source FROM sources").fetchall()
    database.execute("BEGIN IMMEDIATE")
    with database:
        database.execute("DROP TABLE sources")
        database.execute("DROP TABLE abstracts")
        for statement in _TABLES.split(";\n"):
            database.execute(statement)
        said: dict[str, str] = {}
        for one, text, label, sentences, record, vectors in rows:
            fields = json.loads(record)
            heading = fields["heading"] = fields.pop("collection", "")
            fields["keywords"] = []
            said[one] = json.dumps({"heading": heading}, ensure_ascii=False) if heading else "{}"
            database.execute(
                "INSERT INTO abstracts (id, text, label, sentences, record, chunks, signature) "
                "VALUES (?, ?, ?, ?, ?, 0, '')",
                (one, text, label, sentences, json.dumps(fields, ensure_ascii=False)),
            )
            database.execute("INSERT INTO vectors VALUES (0, ?, ?)", (one, vectors))
        for one, source in sources:
            name, _, place = source.partition("#")
            database.execute("INSERT OR IGNORE INTO files (path, name, stamp) VALUES (?1, ?1, '')", (name,))
            database.execute(
                "INSERT OR IGNORE INTO sources SELECT id, ?, ?, ? FROM files WHERE path = ?",
                (f"#{place}", one, said[one], name),
            )
        database.execute("INSERT OR REPLACE INTO about VALUES ('format', ?), ('writing', '1')", (str(FORMAT),))
