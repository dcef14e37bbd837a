"""What is measured of one answer, as pure functions over the answer object (a dict) and the question.

`right`, `abstract` and `sentence` follow the yardstick of this product's question files; citation precision and
recall follow ALCE (Gao et al. 2023) and SciFact's sentence selection (Wadden et al. 2020), with gold sentences in
place of a judging model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag.corpus.identity import normalize
from rag.evaluation.datasets import Question

AnswerDict = Mapping[str, Any]
Texts = Mapping[str, str]
"""Abstract id -> stored text."""

_MARKER = re.compile(r"\[(\d+)\]")
_NO_WORD = re.compile(r"\W+")
LIST_F1_IS_RIGHT = 0.75
MIN_OVERLAP_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The measures of one answer; None where a measure has no meaning for the question or the answer."""

    right: float
    refused: float
    broken: float
    abstract: float | None = None
    sentence: float | None = None
    list_f1: float | None = None
    citation_precision: float | None = None
    citation_recall: float | None = None
    dropped: float | None = None
    words: int | None = None


def score_answer(question: Question, answer: AnswerDict, texts: Texts) -> QuestionScore:
    """Measure one answer. `texts` lets quotes be checked against the abstracts themselves; empty, they are not."""
    refused = not answer["answerable"]
    broken = float(breaks_contract(answer, texts))
    if not question.answerable:
        return QuestionScore(
            float(refused), float(refused), broken, words=_words(answer), dropped=dropped_share(answer)
        )
    f1 = list_f1(question, answer) if question.kind == "list" else None
    right = (f1 >= LIST_F1_IS_RIGHT and not refused) if f1 is not None else is_right(question, answer)
    gold = bool(question.support) and question.kind != "list"
    return QuestionScore(
        right=float(right),
        refused=float(refused),
        broken=broken,
        abstract=f1 if f1 is not None else abstract_first(question, answer),
        sentence=sentence_first(question, answer) if gold else None,
        list_f1=f1,
        citation_precision=citation_precision(question, answer) if question.support and not refused else None,
        citation_recall=citation_recall(question, answer) if question.support else None,
        dropped=dropped_share(answer),
        words=_words(answer),
    )


def is_right(question: Question, answer: AnswerDict) -> bool:
    """Answered; every `must_include` group is met; a relevant abstract is cited (a comparison: all); a quote rests."""
    text = answer["text"].lower()
    relevant, cited = set(question.relevant), {citation["abstract_id"] for citation in answer["citations"]}
    facts = all(any(one.lower() in text for one in group) for group in question.must_include)
    found = not relevant or (relevant <= cited if question.kind == "compare" else bool(relevant & cited))
    rests = not question.support or any(_supported(question, quote) for _, quote in _quotes(question, answer))
    return bool(answer["answerable"]) and facts and found and rests


def abstract_first(question: Question, answer: AnswerDict) -> float | None:
    """1 where the first citation is a relevant abstract, else 0; None where no abstract is relevant."""
    if not question.relevant:
        return None
    cited = [citation["abstract_id"] for citation in answer["citations"]]
    return float(bool(cited) and cited[0] in question.relevant)


def sentence_first(question: Question, answer: AnswerDict) -> float:
    """1 where the answer's first sentence, or the first quote of its citation, is a support sentence, else 0."""
    sentences = answer["sentences"]
    head = sentences[0]["text"] if sentences else ""
    number = sentences[0]["citations"][:1] if sentences else []
    near = [quote for mark, quote in _quotes(question, answer) if mark in number]
    return float(_supported(question, head) or any(_supported(question, quote) for quote in near[:1]))


def list_f1(question: Question, answer: AnswerDict) -> float:
    """F1 (0..1) of the set of cited abstracts against the relevant ones."""
    relevant, cited = set(question.relevant), {citation["abstract_id"] for citation in answer["citations"]}
    hits = len(relevant & cited)
    return 2 * hits / (len(relevant) + len(cited)) if hits else 0.0


def citation_precision(question: Question, answer: AnswerDict) -> float:
    """The share (0..1) of the quotes that are gold sentences; 0 where there is no quote."""
    quotes = [quote["text"] for citation in answer["citations"] for quote in citation["quotes"]]
    return sum(_supported(question, quote) for quote in quotes) / len(quotes) if quotes else 0.0


def citation_recall(question: Question, answer: AnswerDict) -> float:
    """The share (0..1) of the gold sentences that are quoted."""
    quotes = [quote["text"] for citation in answer["citations"] for quote in citation["quotes"]]
    return sum(any(overlaps(quote, gold) for quote in quotes) for gold in question.support) / len(question.support)


def dropped_share(answer: AnswerDict) -> float | None:
    """The share (0..1) of an LLM's sentences that were not shown; None for answers of no LLM."""
    dropped, shown = len(answer.get("dropped", [])), len(answer["sentences"])
    if answer.get("answerer") != "llm" or not dropped + shown:
        return None
    return dropped / (dropped + shown)


def breaks_contract(answer: AnswerDict, texts: Texts) -> bool:
    """Tell whether markers, citations, quotes and sentences disagree, or a refusal cites."""
    marks = {int(number) for number in _MARKER.findall(answer["text"])}
    numbers = {citation["number"] for citation in answer["citations"]}
    if not answer["answerable"]:
        return bool(answer["citations"] or answer["sentences"] or marks)
    quoting = answer.get("kind", "answer") == "answer"
    if marks != numbers or (quoting and not numbers):
        return True
    if any((quoting and not s["citations"]) or not set(s["citations"]) <= numbers for s in answer["sentences"]):
        return True
    quotes = [(citation["abstract_id"], quote) for citation in answer["citations"] for quote in citation["quotes"]]
    return any(not _is_quote(quote, texts.get(abstract_id, "") if texts else None) for abstract_id, quote in quotes)


def overlaps(quote: str, gold: str) -> bool:
    """Tell whether one of two sentences holds the other, letter case and punctuation apart."""
    one, other = _squash(quote), _squash(gold)
    return len(one) > MIN_OVERLAP_CHARACTERS and (one in other or other in one)


def _is_quote(quote: Mapping[str, Any], text: str | None) -> bool:
    exact = quote["end"] - quote["start"] == len(quote["text"])
    return exact and (text is None or normalize(quote["text"]) in text)


def _quotes(question: Question, answer: AnswerDict) -> list[tuple[int, str]]:
    return [
        (citation["number"], quote["text"])
        for citation in answer["citations"]
        if citation["abstract_id"] in question.relevant
        for quote in citation["quotes"]
    ]


def _supported(question: Question, quote: str) -> bool:
    return any(overlaps(quote, gold) for gold in question.support)


def _words(answer: AnswerDict) -> int | None:
    return len(answer["text"].split()) if answer["answerable"] else None


def _squash(text: str) -> str:
    return _NO_WORD.sub(" ", text.lower()).strip()
