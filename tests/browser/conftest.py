"""A real Chromium, the real page over the seeds, and one over abstracts that mean harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from rag.chain.chain import Chain
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.settings import Settings
from ui.app import build_app
from ui.server import running

HOSTILE: list[str] = json.loads((Path(__file__).parents[1] / "ui" / "hostile.json").read_text(encoding="utf-8"))
Open = Callable[..., Page]


@pytest.fixture(scope="session")
def url(chain: Chain, settings: Settings) -> Iterator[str]:
    """The page over the seeds."""
    with running(build_app(chain, settings)) as address:
        yield address


@pytest.fixture(scope="session")
def hostile_url(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder, settings: Settings) -> Iterator[str]:
    """The page over abstracts that are each one hostile string and a sentence to find it by."""
    folder = tmp_path_factory.mktemp("hostile")
    bees = [f"Bee number {number} dances on flower {number}. {text}" for number, text in enumerate(HOSTILE, 1)]
    (folder / "evil<b>&.txt").write_text("\n\n".join(["Evil <i>papers</i>", *bees]), encoding="utf-8")
    store = Store.open(folder / "store", encoder)
    ingest(store, [folder / "evil<b>&.txt"], settings.chunks.max_word_pieces)
    with running(build_app(Chain(store, settings), settings)) as address:
        yield address
    store.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens pages, each as another user; fails where one asked an outside host or met an error."""
    contexts, asked, errors = [], [], []

    def open_page(address: str, width: int = 1400, height: int = 900, scheme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(dialog.message))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto(address)
        page.locator("#box textarea").wait_for()
        page.locator("#summary p").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))] == []
    assert errors == []
