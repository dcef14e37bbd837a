"""From a question in a conversation to one that stands alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag.corpus.labels import coined_names, method_name
from rag.records import Abstract, Turn

About = Callable[[str], Abstract | None]
"""Finds the abstract that a text is about."""

_CHANGES_TOPIC = re.compile(
    r"^(?:(?:ok|okay|thanks|thank you|great|now|so)[,.!]?\s+)*"
    r"(?:(?:a\s+)?(?:different|new|another|unrelated|separate)\s+(?:question|topic|thing)|unrelated"
    r"|something else|changing (?:the )?topic"
    r"|forget\b[^:,.]*|leaving\b[^:,.]*aside|switching (?:to|topics?)\b[^:,.]*)\s*[:,.\-–—]+\s*",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|it's|they|them|their|theirs|this|these|those|he|she|his|her)\b"
    r"|\b(?:does|do|did|is|was|are|were|of|for|on|with|about|from|to|than|like|by|in|can|could|would|has|and"
    r"|or) that\b"
    r"|\bthat (?:one|paper|method|model|approach|benchmark|work|dataset|result|number|gain|system"
    r"|study|work)s?\b"
    r"|\bthe (?:same|former|latter|authors?|paper|other|first|second|third|fourth|last|previous"
    r"|earlier)\b(?: (?:one|paper|method|abstract)s?\b)?"
    r"|\bthe (?:method|model|approach|framework|algorithm|benchmark|dataset|system)\b(?! (?:of|for|that|which"
    r"|in|called|trained|on|with|from|by|to)\b)"
    r"|\b(?:ones|there)\b\s*\??$",
    re.I,
)
_CARRIES_ON = re.compile(
    r"^(?:(?:ok|okay|right|i see|good|thanks|hm+|so)[,.!]?\s+)*(?:and\b|but\b|also\b|what about\b|how about\b"
    r"|what else\b|or\b|why\??$|how\??$|how so\b|how come\??$)",
    re.I,
)
LATEST = 4
"""Messages that tell what the talk is about: two questions and their answers."""

_MARKERS = re.compile(r"\s*\[\d+\]")


def stand_alone(question: str, history: Sequence[Turn], about: About) -> str:
    """Return the question so that it can be understood without the conversation.

    One that stands alone is returned as it is, without the words that change the topic. One that points back
    gets the name of what the last answer was about; one that only carries on, the last question too.
    """
    asked = _CHANGES_TOPIC.sub("", question)
    if not history or asked != question or not depends(question):
        return asked.strip() or question
    last_question = _bare(next((turn.content for turn in reversed(history) if turn.role == "user"), ""))
    topic = about(" ".join(_MARKERS.sub("", turn.content) for turn in history[-LATEST:]))
    name = (topic and method_name(topic.text)) or ""
    parts = [last_question] if _carries_on(question) or not name else []
    if name.casefold() not in " ".join([question, *parts]).casefold():
        parts.append(name)
    return f"{_bare(question)} ({', '.join(parts)})?" if parts else question


def depends(question: str) -> bool:
    """Tell whether a question points back to the conversation, or only carries it on.

    "How does FooBar pick its rate?" does neither: its pronoun has a name before it.
    """
    if _carries_on(question):
        return True
    pointer = _POINTS_BACK.search(question)
    return pointer is not None and not coined_names(question[: pointer.start()])


def _carries_on(question: str) -> bool:
    return bool(_CARRIES_ON.search(question)) or len(question.split()) <= 2


def _bare(question: str) -> str:
    return question.strip().rstrip("?!. ")
