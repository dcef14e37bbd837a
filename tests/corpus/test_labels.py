"""Names and labels, on texts that are not the seeds'."""

import pytest

from rag.corpus.labels import label, method_name
from rag.corpus.links import find_links, first_link
from rag.corpus.markup import fold, plain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We propose FooBar, a fast method.", "FooBar"),
        ("We introduce a Very Long Name (VLN) for it.", "VLN"),
        ("We present a method that, like Net2Net, grows.", None),
        ("We develop Domino, a framework. Domino is good.", "Domino"),
        ("In this paper we propose **d3LLM** (*Distilled Model*).", "d3LLM"),
        ("We propose X$^2$PO, a method.", "X²PO"),
        ("We introduce RAT+, which is dense.", "RAT+"),
        ("An approach termed ABC-D is shown. We also present EF. ABC-D wins; ABC-D again.", "ABC-D"),
        ("We study large language models (LLMs) and RL.", None),
        ("We propose Topology-Aware learning.", None),
        ("Nothing is named here.", None),
    ],
)
def test_method_name(text: str, name: str | None) -> None:
    assert method_name(text) == name


def test_a_label_is_one_short_line() -> None:
    text = "We propose FooBar, a method. " + "It does many things of note. " * 10
    assert label(text) == "FooBar: We propose FooBar, a method. It does many things of note. It…"
    assert label(text, title="A **fine** title") == "A fine title"
    assert label("Short.") == "Short."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("**P**lasticity **A**ctivation (PAPO)", "Plasticity Activation (PAPO)"),
        ("SD3.5-T$^5$ is", "SD3.5-T⁵ is"),
        (r"gains of $9.01\%$ and 83\\% at \textbf{T}op", "gains of 9.01% and 83% at Top"),
        (r"in $\mathcal{O}(n \log^2 t)$ time", "in 𝒪(n log² t) time"),
        ("a * b * c costs $5 and $6", "a * b * c costs $5 and $6"),
        (r"broken $\frac{1$ maths", r"broken $\frac{1$ maths"),
    ],
    ids=["bold letters", "raised", "percent", "calligraphic", "lone marks", "broken"],
)
def test_plain(source: str, expected: str) -> None:
    assert plain(source) == expected


def test_fold_makes_spellings_meet() -> None:
    assert fold("T$^2$PO") == fold("T²PO") == fold("t2po")


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("Code: https://github.com/a/b.", "https://github.com/a/b"),
        ("(see http://x.org/a_(b)).", "http://x.org/a_(b)"),
        ("At https://x.org/a?b=c, and", "https://x.org/a?b=c"),
        (r"\url{https://x.org/a}", "https://x.org/a"),
        ("javascript:alert(1) and ftp://x.org", None),
    ],
)
def test_first_link(text: str, link: str | None) -> None:
    assert first_link(text) == link
    assert all(text[start:end].startswith("http") for start, end in find_links(text))
