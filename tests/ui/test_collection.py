"""The collection's tab over the real store."""

from __future__ import annotations

import pytest

from rag.index.store import Store
from ui import collection


def test_summary_counts(store: Store) -> None:
    assert collection.Collection(store).summary() == "<p>92 abstracts from 5 files</p>"


def test_pages_are_turned(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "PAGE", 50)
    shelf = collection.Collection(store)
    first, page, earlier, later = shelf.show(0)
    assert (page, earlier["visible"], later["visible"]) == (0, False, True)
    assert first.count("<li>") == 50
    second, page, earlier, later = shelf.show(7)
    assert (page, earlier["visible"], later["visible"]) == (1, True, False)
    assert second.count("<li>") == 42
    assert 'start="51"' in second


def test_empty_store_says_what_to_do(empty_store: Store) -> None:
    listing, page, *_ = collection.Collection(empty_store).show(0)
    assert "<code>rag ingest</code>" in listing
    assert page == 0
