"""What the chat shows, as HTML. With `forms`, `sentences`, `cards`, `rich`, `markup` and `maths` the only
places that make HTML.

Everything that was typed, retrieved or generated goes through `plain` (shown as it stands) or `rich` (shown as its
author meant it); both escape. No result holds a line break, so Markdown takes each for one block of HTML. Ids:
`a-2` is the answer of turn 2, `c-2-1` the card of its citation [1], `s-2-1-0` the first sentence quoted there,
`n-2-1` the abstract nearest to its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rag.records import Abstract, Answer, Citation, Statement
from ui import forms
from ui.markup import plain
from ui.sentences import AbstractOf, clip, marker, sentence

LONGEST_QUESTION = 5_000
NEAREST = 5
_MARKER = re.compile(r"\s?\[(\d+)\]")
_WORD_JOINER = "\u2060"
"""The chain sets it into a bracketed number that is no marker of the answer's."""


def question(text: str) -> str:
    """Return what the reader typed, line by line."""
    return f'<h2 class="question">{_lines(clip(text, LONGEST_QUESTION))}</h2>'


def waiting() -> str:
    """Return what stands in the answer's place until it comes."""
    return '<div class="reply waiting">Reading the abstracts…</div>'


def problem(message: str) -> str:
    """Return an error in the reader's words; `message` is one line without a full stop."""
    words = message[:1].upper() + message[1:].rstrip(".") + "."
    return f'<div class="reply problem"><p class="tag">Not answered</p><p>{plain(words)}</p></div>'


def welcome(count: int) -> str:
    """Return what an empty conversation shows."""
    if not count:
        return (
            '<div class="welcome"><h2>There are no abstracts here yet</h2><p>Add some with <code>rag ingest</code>, or '
            "your own with <code>rag ingest FOLDER</code>, then load this page again.</p></div>"
        )
    return (
        f'<div class="welcome"><h2>Ask {count_of(count, "abstract")}</h2><p>Answers are sentences of the abstracts, '
        "each with a number that leads to its place. Where the abstracts do not say, the answer says so.</p></div>"
    )


def reply(turn: int, answer: Answer, abstract_of: AbstractOf) -> Iterator[str]:
    """Yield the answer as it grows by a sentence at a time; the last one is whole."""
    head = ""
    if answer.standalone_question not in ("", answer.question):
        head = f'<p class="understood">Understood as: {plain(clip(answer.standalone_question))}</p>'
    if answer.kind == "refusal":
        head += '<p class="tag">No answer in these abstracts</p>'
    steps = forms.steps(turn, answer, abstract_of) or _prose(turn, answer, abstract_of)
    for step in steps[:-1]:
        yield f'<div class="reply growing">{head}{step}</div>'
    nearest = _nearest_links(turn, answer, abstract_of) if answer.kind == "refusal" else ""
    body = f"{steps[-1]}{nearest}{_small_print(answer)}"
    yield f'<div class="reply {answer.kind}" id="a-{turn}">{head}{body}</div>'


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `1,200 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _prose(turn: int, answer: Answer, abstract_of: AbstractOf) -> list[str]:
    parts = _parts(turn, answer, abstract_of)
    return [f"<p>{''.join(parts[:count])}</p>" for count in range(1, len(parts) + 1)] or ["<p></p>"]


def _parts(turn: int, answer: Answer, abstract_of: AbstractOf) -> list[str]:
    """Cut the answer's text into one part a sentence, with what follows it: markers and the product's notes."""
    citations = {citation.number: citation for citation in answer.citations}
    text = answer.text.replace(_WORD_JOINER, "")
    parts = []
    begun, position, said = "", 0, None
    for statement in answer.sentences:
        words = statement.text.replace(_WORD_JOINER, "")
        start = text.find(words, position)
        if start < 0:
            continue
        parts.append(begun + _between(turn, answer, said, citations, text[position:start]))
        begun, position, said = sentence(statement, citations, abstract_of), start + len(words), statement
    parts.append(begun + _between(turn, answer, said, citations, text[position:]))
    return [part for part in parts if part]


def _between(turn: int, answer: Answer, said: Statement | None, citations: Mapping[int, Citation], text: str) -> str:
    written = []
    for place, part in enumerate(_MARKER.split(text)):
        citation = citations.get(int(part)) if place % 2 else None
        if citation is None:
            html = _lines(f"[{part}]" if place % 2 else part)
            for note in answer.notes:
                html = html.replace(plain(note), f'<span class="note">{plain(note)}</span>')
            written.append(html)
        else:
            written.append(marker(turn, citation, said))
    return "".join(written)


def _lines(text: str) -> str:
    return "<br>".join(plain(line) for line in re.split(r"\r\n|[\r\n]", text))


def _nearest_links(turn: int, answer: Answer, abstract_of: AbstractOf) -> str:
    items = [
        f'<li><a href="#n-{turn}-{place}">{plain(clip(abstract.label))}</a></li>'
        for place, abstract in enumerate(known(answer, abstract_of)[:NEAREST], 1)
    ]
    return f'<p class="lead">The nearest abstracts:</p><ol class="nearest">{"".join(items)}</ol>' if items else ""


def known(answer: Answer, abstract_of: AbstractOf) -> list[Abstract]:
    """Return the retrieved abstracts, the nearest first, without those that the store holds no more."""
    found = []
    for retrieved in answer.retrieved:
        try:
            found.append(abstract_of(retrieved.abstract_id))
        except KeyError:
            continue
    return found


def _small_print(answer: Answer) -> str:
    facts = []
    if answer.sentences:
        written = f"Written by {answer.model or 'an LLM'} from" if answer.answerer == "llm" else "Word for word from"
        facts.append(f"{written} {count_of(len(answer.citations), 'abstract')}")
    if answer.timings_ms:
        facts.append(f"{answer.timings_ms.get('total', sum(answer.timings_ms.values())):,.0f} ms")
    return f'<p class="small">{plain(" · ".join(facts))}</p>' if facts else ""
