"""What a question asks for, and the words and the direction it asks with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rag.corpus.markup import plain
from rag.index.encoder import Encoder, Vectors
from rag.index.lexical import query_terms

# An auxiliary verb, at the start or behind a comma, opens a yes-or-no question
_AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|must)(?:n't|nt)?"
    r"\s+(?!you\s+(?:tell|explain|give)\b)"
)

WANTS: Final[dict[str, re.Pattern[str]]] = {
    "number": re.compile(
        r"\bhow (?:many|much|often|far|fast|big|large|long|badly|accurate|close|high|low|few|old|small|quickly)\b"
        r"|\bby how\b|\b(?:what|which) (?:\w+ ){0,3}(?:percentage|share|fraction|factor|rate|number|score"
        r"|accuracy|speed-?up|size"
        r"|gain|reduction|improvement|ratio|f1|bleu|auc|auroc|map|fid|proportion|amount|bound|complexity)\b"
        r"|\bnumber of\b|\b(?:speed-?up|gain|improvement|accuracy|rate)\b[^.]*\?",
        re.I,
    ),
    "yes_no": re.compile(rf"^(?:(?:ok|so|and|but|well|then),?\s+)*{_AUXILIARY}|,\s+{_AUXILIARY}", re.I),
    "reason": re.compile(
        r"\bwhy\b|\bhow come\b|\breasons?\b|\bwhat (?:causes?|makes?|motivates?"
        r"|explains?)\b",
        re.I,
    ),
    "trouble": re.compile(
        r"\bwrong with\b|\b(?:goes|went) wrong\b|\b(?:limit(?:s|ation)?s?|weakness(?:es)?|drawbacks?|problems?"
        r"|trouble|fails?|failures?|"
        r"shortcomings?|downsides?|challenges?|bottlenecks?|suffers?|struggles?|can'?t|cannot|hard|difficult"
        r"|tricky|unclear)\b",
        re.I,
    ),
    "definition": re.compile(
        r"\b(?:stands? for|short for|mean(?:s|t|ing)?|definition|defin(?:e|ed|es)|abbreviation|acronym"
        r"|full name|called)\b"
        r"|\bwhat(?:'s| is| are) (?:an? |the )?[\w\-/$^\\{}]+(?: [\w\-]+)?\s*\?*$|^[\w\-+/]+\s*\?$",
        re.I,
    ),
    "name": re.compile(
        r"\b(?:which|what) (?:\w+[\- ]){0,4}?(?:datasets?|corpus|corpora|benchmarks?|models?|methods?"
        r"|algorithms?|frameworks?|llms?|"
        r"architectures?|tasks?|languages?|domains?|baselines?|optimizers?|metrics?|measures?|tools?|libraries"
        r"|library|games?|"
        r"environments?|simulators?|disease|diseases|gpus?|hardware|networks?)\b|\bwho\b|\bwhose\b|\bdatasets\s*\?",
        re.I,
    ),
    "way": re.compile(
        r"\bhow (?:is|are|does|do|did|can|could|was|were|to|should|would)\b|\bwhat (?:way|technique"
        r"|trick)s?\b",
        re.I,
    ),
    "place": re.compile(
        r"\bwhere\b|\b(?:code|github|repo(?:sitory)?|download|link|url|implementation|released?|demo"
        r"|website)\b",
        re.I,
    ),
    "finding": re.compile(
        r"\b(?:results?|findings?|experiments?|outperforms?|better|worse|best|beats?|compared?|help(?:s|ful)?"
        r"|improves?|effects?|happens?|shown?|"
        r"prove[dns]?|discover(?:ed)?|learned?|conclusions?|advantages?|benefits?)\b",
        re.I,
    ),
    "offer": re.compile(
        r"\bis there\b|\bare there\b|\banything\b|\bhow (?:can|do|should|could) i\b|\bi (?:need|want|have|am"
        r"|'m)\b|\bi'm\b",
        re.I,
    ),
}
"""What a question can ask for; one may ask for several."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that stands alone, as the reader and the retriever see it."""

    text: str
    terms: tuple[str, ...]
    vector: Vectors
    wants: frozenset[str]

    @classmethod
    def ask(cls, text: str, encoder: Encoder) -> Question:
        """Encode a question; `vector` has the shape (dimension,)."""
        words = plain(text)
        return cls(text, tuple(query_terms(text)), encoder.encode_query(words), asks_for(words))


def asks_for(text: str) -> frozenset[str]:
    """Return the kinds of thing in `WANTS` that the question asks for, in no order, maybe none."""
    return frozenset(want for want, pattern in WANTS.items() if pattern.search(text))
