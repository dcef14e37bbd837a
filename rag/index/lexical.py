"""BM25 over whole abstracts, kept in a folder beside the vectors.

The postings are plain arrays, read from the disk as they are needed; what is added or removed is merged in without
looking at the other abstracts' texts again. Scores are those of bm25s (method
"lucene"), which can only be built from zero.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import Stemmer
from numpy.typing import NDArray

from rag.corpus.markup import fold

_WORD = re.compile(r"\w+(?:[.+\-]\w+)*\+?")
_PARTS = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"([^\W\d_]{3,})\d+[^\W\d_]?")
_STOP_WORDS = frozenset(
    """
    a about all also an and any are as at be been being but by can could did do does doing done for from get
    gets give given had has have having he her here hers him his how i if in into is it its itself just let
    like made make makes many may me might more most much must my no nor not of off on one ones only or
    other our ours out over own paper papers abstract abstracts please same shall she should show so some
    such tell than that the their theirs them then there these they this those to too under up us use used
    uses using very was we were what when where which while who whom whose why will with within without
    would you your yours s t re ve ll d m don doesn isn
    """.split()
)
_ASKING_WORDS = frozenset(
    """
    abbreviation acronym anything deal deals everything list something
    definition define defined describe exactly explain explained find full know looking
    mean meaning means meant name need says show stand stands stood tell want wonder wondering
    """.split()
)
"""Words of a question that say how it asks and not what it is about."""

FORMAT = 2
TERMS = 2
"""The version of what `terms` makes of a text: an index with another one is built anew."""

_STEMMER = Stemmer.Stemmer("english")


def terms(text: str) -> list[str]:
    """Return the stems of the words that carry meaning; a compound (`Llama-3.1-8B`) counts whole and in parts.

    So does a name with its number: `Qwen3` is a Qwen.
    """
    return list(_STEMMER.stemWords([word for word in _words(text) if word not in _STOP_WORDS]))


def query_terms(text: str) -> list[str]:
    """Return the terms of a question, each once, without those that only ask; all its terms where no other is left."""
    about = [word for word in _words(text) if word not in _STOP_WORDS and word not in _ASKING_WORDS]
    return list(dict.fromkeys(_STEMMER.stemWords(about) or terms(text)))


def topic(text: str) -> str:
    """Return the words of a question that say what it is about, as they stand; all of it where none is left."""
    stopped = _STOP_WORDS | _ASKING_WORDS
    kept = [word for word in _WORD.findall(text) if fold(word) not in stopped]
    return " ".join(kept) or text


def _words(text: str) -> list[str]:
    words: list[str] = []
    for word in _WORD.findall(fold(text)):
        parts = _PARTS.findall(word)
        words += parts if len(parts) == 1 and parts[0] == word else [word, *parts]
        words += [numbered[1] for part in parts if (numbered := _NUMBERED.fullmatch(part))]
    return words


K1 = 1.2
B = 0.75

Integers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Postings:
    """For each term, in which abstracts it stands and how often: rows `starts[t]` to `starts[t + 1]` are term t's."""

    starts: NDArray[np.int64]
    places: Integers
    counts: Integers
    lengths: Integers


class LexicalIndex:
    """BM25 scores of abstracts, and how rare a term is among them. It never changes: a change gives a new one."""

    def __init__(self, ids: Sequence[str], vocabulary: dict[str, int], postings: Postings) -> None:
        self.ids = ids
        self._vocabulary = vocabulary
        self._postings = postings
        self._mean_length = float(postings.lengths.mean()) if len(ids) else 1.0

    @classmethod
    def empty(cls) -> LexicalIndex:
        """Return an index of nothing."""
        none = np.zeros(0, dtype=np.int32)
        return cls([], {}, Postings(np.zeros(1, dtype=np.int64), none, none, none))

    @classmethod
    def build(cls, abstracts: Iterable[tuple[str, str]]) -> LexicalIndex:
        """Index (id, text) pairs."""
        return cls.empty().changed(abstracts)

    def changed(self, added: Iterable[tuple[str, str]], removed: Collection[str] = ()) -> LexicalIndex:
        """Return an index without some abstracts and with others, (id, text) pairs, behind those that stay."""
        old = self._postings
        gone = set(removed)
        stays = np.fromiter((one not in gone for one in self.ids), dtype=bool, count=len(self.ids))
        vocabulary = dict(self._vocabulary)
        ids, numbers, counts, lengths = [], [], [], []
        for abstract_id, text in added:
            found = Counter(terms(text))
            ids.append(abstract_id)
            numbers.append(np.array([vocabulary.setdefault(term, len(vocabulary)) for term in found], dtype=np.int32))
            counts.append(np.fromiter(found.values(), dtype=np.int32, count=len(found)))
            lengths.append(sum(found.values()))
        kept = [one for one, stay in zip(self.ids, stays, strict=True) if stay]
        alive = stays[old.places] if len(old.places) else np.zeros(0, dtype=bool)
        new_place = np.cumsum(stays, dtype=np.int32) - 1 if len(stays) else np.zeros(0, dtype=np.int32)
        old_terms = np.repeat(np.arange(len(old.starts) - 1, dtype=np.int32), np.diff(old.starts))
        new_places = [np.full(len(own), len(kept) + place, dtype=np.int32) for place, own in enumerate(numbers)]
        all_terms = np.concatenate([old_terms[alive], *numbers])
        order = np.argsort(all_terms, kind="stable")
        postings = Postings(
            starts=np.concatenate([[0], np.cumsum(np.bincount(all_terms, minlength=len(vocabulary)))]).astype(np.int64),
            places=np.concatenate([new_place[old.places[alive]], *new_places])[order].astype(np.int32),
            counts=np.concatenate([old.counts[alive], *counts])[order].astype(np.int32),
            lengths=np.concatenate([old.lengths[stays], np.array(lengths, dtype=np.int32)]).astype(np.int32),
        )
        return LexicalIndex(kept + ids, vocabulary, postings)

    @classmethod
    def load(cls, folder: Path) -> tuple[LexicalIndex, int] | None:
        """Return the index kept in `folder` and the generation that it was built from, or None where there is none."""
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            if about.get("terms") != TERMS or about.get("format") != FORMAT:
                return None
            arrays = [np.load(folder / f"{about['build']}-{name}.npy", mmap_mode="r") for name in Postings.__slots__]
            vocabulary = {term: number for number, term in enumerate(about["vocabulary"])}
            return cls(about["ids"], vocabulary, Postings(*arrays)), int(about["generation"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, folder: Path, generation: int) -> None:
        """Keep the index in `folder`, as of the catalog's `generation`; readers see the old one or the new one."""
        folder.mkdir(exist_ok=True)
        old = [file for file in folder.iterdir() if file.name != "about.json"]
        build = f"{generation}.{os.getpid()}"
        for name in Postings.__slots__:
            np.save(folder / f"{build}-{name}.npy", getattr(self._postings, name))
        about = {"format": FORMAT, "terms": TERMS, "generation": generation, "build": build, "ids": list(self.ids),
                 "vocabulary": list(self._vocabulary)}  # fmt: skip
        (folder / "about.new").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
        (folder / "about.new").replace(folder / "about.json")
        for file in old:
            if not file.name.startswith(f"{build}-"):
                file.unlink(missing_ok=True)

    def check(self) -> int:
        """Return the number of terms. Raises `ValueError` where the arrays do not fit together."""
        rows, terms_there = len(self._postings.places), len(self._postings.starts) - 1
        fits = (
            terms_there == len(self._vocabulary)
            and int(self._postings.starts[-1]) == len(self._postings.counts) == rows
            and len(self._postings.lengths) == len(self.ids)
            and (rows == 0 or int(self._postings.places.max()) < len(self.ids))
        )
        if not fits:
            raise ValueError("its arrays do not fit together")
        return terms_there

    def nearest(self, text: str, count: int, among: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `count` abstracts that share a term with `text` as (id, BM25 score), the best first.

        score = sum over terms of idf * tf / (tf + k1 * (1 - b + b * length / mean length)): Robertson and Zaragoza,
        "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, as Lucene has it.
        """
        scores = np.zeros(len(self.ids), dtype=np.float32)
        for term in query_terms(text):
            number = self._vocabulary.get(term)
            if number is not None:
                rows = slice(self._postings.starts[number], self._postings.starts[number + 1])
                places, counts = self._postings.places[rows], self._postings.counts[rows]
                norm = 1 - B + B * self._postings.lengths[places] / self._mean_length
                scores[places] += self.rarity(term) * counts / (counts + K1 * norm)
        if among is not None:
            scores[[place for place, one in enumerate(self.ids) if one not in among]] = 0.0
        found = np.flatnonzero(scores)
        if len(found) > count:
            least = np.partition(scores[found], -count)[-count]
            found = found[scores[found] >= least]
        best = found[np.argsort(-scores[found], kind="stable")][:count]
        return [(self.ids[place], float(scores[place])) for place in best]

    def frequency(self, term: str) -> int:
        """Return in how many abstracts a term stands."""
        number = self._vocabulary.get(term)
        return 0 if number is None else int(self._postings.starts[number + 1] - self._postings.starts[number])

    def rarity(self, term: str) -> float:
        """Return the term's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)): 0 where all have it.

        The same formula as in BM25 (Robertson and Zaragoza 2009, as Lucene smooths it).
        """
        frequency = self.frequency(term)
        return math.log1p((len(self.ids) - frequency + 0.5) / (frequency + 0.5))
