"""A reply: sentences of abstracts and the product's own words, in the order of reading; and what those words are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rag.records import AnswerKind, Dropped, Evidence, Form, Refusal, Side

Part = Evidence | str

READER_OFF: Final = "The reader is switched off (setting reader.model): sentences were chosen by similarity alone."
NOT_ENGLISH: Final = (
    "The question does not look like English, which is what the encoder and the reader know: they may miss what is "
    "there. Other languages need a multilingual encoder (settings encoder.model, reader.model)."
)
NOT_ANSWERED: Final = "“{}?”: no sentence here answers this."
COURTESIES: Final = {
    "thanks": "You are welcome.",
    "greeting": "Hello. Ask something about the abstracts in this collection, and the answer will quote them.",
    "bye": "Goodbye. The conversation stays in this page until it is closed.",
    "sorry": "No harm done. Ask on.",
    "help": "Questions are answered from the abstracts in this collection, in their own words, each sentence with a "
    "number that leads to its place. Ask for a fact, for all papers on a topic, for two papers side by side, or about "
    "the collection itself. Where the abstracts do not say, the answer says so.",
}


_COURTESIES: Final = {
    "thanks": re.compile(r"\b(?:thank|thanks|thx|ty|cheers|great|perfect|nice|helpful|helped|awesome|cool|love"
                         r"|good job|well done|ok|okay|got it|fine)\b", re.I),
    "bye": re.compile(r"\b(?:bye|goodbye|see you|see ya|good night|later|weekend|farewell)\b", re.I),
    "sorry": re.compile(r"\b(?:sorry|oops|apolog\w+|my bad|never ?mind)\b", re.I),
    "greeting": re.compile(r"\b(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|i'?m back)\b", re.I),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said, before citations have numbers."""

    parts: tuple[Part, ...]
    kind: AnswerKind = "answer"
    form: Form = "prose"
    refusal: Refusal | None = None
    sides: tuple[Side, ...] = ()
    confidence: float = 1.0
    dropped: tuple[Dropped, ...] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The sentences, in order."""
        return tuple(part for part in self.parts if isinstance(part, Evidence))


REFUSALS: Final[dict[Refusal, str]] = {
    "empty_store": "There are no abstracts here yet. Add some with: rag ingest",
    "off_topic": "The abstracts in this collection do not deal with this.",
    "not_stated": "I found no sentence in this collection that answers this.",
}


def refuse(why: Refusal, nearest: Evidence | None = None, confidence: float = 0.0, words: str | None = None) -> Reply:
    """Say plainly that there is no answer, in `words` if given; where only the fact is missing, what is nearest."""
    text = words or REFUSALS[why]
    if why == "not_stated" and nearest is not None:
        text += f" The nearest is in “{nearest.abstract.label}”: “{nearest.text}”"
    return Reply((text,), kind="refusal", refusal=why, confidence=confidence)


def courtesy(said: str) -> Reply:
    """Answer what is said out of politeness, or about the product."""
    fitting = (name for name, pattern in _COURTESIES.items() if pattern.search(said))
    return Reply((COURTESIES[next(fitting, "help")],), kind="courtesy")
