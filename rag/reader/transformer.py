"""The transformer that reads a question and an abstract together, in onnxruntime.

MiniLM with two heads goes over "[CLS] question [SEP] abstract [SEP]": every sentence gets a logit from the mean of its
word pieces' states, the abstract one from the first state. The weights beside this module were trained by
`rag.training.transformer`; the word embeddings were not, and are those of the encoder's package. Abstracts are read one
a row, without padding, in as many threads as there are cores: half the time of one padded batch on two cores.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag.corpus.markup import plain
from rag.errors import OutsideError
from rag.index.minilm import load_tokenizer, word_embeddings
from rag.records import Abstract

POSITIONS: Final = 512
QUESTION_PIECES: Final = 96
SENTENCE_PIECES: Final = POSITIONS - QUESTION_PIECES - 3
CLS, SEP, UNKNOWN = 101, 102, 100

Pieces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What one pass reads: a question's and some sentences' word pieces; `spans` are the sentences', half open."""

    pieces: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Logits:
    """How an abstract answers a question: a logit for each of its sentences, and one for all of it."""

    evidence: NDArray[np.float32]
    answerable: float


def lay_out(question: Pieces, sentences: Sequence[Pieces]) -> list[Row]:
    """Return the rows, of at most `POSITIONS` pieces, that hold the question and together all sentences in order."""
    head = (CLS, *question[:QUESTION_PIECES], SEP)
    rows: list[tuple[list[int], list[tuple[int, int]]]] = []
    for sentence in sentences:
        own = sentence[:SENTENCE_PIECES] or (UNKNOWN,)
        if not rows or len(rows[-1][0]) + len(own) >= POSITIONS:
            rows.append((list(head), []))
        pieces, spans = rows[-1]
        spans.append((len(pieces), len(pieces) + len(own)))
        pieces.extend(own)
    return [Row((*pieces, SEP), tuple(spans)) for pieces, spans in rows]


def pooling(row: Row) -> NDArray[np.float32]:
    """Return an array of shape (sentences, word pieces) that takes the mean of each sentence's states."""
    means = np.zeros((len(row.spans), len(row.pieces)), dtype=np.float32)
    for sentence, (start, end) in enumerate(row.spans):
        means[sentence, start:end] = 1 / (end - start)
    return means


class Transformer:
    """Reads abstracts. Loads its weights at the first use; safe to call from several threads."""

    def __init__(self, threads: int = 0) -> None:
        self._pool = ThreadPoolExecutor(threads or min(8, os.cpu_count() or 1), thread_name_prefix="reader")
        self._pieces = lru_cache(maxsize=50_000)(self._cut)

    def read(self, question: str, abstracts: Sequence[Abstract]) -> list[Logits]:
        """Return how each abstract answers. One too long for a pass answers as well as its best part does.

        Raises `OutsideError` where the weights cannot be loaded.
        """
        self.load()
        asked = self._pieces(plain(question))
        rows = [lay_out(asked, [self._pieces(plain(text)) for text in abstract.texts]) for abstract in abstracts]
        passes = iter(self._pool.map(self._run, [row for own in rows for row in own]))
        parts = [[next(passes) for _ in own] for own in rows]
        return [Logits(np.concatenate([p.evidence for p in own]), max(p.answerable for p in own)) for own in parts]

    def load(self) -> None:
        """Load what is not loaded yet: a third of a second. Raises `OutsideError` where it cannot be had."""
        _ = load_tokenizer(), word_embeddings(), self._session

    def _cut(self, text: str) -> Pieces:
        return tuple(load_tokenizer().encode(text, add_special_tokens=False).ids)

    def _run(self, row: Row) -> Logits:
        pieces = np.array(row.pieces)
        kinds = (np.arange(len(pieces)) >= row.spans[0][0]).astype(np.int64)
        inputs = {"words": word_embeddings()[pieces], "kinds": kinds, "pooling": pooling(row)}
        evidence, answerable = self._session.run(None, inputs)
        return Logits(evidence, float(answerable))

    @cached_property
    def _session(self) -> Any:
        from onnxruntime import InferenceSession, SessionOptions

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        file = resources.files("rag.reader").joinpath("reader.onnx")
        try:
            return InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime raises classes of its own, which derive from nothing else
            raise OutsideError(
                f"the reader's weights ({file}) cannot be loaded: {error}; install the package anew, "
                "or set reader.model to 'linear'"
            ) from error
