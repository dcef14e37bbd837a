"""The reader: which sentences of the passages answer the question, and whether any does.

A linear model over `features`, fitted by `rag.training.evidence` on questions whose answering sentences are known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rag.chain.features import NAMES, Features, Rarity, coverage, sentence_features, words_of
from rag.chain.question import Question
from rag.chain.retrieve import Passage
from rag.records import Evidence

PASSAGE_NAMES: Final = ("reciprocal_rank", "first_passage", "fused_score", "closeness")
COLUMNS: Final = (*NAMES, *PASSAGE_NAMES)
CONFIDENCE_NAMES: Final = (
    "score", "share", "share_of_three", "share_of_passage", "lead", "cosine", "best_cosine", "passage_cosine", "cover",
    "passage_cover", "closeness", "best_closeness", "whole_cover", "question_length",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Findings:
    """Evidence, the strongest first (scores add up to 1 at most), and the probability that it answers at all."""

    evidence: tuple[Evidence, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Linear:
    """A row of weights and an offset: `columns @ weights + offset`."""

    weights: NDArray[np.float64]
    offset: float

    def __call__(self, columns: Features) -> NDArray[np.float64]:
        """Return one score a row."""
        return columns @ self.weights + self.offset


@dataclass(frozen=True, slots=True)
class Weights:
    """What training fitted: the sentence scorer, the confidence, the confidence and the closeness that are too low."""

    sentence: Linear
    confidence: Linear
    refuse_below: float
    off_topic_below: float


class Reader:
    """Scores every sentence of the passages as evidence."""

    def __init__(self, rarity: Callable[[], Rarity], weights: Weights | None = None) -> None:
        self.rarity = rarity
        self.weights = weights or shipped_weights()

    def read(self, question: Question, passages: Sequence[Passage]) -> Findings:
        """Return the sentences of all passages by how well they answer. No passages, no evidence."""
        if not passages:
            return Findings((), 0.0)
        rarity = self.rarity()
        columns = passage_columns(question, passages, rarity)
        scores = self.weights.sentence(columns)
        shares = softmax(scores)
        summary = confidence_columns(question, passages, columns, scores, rarity)
        confidence = float(_sigmoid(self.weights.confidence(summary)))
        sentences = [(p.reading.abstract, i) for p in passages for i in range(len(p.reading.abstract.sentences))]
        order = [int(place) for place in np.argsort(-scores, kind="stable")]
        evidence = tuple(Evidence(*sentences[place], float(shares[place])) for place in order)
        return Findings(evidence, confidence)


def passage_columns(question: Question, passages: Sequence[Passage], rarity: Rarity) -> Features:
    """Return an array of shape (sentences of all passages, len(COLUMNS))."""
    blocks = []
    for rank, passage in enumerate(passages):
        own = sentence_features(question, passage.reading, rarity)
        shared = [1 / (1 + rank), float(rank == 0), 30 * passage.score, passage.closeness / 2]
        blocks.append(np.hstack([own, np.tile(shared, (len(own), 1))]))
    return np.vstack(blocks)


def confidence_columns(
    question: Question, passages: Sequence[Passage], columns: Features, scores: NDArray[np.float64], rarity: Rarity
) -> Features:
    """Return an array of shape (len(CONFIDENCE_NAMES),): how good the best evidence looks as a whole."""
    owner = np.repeat(range(len(passages)), [len(p.reading.abstract.sentences) for p in passages])
    best = int(scores.argmax())
    same = owner == owner[best]
    shares = softmax(scores)
    passage = passages[owner[best]]
    rest = float(scores[~same].max()) if (~same).any() else float(scores.min())
    row = dict(zip(COLUMNS, columns[best], strict=True))
    return np.array([
        scores[best], shares[best], np.sort(shares)[-3:].sum(), shares[same].sum(), scores[best] - rest, row["cosine"],
        columns[:, COLUMNS.index("cosine")].max(), row["chunk_cosine"], row["cover"], 1 - row["rare_missing"],
        passage.closeness, max(p.closeness for p in passages),
        coverage(question, words_of(passage.reading.abstract), rarity), row["question_length"],
    ])  # fmt: skip


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares that add up to 1."""
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


@cache
def shipped_weights() -> Weights:
    """Return the weights in the package. Raises `ValueError` where they do not fit the columns of this version."""
    held = json.loads(resources.files("rag.chain").joinpath("evidence.json").read_text(encoding="utf-8"))
    sentence, confidence = (
        Linear(np.array([held[part]["weights"][name] for name in names]), held[part]["offset"])
        for part, names in (("sentence", COLUMNS), ("confidence", CONFIDENCE_NAMES))
    )
    return Weights(sentence, confidence, held["refuse_below"], held["off_topic_below"])


def _sigmoid(score: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-score)))
