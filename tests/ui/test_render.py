"""What the chat shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag.records import Abstract, Answer, Citation, Quote, Retrieved, Statement
from ui import render, sentences


def quote(abstract: Abstract, index: int) -> Quote:
    return Quote(*abstract.sentences[index], abstract.sentence(index))


@pytest.fixture
def answer(abstract: Abstract) -> Answer:
    """Two sentences of one abstract, the second one first."""
    quotes = (quote(abstract, 1), quote(abstract, 0))
    return Answer(
        question="How?",
        standalone_question="How?",
        kind="answer",
        answerable=True,
        text=f"{quotes[0].text} [1] {quotes[1].text} [1]",
        sentences=tuple(Statement(quote.text, (1,), 1.0) for quote in quotes),
        citations=(Citation(1, abstract.id, abstract.label, abstract.sources[0], abstract.url, quotes),),
        retrieved=(Retrieved(abstract.id, 0.03),),
        timings_ms={"retrieve": 20.0, "total": 41.4},
    )


@pytest.fixture
def shown(abstract: Abstract) -> Callable[..., str]:
    """Renders an answer as turn 2, whole."""

    def show(answer: Answer) -> str:
        return list(render.reply(2, answer, {abstract.id: abstract}.__getitem__))[-1]

    return show


SMALL = '<p class="small">Word for word from 1 abstract · 41 ms</p>'
LABEL = "Bees dance. They use x² moves…"
MOVES = "They use <math><msup><mi>x</mi><mn>2</mn></msup></math> moves, up to 50%."
CITE = f'&nbsp;<a class="cite" href="#s-2-1-0" title="{LABEL}">[1]</a>'
CITE_NEXT = f'&nbsp;<a class="cite" href="#s-2-1-1" title="{LABEL}">[1]</a>'


def test_answer_links_each_sentence_to_its_quote(answer: Answer, shown: Callable[..., str]) -> None:
    body = f"<p>{MOVES}{CITE} Bees dance.{CITE_NEXT}</p>"
    assert shown(answer) == f'<div class="reply answer" id="a-2">{body}{SMALL}</div>'


def test_answer_grows_by_a_sentence(answer: Answer, abstract: Abstract) -> None:
    steps = list(render.reply(2, answer, lambda _: abstract))
    assert len(steps) == 2
    assert steps[0] == f'<div class="reply growing"><p>{MOVES}{CITE} </p></div>'


def test_understood_question_is_shown_where_it_differs(answer: Answer, shown: Callable[..., str]) -> None:
    assert "Understood as" not in shown(answer)
    html = shown(replace(answer, standalone_question="How <fast>?"))
    assert '<p class="understood">Understood as: How &lt;fast&gt;?</p>' in html


def test_notes_are_the_products_own_words(answer: Answer, shown: Callable[..., str]) -> None:
    note = "Of <B> nothing was found."
    html = shown(replace(answer, text=f"{answer.text} {note}", notes=(note,)))
    assert f'{CITE_NEXT} <span class="note">Of &lt;B&gt; nothing was found.</span></p>' in html


def test_number_in_brackets_of_the_abstracts_own_is_no_marker(shown: Callable[..., str], abstract: Abstract) -> None:
    own = replace(abstract, text="Ants follow [1] trails.", sentences=((0, 23),))
    answer = Answer(
        "?", "?", "answer", True, "Ants follow [\u20601] trails. [1]",
        sentences=(Statement(own.text, (1,), 1.0),),
        citations=(Citation(1, own.id, own.label, "a#1", None, (quote(own, 0),)),),
    )  # fmt: skip
    html = list(render.reply(2, answer, lambda _: own))[-1]
    assert f"<p>Ants follow [1] trails.{CITE}</p>" in html


def test_abstract_that_left_the_store_is_still_quoted(answer: Answer) -> None:
    html = list(render.reply(2, answer, {}.__getitem__))[-1]
    assert f"<p>{MOVES}{CITE} Bees dance.{CITE_NEXT}</p>" in html


def test_refusal_says_so_and_lists_the_nearest(answer: Answer, shown: Callable[..., str]) -> None:
    refusal = Answer(
        "?", "?", "refusal", False, "The abstracts do not say.", refusal="not_stated",
        retrieved=(Retrieved("abc123def456", 0.03), Retrieved("gone", 0.02)),
    )  # fmt: skip
    assert shown(refusal) == (
        '<div class="reply refusal" id="a-2"><p class="tag">No answer in these abstracts</p>'
        '<p>The abstracts do not say.</p><p class="lead">The nearest abstracts:</p>'
        f'<ol class="nearest"><li><a href="#n-2-1">{LABEL}</a></li></ol></div>'
    )


def test_courtesy_cites_nothing(shown: Callable[..., str]) -> None:
    courtesy = Answer("hi", "hi", "courtesy", True, "Hello.\nAsk away.")
    assert shown(courtesy) == '<div class="reply courtesy" id="a-2"><p>Hello.<br>Ask away.</p></div>'


def test_llm_answer_names_its_model(answer: Answer, shown: Callable[..., str]) -> None:
    html = shown(replace(answer, answerer="llm", model="qwen3"))
    assert '<p class="small">Written by qwen3 from 1 abstract · 41 ms</p>' in html


def test_question_keeps_its_lines() -> None:
    assert render.question("Is a < b?\r\n\nYes") == '<h2 class="question">Is a &lt; b?<br><br>Yes</h2>'


def test_problem_is_a_sentence() -> None:
    expected = '<div class="reply problem"><p class="tag">Not answered</p><p>The question is empty.</p></div>'
    assert render.problem("the question is empty") == expected


def test_welcome_says_what_to_do_with_an_empty_store() -> None:
    assert "<h2>Ask 1 abstract</h2>" in render.welcome(1)
    assert "<code>rag ingest</code>" in render.welcome(0)


def test_hostile_text_is_inert_everywhere(hostile: str, answer: Answer, inert: Callable[[str], Any]) -> None:
    evil = Abstract("abc123def456", hostile, hostile, ((0, len(hostile)),), (hostile,))
    statement = Statement(hostile, (1,), 1.0)
    citation = Citation(1, evil.id, hostile, hostile, "javascript:alert(1)", (Quote(0, len(hostile), hostile),))
    said = replace(
        answer, question=hostile, standalone_question=f"{hostile}?", text=f"{hostile} [1] {hostile}", notes=(hostile,),
        sentences=(statement,), citations=(citation,), model=hostile, answerer="llm",
    )  # fmt: skip
    refused = replace(said, kind="refusal", sentences=(), citations=())
    for html in (*render.reply(1, said, lambda _: evil), *render.reply(1, refused, lambda _: evil)):
        inert(html)
        assert "\n" not in html
    inert(render.question(hostile))
    inert(render.problem(hostile))


def test_huge_text_is_cut() -> None:
    assert len(render.question("x" * 1_000_000)) < 6_000
    assert sentences.clip("x" * 400) == "x" * 299 + "…"
