"""Hostile text as abstract, label, file name, question and history does nothing but stand there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

HOSTILE: list[str] = json.loads((Path(__file__).parents[1] / "ui" / "hostile.json").read_text(encoding="utf-8"))

INERT = """() => {
    const ours = [...document.querySelectorAll(".reply, .question, .turn, #collection .md, #summary .md")];
    const within = selector => ours.flatMap(place => [...place.querySelectorAll(selector)]);
    return {
        ran: window.PWNED === undefined ? null : window.PWNED,
        elements: within("script, style, link, meta, base, iframe, object, embed, form, input, button, img, svg, video")
            .map(element => element.outerHTML),
        handlers: within("*").filter(element => [...element.attributes].some(a => /^on|^style/.test(a.name))).length,
        links: within("a").map(a => a.getAttribute("href")).filter(href => !/^(#|https?:)/.test(href)),
        covers: getComputedStyle(document.elementFromPoint(700, 450)).position,
        base: document.baseURI,
        places: ours.length,
    };
}"""


def assert_inert(page: Page, url: str) -> None:
    state = page.evaluate(INERT)
    assert state.pop("covers") != "fixed"
    assert state.pop("base").startswith(url)
    assert state.pop("places") > 0
    assert state == {"ran": None, "elements": [], "handlers": 0, "links": []}


def test_hostile_abstracts_are_inert(open_page: Callable[..., Page], hostile_url: str) -> None:
    page = open_page(hostile_url)
    for number in (1, 6, 14, 16, 20):
        before = page.locator(".reply[id]").count()
        page.locator("#box textarea").fill(f"On which flower does bee number {number} dance?")
        page.locator("#box textarea").press("Enter")
        page.locator(".reply[id]").nth(before).wait_for()
    for fold in page.locator("#shelf details").all():
        fold.evaluate("element => { element.open = true }")
    page.wait_for_timeout(500)
    assert page.locator("#shelf .card").count() > 5
    assert_inert(page, hostile_url)
    page.get_by_role("tab", name="Collection").click()
    expect(page.locator("#collection .shelf li")).to_have_count(len(HOSTILE))
    for fold in page.locator("#collection details").all():
        fold.evaluate("element => { element.open = true }")
    page.wait_for_timeout(500)
    expect(page.locator("#collection")).to_contain_text("<script>window.PWNED = 'script'</script>")
    expect(page.locator("#collection")).to_contain_text("evil<b>&.txt")
    expect(page.locator("#collection")).to_contain_text("{{constructor.constructor('window.PWNED=1')()}}")
    assert_inert(page, hostile_url)


def test_hostile_questions_are_inert_and_shown_as_typed(open_page: Callable[..., Page], hostile_url: str) -> None:
    page = open_page(hostile_url)
    for number, text in enumerate(HOSTILE):
        page.locator("#box textarea").fill(text)
        page.locator("#box textarea").press("Enter")
        page.locator(".reply[id], .problem").nth(number).wait_for()
        assert_inert(page, hostile_url)
    shown = page.locator("#chat .question").all_inner_texts()
    hidden = str.maketrans({code: f"U+{code:04X}" for code in (0x07, 0x202C, 0x202E, 0x2066, 0x2069)})
    assert [" ".join(text.split()) for text in shown] == [" ".join(t.translate(hidden).split()) for t in HOSTILE]
