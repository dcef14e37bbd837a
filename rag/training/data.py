"""Training data: abstracts cut into sentences, and questions that name the sentences that answer.

A folder holds abstracts.jsonl, a line {"id": …, "sentences": […]} an abstract, and questions.jsonl, a line
{"id": abstract's id, "q": question, "gold": [numbers of the sentences each of which answers, from 0]} a question.
A question without gold is a near miss: its abstract deals with the matter and does not say. An extra file (JSONL) holds
questions over abstracts of their own: "q" and "gold", "sentences", and "wrong", a list of other abstracts' sentences.
`rag.corpus.identity.is_held_out` tells which abstracts measure; the others are fitted to.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag.corpus.identity import normalize
from rag.index.ingest import BATCH, embed
from rag.index.store import Store
from rag.index.twins import signature
from rag.records import Abstract


@dataclass(frozen=True, slots=True)
class Data:
    """Abstracts by id, and questions as they stand in the file."""

    abstracts: dict[str, list[str]]
    questions: list[dict[str, Any]]


def read_data(folder: Path) -> Data:
    """Read a folder of training data, sentences in normal form. Raises `OSError` or `ValueError`."""
    abstracts = read_lines(folder / "abstracts.jsonl")
    sentences = {record["id"]: [normalize(text) for text in record["sentences"]] for record in abstracts}
    return Data(sentences, read_lines(folder / "questions.jsonl"))


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Read a JSONL file, or the one with .gz after its name."""
    packed = file.with_name(file.name + ".gz")
    text = file.read_bytes() if file.exists() else gzip.decompress(packed.read_bytes())
    return [json.loads(line) for line in text.decode("utf-8").split("\n") if line.strip()]


def fill(store: Store, data: Data) -> None:
    """Put all abstracts into a store, unless it holds as many already."""
    if len(store) == len(data.abstracts):
        return
    abstracts = [_abstract(abstract_id, sentences) for abstract_id, sentences in data.abstracts.items()]
    with store.writing():
        store.mark_unfinished()
        for first in range(0, len(abstracts), BATCH):
            batch = abstracts[first : first + BATCH]
            vectors, chunks, chunk_vectors = embed(batch, store.encoder, max_word_pieces=128)
            store.vectors.upsert(batch, chunks, chunk_vectors)
            counts = Counter(piece.abstract_id for piece in chunks)
            for abstract, own in zip(batch, vectors, strict=True):
                store.put(abstract, own, counts[abstract.id], signature(abstract.text).tobytes())
                store.catalog.put_file(abstract.id, abstract.id, "")
                store.catalog.put_source((abstract.id, ""), abstract.id, "{}")


def _abstract(abstract_id: str, sentences: list[str]) -> Abstract:
    ends = np.cumsum([len(sentence) + 1 for sentence in sentences]) - 1
    spans = tuple((int(end) - len(sentence), int(end)) for sentence, end in zip(sentences, ends, strict=True))
    return Abstract(abstract_id, " ".join(sentences), abstract_id, spans, (abstract_id,))
