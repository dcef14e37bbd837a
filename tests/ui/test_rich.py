"""Abstract text as HTML: it reads as meant, is safe, and its marks are exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from rag.chain.chain import Chain
from ui.markup import plain
from ui.rich import Mark, rich


def link(url: str, words: str | None = None) -> str:
    return f'<a href="{url}" target="_blank" rel="noopener noreferrer">{words or url}</a>'


K = "<math><mi>k</mi></math>"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        # emphasis
        ("propose **P**lasticity", "propose <strong>P</strong>lasticity"),
        ("*model upscaling*: a", "<em>model upscaling</em>: a"),
        ("***both***", "<strong><em>both</em></strong>"),
        ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
        ("_**USEBench**_, a", "<em><strong>USEBench</strong></em>, a"),
        ("__Resona__-augmented", "<strong>Resona</strong>-augmented"),
        ("_only 5_ lines", "<em>only 5</em> lines"),
        (r"\emph{a \textbf{b} c}", "<em>a <strong>b</strong> c</em>"),
        (r"{\em entity} {\bf x}", "<em>entity</em> <strong>x</strong>"),
        (r"\texttt{f} \textsc{Abc}", '<code>f</code> <span class="caps">Abc</span>'),
        (r"$\textit{Latent}$ and $\texttt{Llama}$", "<em>Latent</em> and <code>Llama</code>"),
        ("`SWE-Bench Verified` on", "<code>SWE-Bench Verified</code> on"),
        ("*online pass@$k$* is", f"<em>online pass@{K}</em> is"),
        # what only looks like it
        ("A* search and D* lite", "A* search and D* lite"),
        ("k*m and n*p", "k*m and n*p"),
        ("x**2 + y**2, 2**3 and 4**5", "x**2 + y**2, 2**3 and 4**5"),
        ("snake_case_name and I(X;T_l)", "snake_case_name and I(X;T_l)"),
        ("rm -rf /* and **", "rm -rf /* and **"),
        # maths, and dollars that are none
        ("the $k$ best", f"the {K} best"),
        ("T$^5$", "T<math><msup><mrow></mrow><mn>5</mn></msup></math>"),
        ("$<$2%", '<math><mo lspace="0" rspace="0">&lt;</mo></math>2%'),
        (r"\(k\) and $ k_1 $", f"{K} and <math><msub><mi>k</mi><mn>1</mn></msub></math>"),
        ("$$k$$", '<math display="block"><mi>k</mi></math>'),
        ("costs $5 and $10", "costs $5 and $10"),
        ("US$5 to AU$ or $5-$10", "US$5 to AU$ or $5-$10"),
        ("$100k for $k$", f"$100k for {K}"),
        (r"\$5 of $k$", f"$5 of {K}"),
        (r"$\OPT(k)$", r"$\OPT(k)$"),
        ("$k", "$k"),
        # LaTeX's escapes
        (r"50\% and 60\\% \& \_ \#", "50% and 60% &amp; _ #"),
        (r"2\%--3\%, history---interpretable", "2%–3%, history—interpretable"),
        ("datasets -- limits", "datasets – limits"),
        ("use --flag, <!-- x -->", "use --flag, &lt;!-- x --&gt;"),
        ("``marginal'' and ``x\" and `y'", "“marginal” and “x” and ‘y’"),
        (r"H\"{o}lder, Nos\'{e}, don\'t", "Hölder, Nosé, don\\&#x27;t"),
        # links
        ("at https://x.org/a_b.", f"at {link('https://x.org/a_b')}."),
        ("(https://e.org/(a)b)", f"({link('https://e.org/(a)b')})"),
        (r"at ~\url{https://x.org/a?b=1&c=2}.", f"at {link('https://x.org/a?b=1&amp;c=2')}."),
        ("[https://x.org/a](https://x.org/a)", link("https://x.org/a")),
        ("[the code](https://x.org/a)", link("https://x.org/a", "the code")),
        ("[https://good.org](https://evil.org)", f"[{link('https://good.org')}]({link('https://evil.org')})"),
        ("[a](javascript:alert(1))", "[a](javascript:alert(1))"),
        # all else
        ("a < b & “c” — 论文 T⁵", "a &lt; b &amp; “c” — 论文 T⁵"),
        ("a\u202eb", 'a<span class="control">U+202E</span>b'),
        ("", ""),
    ],
)  # fmt: skip
def test_reads_as_meant(text: str, html: str) -> None:
    assert rich(text) == html


def test_mark_is_exact() -> None:
    assert rich("One. Two. Three.", [Mark(5, 9, ("m",))]) == 'One. <mark id="m">Two.</mark> Three.'


def test_mark_that_cuts_emphasis_keeps_the_html_whole() -> None:
    html = rich("a *b c* d", [Mark(0, 4, ("m",))])
    assert html == '<mark id="m">a <em>b</em></mark><em> c</em> d'


def test_mark_that_cuts_a_formula_holds_all_of_it() -> None:
    assert rich("a $k$ b", [Mark(0, 3, ("m",))]) == f'<mark id="m">a {K}</mark> b'


def test_marks_that_overlap_become_one_and_keep_both_ids() -> None:
    html = rich("One. Two.", [Mark(5, 9, ("n",)), Mark(0, 7, ("m",))])
    assert html == '<mark id="m"><span id="n"></span>One. Two.</mark>'


def test_neighbouring_marks_stay_apart() -> None:
    html = rich("One. Two.", [Mark(0, 4, ("m",)), Mark(5, 9, ("n",))])
    assert html == '<mark id="m">One.</mark> <mark id="n">Two.</mark>'


def test_a_sentence_keeps_the_emphasis_that_began_before_it() -> None:
    assert rich("*One. Two.* Three.", (), 6, 11) == "<em>Two.</em>"


def test_plain_shows_text_as_it_stands() -> None:
    assert plain("*a* $k$ <b> \u202e") == '*a* $k$ &lt;b&gt; <span class="control">U+202E</span>'


def test_hostile_text_is_inert_wherever_the_marks_fall(hostile: str, inert: Callable[[str], Any]) -> None:
    for start in range(0, len(hostile), 7):
        reader = inert(rich(hostile, [Mark(start, start + 20, ("m",))]))
        assert reader.ids == ["m"]
    inert(plain(hostile))


def test_hostile_text_can_still_be_read(hostile: str, inert: Callable[[str], Any]) -> None:
    words = re.findall(r"[A-Za-z]{4,}", re.sub(r"\$.*?\$|(?<=\])\(http[^)]*\)", "", hostile))
    shown = inert(rich(hostile)).text
    assert [word for word in words if word not in shown] == []


@pytest.mark.parametrize(
    "part", ["$", "*a", "**a", "`", r"\%", r"{\em ", "_a ", "$a ", r"\emph{", "http://", "<", "[", "-"]
)
def test_long_runs_of_markup_take_no_longer_than_their_length(part: str) -> None:
    assert rich(part * 10_000)


def test_the_seeds_read_without_leftovers(chain: Chain, inert: Callable[[str], Any]) -> None:
    untouched = 0
    for abstract in chain.store.abstracts():
        html = rich(abstract.text, [Mark(*span, (f"m{i}",)) for i, span in enumerate(abstract.sentences)])
        assert inert(html).ids == [f"m{i}" for i in range(len(abstract.sentences))]
        shown = unescape(re.sub(r"<[^>]+>", "", re.sub(r"<math.*?</math>", "", html)))
        assert not re.search(r"[$*\\`~]|--|''", shown), abstract.sources
        if not re.search(r"[$*\\`_~]|--|''", abstract.text):
            assert shown == abstract.text
            untouched += 1
    assert untouched > 30
