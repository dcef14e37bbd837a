"""Fit the classifier of questions: python -m rag.training.kinds [--data rag/training/kinds.jsonl]

A line of the data holds "q", a message as a user types it, and its "kind". Prints the share of messages whose kind is
found, over 5 folds, and writes the weights fitted to all of them. Takes half a minute.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from rag.corpus.markup import plain
from rag.dialogue.kinds import KINDS, VECTOR_WEIGHT, features
from rag.index.encoder import Encoder
from rag.training.data import read_lines

SEEN = 2
"""A feature of fewer messages is left out."""

STRENGTH = 2.0
FOLDS = 5


def main() -> None:
    """Measure, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).with_name("kinds.jsonl"))
    parser.add_argument("--out", type=Path, default=Path("rag/dialogue/kinds.json"))
    options = parser.parse_args()
    lines = read_lines(options.data)
    texts, kinds = [line["q"] for line in lines], np.array([line["kind"] for line in lines])
    encoder = Encoder()
    vectors = np.stack([encoder.encode_query(plain(text)) for text in texts])
    print(json.dumps(measure(texts, vectors, kinds), indent=1))
    model, names = fit(texts, vectors, kinds)
    order = [list(model.classes_).index(kind) for kind in KINDS]
    rows = model.coef_[order].T.round(4)
    held = {
        "offset": model.intercept_[order].round(4).tolist(),
        "vector": rows[len(names) :].tolist(),
        "words": dict(zip(names, rows[: len(names)].tolist(), strict=True)),
    }
    options.out.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def measure(texts: list[str], vectors: Any, kinds: Any) -> dict[str, float]:
    """Return the share found over all messages, and over those of each kind, when they were not fitted to."""
    folds = np.random.default_rng(0).permutation(len(kinds)) % FOLDS
    found = np.empty(len(kinds), dtype=object)
    for fold in range(FOLDS):
        fitting, measuring = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model, names = fit([texts[i] for i in fitting], vectors[fitting], kinds[fitting])
        found[measuring] = model.predict(_rows([texts[i] for i in measuring], vectors[measuring], names))
    right = found == kinds
    return {"all": round(float(right.mean()), 3)} | {
        kind: round(float(right[kinds == kind].mean()), 3) for kind in KINDS
    }


def fit(texts: list[str], vectors: Any, kinds: Any) -> tuple[Any, list[str]]:
    """Return a logistic regression, and the names of its columns before the vector's."""
    from sklearn.linear_model import LogisticRegression

    counts = Counter(name for text in texts for name in features(text))
    names = sorted(name for name, count in counts.items() if count >= SEEN)
    regression = LogisticRegression(C=STRENGTH, max_iter=3000)  # type: ignore[no-untyped-call]
    return regression.fit(_rows(texts, vectors, names), kinds), names


def _rows(texts: list[str], vectors: Any, names: list[str]) -> Any:
    words = np.zeros((len(texts), len(names)))
    places = {name: place for place, name in enumerate(names)}
    for row, text in enumerate(texts):
        for name, strength in features(text).items():
            if name in places:
                words[row, places[name]] = strength
    return np.hstack([words, VECTOR_WEIGHT * vectors])


if __name__ == "__main__":
    main()
