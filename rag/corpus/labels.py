"""A label tells two abstracts apart in a list: the method's name where there is one, and the first words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag.corpus.markup import plain

LABEL_CHARACTERS = 72
TITLE_CHARACTERS = 200
VENUE_CHARACTERS = 60

_INTRODUCES = re.compile(
    r"\b(?:propos|introduc|present|develop|design|creat|build|releas|term|dub|nam|call|coin)(?:e|es|ed|ing|s|t|ely)?\b"
    r"(?P<clause>[^.;]{0,200}(?:\.\d[^.;]{0,160})?)",
    re.IGNORECASE,
)
_NAME = r"[A-Za-z0-9][A-Za-z0-9⁰-⁹²³¹⁺.\-]*[A-Za-z0-9⁰-⁹²³¹⁺+]"
# A name stands before the clause goes on to describe it; a spelled-out one may have a "via" or "on" inside
_PURPOSE = re.compile(r",? (?:that|which|for)\b")
_DESCRIPTION = re.compile(r",? (?:that|which|for|to|by|via|using|based|like|such as|without|where)\b")
_IN_BRACKETS = re.compile(rf"\((?:i\.e\.,? |termed |called |dubbed )?({_NAME})\)")
_COINED = re.compile(rf"(?<![\w\-])({_NAME})(?![\w\-])")
_TITLE_CASE = re.compile(r"(?:[A-Z]?[a-z]+-)+[A-Z]?[a-z]+")
_PLAIN_NAME = re.compile(r"^ (?:the |called |named )?([A-Z][a-z]+\d*)(?=[,:;(]| ?$| (?:an?|the|which|that|to|for)\b)")
COMMON_NAMES = {
    "LLM",
    "LLMs",
    "RL",
    "AI",
    "ML",
    "NLP",
    "GPU",
    "GPUs",
    "CPU",
    "VLM",
    "VLMs",
    "MLLM",
    "MLLMs",
    "GNN",
    "GNNs",
}
COMMON_NAMES |= {
    "CNN",
    "CNNs",
    "DNN",
    "DNNs",
    "RNN",
    "LSTM",
    "GAN",
    "GANs",
    "BERT",
    "GPT",
    "SOTA",
    "MDP",
    "MDPs",
    "SGD",
    "PDE",
}
COMMON_NAMES |= {
    "PDEs",
    "ODE",
    "ODEs",
    "OOD",
    "ID",
    "3D",
    "2D",
    "1D",
    "4D",
    "API",
    "IID",
    "MLP",
    "MLPs",
    "QA",
    "RGB",
    "DP",
}


def label(
    text: str, title: str | None = None, authors: Sequence[str] = (), year: int | None = None, venue: str | None = None
) -> str:
    """Return one line that stands for an abstract: `Title — Authors, Year, venue`, as far as they are known.

    Without a title it begins with `NAME: first words…` of at most about `LABEL_CHARACTERS`.
    """
    if title:
        head = _cut(plain(title), TITLE_CHARACTERS)
    else:
        name = method_name(text)
        head = f"{name}: " if name else ""
        head += _cut(plain(text), LABEL_CHARACTERS - len(head))
    origin = ", ".join(filter(None, [credit(authors), str(year or ""), _cut(venue or "", VENUE_CHARACTERS)]))
    return f"{head} — {origin}" if origin else head


def credit(authors: Sequence[str]) -> str:
    """Return the authors as a citation names them: all of two, of more the first."""
    return f"{authors[0]} et al." if len(authors) > 2 else " and ".join(authors)


def method_name(text: str) -> str | None:
    """Return what the abstract calls its own method, benchmark or system, or None where it names nothing.

    A name is what an introducing clause ("we propose …") puts in brackets or spells as no plain word is;
    of several, the one the abstract repeats most, then the first.
    """
    words = plain(text)
    counts = Counter(
        {name: len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", words)) for name in introduced_names(words)}
    )
    return max(counts, key=lambda name: counts[name], default=None)


def introduced_names(words: str) -> list[str]:
    """Return the names that a plain text introduces for what it presents, in its order."""
    found: list[str] = []
    for match in _INTRODUCES.finditer(words):
        spelled_out, clause = (part.split(match["clause"], maxsplit=1)[0] for part in (_PURPOSE, _DESCRIPTION))
        names = _IN_BRACKETS.findall(spelled_out) + coined_names(clause) + _PLAIN_NAME.findall(clause)
        found += [name for name in names[:2] if name not in COMMON_NAMES]
    return list(dict.fromkeys(found))


def coined_names(text: str) -> list[str]:
    """Return the words of a plain text that are spelled as only names are (PAPO, FedVeer, d3LLM)."""
    return [name for name in _COINED.findall(text) if _is_coined(name)]


def _is_coined(name: str) -> bool:
    """Two capitals (PAPO) or one behind a small letter (iTransformer), but no hyphenated words (Topology-Aware)."""
    if _TITLE_CASE.fullmatch(name):
        return False
    capitals = sum(character.isupper() for character in name)
    return (capitals >= 2 and any(character.isalpha() for character in name[1:])) or (
        capitals == 1 and name[0].islower() and len(name) > 2
    )


def _cut(words: str, width: int) -> str:
    if len(words) <= width:
        return words
    return words[:width].rsplit(" ", 1)[0].rstrip(",;:.(") + "…"
