"""Lists and comparisons as the page shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag.records import Abstract, Answer, Citation, Quote, Side, Statement
from ui import forms


@pytest.fixture
def listed() -> tuple[Answer, dict[str, Abstract]]:
    """A list of ten abstracts."""
    abstracts = [
        Abstract(f"{number:012x}", f"Bee <b>{number}</b> dances.", f"Bee {number}", ((0, 20 + (number > 9)),), ("a#1",))
        for number in range(1, 11)
    ]
    quotes = [Quote(*one.sentences[0], one.sentence(0)) for one in abstracts]
    answer = Answer(
        "which?", "which?", "answer", True, "10 abstracts fit, the likeliest first:\n…", form="list",
        sentences=tuple(Statement(quote.text, (n,), 1.0) for n, quote in enumerate(quotes, 1)),
        citations=tuple(
            Citation(n, one.id, one.label, "a#1", None, (quote,))
            for n, (one, quote) in enumerate(zip(abstracts, quotes, strict=True), 1)
        ),
    )  # fmt: skip
    return answer, {one.id: one for one in abstracts}


def test_a_long_list_is_folded(listed: tuple[Answer, dict[str, Abstract]], inert: Callable[[str], Any]) -> None:
    answer, abstracts = listed
    steps = forms.steps(3, answer, abstracts.__getitem__)
    assert len(steps) == 10
    assert "<details>" not in steps[7]
    assert '<details><summary>2 more</summary><ol start="9"><li><span class="of">Bee 9</span> ' in steps[9]
    assert steps[9].count("<li>") == 10
    assert steps[9].startswith("<p>10 abstracts fit, the likeliest first:</p>")
    assert 'href="#s-3-10-0"' in steps[9]
    inert(steps[9])


def test_a_comparison_stands_side_by_side(listed: tuple[Answer, dict[str, Abstract]]) -> None:
    answer, abstracts = listed
    sides = (Side("Bee <1>", (0, 1)), Side("Wasp", ()))
    compared = replace(answer, form="comparison", sides=sides, notes=("Bee <1>:", "Wasp: Not in this collection."))
    shown = forms.steps(1, compared, abstracts.__getitem__)[-1]
    assert shown.startswith('<div class="sides"><section><h3>Bee &lt;1&gt;</h3>')
    assert shown.count('class="cite"') == 2
    assert '<section><h3>Wasp</h3><p><span class="note">Not in this collection.</span></p></section>' in shown


def test_prose_is_none_of_its_forms(listed: tuple[Answer, dict[str, Abstract]]) -> None:
    answer, abstracts = listed
    assert forms.steps(1, replace(answer, form="prose"), abstracts.__getitem__) == []
    assert forms.steps(1, replace(answer, sentences=()), abstracts.__getitem__) == []
