"""Whether a question is in another language than English, by its script or its small words."""

from __future__ import annotations

import re
from typing import Final

_ENGLISH: Final = frozenset(
    "the of and in is are was what which how does do did for to a an with on by that this it its from or than as at be "
    "can who when where why many much there".split()
)
_OTHER: Final = frozenset(
    # German, Dutch, French, Spanish, Portuguese, Italian, Polish, Czech, Swedish, Turkish; without what is English too
    "der das und ist wie viele welche welcher welches warum wird werden mit von für auf sich nicht eine einer "
    "einen ein gibt bei zum zur het een van hoe welke waarom wordt worden niet voor zijn veel deze le la les des "
    "du est sont quel quelle quels quelles combien comment pourquoi dans pour avec une un sur qui que par ce "
    "cette el los las del una cuál cuáles cuántos cuántas cómo qué por para con es son en se lo o os da do das "
    "dos uma um não qual quais quantos como são em il gli della dei delle di che quale quali quanti quante come "
    "perché sono con nel jak ile jest są w z na dlaczego który które jaki jakie kolik které proč jsou hur många "
    "vilka vilken är och som för det att med kaç hangi nasıl neden ve bir için".split()
)
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Tell whether a text may be English; names and formulas alone may."""
    letters = [character for character in text if character.isalpha()]
    if sum(character < "\u0250" for character in letters) < len(letters) / 2:
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    other = sum(word in _OTHER for word in words)
    return other < 2 or other <= sum(word in _ENGLISH for word in words)
