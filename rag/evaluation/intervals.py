"""How sure a number is: intervals of a rate or a mean, and tests of the difference between two runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 10_000
Z_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its 95% interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return it for JSON."""
        return {name: round(number, 6) for name, number in asdict(self).items()}


def wilson(successes: float, trials: int) -> Interval:
    """Return a rate with Wilson's score interval (1927). No trials: 0 to 1."""
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    rate, square = successes / trials, Z_95**2
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials**2)) / (1 + square / trials)
    return Interval(rate, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap(values: Sequence[float], groups: Sequence[Hashable], seed: int = 0) -> Interval:
    """Return the mean with its percentile bootstrap interval; values of one group are drawn together.

    Efron and Tibshirani 1993; the same seed gives the same interval.
    """
    sums, counts = _by_group(np.asarray(values, dtype=float), groups)
    draws = np.random.default_rng(seed).integers(0, len(sums), (RESAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(np.mean(values)), float(low), float(high))


def paired_bootstrap(
    before: Sequence[float], after: Sequence[float], groups: Sequence[Hashable], seed: int = 0
) -> Interval:
    """Return the mean of `after - before` with its interval, over the same questions in the same order."""
    return bootstrap([b - a for a, b in zip(before, after, strict=True)], groups, seed)


def permutation_test(
    before: Sequence[float], after: Sequence[float], groups: Sequence[Hashable], seed: int = 0
) -> float:
    """Return the two-sided p of no difference: how often random swaps of whole groups differ as much.

    The p counts the observed assignment too, so it is never 0; for two equal runs it is 1.
    """
    sums, _ = _by_group(np.asarray(after, dtype=float) - np.asarray(before, dtype=float), groups)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (RESAMPLES, len(sums)))
    as_far = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12
    return float((as_far.sum() + 1) / (RESAMPLES + 1))


def mcnemar(before: Sequence[float], after: Sequence[float]) -> float:
    """Return McNemar's exact two-sided p over right (1) and wrong (0): the binomial test of wins against losses."""
    wins = sum(b > a for a, b in zip(before, after, strict=True))
    losses = sum(b < a for a, b in zip(before, after, strict=True))
    tail: float = sum(comb(wins + losses, k) for k in range(min(wins, losses) + 1)) / 2 ** (wins + losses)
    return min(1.0, 2 * tail)


def _by_group(
    values: NDArray[np.float64], groups: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not len(values):
        raise ValueError("no values to resample")
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    place = np.array([numbers[group] for group in groups])
    sums: Floats = np.bincount(place, weights=values).astype(np.float64)
    counts: Floats = np.bincount(place).astype(np.float64)
    return sums, counts
