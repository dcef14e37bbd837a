"""Abstracts as HTML: the source cards of an answer, and the list of the whole collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain
from urllib.parse import urlsplit

from rag.corpus.links import first_link
from rag.records import Abstract, Answer, Citation
from ui.markup import plain
from ui.render import NEAREST, AbstractOf, clip, count_of, known
from ui.rich import Mark, rich

_CODE_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co")
_FILES_SHOWN = 50


def sources(turn: int, answer: Answer, abstract_of: AbstractOf) -> str:
    """Return the cards of one answer: cited abstracts whole with their quotes marked, then the near ones, folded."""
    cited = {citation.abstract_id for citation in answer.citations}
    cards = [_cited(turn, citation, answer, abstract_of) for citation in answer.citations]
    near = [abstract for abstract in known(answer, abstract_of) if abstract.id not in cited][:NEAREST]
    folded = "".join(_folded(abstract, f"n-{turn}-{place}", _nearness(answer, abstract)) for place, abstract in enumerate(near, 1))
    if answer.kind == "refusal" and near:
        cards.append(f'<p class="lead">None of these answers it; they are the nearest.</p>{folded}')
    elif near and cards:
        cards.append(f'<details class="also"><summary>{count_of(len(near), "abstract")} near the question</summary>{folded}</details>')
    if not cards:
        return ""
    heading = f'<h3><a href="#a-{turn}" title="Back to the answer">{plain(clip(answer.question, 160))}</a></h3>'
    return f'<section class="turn">{heading}{"".join(cards)}</section>'


def summary(abstracts: Sequence[Abstract]) -> str:
    """Return one line on the collection: how many abstracts, of how many files."""
    if not abstracts:
        return "<p>No abstracts yet: <code>rag ingest</code> adds some.</p>"
    return f"<p>{count_of(len(abstracts), 'abstract')} from {count_of(len(_files(abstracts)), 'file')}</p>"


def files(abstracts: Sequence[Abstract]) -> str:
    """Return the files that the abstracts came from, with a count each."""
    counts = _files(abstracts).most_common(_FILES_SHOWN)
    rows = "".join(f"<tr><td>{plain(clip(name))}</td><td>{count:,}</td></tr>" for name, count in sorted(counts))
    more = len(_files(abstracts)) - len(counts)
    rest = f'<p class="small">and {count_of(more, "more file")}</p>' if more else ""
    return f"<table><thead><tr><th>File</th><th>Abstracts</th></tr></thead><tbody>{rows}</tbody></table>{rest}" if rows else ""


def shelf(abstracts: Iterable[Abstract], first: int) -> str:
    """Return abstracts as a numbered list of labels that open; `first` is the number of the first one."""
    items = "".join(f"<li>{_folded(abstract, f'b-{abstract.id}')}</li>" for abstract in abstracts)
    return f'<ol class="shelf" start="{first}">{items}</ol>' if items else ""


def _cited(turn: int, citation: Citation, answer: Answer, abstract_of: AbstractOf) -> str:
    number = citation.number
    marks = [
        Mark(quote.start, quote.end, (f"s-{turn}-{number}-{place}",)) for place, quote in enumerate(citation.quotes)
    ]
    try:
        abstract = abstract_of(citation.abstract_id)
    except KeyError:
        quotes = "".join(f"<mark>{rich(quote.text)}</mark> " for quote in citation.quotes)
        return (
            f'<article class="card" id="c-{turn}-{number}"><h4>{plain(clip(citation.label))}</h4>'
            f"<p>{quotes}</p><p>The collection holds this abstract no more.</p></article>"
        )
    heading = f'<h4><span class="number">[{number}]</span> {_title(abstract)}</h4>'
    text = f'<p class="abstract">{rich(abstract.text, marks)}</p>'
    return (
        f'<article class="card" id="c-{turn}-{number}">{heading}{_facts(abstract, _nearness(answer, abstract))}'
        f"{text}</article>"
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
    word = "nearest" if score >= best else "near" if score >= 0.8 * best else "related" if score >= 0.5 * best else "distant"
    return f"{word} ({score:.3g})"


def _files(abstracts: Iterable[Abstract]) -> Counter[str]:
    return Counter(source.partition("#")[0] for source in chain.from_iterable(a.sources for a in abstracts))
