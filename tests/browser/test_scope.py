"""Which abstracts are asked: a collection and filters, chosen on the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Locator, Page, expect

from rag.chain.chain import Chain
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.settings import load_settings
from ui.app import build_app
from ui.server import running

pytestmark = pytest.mark.browser

ZOO = [
    {"title": "On zebras", "authors": ["Ada Lovelace"], "year": 1999, "venue": "Savannah Letters", "doi": "10.1234/z",
     "abstract": "Zebras have 47 stripes, which confuse tsetse flies."},
    {"title": "On whales", "year": 2005, "abstract": "Whales sing for 20 minutes, which impresses squids."},
]  # fmt: skip


@pytest.fixture(scope="module")
def zoo_url(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "zoo.jsonl").write_text("".join(json.dumps(record) + "\n" for record in ZOO))
    (folder / "farm.txt").write_text("Farm\n\nCows have four stomachs, of which the rumen is the largest.\n")
    settings = load_settings(flags={"store": {"path": folder / "store"}}, environ={})
    for name, file in (("default", "zoo.jsonl"), ("farm", "farm.txt")):
        with closing(Store.open(folder / "store", encoder, name)) as store:
            ingest(store, [folder / file], 128)
    with running(build_app(Chain.open(settings), settings)) as address:
        yield address


def ask(page: Page, question: str) -> Locator:
    before = page.locator(".reply[id], .problem").count()
    page.locator("#box textarea").fill(question)
    page.locator("#box textarea").press("Enter")
    reply = page.locator(".reply[id], .problem").nth(before)
    reply.wait_for()
    return reply


def test_a_citation_says_who_and_when_and_leads_to_the_doi(open_page: Callable[..., Page], zoo_url: str) -> None:
    page = open_page(zoo_url)
    expect(ask(page, "How many stripes do zebras have?")).to_contain_text("47 stripes")
    card = page.locator("#shelf .card").first
    for words in ("On zebras", "Ada Lovelace", "1999", "Savannah Letters"):
        expect(card).to_contain_text(words)
    assert card.locator(".facts a").get_attribute("href") == "https://doi.org/10.1234/z"


def test_filters_narrow_the_question(open_page: Callable[..., Page], zoo_url: str) -> None:
    page = open_page(zoo_url)
    page.get_by_text("Which abstracts").click()
    page.locator("#only-year input, #only-year textarea").fill("2000-")
    reply = ask(page, "How many stripes do zebras have?")
    expect(reply).not_to_contain_text("47 stripes")
    expect(reply).to_contain_text("Looked at 1 of 2 abstracts only: year 2000-.")
    page.locator("#only-year input, #only-year textarea").fill("soon")
    expect(ask(page, "How many stripes do zebras have?")).to_contain_text("expected 2021, 2019-2021, 2021- or -2019")
    expect(page.locator("#box textarea")).to_have_value("How many stripes do zebras have?")


def test_another_collection_is_chosen(open_page: Callable[..., Page], zoo_url: str) -> None:
    page = open_page(zoo_url)
    expect(page.locator("#summary")).to_contain_text("2 abstracts")
    page.get_by_text("Which abstracts").click()
    page.locator("#which input").click()
    page.get_by_role("option", name="farm").click()
    expect(page.locator("#summary")).to_contain_text("1 abstract")
    expect(ask(page, "How many stomachs do cows have?")).to_contain_text("four stomachs")
    page.get_by_role("tab", name="Collection").click()
    expect(page.locator("#collection")).to_contain_text("Cows have four stomachs")
