"""What a person does with the page, in a real Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from rag.chain.chain import Chain
from rag.corpus.files import seeds_path

pytestmark = pytest.mark.browser

BITS = "How many bits per parameter do GPT-style models memorise?"
FRANCE = "What is the capital of France?"
MATHS = "What does the amortized estimator of the tempered posterior family do?"


def ask(page: Page, question: str) -> Locator:
    """Ask as a person does, and return the whole reply."""
    before = page.locator(".reply[id], .problem").count()
    page.locator("#box textarea").fill(question)
    page.locator("#box textarea").press("Enter")
    reply = page.locator(".reply[id], .problem").nth(before)
    reply.wait_for()
    return reply


def target(page: Page) -> Locator:
    """Return what the address points at, once it does."""
    found = page.locator(":target")
    expect(found).to_have_count(1)
    return found


def background(place: Locator) -> str:
    return str(place.evaluate("element => getComputedStyle(element).backgroundColor"))


def test_ask_see_the_answer_click_the_marker_see_the_sentence(
    open_page: Callable[..., Page], url: str, chain: Chain
) -> None:
    page = open_page(url)
    reply = ask(page, BITS)
    expect(reply).to_contain_text("3.6 bits per parameter")
    expect(page.locator("#chat .question")).to_have_text(BITS)
    expect(page.locator("#box textarea")).to_have_value("")
    mark = page.locator("#shelf mark").first
    unasked = background(mark)
    reply.locator("a.cite").first.click()
    sentence = chain.ask(BITS).sentences[0].text
    expect(target(page)).to_have_text(sentence)
    expect(target(page)).to_be_in_viewport(ratio=1)
    assert background(mark) != unasked
    assert mark.evaluate("element => element === document.activeElement")


def test_answer_streams_in_by_sentences(open_page: Callable[..., Page], url: str, chain: Chain) -> None:
    lines = (seeds_path() / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = (json.loads(line)["question"] for line in lines)
    question = next(question for question in questions if len(chain.ask(question).sentences) > 1)
    page = open_page(url)
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => {
            for (const reply of document.querySelectorAll("#chat .reply")) window.seen.push(reply.className);
        }).observe(document.querySelector("#chat"), { subtree: true, childList: true }); }"""
    )
    ask(page, question)
    seen = list(dict.fromkeys(page.evaluate("() => window.seen")))
    assert seen == ["reply waiting", "reply growing", "reply answer"]


def test_markers_of_earlier_turns_keep_working(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    first = ask(page, BITS)
    for question in ("What is d3LLM?", BITS, FRANCE):
        ask(page, question)
    page.wait_for_timeout(500)  # the chat scrolls to its end after an answer
    first.locator("a.cite").first.click()
    assert page.url.endswith("#s-1-1-0")
    expect(target(page)).to_contain_text("3.6 bits")
    expect(target(page)).to_be_in_viewport()
    page.locator("#shelf .turn h3 a").last.click()
    expect(page.locator("#a-1")).to_be_in_viewport()
    ids = page.evaluate("() => [...document.querySelectorAll('#chat [id], #shelf [id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_keyboard_reaches_marker_and_sentence(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    ask(page, BITS)
    page.locator("#box textarea").focus()
    for _ in range(5):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("() => document.activeElement.className") == "cite":
            break
    page.keyboard.press("Enter")
    expect(target(page)).to_be_focused()
    assert page.locator("#side").get_attribute("role") == "complementary"
    assert page.locator("[data-testid=bot][aria-label]").count() == 0


def test_marker_keeps_the_conversation_under_a_query(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(f"{url}/?__theme=dark")
    ask(page, BITS).locator("a.cite").first.click()
    expect(target(page)).to_contain_text("3.6 bits")
    assert "__theme=dark" in page.url
    expect(page.locator("#chat .question")).to_have_text(BITS)


def test_refusal_looks_like_one_and_leads_to_the_nearest(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    reply = ask(page, FRANCE)
    expect(reply).to_have_class("reply refusal")
    expect(reply).to_contain_text("No answer in these abstracts")
    expect(reply.locator("a.cite")).to_have_count(0)
    assert reply.evaluate("element => getComputedStyle(element).borderLeftWidth") == "3px"
    card = page.locator("#shelf details.card").nth(2)
    expect(card.locator(".abstract")).to_be_hidden()
    reply.locator(".nearest a").nth(2).click()
    expect(card.locator(".abstract")).to_be_in_viewport()


def test_maths_reads_right(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    reply = ask(page, MATHS)
    expect(reply.locator("math").first).to_be_visible()
    formula = page.locator("#shelf mark math", has=page.locator("msup")).first
    base, raised = (formula.locator("msup > *").nth(i).bounding_box() for i in (0, 1))
    assert base
    assert raised
    assert raised["x"] >= base["x"] + base["width"] - 1
    assert raised["y"] < base["y"]
    assert raised["height"] < base["height"]
    for panel in (reply, page.locator("#shelf .card").first):
        assert "$" not in panel.inner_text()
        assert "\\" not in panel.inner_text()


def test_question_that_is_too_long_is_not_lost(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    ask(page, BITS)
    long = "why " * 5_000
    reply = ask(page, long)
    expect(reply).to_have_class("reply problem")
    expect(reply).to_contain_text("at most 4,000")
    expect(page.locator("#box textarea")).to_have_value(long)
    expect(page.locator("#chat .question").first).to_have_text(BITS)


def test_examples_ask_and_clear_begins_anew(open_page: Callable[..., Page], url: str) -> None:
    page = open_page(url)
    page.locator("#box textarea").fill("half a quest")
    page.locator("#chat .example").first.click()
    expect(page.locator(".reply.answer")).to_have_count(1)
    expect(page.locator("#box textarea")).to_have_value("half a quest")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#chat .example").first).to_be_visible()
    expect(page.locator("#shelf .card")).to_have_count(0)
    ask(page, BITS)
    expect(page.locator("#a-1")).to_be_visible()


def test_collection_is_counted_and_opens(open_page: Callable[..., Page], url: str, chain: Chain) -> None:
    page = open_page(url)
    expect(page.locator("#summary")).to_have_text("92 abstracts from 5 files")
    page.get_by_role("tab", name="Collection").click()
    labels = page.locator("#collection .shelf summary")
    expect(labels).to_have_count(92)
    plainest = next(i for i, a in enumerate(chain.store.abstracts()) if not re.search(r"[$*\\`_~]|--|http", a.text))
    labels.nth(plainest).click()
    text = page.locator("#collection .abstract").nth(plainest)
    expect(text).to_be_visible()
    assert text.inner_text() == chain.store.abstracts()[plainest].text


def test_one_reader_never_sees_another(open_page: Callable[..., Page], url: str) -> None:
    one, other = open_page(url), open_page(url)
    ask(one, BITS)
    ask(other, FRANCE)
    ask(one, "What is d3LLM?")
    expect(one.locator("#chat .question")).to_have_text([BITS, "What is d3LLM?"])
    expect(other.locator("#chat .question")).to_have_text([FRANCE])
    assert "3.6 bits" not in other.locator("body").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_nothing_scrolls_sideways(open_page: Callable[..., Page], url: str, width: int, scheme: str) -> None:
    page = open_page(url, width=width, scheme=scheme)
    ask(page, MATHS).locator("a.cite").first.click()
    ask(page, FRANCE)
    ask(page, "Pneumonoultramicroscopicsilicovolcanoconiosis" * 20)
    expect(page.locator("#chat .question").last).to_be_in_viewport()
    for tab in ("Ask", "Collection"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(300)
        assert page.evaluate("() => document.documentElement.scrollWidth") == width
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(250, 249, 246)"
    assert light == (scheme == "light")


def test_a_thumb_and_a_note_are_kept(url: str, open_page: Callable[..., Page], chain: Chain) -> None:
    page = open_page(url)
    page.fill("#box textarea", "What is SceneSmith?")
    page.press("#box textarea", "Enter")
    page.locator("#a-1").wait_for()
    page.get_by_role("button", name="Like", exact=True).click()
    page.locator("#note textarea, #note input").fill("just what I needed")
    page.locator("#note textarea, #note input").press("Enter")
    page.locator("#note").wait_for(state="hidden")
    kept = (chain.store.path / "feedback.jsonl").read_text(encoding="utf-8")
    assert '"thumb": "up", "note": "just what I needed"' in kept
