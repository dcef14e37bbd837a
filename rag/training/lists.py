"""Fit which abstracts a list holds: python -m rag.training.lists DATA --work FOLDER

DATA holds lists.jsonl, a line {"collection", "question", "relevant": [abstract ids], "borderline": [ids that count
neither way]} a question, and a folder of abstracts for each collection. FOLDER keeps their stores. Prints the mean F1
over questions whose collection was not fitted to, at the cut that is best for it, and writes the weights fitted to all.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag.chain.lists import CANDIDATES, COLUMNS, columns_of
from rag.chain.retrieve import HybridRetriever
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.reader.columns import Columns
from rag.reader.question import Question
from rag.reader.read import Reader
from rag.training.data import read_lines
from rag.training.linear import logistic


@dataclass(frozen=True, slots=True)
class Listed:
    """A question's candidates, one a row; `missed` counts the fitting abstracts that are none of them."""

    collection: str
    columns: Columns
    fits: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    missed: int

    def f1(self, chosen: NDArray[np.bool_]) -> float:
        """Return the harmonic mean of precision and recall of the chosen rows."""
        hits = int((chosen & self.fits).sum())
        return 2 * hits / (int((chosen & self.counts).sum()) + int(self.fits.sum()) + self.missed)


def main() -> None:
    """Measure, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("rag/chain/lists.json"))
    options = parser.parse_args()
    stores: dict[str, Store] = {}
    encoder = Encoder()
    listed = [
        _listed(record, stores, encoder, options)
        for record in tqdm(read_lines(options.data / "lists.jsonl"), disable=None)
    ]
    chances = [np.zeros(0)] * len(listed)
    for name in stores:
        model = _fit([one for one in listed if one.collection != name])
        for place, one in enumerate(listed):
            if one.collection == name:
                chances[place] = model.chance(one.columns)
    cuts = np.arange(0.1, 0.9, 0.02)
    means = [_mean_f1(listed, chances, cut) for cut in cuts]
    cut = float(cuts[int(np.argmax(means))])
    print(json.dumps({"questions": len(listed), "F1": round(max(means), 3), "cut": round(cut, 2)}))
    model = _fit(listed)
    weights = {name: round(float(weight), 5) for name, weight in zip(COLUMNS, model.weights, strict=True)}
    held = {"F1": round(max(means), 3), "cut": round(cut, 2), "offset": round(model.offset, 5), "weights": weights}
    options.out.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def _listed(record: dict[str, Any], stores: dict[str, Store], encoder: Encoder, options: argparse.Namespace) -> Listed:
    name = record["collection"]
    if name not in stores:
        stores[name] = Store.open(options.work / name, encoder)
        if not len(stores[name]):
            ingest(stores[name], [options.data / name], 128)
    store = stores[name]
    passages = HybridRetriever(store).passages(record["question"], CANDIDATES)
    reader = Reader(lambda: store.lexical.rarity)
    columns, _ = columns_of(Question.ask(record["question"], encoder), passages, store, reader)
    ids = [passage.reading.abstract.id for passage in passages]
    fits = np.array([one in record["relevant"] for one in ids])
    counts = np.array([one not in record["borderline"] for one in ids])
    return Listed(name, columns, fits, counts, len(set(record["relevant"]) - set(ids)))


def _fit(listed: Sequence[Listed]) -> Any:
    rows, fits = (np.concatenate([getattr(one, name)[one.counts] for one in listed]) for name in ("columns", "fits"))
    return logistic(rows, fits, strength=0.1)


def _mean_f1(listed: Sequence[Listed], chances: Sequence[Columns], cut: float) -> float:
    return float(np.mean([one.f1((own >= cut) | (own == own.max())) for one, own in zip(listed, chances, strict=True)]))


if __name__ == "__main__":
    main()
