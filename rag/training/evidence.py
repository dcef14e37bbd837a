"""Fit the reader's weights: python -m rag.training.evidence DATA [--off-topic FILE] [--out rag/chain/evidence.json]

DATA holds abstracts.jsonl ({"id", "sentences"}) and questions.jsonl ({"id", "q", "gold": [sentence numbers]}), where
a question with no gold is a near miss. Questions of one abstract stay together: 8 of 10 abstracts fit, 2 measure.
Collections of different sizes are played by leaving candidates out, absent abstracts by leaving out the right one.
--off-topic adds questions (JSONL, "question") about other fields, all unanswerable. Takes about six minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import json
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag.chain.question import Question
from rag.chain.read import COLUMNS, CONFIDENCE_NAMES, Linear, confidence_columns, passage_columns
from rag.chain.retrieve import HybridRetriever, Passage
from rag.corpus.identity import normalize
from rag.index.encoder import Encoder
from rag.index.ingest import BATCH, embed
from rag.index.store import Store
from rag.records import Abstract

FALSE_REFUSALS = 0.05
"""The operating point: the share of answerable questions that may be refused."""

KEPT_CANDIDATES = (1.0, 0.3, 0.1)
ABSENT = 0.3


@dataclass(frozen=True, slots=True)
class Example:
    """A question with what was retrieved for it; `gold` marks the answering rows, none if unanswerable."""

    question: Question
    passages: list[Passage]
    columns: NDArray[np.float64]
    gold: NDArray[np.bool_]
    kind: str
    held_out: bool


def main() -> None:
    """Fit, measure on held-out abstracts, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--off-topic", type=Path)
    parser.add_argument("--out", type=Path, default=Path("rag/chain/evidence.json"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    questions = _lines(options.data / "questions.jsonl")
    if options.off_topic:
        questions += [{"id": "", "q": line["question"], "gold": []} for line in _lines(options.off_topic)]
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder), Encoder())
        _fill(store, _lines(options.data / "abstracts.jsonl"))
        examples = list(_examples(store, questions, random.Random(options.seed)))
        sentence = _fit_sentences([e for e in examples if not e.held_out and e.gold.any()], options.seed)
        confidence, refuse_below, metrics = _fit_confidence(examples, sentence, store.lexical.rarity)
        store.close()
    held = {
        "refuse_below": round(refuse_below, 4),
        "off_topic_below": round(_off_topic_below(examples), 4),
        "held_out": metrics | _measure(sentence, [e for e in examples if e.held_out and e.gold.any()]),
        "confidence": _as_json(confidence, CONFIDENCE_NAMES),
        "sentence": _as_json(sentence, COLUMNS),
    }
    options.out.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(held["held_out"], indent=1))


def _fill(store: Store, records: list[dict[str, Any]]) -> None:
    abstracts = [_abstract(record["id"], [normalize(text) for text in record["sentences"]]) for record in records]
    with store.writing():
        for first in tqdm(range(0, len(abstracts), BATCH), desc="abstracts", disable=None):
            batch = abstracts[first : first + BATCH]
            store.add(batch, *embed(batch, store.encoder, max_word_pieces=128))


def _abstract(abstract_id: str, sentences: list[str]) -> Abstract:
    ends = np.cumsum([len(sentence) + 1 for sentence in sentences]) - 1
    spans = tuple((int(end) - len(sentence), int(end)) for sentence, end in zip(sentences, ends, strict=True))
    return Abstract(abstract_id, " ".join(sentences), abstract_id, spans, (abstract_id,))


def _examples(store: Store, questions: list[dict[str, Any]], dice: random.Random) -> Iterator[Example]:
    retriever = HybridRetriever(store)
    for record in tqdm(questions, desc="questions", disable=None):
        question = Question.ask(record["q"], store.encoder)
        absent, kept = dice.random() < ABSENT, dice.choice(KEPT_CANDIDATES)
        passages = [
            passage
            for passage in retriever.passages(record["q"], 50)
            if (not absent if passage.reading.abstract.id == record["id"] else dice.random() < kept)
        ][: retriever.settings.abstracts]
        if not passages:
            continue
        gold = [
            passage.reading.abstract.id == record["id"] and sentence in record["gold"]
            for passage in passages
            for sentence in range(len(passage.reading.abstract.sentences))
        ]
        kind = (
            "answerable"
            if any(gold)
            else "absent"
            if absent and record["gold"]
            else "near miss"
            if record["id"]
            else "off topic"
        )
        held_out = zlib.crc32((record["id"] or record["q"]).encode()) % 10 >= 8
        columns = passage_columns(question, passages, store.lexical.rarity)
        yield Example(question, passages, columns, np.array(gold), kind, held_out)


def _fit_sentences(examples: list[Example], seed: int) -> Linear:
    """Maximise the share of softmax that falls on the gold sentences (a conditional logit), with decayed weights."""
    import torch

    torch.manual_seed(seed)
    rows = np.vstack([example.columns for example in examples])
    middle, width = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    inputs = torch.tensor((rows - middle) / width, dtype=torch.float32)
    gold = torch.tensor(np.concatenate([example.gold for example in examples]), dtype=torch.float32)
    group = torch.tensor(np.repeat(range(len(examples)), [len(example.gold) for example in examples]))
    weights = torch.zeros(rows.shape[1], requires_grad=True)
    optimizer = torch.optim.AdamW([weights], lr=0.02, weight_decay=0.3)
    for _ in range(400):
        raised = (inputs @ weights).exp()
        total = torch.zeros(len(examples)).index_add(0, group, raised)
        right = torch.zeros(len(examples)).index_add(0, group, raised * gold)
        loss = -(right / total).log().mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return _unscaled(weights.detach().numpy(), 0.0, middle, width)


def _fit_confidence(examples: list[Example], sentence: Linear, rarity: Any) -> tuple[Linear, float, dict[str, float]]:
    """Fit the probability that the best evidence answers; refuse below the operating point of the fitting part."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    rows = np.array(
        [confidence_columns(e.question, e.passages, e.columns, sentence(e.columns), rarity) for e in examples]
    )
    answerable = np.array([bool(e.gold.any()) for e in examples])
    held_out = np.array([e.held_out for e in examples])
    kinds = np.array([e.kind for e in examples])
    middle, width = rows[~held_out].mean(axis=0), rows[~held_out].std(axis=0) + 1e-6
    regression = LogisticRegression(C=0.1, max_iter=1000)  # type: ignore[no-untyped-call]
    fitted = regression.fit((rows[~held_out] - middle) / width, answerable[~held_out])
    linear = _unscaled(fitted.coef_[0], float(fitted.intercept_[0]), middle, width)
    scores = 1 / (1 + np.exp(-linear(rows)))
    threshold = float(np.quantile(scores[answerable & ~held_out], FALSE_REFUSALS))
    metrics = {"false refusals": float((scores[answerable & held_out] < threshold).mean())}
    for kind in ("near miss", "absent", "off topic"):
        here = held_out & ((kinds == kind) | answerable)
        if (here & ~answerable).any():
            metrics[f"{kind}: AUC"] = float(roc_auc_score(answerable[here], scores[here]))
            metrics[f"{kind}: refused"] = float((scores[here & ~answerable] < threshold).mean())
    return linear, threshold, {name: round(value, 3) for name, value in metrics.items()}


def _off_topic_below(examples: list[Example]) -> float:
    """Return the closeness under which next to no question is whose abstract is in the collection."""
    present = [e for e in examples if not e.held_out and e.kind in ("answerable", "near miss")]
    return float(np.quantile([max(p.closeness for p in e.passages) for e in present], 0.02))


def _measure(sentence: Linear, examples: list[Example]) -> dict[str, float]:
    found: dict[str, list[bool]] = {"sentence first": [], "in two": [], "in three": [], "abstract first": []}
    for example in examples:
        order = np.argsort(-sentence(example.columns))
        owner = np.repeat(range(len(example.passages)), [len(p.reading.abstract.sentences) for p in example.passages])
        for name, count in (("sentence first", 1), ("in two", 2), ("in three", 3)):
            found[name].append(bool(example.gold[order[:count]].any()))
        found["abstract first"].append(owner[order[0]] == owner[example.gold.argmax()])
    return {"questions": len(examples)} | {name: round(float(np.mean(hits)), 3) for name, hits in found.items()}


def _unscaled(weights: Any, offset: float, middle: Any, width: Any) -> Linear:
    own = np.asarray(weights, dtype=float) / width
    return Linear(own, offset - float(own @ middle))


def _as_json(linear: Linear, names: tuple[str, ...]) -> dict[str, Any]:
    weights = {name: round(float(weight), 5) for name, weight in zip(names, linear.weights, strict=True)}
    return {"offset": round(linear.offset, 5), "weights": weights}


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


if __name__ == "__main__":
    main()
