"""All abstracts that fit: which of the nearest ones deal with what a question lists, and the sentence that shows it.

A linear model over `COLUMNS`, fitted by `rag.training.lists`, gives each candidate the chance that it fits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rag.index.ingest import mean_direction
from rag.index.lexical import topic
from rag.index.store import Store
from rag.reader.columns import Columns, pick
from rag.reader.features import coverage, words_of
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.read import Reader
from rag.reader.weights import Linear
from rag.records import Evidence

Column = NDArray[np.float64]

CANDIDATES: Final = 40
"""So many of the nearest abstracts are judged: in collections of 100 to 300 they held 0.96 of those that fit."""

LEAST: Final = 0.2
"""With no likelier candidate nothing here deals with what is listed."""

COLUMNS: Final = (
    "fused_score", "sentence", "whole", "sentence_over_best", "whole_over_best", "bm25_share", "cover",
    "sentence_cover", "evidence", "answerable", "evidence_over_best", "answerable_over_best", "topic_sentence",
    "topic_whole", "topic_over_best", "topic_two", "topic_cover", "topic_bm25_share",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fitting:
    """A candidate, the chance (0..1) that it fits, and its sentence that shows it best."""

    passage: Passage
    chance: float
    evidence: Evidence


def judge(question: Question, passages: Sequence[Passage], store: Store, reader: Reader) -> list[Fitting]:
    """Return the candidates with their chances, the likeliest first."""
    if not passages:
        return []
    columns, best = columns_of(question, passages, store, reader)
    chances = shipped_model().fits.chance(columns)
    found = [
        Fitting(passage, float(chance), Evidence(passage.reading.abstract, int(place), float(chance)))
        for passage, chance, place in zip(passages, chances, best, strict=True)
    ]
    return sorted(found, key=lambda one: -one.chance)


def fitting(candidates: Sequence[Fitting]) -> list[Fitting]:
    """Return those that are likelier to fit than the cut, and at least the first one."""
    cut = shipped_model().cut
    return [one for place, one in enumerate(candidates) if not place or one.chance >= cut]


def columns_of(
    question: Question, passages: Sequence[Passage], store: Store, reader: Reader
) -> tuple[Columns, NDArray[np.intp]]:
    """Return an array of shape (passages, len(COLUMNS)), and the best sentence of each passage."""
    judged = reader.judge(question, passages)
    ends = np.cumsum([len(passage.reading.abstract.sentences) for passage in passages])[:-1]
    scores = np.split(judged.scores, ends)
    about = Question.ask(topic(question.text), store.encoder)
    asked, asked_topic = (_nearness(one, passages, store) for one in (question, about))
    evidence = np.array([one.evidence.max() for one in judged.read] or [own.max() for own in scores])
    answerable = np.array([one.answerable for one in judged.read] or [0.0] * len(passages))
    columns = np.column_stack([
        [30 * passage.score for passage in passages], asked.sentence, asked.whole, _over_best(asked.sentence),
        _over_best(asked.whole), asked.bm25_share, asked.cover,
        [own.max() for own in np.split(pick(judged.features, ("cover",)), ends)], evidence, answerable,
        _over_best(evidence),
        _over_best(answerable), asked_topic.sentence, asked_topic.whole, _over_best(asked_topic.sentence),
        asked_topic.two, asked_topic.cover, asked_topic.bm25_share,
    ])  # fmt: skip
    return columns, np.array([int(own.argmax()) for own in scores])


@dataclass(frozen=True, slots=True)
class _Nearness:
    """How near passages are to a text: cosines of the best sentence, of the best two and of all, and shared words."""

    sentence: Column
    two: Column
    whole: Column
    cover: Column
    bm25_share: Column


def _nearness(text: Question, passages: Sequence[Passage], store: Store) -> _Nearness:
    cosines = [np.sort(passage.reading.vectors @ text.vector) for passage in passages]
    whole = [float(mean_direction(passage.reading.all_vectors) @ text.vector) for passage in passages]
    matching = dict(store.matching(text.text, 4 * CANDIDATES))
    bm25 = np.array([matching.get(passage.reading.abstract.id, 0.0) for passage in passages])
    cover = [coverage(text, words_of(passage.reading.abstract), store.lexical.rarity) for passage in passages]
    return _Nearness(
        np.array([own[-1] for own in cosines]), np.array([own[-2:].mean() for own in cosines]), np.array(whole),
        np.array(cover), bm25 / max(float(bm25.max()), 1e-9),
    )  # fmt: skip


def _over_best(column: Column) -> Column:
    return np.asarray(column - column.max())


@dataclass(frozen=True, slots=True)
class FitModel:
    """The chance that an abstract fits, and the chance from which on it is listed."""

    fits: Linear
    cut: float


@cache
def shipped_model() -> FitModel:
    """Return the model in the package."""
    held = json.loads(resources.files("rag.chain").joinpath("lists.json").read_text(encoding="utf-8"))
    return FitModel(Linear(np.array([held["weights"][name] for name in COLUMNS]), held["offset"]), held["cut"])
