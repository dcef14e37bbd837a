"""Abstracts as HTML: the source cards of an answer, and the list of the whole collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain
from urllib.parse import urlsplit

from rag.corpus.identity import file_of
from rag.corpus.links import first_link
from rag.records import Abstract, Answer, Citation
from ui.markup import plain
from ui.render import NEAREST, count_of, known
from ui.rich import Mark, rich
from ui.sentences import AbstractOf, clip

NEARNESS = ((1.0, "nearest"), (0.8, "near"), (0.5, "related"))
"""At which part of the best retrieval score a word begins; below the last, an abstract is distant."""

_CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")
_FILES_SHOWN = 50


def sources(turn: int, answer: Answer, abstract_of: AbstractOf) -> str:
    """Return the cards of one answer: cited abstracts whole with their quotes marked, then the near ones, folded."""
    cited = {citation.abstract_id for citation in answer.citations}
    cards = [_cited(turn, citation, answer, abstract_of) for citation in answer.citations]
    near = [abstract for abstract in known(answer, abstract_of) if abstract.id not in cited][:NEAREST]
    folded = "".join(
        _folded(abstract, f"n-{turn}-{place}", _nearness(answer, abstract)) for place, abstract in enumerate(near, 1)
    )
    if answer.kind == "refusal" and near:
        cards.append(f'<p class="lead">None of these answers it; they are the nearest.</p>{folded}')
    elif near and cards:
        lead = f"{count_of(len(near), 'abstract')} near the question"
        cards.append(f'<details class="also"><summary>{lead}</summary>{folded}</details>')
    if not cards:
        return ""
    heading = f'<h3><a href="#a-{turn}" title="Back to the answer">{plain(clip(answer.question, 160))}</a></h3>'
    return f'<section class="turn">{heading}{"".join(cards)}</section>'


def summary(abstracts: Sequence[Abstract]) -> str:
    """Return one line on the collection: how many abstracts, of how many files."""
    if not abstracts:
        return "<p>No abstracts yet: <code>rag ingest</code> adds some.</p>"
    return f"<p>{count_of(len(abstracts), 'abstract')} from {count_of(len(_files(abstracts)), 'file')}</p>"


def listing(abstracts: Sequence[Abstract], first: int, count: int) -> str:
    """Return the files with a count each, then `count` abstracts from `first` on as labels that open."""
    if not abstracts:
        return summary(abstracts)
    shown = abstracts[first : first + count]
    items = "".join(f"<li>{_folded(abstract, f'b-{abstract.id}')}</li>" for abstract in shown)
    return f'{_file_table(abstracts)}<ol class="shelf" start="{first + 1}">{items}</ol>'


def _file_table(abstracts: Sequence[Abstract]) -> str:
    counts = _files(abstracts)
    rows = "".join(
        f"<tr><td>{plain(clip(name))}</td><td>{count_of(count, 'abstract')}</td></tr>"
        for name, count in sorted(counts.most_common(_FILES_SHOWN))
    )
    more = len(counts) - _FILES_SHOWN
    rest = f'<p class="lead">and {count_of(more, "file")} more</p>' if more > 0 else ""
    return (
        f'<details class="files"><summary>{count_of(len(counts), "file")}</summary>'
        f"<table><tbody>{rows}</tbody></table>{rest}</details>"
    )


def _cited(turn: int, citation: Citation, answer: Answer, abstract_of: AbstractOf) -> str:
    number = citation.number
    ids = [f"s-{turn}-{number}-{place}" for place in range(len(citation.quotes))]
    try:
        abstract = abstract_of(citation.abstract_id)
    except KeyError:
        lost = "The collection holds this abstract no more; the quotes are what it said."
        heading, facts = plain(clip(citation.label)), f'<p class="facts"><span>{lost}</span></p>'
        quotes = zip(citation.quotes, ids, strict=True)
        text = " … ".join(rich(quote.text, [Mark(0, len(quote.text), (anchor,))]) for quote, anchor in quotes)
    else:
        heading, facts = _title(abstract), _facts(abstract, _nearness(answer, abstract))
        marks = [Mark(quote.start, quote.end, (anchor,)) for quote, anchor in zip(citation.quotes, ids, strict=True)]
        text = rich(abstract.text, marks)
    return (
        f'<article class="card" id="c-{turn}-{number}"><h4><span class="number">[{number}]</span> {heading}</h4>'
        f'{facts}<p class="abstract">{text}</p></article>'
    )


def _folded(abstract: Abstract, anchor: str, nearness: str = "") -> str:
    return (
        f'<details class="card"><summary>{plain(clip(abstract.label))}</summary>'
        f'<div id="{anchor}">{_facts(abstract, nearness)}<p class="abstract">{rich(abstract.text)}</p></div></details>'
    )


def _title(abstract: Abstract) -> str:
    return rich(clip(abstract.title)) if abstract.title else plain(clip(abstract.label))


def _facts(abstract: Abstract, nearness: str) -> str:
    """Return what is known of an abstract besides its text, in one line."""
    authors = ", ".join(abstract.authors[:3]) + (" et al." if len(abstract.authors) > 3 else "")
    words = [authors, str(abstract.year or ""), abstract.venue or "", *abstract.sources, nearness]
    facts = [f"<span>{plain(clip(word))}</span>" for word in words if word]
    return f'<p class="facts">{" ".join([*facts, *_links(abstract)])}</p>'


def _links(abstract: Abstract) -> list[str]:
    """Return links to the abstract's page and to the first address that it names."""
    urls = dict.fromkeys(url for url in (abstract.url, first_link(abstract.text)) if url)
    return [
        f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{plain(clip(_place(url), 60))}</a>'
        for url in urls
        if url.startswith(("http://", "https://"))
    ]


def _place(url: str) -> str:
    """Return what a link leads to: `code on github.com`, or the host."""
    try:
        host = (urlsplit(url).hostname or url).removeprefix("www.")
    except ValueError:
        return url
    return f"code on {host}" if host in _CODE_HOSTS else host


def _nearness(answer: Answer, abstract: Abstract) -> str:
    """Return the retrieval score of an abstract in a word and a number, the word relative to the best one's."""
    scores = {retrieved.abstract_id: retrieved.score for retrieved in answer.retrieved}
    score, best = scores.get(abstract.id), max(scores.values(), default=0.0)
    if score is None:
        return ""
    word = next((word for part, word in NEARNESS if score >= part * best), "distant")
    return f"{word} ({score:.3g})"


def _files(abstracts: Iterable[Abstract]) -> Counter[str]:
    return Counter(file_of(source) for source in chain.from_iterable(a.sources for a in abstracts))
