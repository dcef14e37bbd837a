"""BM25 over whole abstracts, kept in a folder beside the vectors and rebuilt when the catalog has moved on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import Stemmer

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


class LexicalIndex:
    """BM25 scores of abstracts, and how rare a term is among them."""

    def __init__(self, ids: Sequence[str], index: Any) -> None:
        self.ids = list(ids)
        self._index = index
        lengths = np.diff(index.scores["indptr"]) if self.ids else np.zeros(0, dtype=int)
        self._frequency = {
            term: int(lengths[number]) for term, number in index.vocab_dict.items() if number < len(lengths)
        }

    @classmethod
    def build(cls, abstracts: Iterable[tuple[str, str]]) -> LexicalIndex:
        """Index (id, text) pairs."""
        import bm25s

        ids, corpus = [], []
        for abstract_id, text in abstracts:
            ids.append(abstract_id)
            corpus.append(terms(text))
        index = bm25s.BM25(k1=1.2, b=0.75)  # type: ignore[no-untyped-call]
        if ids:
            index.index(corpus, show_progress=False)
        else:
            index.vocab_dict = {}
        return cls(ids, index)

    @classmethod
    def load(cls, folder: Path, generation: int) -> LexicalIndex | None:
        """Return the index kept in `folder`, or None where it is missing or of another generation."""
        import bm25s

        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            if about["generation"] != generation or about.get("terms") != TERMS:
                return None
            return cls(about["ids"], bm25s.BM25.load(str(folder), load_corpus=False))
        except (OSError, ValueError, KeyError):
            return None

    def save(self, folder: Path, generation: int) -> None:
        """Keep the index in `folder`, as built from the catalog's `generation`."""
        about = folder / "about.json"
        about.unlink(missing_ok=True)
        if self.ids:
            self._index.save(str(folder), show_progress=False)
            about.write_text(json.dumps({"generation": generation, "terms": TERMS, "ids": self.ids}), encoding="utf-8")

    def nearest(self, text: str, count: int) -> list[tuple[str, float]]:
        """Return up to `count` abstracts that share a term with `text` as (id, BM25 score), the best first."""
        known = [term for term in query_terms(text) if term in self._frequency]
        if not known:
            return []
        scores = self._index.get_scores(known)
        best = np.argsort(-scores, kind="stable")[:count]
        return [(self.ids[place], float(scores[place])) for place in best if scores[place] > 0]

    def rarity(self, term: str) -> float:
        """Return the term's inverse document frequency, ln(1 + (N - n + 0.5) / (n + 0.5)): 0 where all have it.

        The same formula as in BM25 (Robertson and Zaragoza 2009, as Lucene smooths it).
        """
        frequency = self._frequency.get(term, 0)
        return math.log1p((len(self.ids) - frequency + 0.5) / (frequency + 0.5))
