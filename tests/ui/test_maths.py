"""LaTeX formulas as MathML."""

from __future__ import annotations

import re

import pytest

from rag.chain.chain import Chain
from ui.maths import MAX_CHARACTERS, MAX_DEPTH, mathml


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"^5", "<math><msup><mrow></mrow><mn>5</mn></msup></math>"),
        (r"9.01\%", "<math><mn>9.01</mn><mi>%</mi></math>"),
        (r"50\\%", "<math><mn>50</mn><mi>%</mi></math>"),
        (r"x\mid\\theta", "<math><mi>x</mi><mo>∣</mo><mi>θ</mi></math>"),
        (r"\mathbf{\Phi}", "<math><mi>𝚽</mi></math>"),
        (r"\text{IGD}_\text{offline}", "<math><msub><mtext>IGD</mtext><mtext>offline</mtext></msub></math>"),
        (r"\alpha\text{--}\beta", "<math><mi>α</mi><mtext>–</mtext><mi>β</mi></math>"),
        (r"\text{a<b}", "<math><mtext>a&lt;b</mtext></math>"),
        (r"\textbf{K}_t", '<math><msub><mtext class="b">K</mtext><mi>t</mi></msub></math>'),
        (r"x \in \R", "<math><mi>x</mi><mo>∈</mo><mi>ℝ</mi></math>"),
    ],
)
def test_formula(source: str, expected: str) -> None:
    assert mathml(source) == expected


def test_display_formula_is_a_block() -> None:
    assert mathml("x", display=True) == '<math display="block"><mi>x</mi></math>'


@pytest.mark.parametrize(
    "source",
    [
        r"\OPT(x)",
        r"\frac{1}",
        r"\href{javascript:alert(1)}{x}",
        r"\class{card}{x}",
        r"\newcommand{\a}{\a\a}\a",
        r"\def\x{\x\x}\x",
        "{" * (MAX_DEPTH + 1) + "x" + "}" * (MAX_DEPTH + 1),
        "x" * (MAX_CHARACTERS + 1),
    ],
)
def test_what_cannot_be_read_or_should_not_be_is_left_alone(source: str) -> None:
    assert mathml(source) is None


def test_deep_nesting_does_not_end_the_process() -> None:
    assert mathml("{" * 50_000 + "x" + "}" * 50_000) is None


def test_every_formula_of_the_seeds_is_read(chain: Chain) -> None:
    formulas = [f for a in chain.store.abstracts() for f in re.findall(r"(?<!\\)\$([^$]+)\$", a.text)]
    assert len(formulas) > 70
    assert [formula for formula in formulas if mathml(formula) is None] == []
