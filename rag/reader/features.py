"""What the reader looks at: one row of numbers for every sentence of an abstract, given a question."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rag.corpus.markup import plain
from rag.index.ingest import mean_direction
from rag.index.lexical import terms
from rag.index.store import Reading
from rag.reader.question import WANTS, Question
from rag.records import Abstract

Features = NDArray[np.float64]

SIGNS: Final[dict[str, re.Pattern[str]]] = {
    "number": re.compile(r"\d"),
    "measure": re.compile(
        r"\d\s*(?:%|×|x\b|[kmb]\b|times|fold|points?|bits?|hours?|days|gpus?|tokens|samples|layers|languages"
        r"|tasks|datasets)|\d\.\d",
        re.I,
    ),
    "names": re.compile(r"(?<!^)\b(?:[A-Z][A-Za-z]*[A-Z0-9][\w\-.]*|[A-Z][a-z]+(?= [A-Z0-9]))"),
    "brackets": re.compile(
        r"\([A-Z][\w\-^$]{1,12}\)|\b(?:called|termed|dubbed|named|refer(?:red)? to|defined? as|i\.e\.)"
    ),
    "reason": re.compile(
        r"\b(?:because|since|due to|owing to|stems? from|caused? by|leads? to|results? in|therefore|thus|hence"
        r"|thereby|arises?|as a result|"
        r"attribut\w+|trac\w+ (?:this|it)|root|induces?)\b",
        re.I,
    ),
    "trouble": re.compile(
        r"\b(?:however|but|yet|although|while|despite|unfortunately|lacks?|limited|limitations?|fails?|suffers?"
        r"|struggles?|challeng\w+|difficult\w*|"
        r"expensive|costly|prohibitive\w*|cannot|overlook\w*|neglect\w*|ignor\w+|unclear|hinder\w*|problem"
        r"|bottleneck|vulnerab\w+|bias)\b",
        re.I,
    ),
    "own": re.compile(
        r"\bwe (?:\w+ly )?(?:\w+ )?(?:propose|introduce|present|develop|design|build|show how|address|study"
        r"|consider|formul\w+|construct|adopt|leverage)\b"
        r"|\bthis (?:paper|work|article)\b|\bour (?:method|approach|framework|model|algorithm)\b",
        re.I,
    ),
    "way": re.compile(
        r"\b(?:by \w+ing|via|using|through|based on|leverag\w+|consists? of|first|then|which|that \w+s"
        r"|combin\w+|with)\b",
        re.I,
    ),
    "finding": re.compile(
        r"\b(?:we (?:\w+ )?(?:find|show|prove|demonstrate|observe|reveal|establish|discover|achieve)"
        r"|results? (?:show|demonstrate|indicate|suggest)|"
        r"experiments?|outperform\w*|improv\w+|achiev\w+|surpass\w*|reduc\w+|significant\w*|state-of-the-art"
        r"|superior|consistent\w*|effective\w*)\b",
        re.I,
    ),
    "evaluated": re.compile(
        r"\b(?:datasets?|benchmarks?|corpora|corpus|evaluat\w+|experiments? on|tested|validat\w+|tasks?|across"
        r"|domains?|applied to|case study)\b",
        re.I,
    ),
    "link": re.compile(
        r"https?://|\b(?:code|data|models?|demo) (?:is|are|and \w+ are"
        r"|will be)\b.*\bavailable\b",
        re.I,
    ),
    "negation": re.compile(r"\b(?:not|no|without|never|neither|nor|unlike|rather than|instead|un\w+able)\b", re.I),
}
"""What a sentence offers."""

_SIMILARITIES = (
    "cosine", "cosine_over_best", "cosine_neighbours", "chunk_cosine", "cover", "cover_over_best", "cover_before",
    "cover_around", "rare_missing", "new_names", "length", "first", "last", "early", "late", "question_length",
)  # fmt: skip
NAMES: Final[tuple[str, ...]] = (
    *_SIMILARITIES,
    *SIGNS,
    *(f"{want}*{sign}" for want in WANTS for sign in SIGNS),
    *(f"{want}*{place}" for want in WANTS for place in ("early", "late", "cosine", "cover")),
)
"""The columns, in order."""

Rarity = Callable[[str], float]
"""Term -> inverse document frequency in the collection."""


def sentence_features(question: Question, reading: Reading, rarity: Rarity) -> Features:
    """Return an array of shape (sentences, len(NAMES)): how each sentence stands to the question."""
    abstract = reading.abstract
    looks = [_look(abstract.sentence(index)) for index in range(len(abstract.sentences))]
    cosine = reading.vectors @ question.vector
    cover = _coverage(question, [look[0] for look in looks], rarity)
    signs = np.array([look[1] for look in looks])
    wants = np.array([want in question.wants for want in WANTS], dtype=float)
    place = np.arange(len(looks)) / max(len(looks) - 1, 1)
    position = np.stack([place < 1 / 3, place > 2 / 3], axis=1).astype(float)
    similarity = _similarities(question, reading, cosine, cover, looks, place, position)
    crossed = np.einsum("w,ns->nws", wants, signs).reshape(len(looks), -1)
    placed = np.einsum("w,np->nwp", wants, np.column_stack([position, cosine, cover])).reshape(len(looks), -1)
    return np.concatenate([similarity, signs, crossed, placed], axis=1)


def words_of(abstract: Abstract) -> frozenset[str]:
    """Return the terms of all its sentences."""
    return frozenset().union(*(_look(abstract.sentence(i))[0] for i in range(len(abstract.sentences))))


def coverage(question: Question, words: frozenset[str], rarity: Rarity) -> float:
    """Return the share (0..1) of the question's terms, weighed by rarity, that stand among the given ones."""
    return float(_coverage(question, [words], rarity)[0])


def _coverage(question: Question, held: list[frozenset[str]], rarity: Rarity) -> NDArray[np.float64]:
    weights = {term: rarity(term) for term in question.terms}
    total = sum(weights.values()) or 1.0
    return np.array([sum(weight for term, weight in weights.items() if term in words) / total for words in held])


def _similarities(
    question: Question,
    reading: Reading,
    cosine: NDArray[np.float32],
    cover: NDArray[np.float64],
    looks: list[tuple[frozenset[str], tuple[float, ...], int]],
    place: NDArray[np.float64],
    position: NDArray[np.float64],
) -> Features:
    count = len(looks)
    before = np.concatenate([[0.0], cover[:-1]])
    around = np.array([cover[max(i - 1, 0) : i + 2].max() for i in range(count)])
    neighbours = np.array(
        [np.delete(cosine, i)[max(i - 1, 0) : i + 1].mean() if count > 1 else 0.0 for i in range(count)]
    )
    whole = float(mean_direction(reading.vectors) @ question.vector)
    asked = set(question.terms)
    new = np.array([min(len(words - asked), 30) / 30 for words, _, _ in looks])
    length = np.array([min(size, 400) / 400 for _, _, size in looks])
    columns = [
        cosine, cosine - cosine.max(), neighbours, np.full(count, whole), cover, cover - cover.max(), before, around,
        np.full(count, 1.0 - cover.max()), new, length, place == 0.0, place == 1.0, position[:, 0], position[:, 1],
        np.full(count, min(len(asked), 12) / 12),
    ]  # fmt: skip
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


@lru_cache(maxsize=50_000)
def _look(sentence: str) -> tuple[frozenset[str], tuple[float, ...], int]:
    """Return the sentence's terms, which of `SIGNS` it bears (0 or 1), and its length in characters."""
    words = plain(sentence)
    return frozenset(terms(sentence)), tuple(float(bool(sign.search(words))) for sign in SIGNS.values()), len(words)
