"""The words by which a question points back to the conversation before it."""

from __future__ import annotations

import re
from typing import Final

from rag.corpus.labels import coined_names

MARKER = re.compile(r"\[(\d+)\]|\b(?:paper|number|no\.?|abstract|#)\s*#?(\d)\b", re.I)
NUMBERS: Final = {"first": 0, "1st": 0, "former": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3,
                   "4th": 3, "fifth": 4, "5th": 4, "last": -1, "latter": -1}  # fmt: skip
ORDINAL = re.compile(
    r"\bthe (?:very )?(?=(\w+))(?:(?:former|latter)\b(?! (?:part|half|stage)s?\b)"
    rf"|(?:{'|'.join(NUMBERS)})(?: (?:one|paper|method|abstract|work|study|model|approach|benchmark)s?\b(?!')"
    r"|(?=\W*$|'s\b|[,?]| (?:do|does|did|is|was|has|have|can|split|use|need|say|report|give|handle|get|work)"
    r"\w*\b)))",
    re.I,
)
OTHER = re.compile(r"\bthe other (?:one|paper|method|work|study)\b|\bthe other(?=\W*$|,)", re.I)
BOTH = re.compile(r"\b(?:both|the two|either|each|neither|these two)\b", re.I)
PLURAL = re.compile(r"\b(?:they|them|their|theirs|these|those|ones)\b", re.I)
POSSESSIVE = re.compile(r"\b(?:its|their|his|her|the (?:method|paper|model|approach|benchmark|authors?)'s)\b", re.I)
PRONOUN = re.compile(
    r"\b(?:it|they|them)\b(?!')|\b(?:this|that) (?:one|paper|method|model|approach|benchmark|work|dataset|system|study"
    r"|framework|algorithm)\b|\b(?:of|for|on|with|about|from|to|than|like|by|does|do|did|is|was|can|could|would|has) "
    r"(?:that|this)\b(?= *(?:[?,.]|$| \w+ing\b| (?:work|compare|do|help|need|use|save|mean|change|scale|come)\b))"
    r"|\bthe (?:same )?(?:method|model|approach|framework|algorithm|benchmark|dataset|system|paper|authors?)\b"
    r"(?! (?:of|for|that|which|in|called|trained|on|with|from|by|to|where|about)\b)",
    re.I,
)
POINTS_BACK = re.compile(
    r"\b(?:it|its|it's|they|them|their|theirs|he|she|his|her)\b"
    r"|\b(?:this|these|those)\b(?! (?:\w+ )?(?:collection|corpus|library|store|database|pile|set|abstracts)\b)"
    r"|\b(?:does|do|did|is|was|are|were|of|for|on|with|about|from|to|than|like|by|in|can|could|would|has|and|or) that\b"
    r"|\bthat (?:one|paper|method|model|approach|benchmark|work|dataset|result|number|gain|system|study|thing"
    r"|[\w-]+ thing)s?\b"
    r"|\bthe (?:same|authors?|paper|previous|earlier|larger|smaller|bigger) (?:ones?|paper|method|model|abstract)?\b"
    r"|\bthe (?:method|model|approach|framework|algorithm|benchmark|dataset|system)\b"
    r"(?! (?:of|for|that|which|in|called|trained|on|with|from|by|to|where|about)\b)"
    r"|\bthe (?:code|repo|repository|implementation|source code|authors?)\b(?! (?:of|for|behind|by|that)\b)"
    r"|\b(?:ones|there)\b\s*\??$|\bfrom (?:before|earlier)\b",
    re.I,
)
_NO: Final = (
    r"(?:(?:no|nope|sorry|not (?:that|this)(?: one)?|(?:that'?s )?(?:the )?wrong (?:one|paper))\b[,.!]?[\s\-–—]*)"
)
CORRECTS = re.compile(
    rf"^(?:{_NO}*i mea?nt?|{_NO}+i (?:was (?:after|thinking of|looking for|asking about)|wanted))\b"
    r"(?: the other (?:one|paper|method))?",
    re.I,
)
CARRIES_ON = re.compile(
    r"^(?:(?:ok|okay|right|i see|good|thanks|hm+|so|no|yes)[,.!]?\s+)*(?:and\b|but\b|also\b|what about\b|how about\b"
    r"|what else\b(?=\W*$| (?:does|do|did|is|was) (?:it|they|that|this|the)\b)"
    r"|or\b|why\??$|how\??$|how so\b|how come\??$|(?:no,? )?i mea?nt?\b)",
    re.I,
)


ASKS = re.compile(
    r"\b(?:what|which|who|whose|why|how|when|where|is|are|was|were|do|does|did|has|have|can|could|will|would|any|list)\b",
    re.I,
)
FEW_WORDS: Final = 3
MOST_WORDS: Final = 5
"""A question of no more words, none of which asks, names a part of what was asked before: "savings in cost?"."""


def depends(question: str) -> bool:
    """Tell whether a question points back to the conversation, or only carries it on.

    "How does FooBar pick its rate?" does neither: its pronoun has a name before it.
    """
    if carries_on(question):
        return True
    pointer = POINTS_BACK.search(question)
    return pointer is not None and not coined_names(question[: pointer.start()])


def carries_on(question: str) -> bool:
    """Tell whether a question says nothing without the one before."""
    words = question.split()
    if CARRIES_ON.search(question):
        return True
    fragment = question.rstrip().endswith("?") and not ASKS.search(question)
    return len(words) <= (MOST_WORDS if fragment else FEW_WORDS) and not coined_names(question)
