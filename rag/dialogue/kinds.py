"""What kind of question it is: a linear model over MiniLM's vector and the words and letters of the question.

Fitted by `rag.training.kinds`. Names that somebody coined (PAPO, d3LLM) count as NAME, whatever they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rag.corpus.labels import coined_names
from rag.corpus.markup import plain
from rag.index.encoder import MINILM, Encoder, Vectors

Kind = Literal["fact", "list", "compare", "collection", "courtesy"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_WORD = re.compile(r"NAME|[^\W\d_']+(?:'[^\W\d_]+)?|\d+|\?")
VECTOR_WEIGHT: Final = 3.0
LETTERS_WEIGHT: Final = 3.0


def features(text: str) -> dict[str, float]:
    """Return the features of a question's words, pairs of words and letters, with their strengths."""
    words = [
        "NAME" if word == "NAME" else "0" if word.isdigit() else word.lower() for word in _WORD.findall(_mask(text))
    ]
    pairs = [f"{one} {two}" for one, two in zip(["^", *words], [*words, "$"], strict=True)]
    found = dict.fromkeys([*words, *pairs, f"names:{min(words.count('NAME'), 2)}"], 1.0)
    if len(words) < 4:
        found["short"] = 1.0
    letters = set(_letters(words))
    return found | dict.fromkeys(letters, LETTERS_WEIGHT / max(len(letters), 1) ** 0.5)


def _mask(text: str) -> str:
    for name in sorted(set(coined_names(text)), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " NAME ", text)
    return text


def _letters(words: list[str]) -> Iterator[str]:
    for word in words:
        bounded = f"<{word}>"
        for size in (3, 4):
            yield from (f"#{bounded[i : i + size]}" for i in range(len(bounded) - size + 1))


@dataclass(frozen=True, slots=True)
class KindModel:
    """Weights of shape (kinds,) for each feature, (dimension, kinds) for the vector, and (kinds,) as an offset."""

    words: dict[str, NDArray[np.float64]]
    vector: NDArray[np.float64]
    offset: NDArray[np.float64]

    def chances(self, text: str, vector: Vectors) -> dict[Kind, float]:
        """Return the probability of each kind for a question and its MiniLM vector."""
        scores = self.offset + VECTOR_WEIGHT * vector @ self.vector
        for name, strength in features(text).items():
            if name in self.words:
                scores = scores + strength * self.words[name]
        raised = np.exp(scores - scores.max())
        return dict(zip(KINDS, (raised / raised.sum()).tolist(), strict=True))


class Kinds:
    """Decides the kind of a question. Needs MiniLM's vector, whatever encoder the store has."""

    def __init__(self, encoder: Encoder) -> None:
        own = encoder.settings.model == MINILM
        self.encoder = encoder if own else Encoder(encoder.settings.model_copy(update={"model": MINILM}))

    def chances(self, question: str) -> dict[Kind, float]:
        """Return the probability of each kind."""
        return shipped_model().chances(question, self.encoder.encode_query(plain(question)))


@cache
def shipped_model() -> KindModel:
    """Return the model in the package."""
    held = json.loads(resources.files("rag.dialogue").joinpath("kinds.json").read_text(encoding="utf-8"))
    words = {name: np.array(row) for name, row in held["words"].items()}
    return KindModel(words, np.array(held["vector"]), np.array(held["offset"]))
