"""Hard wrong abstracts: the best-ranked ones that the product's own retriever finds, the right one left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tqdm import tqdm

from rag.chain.retrieve import HybridRetriever
from rag.corpus.identity import is_held_out
from rag.index.encoder import Encoder
from rag.index.store import Store
from rag.training.data import Data, fill

KEPT: Final = 8


def mined(data: Data, work: Path) -> list[list[str]]:
    """Return up to `KEPT` ids for each question, the best first, held-out ones left out; kept in work/wrong.json."""
    file = work / "wrong.json"
    if not file.exists():
        store = Store.open(work / "store", Encoder())
        fill(store, data)
        retriever, found = HybridRetriever(store), []
        for record in tqdm(data.questions, desc="mining", disable=None):
            near = [passage.reading.abstract.id for passage in retriever.passages(record["q"], 3 * KEPT)]
            found.append([other for other in near if other != record["id"] and not is_held_out(other)][:KEPT])
        file.write_text(json.dumps(found), encoding="utf-8")
    return list(json.loads(file.read_text(encoding="utf-8")))
