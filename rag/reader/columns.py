"""What the readers' linear models look at: a row of numbers for each sentence, and one for the findings as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag.reader.features import NAMES, Rarity, coverage, sentence_features, words_of
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.transformer import Logits
from rag.settings import ReaderModel

Columns = NDArray[np.floating[Any]]

PASSAGE: Final = ("reciprocal_rank", "first_passage", "fused_score", "closeness")
FEATURES: Final = (*NAMES, *PASSAGE)
SENTENCE: Final[dict[ReaderModel, tuple[str, ...]]] = {
    "off": ("cosine", "cover", "fused_score", "closeness"),
    "linear": FEATURES,
    "transformer": ("evidence", "answerable", "linear", "fused_score", "closeness"),
}
"""The columns by which each kind of reader scores a sentence."""

FINDINGS: Final = (
    "score", "share", "share_of_three", "share_of_passage", "lead", "cosine", "best_cosine", "passage_cosine", "cover",
    "passage_cover", "closeness", "best_closeness", "whole_cover", "question_length", "closeness_lead",
    "closeness_over_mean", "fused_lead",
)  # fmt: skip
PRESENT: Final[dict[ReaderModel, tuple[str, ...]]] = {
    "off": FINDINGS,
    "linear": FINDINGS,
    "transformer": (*FINDINGS, "evidence", "best_evidence", "answerable", "best_answerable", "answerable_lead"),
}
"""The columns by which each kind of reader judges what it found."""

SAYS: Final[dict[ReaderModel, tuple[str, ...]]] = {
    "off": FINDINGS,
    "linear": FINDINGS,
    "transformer": ("best_answerable", "cover", "whole_cover", "question_length"),
}
"""Those of `PRESENT` by which it tells a near miss from an answer: with all of them the few near misses overfit."""


def feature_columns(question: Question, passages: Sequence[Passage], rarity: Rarity) -> Columns:
    """Return an array of shape (sentences of all passages, len(FEATURES))."""
    blocks = []
    for rank, passage in enumerate(passages):
        own = sentence_features(question, passage.reading, rarity)
        shared = [1 / (1 + rank), float(rank == 0), 30 * passage.score, passage.closeness / 2]
        blocks.append(np.hstack([own, np.tile(shared, (len(own), 1))]))
    return np.vstack(blocks)


def pick(columns: Columns, names: Sequence[str]) -> Columns:
    """Return the named columns of an array with those of `FEATURES`."""
    return columns[:, [FEATURES.index(name) for name in names]]


def fused_columns(features: Columns, linear: NDArray[np.float64], read: Sequence[Logits]) -> Columns:
    """Return an array of shape (sentences, 5) for the transformer's kind: its logits beside the linear score."""
    evidence = np.concatenate([one.evidence for one in read])
    answerable = np.repeat([one.answerable for one in read], [len(one.evidence) for one in read])
    return np.column_stack([evidence, answerable, linear, pick(features, ("fused_score", "closeness"))])


@dataclass(frozen=True, slots=True)
class Judged:
    """All that was found for a question: the passages, their sentences' features and scores, how they were read."""

    question: Question
    passages: Sequence[Passage]
    features: Columns
    scores: NDArray[np.float64]
    read: Sequence[Logits] = ()

    def findings_columns(self, rarity: Rarity) -> Columns:
        """Return an array of shape (columns of `PRESENT`,): how good the best evidence looks as a whole."""
        owner = np.repeat(range(len(self.passages)), [len(p.reading.abstract.sentences) for p in self.passages])
        best = int(self.scores.argmax())
        same = owner == owner[best]
        shares = softmax(self.scores)
        passage = self.passages[owner[best]]
        rest = float(self.scores[~same].max()) if (~same).any() else float(self.scores.min())
        row = dict(zip(FEATURES, self.features[best], strict=True))
        found = [
            self.scores[best], shares[best], np.sort(shares)[-3:].sum(), shares[same].sum(), self.scores[best] - rest,
            row["cosine"], pick(self.features, ("cosine",)).max(), row["chunk_cosine"], row["cover"],
            1 - row["rare_missing"], passage.closeness, max(p.closeness for p in self.passages),
            coverage(self.question, words_of(passage.reading.abstract), rarity), row["question_length"],
            *_leads([p.closeness for p in self.passages], owner[best]),
            _leads([30 * p.score for p in self.passages], owner[best])[0],
        ]  # fmt: skip
        if self.read:
            evidence = np.concatenate([one.evidence for one in self.read])
            answerable = [one.answerable for one in self.read]
            found += [evidence[best], evidence.max(), answerable[owner[best]], max(answerable)]
            found.append(_leads(answerable, owner[best])[0])
        return np.array(found)


def _leads(values: Sequence[float], best: int) -> tuple[float, float]:
    """Return how far one value is above the highest and above the mean of the others; 0 where there is no other.

    What is near differs from field to field; how much nearer the right abstract is than the next ones, less so.
    """
    others = [value for place, value in enumerate(values) if place != best]
    return (values[best] - max(others), values[best] - float(np.mean(others))) if others else (0.0, 0.0)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares that add up to 1."""
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())
