"""A real encoder and a real store of the seeds, made once; no test reaches the network."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.pop("RAG_CONFIG", None)

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from pytest_socket import socket_allow_hosts

from rag.chain.chain import Chain
from rag.corpus.files import seeds_path
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.settings import Settings, load_settings

SEEDS = seeds_path()
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(autouse=True)
def _no_network() -> None:
    """Loopback only: a connection to anywhere else raises."""
    socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """MiniLM, loaded once."""
    return Encoder()


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The defaults, over a store of this test run."""
    return load_settings(flags={"store": {"path": tmp_path_factory.mktemp("seeds") / "store"}}, environ={})


@pytest.fixture(scope="session")
def store(settings: Settings, encoder: Encoder) -> Iterator[Store]:
    """The seeds, ingested. Not to be written to."""
    opened = Store.open(settings.store.path, encoder)
    ingest(opened, [SEEDS], settings.chunks.max_word_pieces)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def chain(store: Store, settings: Settings) -> Chain:
    """The chain over the seeds."""
    return Chain(store, settings)


@pytest.fixture
def empty_store(tmp_path: Path, encoder: Encoder) -> Iterator[Store]:
    """A new store that a test may fill."""
    opened = Store.open(tmp_path / "store", encoder)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, or Chrome; the tests are skipped where there is none, but not in CI."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        message = "no Chromium in PATH: install one (Debian: apt-get install chromium) to run the browser tests"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()
