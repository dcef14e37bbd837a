"""The fitted weights of each kind of reader, as weights.json beside this module holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag.reader.columns import PRESENT, SAYS, SENTENCE, Columns
from rag.settings import ReaderModel

FILE: Final = "weights.json"


@dataclass(frozen=True, slots=True)
class Linear:
    """A row of weights and an offset: `columns @ weights + offset`."""

    weights: NDArray[np.float64]
    offset: float

    def __call__(self, columns: Columns) -> NDArray[np.float64]:
        """Return one score a row."""
        return columns @ self.weights + self.offset

    def chance(self, columns: Columns) -> NDArray[np.float64]:
        """Return one probability a row."""
        return np.asarray(1 / (1 + np.exp(-self(columns))))


@dataclass(frozen=True, slots=True)
class Weights:
    """What training fitted for one kind of reader.

    `sentence` scores sentences; `present` gives the probability that the abstract asked about is in the collection at
    all, `says` the probability that it says what was asked, if it is. Below `refuse_below` their product is too low.
    """

    sentence: Linear
    present: Linear
    says: Linear
    refuse_below: float

    def confidence(self, columns: Columns) -> NDArray[np.float64]:
        """Return the probability that the best evidence answers, one a row of findings."""
        return self.present.chance(columns) * self.says.chance(columns)


@cache
def shipped_weights(model: ReaderModel) -> Weights:
    """Return the weights in the package. Raises `KeyError` where they do not fit the columns of this version."""
    held = json.loads(resources.files("rag.reader").joinpath(FILE).read_text(encoding="utf-8"))[model]
    return Weights(
        _linear(held["sentence"], SENTENCE[model]),
        _linear(held["present"], PRESENT[model]),
        _linear(held["says"], SAYS[model], among=PRESENT[model]),
        held["refuse_below"],
    )


def _linear(held: dict[str, Any], names: tuple[str, ...], among: tuple[str, ...] | None = None) -> Linear:
    """Return the weights of the named columns; those of `among` that are not named weigh nothing."""
    weights = {name: held["weights"][name] for name in names}
    return Linear(np.array([weights.get(name, 0.0) for name in among or names]), held["offset"])
