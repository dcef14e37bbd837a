"""Fit what each kind of reader makes of its columns: python -m rag.training.fusion DATA --work FOLDER

`rag.training.data` says what DATA holds. Collections of different sizes are played by leaving candidates out, absent
abstracts by leaving out the right one; --off-topic adds questions (JSONL, "question") about other fields, all of them
unanswerable. `off` and `linear` are fitted to 8 of 10 abstracts and measured on the rest. The transformer was trained
on the same 8, so `transformer` is fitted to the rest: what is measured, and where it refuses, comes from 5 folds of
them, by abstract. Writes the weights of all three, each with what was measured. Takes 8 minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag.chain.retrieve import HybridRetriever
from rag.corpus.identity import is_held_out
from rag.index.encoder import Encoder
from rag.index.store import Store
from rag.reader.columns import PRESENT, SAYS, SENTENCE, Columns, Judged, feature_columns, fused_columns, pick
from rag.reader.features import Rarity
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.transformer import Logits, Transformer
from rag.reader.weights import Linear, Weights
from rag.settings import ReaderModel
from rag.training.data import Data, fill, read_data, read_lines
from rag.training.linear import conditional_logit, logistic

FALSE_REFUSALS = 0.05
"""The operating point: the share of answerable questions that may be refused."""

RETRIEVAL = 3.0
"""Retrieval weighs so many times what fits the held-out abstracts: it costs nothing there, and other fields need it."""

FOLDS = 5
KEPT_CANDIDATES = (1.0, 0.3, 0.1)
ABSENT = 0.3

Kind = Literal["answerable", "near miss", "absent", "off topic"]


@dataclass(frozen=True, slots=True)
class Walk:
    """A question with what was retrieved and read for it; `gold` marks the answering sentences, if there are any."""

    question: Question
    passages: list[Passage]
    features: Columns
    gold: NDArray[np.bool_]
    kind: Kind
    group: int
    held_out: bool
    read: Sequence[Logits] = ()

    def columns(self, model: ReaderModel, linear: Linear | None) -> Columns:
        """Return the columns by which a kind of reader scores sentences."""
        if model != "transformer":
            return pick(self.features, SENTENCE[model])
        assert linear is not None  # noqa: S101
        return fused_columns(self.features, linear(self.features), self.read)


def main() -> None:
    """Fit, measure on held-out abstracts, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="keeps the store of the abstracts between runs")
    parser.add_argument("--off-topic", type=Path)
    parser.add_argument("--out", type=Path, default=Path("rag/reader/weights.json"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    data = read_data(options.data)
    store = Store.open(options.work / "store", Encoder())
    fill(store, data)
    other = [line["question"] for line in read_lines(options.off_topic)] if options.off_topic else []
    walks = list(_walks(store, data, other, random.Random(options.seed)))
    rarity = store.lexical.rarity
    fitting, measuring = ([walk for walk in walks if walk.held_out == side] for side in (False, True))
    linear = fit("linear", fitting, rarity)
    simple: dict[ReaderModel, Weights] = {"off": fit("off", fitting, rarity), "linear": linear}
    held = {model: _with_threshold(model, weights, fitting, measuring, rarity) for model, weights in simple.items()}
    held["transformer"] = _cross_fitted(_read(measuring, Transformer()), linear.sentence, rarity)
    options.out.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({model: one["measured"] for model, one in held.items()}, indent=1))


def fit(model: ReaderModel, walks: Sequence[Walk], rarity: Rarity, linear: Linear | None = None) -> Weights:
    """Return all weights of a kind of reader but its threshold, which stays 0."""
    present = [walk for walk in walks if walk.gold.any()]
    columns = [walk.columns(model, linear) for walk in present]
    sentence = conditional_logit(columns, [walk.gold for walk in present])
    if model == "transformer":
        factors = [RETRIEVAL if name in ("fused_score", "closeness") else 1.0 for name in SENTENCE[model]]
        sentence = Linear(sentence.weights * factors, sentence.offset)
    rows = np.array([_findings_columns(model, walk, sentence, rarity, linear) for walk in walks])
    kinds = np.array([walk.kind for walk in walks])
    there = np.isin(kinds, ("answerable", "near miss"))
    wanted = [PRESENT[model].index(name) for name in SAYS[model]]
    says = logistic(rows[there][:, wanted], kinds[there] == "answerable")
    every = np.zeros(rows.shape[1])
    every[wanted] = says.weights
    return Weights(sentence, logistic(rows, there), Linear(every, says.offset), 0.0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reader made of a walk."""

    walk: Walk
    scores: NDArray[np.float64]
    confidence: float
    says: float
    present: float


def apply(
    model: ReaderModel, weights: Weights, walks: Sequence[Walk], rarity: Rarity, linear: Linear | None = None
) -> list[Outcome]:
    """Return the outcome of each walk."""
    outcomes = []
    for walk in walks:
        scores = weights.sentence(walk.columns(model, linear))
        row = _findings_columns(model, walk, weights.sentence, rarity, linear)
        says, there = float(weights.says.chance(row)), float(weights.present.chance(row))
        outcomes.append(Outcome(walk, scores, says * there, says, there))
    return outcomes


def measure(outcomes: Sequence[Outcome], refuse_below: float) -> dict[str, float]:
    """Return how often the gold sentence is among the first ones, and what is refused."""
    from sklearn.metrics import roc_auc_score

    found: dict[str, list[bool]] = {"sentence first": [], "in two": [], "in three": [], "abstract first": []}
    answerable = [one for one in outcomes if one.walk.gold.any()]
    for one in answerable:
        order = np.argsort(-one.scores)
        passages = one.walk.passages
        owner = np.repeat(range(len(passages)), [len(p.reading.abstract.sentences) for p in passages])
        for name, count in (("sentence first", 1), ("in two", 2), ("in three", 3)):
            found[name].append(bool(one.walk.gold[order[:count]].any()))
        found["abstract first"].append(owner[order[0]] == owner[one.walk.gold.argmax()])
    measured: dict[str, float] = {"questions": len(answerable)}
    measured |= {name: float(np.mean(hits)) for name, hits in found.items()}
    measured["false refusals"] = float(np.mean([one.confidence < refuse_below for one in answerable]))
    for kind in ("near miss", "absent", "off topic"):
        if some := [one for one in outcomes if one.walk.kind == kind]:
            truth = [True] * len(answerable) + [False] * len(some)
            auc = roc_auc_score(truth, [one.confidence for one in [*answerable, *some]])
            measured[f"{kind}: AUC"] = float(auc)
            measured[f"{kind}: refused"] = float(np.mean([one.confidence < refuse_below for one in some]))
            says = roc_auc_score(truth, [one.says for one in [*answerable, *some]])
            measured[f"{kind}: AUC of what is said"] = float(says)
            measured[f"{kind}: taken for present"] = float(np.mean([one.present >= 0.5 for one in some]))
    return {name: round(value, 4) for name, value in measured.items()}


def _with_threshold(
    model: ReaderModel, weights: Weights, fitting: Sequence[Walk], measuring: Sequence[Walk], rarity: Rarity
) -> dict[str, Any]:
    refuse_below = _threshold(apply(model, weights, fitting, rarity))
    return _as_json(model, weights, refuse_below, measure(apply(model, weights, measuring, rarity), refuse_below))


def _cross_fitted(walks: Sequence[Walk], linear: Linear, rarity: Rarity) -> dict[str, Any]:
    outcomes: list[Outcome] = []
    for fold in range(FOLDS):
        inside, outside = ([walk for walk in walks if (walk.group % FOLDS == fold) == side] for side in (True, False))
        outcomes += apply("transformer", fit("transformer", outside, rarity, linear), inside, rarity, linear)
    refuse_below = _threshold(outcomes)
    weights = fit("transformer", walks, rarity, linear)
    return _as_json("transformer", weights, refuse_below, measure(outcomes, refuse_below))


def _threshold(outcomes: Sequence[Outcome]) -> float:
    return float(np.quantile([one.confidence for one in outcomes if one.walk.gold.any()], FALSE_REFUSALS))


def _findings_columns(
    model: ReaderModel, walk: Walk, sentence: Linear, rarity: Rarity, linear: Linear | None
) -> Columns:
    scores = sentence(walk.columns(model, linear))
    read = walk.read if model == "transformer" else ()
    return Judged(walk.question, walk.passages, walk.features, scores, read).findings_columns(rarity)


def _walks(store: Store, data: Data, other: Sequence[str], dice: random.Random) -> Iterator[Walk]:
    retriever = HybridRetriever(store)
    asked = [*data.questions, *({"id": "", "q": question, "gold": []} for question in other)]
    for record in tqdm(asked, desc="questions", disable=None):
        held_out = is_held_out(record["id"] or record["q"])
        found = retriever.passages(record["q"], 50)
        for absent in (False, True) if held_out and record["gold"] else (bool(dice.random() < ABSENT),):
            kept = dice.choice(KEPT_CANDIDATES)
            passages = [
                passage
                for passage in found
                if (not absent if passage.reading.abstract.id == record["id"] else dice.random() < kept)
            ][: retriever.settings.abstracts]
            if passages:
                yield _walk(store, record, passages, absent, held_out)


def _walk(store: Store, record: dict[str, Any], passages: list[Passage], absent: bool, held_out: bool) -> Walk:
    question = Question.ask(record["q"], store.encoder)
    gold = np.array([
        passage.reading.abstract.id == record["id"] and sentence in record["gold"]
        for passage in passages
        for sentence in range(len(passage.reading.abstract.sentences))
    ])  # fmt: skip
    kind: Kind = "near miss"
    if not record["id"]:
        kind = "off topic"
    elif gold.any():
        kind = "answerable"
    elif absent or record["gold"]:
        kind = "absent"
    features = feature_columns(question, passages, store.lexical.rarity).astype(np.float32)
    group = zlib.crc32((record["id"] or record["q"]).encode()) // 10
    return Walk(question, passages, features, gold, kind, group, held_out)


def _read(walks: Sequence[Walk], transformer: Transformer) -> list[Walk]:
    return [
        replace(walk, read=transformer.read(walk.question.text, [p.reading.abstract for p in walk.passages]))
        for walk in tqdm(walks, desc="reading", disable=None)
    ]


def _as_json(model: ReaderModel, weights: Weights, refuse_below: float, measured: dict[str, float]) -> dict[str, Any]:
    parts = {"sentence": SENTENCE[model], "present": PRESENT[model], "says": SAYS[model]}
    held: dict[str, Any] = {"refuse_below": round(refuse_below, 4), "measured": measured}
    for part, names in parts.items():
        linear: Linear = getattr(weights, part)
        every = dict(zip(PRESENT[model] if part == "says" else names, linear.weights, strict=True))
        numbers = {name: round(float(every[name]), 5) for name in names}
        held[part] = {"offset": round(linear.offset, 5), "weights": numbers}
    return held


if __name__ == "__main__":
    main()
