"""The source cards, and the list of the collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag.records import Abstract, Answer, Citation, Quote, Retrieved, Statement
from ui import cards

FACTS = (
    '<p class="facts"><span>A. Apis, B. Bombus, C. Ceratina et al.</span> <span>2026</span> <span>ICML</span>'
    " <span>bees.txt#1</span> <span>more.txt#7</span>{score}"
    ' <a href="https://openreview.net/forum?id=1&amp;x=2" target="_blank" rel="noopener noreferrer">openreview.net</a>'
    ' <a href="https://github.com/bees/dance" target="_blank" rel="noopener noreferrer">code on github.com</a></p>'
)
CODE = '<a href="https://github.com/bees/dance" target="_blank" rel="noopener noreferrer">https://github.com/bees/dance</a>'
MOVES = "They use <math><msup><mi>x</mi><mn>2</mn></msup></math> moves, up to 50%."


@pytest.fixture
def other() -> Abstract:
    """An abstract of which nothing is known but its text."""
    return Abstract("def", "Ants & wasps.", "Ants & wasps.", ((0, 13),), ("ants.txt#2",))


@pytest.fixture
def answer(abstract: Abstract, other: Abstract) -> Answer:
    """An answer that quotes one abstract of the two that were near."""
    text = abstract.sentence(1)
    return Answer(
        "How?", "How?", "answer", True, f"{text} [1]",
        sentences=(Statement(text, (1,), 1.0),),
        citations=(Citation(1, abstract.id, abstract.label, "bees.txt#1", None, (Quote(12, 45, text),)),),
        retrieved=(Retrieved(abstract.id, 0.032787), Retrieved(other.id, 0.0281)),
    )  # fmt: skip


@pytest.fixture
def shown(abstract: Abstract, other: Abstract) -> Callable[[Answer], str]:
    """Renders the sources of an answer as turn 2."""
    store = {abstract.id: abstract, other.id: other}
    return lambda answer: cards.sources(2, answer, store.__getitem__)


def test_cited_abstract_is_whole_with_its_quotes_marked(answer: Answer, shown: Callable[[Answer], str]) -> None:
    title = "On <math><mi>k</mi></math> bees"
    assert shown(answer) == (
        '<section class="turn"><h3><a href="#a-2" title="Back to the answer">How?</a></h3>'
        f'<article class="card" id="c-2-1"><h4><span class="number">[1]</span> {title}</h4>'
        f"{FACTS.format(score=' <span>nearest (0.0328)</span>')}"
        f'<p class="abstract">Bees dance. <mark id="s-2-1-0">{MOVES}</mark> Code: {CODE}.</p></article>'
        '<details class="also"><summary>1 abstract near the question</summary>'
        '<details class="card"><summary>Ants &amp; wasps.</summary><div id="n-2-1">'
        '<p class="facts"><span>ants.txt#2</span> <span>near (0.0281)</span></p>'
        '<p class="abstract">Ants &amp; wasps.</p></div></details></details></section>'
    )


def test_refusal_shows_the_nearest_and_says_that_they_do_not_answer(
    answer: Answer, shown: Callable[[Answer], str]
) -> None:
    html = shown(replace(answer, kind="refusal", citations=(), sentences=()))
    assert '<p class="lead">None of these answers it; they are the nearest.</p><details class="card">' in html
    assert 'id="n-2-1"' in html
    assert 'id="n-2-2"' in html
    assert "<mark" not in html


def test_courtesy_has_no_sources(shown: Callable[[Answer], str]) -> None:
    assert shown(Answer("hi", "hi", "courtesy", True, "Hello.")) == ""


def test_abstract_that_left_the_store_shows_its_quotes(answer: Answer) -> None:
    html = cards.sources(2, answer, {}.__getitem__)
    assert f'<mark id="s-2-1-0">{MOVES}</mark>' in html
    assert "The collection holds this abstract no more" in html


@pytest.mark.parametrize(
    ("score", "word"), [(0.04, "nearest"), (0.033, "near"), (0.021, "related"), (0.001, "distant")]
)
def test_score_has_a_word(answer: Answer, shown: Callable[[Answer], str], score: float, word: str) -> None:
    retrieved = (Retrieved("best", 0.04), Retrieved("def", score))
    assert f"<span>{word} ({score:.3g})</span>" in shown(replace(answer, retrieved=retrieved))


def test_only_web_links_lead_out(abstract: Abstract) -> None:
    html = cards.listing([replace(abstract, url="javascript:alert(1)", text="No link.")], 0, 10)
    assert "href" not in html


def test_listing_opens_to_the_abstracts(abstract: Abstract, other: Abstract) -> None:
    html = cards.listing([abstract, other], 1, 10)
    assert html == (
        '<details class="files"><summary>3 files</summary><table><tbody><tr><td>ants.txt</td><td>1 abstract</td></tr>'
        "<tr><td>bees.txt</td><td>1 abstract</td></tr><tr><td>more.txt</td><td>1 abstract</td></tr></tbody></table>"
        '</details><ol class="shelf" start="2"><li><details class="card"><summary>Ants &amp; wasps.</summary>'
        '<div id="b-def"><p class="facts"><span>ants.txt#2</span></p><p class="abstract">Ants &amp; wasps.</p></div>'
        "</details></li></ol>"
    )


def test_summary(abstract: Abstract) -> None:
    assert cards.summary([abstract]) == "<p>1 abstract from 2 files</p>"
    assert cards.summary([]) == "<p>No abstracts yet: <code>rag ingest</code> adds some.</p>"


def test_hostile_text_is_inert_everywhere(hostile: str, answer: Answer, inert: Callable[[str], Any]) -> None:
    evil = Abstract(
        answer.citations[0].abstract_id, hostile, hostile, ((0, len(hostile)),), (hostile,), title=hostile,
        authors=(hostile,), venue=hostile, url=f"https://evil.example/{hostile}",
    )  # fmt: skip
    citation = replace(answer.citations[0], label=hostile, quotes=(Quote(3, 30, hostile[3:30]),))
    said = replace(answer, question=hostile, citations=(citation,))
    for html in (
        cards.sources(1, said, lambda _: evil),
        cards.sources(1, said, {}.__getitem__),
        cards.sources(1, replace(said, kind="refusal", citations=()), lambda _: evil),
        cards.listing([evil], 0, 10),
    ):
        reader = inert(html)
        assert len(reader.ids) == len(set(reader.ids))
        assert "\n" not in html
