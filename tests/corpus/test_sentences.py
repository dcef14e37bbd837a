"""Sentences of scientific abstracts: what ends one, what does not, and what always holds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.sentences import split_sentences

# In each example "|" stands for a boundary with white space, "¦" for one without.
ENDS = {
    "plain": "We do this.| It works.",
    "question and exclamation": "Does it work?| Yes!| We show how.",
    "run of stops": "Does it work?!| It does...| Or so… |We think.",
    "two spaces": "We do this.|  It works.",
    "digit first": "We asked for consent.| 118 of 122 patients agreed.| 3M-Diffusion is faster.",
    "maths first": "We fix a metric.| $k$-means is slow.| \\(n\\) is large.",
    "lower-case names first": (
        "We compare models.| mBERT is small.| d3LLM is fast.| iTransformer is not.| nnU-Net won.| pH was low."
    ),
    "names with a hyphen first": "We cluster.| k-means is slow.| c-Kit was found.| α-Synuclein was not.",
    "names with a digit first": "It was found.| p53 was not.| sst2a was.",
    "careless lower case": "It rose in patients with troponin.| we enrolled stable patients.",
    "closing quote": "He calls it “jumpout.”| It samples.| They ask 'why?'| We answer.",
    "TeX quotes": "We study the ``cost of parallelism.''| We bound it.",
    "closing quote behind a space": 'They call it "supply chain visibility. "| However, it costs.',
    "bracket": "It is slow (see Fig. 3.)| We mend it [for now.]| It holds.",
    "emphasis": "This is **bold.**| Next comes *X.*| Next comes _it._| Done.",
    "emphasis first": "We win.| **Results** hold.| *In-context* learning too.",
    "code": "Call `run.`| It runs.",
    "citation behind the stop": "It was shown.[12,13]| We agree.",
    "version": "We use Llama-3.1-8B.| It beats GPT-3.5.| Python 3.11.| Done.",
    "letter names": "We use A and B.| This helps.| It needs vitamin D.| Those in group B.| Median 3.",
    "unit": "The dose was 5 mg.| The rest took 8 h.| All waited 30 min.| It was 37 °C.| We left.",
    "p value": "It fell (p < 0.05).| It rose, p < 0.05.| Both held at P<.05.| We stopped.",
    "etc. that ends": "We use CNNs, RNNs, etc.| Previous work did not.| We sort (by size, etc.).| It helps.",
    "et al. that ends": "We extend Smith et al.| We also prove it.",
    "U.S. that ends": "It was made in the U.S.| We tested it there.",
    "i.i.d. that ends": "Samples are not i.i.d.| This is hard.| They are not i.i.d..| It matters.",
    "no that ends": "The answer is no.| We show why.",
    "list of sentences": "We show that: (i) it works.| (ii) it is fast.| (iii) It is small.",
    "numbers with a bracket": "There are two.| 1) It works.| 2) It is fast.",
    "numbers with a dot": "We do three things: 1. First, this.| 2. Second, that.| 3. Third, more.",
    "numbers first": "1. We do this.| 2. We do that.",
    "questions with letters": "(a) Is it so?| (b) To what extent is it so?",
    "labels": "BACKGROUND: It hurts.| METHODS: We asked.| RESULTS: It fell.",
    "label behind a stray colon": "It may cause disease.| : In this work, we studied it.",
    "URL": "Code is at https://github.com/a/b.| The data is at www.x.org/d?a=b.c.| Enjoy.",
    "URL first": "Install it with pip.| https://github.com/a/b",
    "e-mail, DOI and domain": "Ask a@b.org.| See doi:10.1000/1.2.| We use MapQuest.com.| We fit models.",
    "maths": "It runs in $\\mathcal{O}(n \\log^2 t)$.| We prove it for $n > 0.5$.| Done.",
    "stop inside the maths' end": "It scales as $O(1/n^{3}).$| Indeed, \\[ x = y ~. \\]| For all n it holds.",
    "money": "It costs $5.| We pay US$7.| They pay $10 or (at most) $12.| That is all.",
    "unmatched mark": "Let $x be one.| We show that $y$ holds.| Done.",
    "escaped marks": "It costs \\$5.| We pay \\$7.| Done.",
    "glued": "There is no effect.¦We show why.¦However, it is (SOTA).¦In 5%.¦The rest fails.¦RLHF works.",
    "glued question": "Does it help LLMs?¦Our answer is yes.",
    "glued labels": "It is unclear.¦AIM: To see.¦DATA SOURCES: Files at p<0.001.¦METHODS: We asked.",
    "glued quote": 'We call it "the effect."¦We show why.',
    "glued number": "Tests gave 5.¦We stopped.¦There are two.¦(1) The first.",
    "Chinese": "这是句子。¦那也是！¦真的？¦“是的。”¦好．¦约3．5。",
    "Japanese": "「はい。」¦次に進む。",
    "paragraphs": "A heading|\n\nWe do this|\r\n\r\nIt works",
    "species": "We grew E. coli.| E. coli grew.| P. aeruginosa did not.",
}

WHOLE = {
    "e.g.": "Some models, e.g. BERT or (e.g. The Pile), are large.",
    "i.e.": "It is dense, i.e. Gaussian, i.e., it has a density.",
    "I.e. first": "I.e. Gaussian noise is added.",
    "et al. with a year": "Smith et al. 2024 and Jones et al. (2020) and Lee et al. [3] (Wu et al., 2024).",
    "et al. mid-sentence": "Smith et al. shows that Wieting et al.'s work and Roe et al. Nature agree.",
    "et. al.": "Contrast Zhou et. al. (2014), who differ.",
    "vs.": "We compare GRPO vs. PPO and 1,174 vs. 556 (West vs. the rest).",
    "figures": "See Fig. 3, Figs. S1 and S2, Eq. (2), Eqs. $3$ and $4$, Sec. III, Tab. A and Thm. 2.",
    "numbers": "See No. 5, no. 7, pp. 3, vol. 12, Ch. 4 and Oct. 4th.",
    "short words": "Approx. 5, ca. 9% (cf. Roe), resp. neural networks, viz. Sports-1M, esp. in Chinese.",
    "titles": "Dr. Who, Prof. Xavier and Ms. Pac-Man met in St. Louis.",
    "initials": "By J. Smith, A. B. Jones, J.-P. Serre and Richard H. Thaler, we cite R. Roe.",
    "U.S.": "The U.S. Senate, U.S. states, the U.S.A and U.S.A. based firms met.",
    "degrees": "Psychologists with M.S. or Ph.D. degrees of Acme Inc. of Delaware met at 8 a.m. today.",
    "w.r.t. and a.k.a.": "It is linear w.r.t. The norm a.k.a. Lasso and i.i.d. Gaussian, s.t. $x$ is small.",
    "etc. mid-sentence": "Networks (CNNs, RNNs, etc.) GANs, news, etc. are used.",
    "spaced abbreviation": "It is stable w. r. t. parameter changes.",
    "species": "In vivo, A. madagascariensis, E. coli and non-S. aureus and S. Typhi infections occur.",
    "journals": "Seen before (Roe, J. (1991) J. Biol. Chem. 266, 12; Proc. Natl. Acad. Sci. USA 85) in mice.",
    "mutations": "The mutation p. His161Arg and c. 5261 to 5563 matter.",
    "maths": "Here $\\text{a. B}$, $x_1, ... X_n$, $$a. B$$, \\(c. D\\) and \\[e. F\\] are fixed.",
    "maths with a digit": "We gain $1.2\\times$ and $50\\%. b$ in all.",
    "names": "Use Flux.1 Dev, SD 3.5-Medium, Llama-3.1-8B, Node.js, ASP.NET, Dr.ECI and v2.0.1 here.",
    "code": "Call model.eval or torch.nn.Linear or x.Y now.",
    "URL": "Go to https://x.org/a.b?c=d. e or https://x.org/Dr.ECI/README.Md now.",
    "exclamation mark in a name": "On Yahoo! Answers and Yahoo! news and Pitfall! and Hogwild! we win.",
    "question inside": 'Asking "is it so?" to (what if?) and “why?” helps.',
    "dash behind a weak stop": "The query “which is it?” -- a hard one of $x.$ -- is asked.",
    "ellipsis": "It takes a, b, ... and z (a,...) ... or d(1) , . . . , d(m) in all.",
    "enumeration": "We (i) do this; (ii) do that; and 1) it works 2) it is fast.",
    "torn decimal": "It fell (P<0. 001 and P<. 05) again.",
    "marker in brackets": "We found that (1.) Models trail.",
    "stop alone": ".",
    "no stop": "We do this",
}


def pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize("marked", ENDS.values(), ids=ENDS.keys())
def test_ends_a_sentence(marked: str) -> None:
    text = marked.replace("|", "").replace("¦", "")
    assert pieces(text) == [part.strip() for part in marked.replace("¦", "|").split("|")]


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE.keys())
def test_keeps_a_sentence_whole(text: str) -> None:
    assert pieces(text) == [text]


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0\u3000"], ids=["empty", "space", "all kinds"])
def test_blank_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


def test_spans_count_characters_not_bytes() -> None:
    assert split_sentences("  𝒪 ≤ 1 é. Ja.\n") == [(2, 10), (11, 14)]


# Words and marks that the rule knows, so that random texts reach its branches.
known = st.sampled_from(
    [
        *" \n.?!…。$*_()[]“”\"':;,1aA\\\u3000\x1c",
        *("e.g.", "et al. ", "Fig. ", "U.S.", "J. ", "etc.", "1. ", "(ii)", "no. ", "We ", "mBERT", "AIM:"),
        *("p < 0.05", "...", "$x. Y$", "\n\n", "\\(", "\\)", "\\[", "https://a.b/c."),
    ]
)


@given(st.text() | st.lists(known, max_size=40).map("".join))
def test_spans_are_ordered_trimmed_and_complete(text: str) -> None:
    spans = split_sentences(text)
    ends = [0, *(end for _, end in spans)]
    assert all(end <= start < stop for end, (start, stop) in zip(ends, spans, strict=False))
    assert all(piece == piece.strip() for piece in pieces(text))
    assert "".join("".join(pieces(text)).split()) == "".join(text.split())


LONG = {
    "10 MB of prose": ("We show it (p < 0.05), e.g. in $x. Y$" + " and so on" * 27 + ". ") * 33_000,
    "10 MB without a stop": "a" * 10_000_000,
    "10 MB of white space": " " * 10_000_000,
    "dots": "." * 100_000,
    "dots and spaces": ". " * 100_000,
    "dollars": "$" * 100_000,
    "dollars and letters": "$x" * 100_000,
    "dollars and sentences": "$1. a" * 100_000,
    "one dollar": "$" + "a " * 1_000_000,
    "escaped dollars": "$a\\$" * 100_000,
    "opened maths": "\\(" * 100_000 + "\\[a" * 100_000,
    "schemes": "http://" * 100_000,
    "a URL of dots": "http://" + "." * 1_000_000,
    "new lines": "\n " * 1_000_000,
    "stops far apart": (". " + " " * 1_000) * 1_000,
    "closers": "." + ")" * 1_000_000,
    "openers": ". " + "(" * 1_000_000,
    "citations": ".[1," * 100_000,
    "initials": "A." * 100_000,
    "hyphens": ". " + "a-" * 1_000_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_takes_linear_time(text: str) -> None:
    # Far above what it takes (microseconds a stop), far below what a quadratic step would.
    limit = 5 + len(text) / 250_000
    started = time.perf_counter()
    split_sentences(text)
    assert time.perf_counter() - started < limit
