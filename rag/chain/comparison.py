"""Two sides set beside each other: which abstract each side of a comparison is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rag.chain.retrieve import HybridRetriever
from rag.corpus.labels import COMMON_NAMES, coined_names, introduced_names, method_name
from rag.corpus.markup import plain
from rag.index.lexical import query_terms
from rag.reader.features import coverage, words_of
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.read import Reader
from rag.records import Abstract

_COMPARES: Final = (
    r"(?:,?\s*\b(?:versus|vs\.?|against|compar(?:e[ds]?|ing) (?:to|with)|and|or|than|while|whereas)(?=\s)"
    r"|\b(?:differ\w*|distinct)\s+(?:from|to|than)\b)"
)
_BETWEEN = re.compile(rf"\s*{_COMPARES}\s*", re.I)
_DERIVED = re.compile(r"-[a-z]+$")
"""muP-style, SMC-based: words made of a name."""

_COMPARING: Final = frozenset("compar comparison differ differenc versus vs against better side contrast".split())
"""Stems that only say that something is compared."""

NEAREST: Final = 8
MOST_SIDES: Final = 4
READ: Final = 0.3
"""What the transformer's logit of a candidate weighs beside cosines and coverage, which are of the order of 1."""

ADDS_WORDS: Final = 0.05
"""The least part of a question's words, weighed by rarity, that the second side has and the first has not."""

MOST_USERS: Final = 3
"""A name that more of the nearest abstracts use is nobody's own: ImageNet, KV."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison, as the question calls it; `passage` is None where the collection has it not."""

    name: str
    passage: Passage | None


class Comparer:
    """Finds the sides of a comparison."""

    def __init__(self, retriever: HybridRetriever, reader: Reader) -> None:
        self.retriever = retriever
        self.reader = reader

    def named_sides(self, question: str, focus: Sequence[Passage]) -> list[Side]:
        """Return a side for each abstract whose own name the question names, or else that the talk was about."""
        sides = _different(side for name in _names(question) if (side := self._owner(name)))
        if len(sides) < 2:
            sides = _different([*(_side(passage) for passage in focus), *sides])
        return sides[:MOST_SIDES]

    def described_sides(self, question: str, known: Sequence[Side]) -> list[Side]:
        """Return the sides of a comparison that does not name them all; none where fewer than two abstracts are meant.

        A name that no abstract uses is a side that the collection has not. Else the question is cut in two where it
        says that it compares: one half must be near to an abstract and the other to another, and both must answer.
        """
        beside = [name for name in _names(question) if _is_beside(name, question)]
        absent = [Side(name, None) for name in beside if not self._using(name)]
        if known and absent:
            return [*known, *absent][:MOST_SIDES]
        cuts = [(question[: cut.start()], question[cut.end() :]) for cut in _BETWEEN.finditer(question)]
        cuts = [halves for halves in cuts if all(half.strip(" ,.?") for half in halves)]
        meant = [side.passage for side in known if side.passage]
        texts = {question, *(half for halves in cuts for half in halves)}
        near = [*meant, *(passage for text in sorted(texts) for passage in self.retriever.passages(text, NEAREST))]
        passages = list({passage.reading.abstract.id: passage for passage in near}.values())
        if not cuts or len(passages) < 2:
            return []
        alone = self._fits(question, passages) + self._answers(question, passages)
        scores = [alone + self._fits(left, passages) for left, _ in cuts]
        others = [alone + self._fits(right, passages) for _, right in cuts]
        pairs = np.max([one[:, None] + other[None, :] for one, other in zip(scores, others, strict=True)], axis=0)
        np.fill_diagonal(pairs, -np.inf)
        if meant:  # they come first, and are one side of it
            outside = np.arange(len(passages)) >= len(meant)
            pairs[outside[:, None] == outside[None, :]] = -np.inf
        pair = [passages[int(place)] for place in np.unravel_index(pairs.argmax(), pairs.shape)]
        return [_side(passage) for passage in pair] if self._takes_both(question, pair) else []

    def _takes_both(self, question: str, pair: Sequence[Passage]) -> bool:
        """Tell whether two abstracts have more of a question's words than each alone: else one compares by itself."""
        asked = Question.ask(question, self.retriever.store.encoder)
        words = [words_of(passage.reading.abstract) for passage in pair]
        rarity = self.retriever.store.lexical.rarity
        *alone, both = (coverage(asked, some, rarity) for some in (*words, words[0] | words[1]))
        return both - max(alone) >= ADDS_WORDS

    def _fits(self, text: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Return closeness plus the part of the text's words, weighed by rarity, that each passage has."""
        asked = Question.ask(text, self.retriever.store.encoder)
        rarity = self.retriever.store.lexical.rarity
        covered = [coverage(asked, words_of(passage.reading.abstract), rarity) for passage in passages]
        return np.array(self.retriever.closeness(text, passages)) + covered

    def _answers(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        read = self.reader.judge(Question.ask(question, self.retriever.store.encoder), passages).read
        return READ * np.array([one.answerable for one in read]) if read else np.zeros(len(passages))

    def _owner(self, name: str) -> Side | None:
        """Return the abstract whose own name it is: it presents something so called, or keeps coming back to it."""
        using = self._using(name)
        if not 0 < len(using) <= MOST_USERS:
            return None
        passage = max(using, key=lambda one: (name in introduced_names(_text(one)), _count(name, one)))
        own = name in introduced_names(_text(passage)) or _count(name, passage) > 1
        return Side(name, passage) if own else None

    def _using(self, name: str) -> list[Passage]:
        return [passage for passage in self.retriever.passages(name, NEAREST) if _count(name, passage)]


def has_aspect(question: str, names: Sequence[str]) -> bool:
    """Tell whether a comparison says in what respect: "how do A and B differ in speed?" does, "A versus B" does not."""
    own = {term for name in names for term in query_terms(name)}
    return any(term not in own and term not in _COMPARING for term in query_terms(question))


def _names(question: str) -> list[str]:
    return [name for name in dict.fromkeys(coined_names(plain(question))) if name not in COMMON_NAMES]


def _is_beside(name: str, question: str) -> bool:
    """Tell whether a name stands right beside a word that compares."""
    word = re.escape(name)
    beside = rf"{_COMPARES}\s+(?:the\s+)?{word}(?!\w)|(?<!\w){word}\s*{_COMPARES}\s"
    return not _DERIVED.search(name) and bool(re.search(beside, question, re.I))


def _count(name: str, passage: Passage) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", _text(passage), re.I))


def _text(passage: Passage) -> str:
    return plain(passage.reading.abstract.text)


def _different(sides: Iterable[Side]) -> list[Side]:
    kept: dict[str, Side] = {}
    for side in sides:
        if side.passage:
            kept.setdefault(side.passage.reading.abstract.id, side)
    return list(kept.values())


def _side(passage: Passage) -> Side:
    return Side(_call(passage.reading.abstract), passage)


def _call(abstract: Abstract) -> str:
    return method_name(abstract.text) or abstract.label
