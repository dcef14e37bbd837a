"""Near-duplicates: abstracts that share most of their runs of three words, found by MinHash.

Broder, "On the resemblance and containment of documents", 1997; bands as in Leskovec, Rajaraman and Ullman, "Mining of
Massive Datasets", section 3.4. Case, punctuation, accents and markup do not count.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rag.corpus.characters import from_latex
from rag.corpus.markup import fold

SIMILAR: Final = 0.6
"""The Jaccard similarity of shingles from which two abstracts count as one: preprint and published form have more."""

SAME_TITLE: Final = 0.05
TITLE_WORDS: Final = 4
"""Abstracts of one title of so many words that share this much are versions of one paper, and say other things."""

BANDS: Final = 21
ROWS: Final = 3
"""A pair of similarity 0.6 shares one of 21 bands of 3 minima with a probability of 0.99, one of 0.1 with 0.02."""

MOST_CANDIDATES: Final = 50
_WORD: Final = re.compile(r"[^\W_]+")
_COMBINING: Final = re.compile("[\u0300-\u036f]")
_RANDOM = np.random.default_rng(1997)
_FACTORS: Final = _RANDOM.integers(0, 1 << 63, size=(BANDS * ROWS, 1), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_OFFSETS: Final = _RANDOM.integers(0, 1 << 63, size=(BANDS * ROWS, 1), dtype=np.uint64)
_MIX: Final = _RANDOM.integers(1, 1 << 63, size=ROWS, dtype=np.uint64) | np.uint64(1)

Signature = NDArray[np.uint32]


def shingles(text: str) -> set[int]:
    """Return a hash for each run of three words; a shorter text is one run."""
    plain = unicodedata.normalize("NFKD", fold(from_latex(text)))
    words = _WORD.findall(plain if plain.isascii() else _COMBINING.sub("", plain))
    return {zlib.crc32(" ".join(words[i : i + 3]).encode()) for i in range(max(1, len(words) - 2))}


def signature(text: str) -> Signature:
    """Return the minima, of shape (63,), of as many hash functions over a text's shingles; two texts' agree as often as
    their shingles do.
    """
    values = np.fromiter(shingles(text), dtype=np.uint64)
    hashes = (values * _FACTORS + _OFFSETS) >> np.uint64(32)  # multiply-shift: Dietzfelbinger et al., 1997
    minima: Signature = hashes.min(axis=1).astype(np.uint32)
    return minima


def similarity(one: str, other: str) -> float:
    """Return the Jaccard similarity (0..1) of two texts' shingles."""
    left, right = shingles(one), shingles(other)
    return len(left & right) / len(left | right)


class TwinFinder:
    """Finds the near-duplicates of new abstracts among those that it knows, and learns the new ones."""

    def __init__(self, known: Iterable[tuple[str, str | None, bytes]], text_of: Callable[[str], str | None]) -> None:
        """`known` holds the ids, titles and signatures of those that are there."""
        self._text_of = text_of
        kept = list(known)
        self._ids = [one for one, _, _ in kept]
        self._titled: dict[str, list[str]] = {}
        for one, title, _ in kept:
            self._titled.setdefault(_title_key(title), []).append(one)
        rows = [np.frombuffer(blob, dtype=np.uint32) for _, _, blob in kept]
        bands = _bands(np.stack(rows)).ravel() if rows else np.zeros(0, dtype=np.uint64)
        self._order = np.argsort(bands, kind="stable")
        self._sorted = bands[self._order]
        self._recent: dict[int, list[str]] = {}

    def add(self, abstract_id: str, title: str | None, text: str) -> tuple[bytes, list[tuple[str, str, float]]]:
        """Return the signature of a new abstract, and its pairs (id, id, similarity) with those known so far.

        Those of the same title are pairs from `SAME_TITLE` on, all others from `SIMILAR`.
        """
        own = signature(text)
        bands = _bands(own[None])[0]
        key = _title_key(title)
        titled = self._titled.get(key, []) if key.count(" ") >= TITLE_WORDS - 1 else []
        least = dict.fromkeys(self._candidates(bands)[:MOST_CANDIDATES], SIMILAR)
        least |= dict.fromkeys(titled[:MOST_CANDIDATES], SAME_TITLE)
        least.pop(abstract_id, None)
        pairs = []
        for other, enough in least.items():
            theirs = self._text_of(other)
            if theirs is not None and (shared := similarity(text, theirs)) >= enough:
                pairs.append((*sorted((abstract_id, other)), round(shared, 3)))
        self._titled.setdefault(key, []).append(abstract_id)
        for band in bands.tolist():
            self._recent.setdefault(band, []).append(abstract_id)
        return own.tobytes(), pairs  # type: ignore[return-value]

    def _candidates(self, bands: NDArray[np.uint64]) -> list[str]:
        found: list[str] = []
        lows, highs = (np.searchsorted(self._sorted, bands, side) for side in ("left", "right"))
        for band, low, high in zip(bands.tolist(), lows, highs, strict=True):
            found += [self._ids[place // BANDS] for place in self._order[low : min(high, low + MOST_CANDIDATES)]]
            found += self._recent.get(band, [])[:MOST_CANDIDATES]
        return found


def groups(pairs: Iterable[tuple[str, str, float]]) -> dict[str, frozenset[str]]:
    """Return abstract id -> the group of near-duplicates that it is of, for those that are of one."""
    found: dict[str, set[str]] = {}
    for one, other, shared in pairs:
        if shared < SIMILAR:
            continue
        joined = found.get(one, {one}) | found.get(other, {other})
        for member in joined:
            found[member] = joined
    return {member: frozenset(group) for member, group in found.items()}


def _title_key(title: str | None) -> str:
    return " ".join(_WORD.findall((title or "").casefold()))


def _bands(signatures: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return a hash of every band, of shape (signatures, bands); the same rows in another band have another hash."""
    rows = signatures.reshape(len(signatures), BANDS, ROWS).astype(np.uint64)
    mixed = (rows * _MIX).sum(axis=2, dtype=np.uint64)
    bands: NDArray[np.uint64] = mixed * np.uint64(64) + np.arange(BANDS, dtype=np.uint64)
    return bands
