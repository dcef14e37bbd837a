"""Split an abstract into sentences, as exact character spans of its text.

One regex walks the text once and finds what must stay whole (maths, URLs) and every run of stops; `_ends`
then decides a stop from the word before it and the word after it. All it knows of English are five lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = r"[\"'`”’»)\]}*_」』）】》〉]*"

# `$…$` follows Pandoc: no white space inside its marks and no digit after them. A mark before a digit may
# be money, so it opens maths only when no sentence seems to start before the next mark. Nothing here runs
# over a second opening mark or past 800 characters: a text of nothing but marks takes linear time.
_SCAN = re.compile(
    rf"""
    (?P<whole>
        \$\$ (?: [^$\\] | \\. ){{1,800}} \$\$
      | (?<!\\) \$ (?! [\s$] )
        (?: (?=\d) (?: [^$\\.] | \\. | \. (?! \s+ [A-Z][a-z] ) ){{1,800}}
          | (?!\d) (?: [^$\\] | \\. ){{1,800}} )
        (?<! [\s(] ) \$ (?! \d )
      | \\\( (?: [^\\] | \\[^()] ){{1,800}} \\\)
      | \\\[ (?: [^\\] | \\[^\[\]] ){{1,800}} \\\]
      | (?: https?:// | www\. ) \S* [^\s.,;:?!…"'”’)\]}}*_]
    )
  | (?P<break> \n [^\S\n]* \n | (?: [。！？｡।] | ．(?!\d) )+ {_CLOSERS} )
  | (?P<stop> [.?!…]+ ) (?P<close> {_CLOSERS} (?: \[ \d [\d,–-]* \] | \s ["”] (?= \s ) )? )
    """,
    re.VERBOSE | re.DOTALL,
)
_NEXT = re.compile(
    r"""
    (?P<gap> \s* ) (?P<open> ["'“‘`«(\[{*_]* )
    (?P<word> (?: [^\W_] (?: [\w'’-]{0,40} \w )? )? ) (?P<after> .? )
    """,
    re.VERBOSE | re.DOTALL,
)
_LOOK_BACK = 40  # characters before a stop: more than any word below takes
_LAST_WORD = re.compile(r"(?<![\w^./=@#])[^\W\d_](?:[^\W\d_]|\.-?(?=\w))*$")
_LAST_TOKEN = re.compile(r"[\w.-]*$")
_STOP_INSIDE = re.compile(r"[.?!]\s*(?:\$\$?|\\[)\]])$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")  # U.S, Ph.D, i.i.d, J.-P
_LIST_MARKER = re.compile(r"(?:(?:^|\(|;\s+)(?:\d{1,2}|[ivxIVX]{1,4}|[a-zA-Z])|:\s+[1aAiI])$")
_ENUMERATOR = re.compile(r"\d{1,2}|[ivx]{1,4}|[a-z]")
_TORN_DECIMAL = re.compile(r"(?:(?<![\w.])0|[<>=≤≥])$")  # "P<0. 001", a scraper's work
# "vitamin D. Patients", "GPT-J. Patients" and "-0.5 D. Patients" end a sentence, "by J. Smith" does not.
_NAMED_BY_LETTER = re.compile(
    r"(?:\w-|\d |\b[a-z]{2,}in |(?i:\b(?:arm|class|cohort|degrees|domain|grade|group|hepatitis|influenza"
    r"|matrix|model|part|\w*phase|set|stage|type|variable|vitamin) ))[A-Z]$"
)
# mBERT, d3LLM, nnU-Net, k-means, pH, p53, β-cells: names that stay in lower case at a sentence's start.
_LOWER_NAME = re.compile(r"[a-z][\w-]*[A-Z0-9]|[a-z]-|[α-ω]|https?$|www$")
_AFTER_OPENER = re.compile(r"[\s,:/]")
_WORD_TAIL = re.compile(r"[^\W\d_]{2}[a-z]$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# In the first three lists a word in lower case stands for both cases of its first letter.
_NEVER_LAST = _words(
    "e.g i.e eg ie vs v.s cf c.f viz wrt w.r.t a.k.a s.t N.B et esp incl fig figs eq eqs eqn eqns Sec "
    "Secs Sect Tab Thm Alg Prop Def Lem Cor Ref Refs Chap Supp Suppl Conf Proc Trans Dr Prof Mr Mrs Ms "
    "St Mt"
)
_SELDOM_LAST = _words(
    "al etc resp approx ca c p v sp spp ssp subsp var avg acc std st.dev dept univ Inc Ltd Co Corp Jr Sr "
    "Yahoo Acad Am Appl Biochem Biol Biophys Br Chem Commun Eur Int Lett Med Mol Nat Natl Phys Physiol "
    "Res Rev Sci Soc"
)
_BEFORE_NUMBER = _words(
    "no nos nr pp para vol vols ver sec Ch ref refs Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
# Words that open a sentence and seldom a name: what follows "et al." or "U.S." ends it if it is one.
_OPENERS = _words(
    "A Across Additionally Addressing After All Also Although Among An And Another As At Based Because "
    "Before Besides Beyond Both But By Can Compared Consequently Could Despite Do Does During Each "
    "Empirical Empirically Existing Experimental Experiments Extensive Finally First For From Further "
    "Furthermore Given Hence Here How However I If Importantly In Indeed Inspired Instead Interestingly "
    "Is It Its Lastly Leveraging Many Meanwhile More Moreover Most Motivated Neither Nevertheless Next "
    "Nonetheless Notably On One Our Over Overall Previous Prior Recent Recently Results Second Secondly "
    "Several Similarly Since So Some Specifically Subsequently Such Surprisingly That The Their Then "
    "There Therefore These They This Those Though Through Thus To Towards Two Under Unlike Using We What "
    "When Whether Which While Who Why With Without Yet"
)
_CARELESS_OPENERS = _words("we the this these our it its here however")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences of `text` as half-open character spans.

    The spans are in order, do not overlap, start and end with no white space, and together hold every
    character that is no white space. A text without one gives no spans. Takes linear time.
    """
    spans = []
    start = 0
    for cut in _cuts(text):
        sentence = text[start:cut]
        if kept := sentence.strip():
            first = start + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(kept)))
        start = cut
    return spans


def _cuts(text: str) -> Iterator[int]:
    """Yield the offset behind each sentence, the end of the text last."""
    start = 0
    for found in _SCAN.finditer(text):
        if _ends(text, start, found):
            start = found.end()
            yield start
    yield len(text)


def _ends(text: str, start: int, found: re.Match[str]) -> bool:
    """Tell whether what was `found` ends the sentence that began at `start`."""
    if found["break"]:
        return True
    after = next(_NEXT.finditer(text, found.end()))  # always one, right there: all its parts may be empty
    if found["whole"]:
        return bool(_STOP_INSIDE.search(found["whole"]) and after["gap"]) and _may_open(after, weak=True)
    before = text[max(start, found.start() - _LOOK_BACK) : found.start()]
    if found["stop"] == "." and (
        _LIST_MARKER.search(before.lstrip()) or (_TORN_DECIMAL.search(before) and after["word"].isdigit())
    ):
        return False
    if not after["gap"]:
        return _glued(before, after)
    # Two dots are an abbreviation's and the sentence's own.
    if found["stop"] in (".", "!") and (abbreviation := _abbreviation(before, after)):
        if abbreviation == "etc" and not found["close"]:
            return after["word"][:1].isupper()
        return abbreviation not in _NEVER_LAST and _is_opener(after)
    return _may_open(after, weak=found["stop"] != ".")


def _abbreviation(before: str, after: re.Match[str]) -> str | None:
    """Return the abbreviation, in its listed form, whose dot may be no stop; None for other words."""
    found = _LAST_WORD.search(before)
    if found is None:
        return None
    word = found[0]
    if len(word) == 1 and word.isupper():
        return None if _NAMED_BY_LETTER.search(before) else word
    forms = (word, word[0].lower() + word[1:])
    lists = [_NEVER_LAST, _SELDOM_LAST]
    if after["word"][:1].isdigit() and not after["open"]:
        lists.append(_BEFORE_NUMBER)
    for form in forms:
        if any(form in listed for listed in lists):
            return form
    return word if _DOTTED.fullmatch(word) else None


def _is_opener(after: re.Match[str]) -> bool:
    return after["word"] in _OPENERS and after["after"] != "."


def _is_enumerator(after: re.Match[str]) -> bool:
    return after["after"] == ")" and _ENUMERATOR.fullmatch(after["word"]) is not None


def _may_open(after: re.Match[str], *, weak: bool) -> bool:
    """Tell whether what comes behind white space can open a sentence.

    A question mark, an ellipsis or maths before it is a `weak` stop: sentences run on behind them.
    """
    word = after["word"]
    if not word:
        return after["after"] not in (",;.?!…)]}=-–—" if weak else ",;.?!…)]}=")
    if not word[0].islower() or _LOWER_NAME.match(word) or _is_enumerator(after):
        return True
    return not weak and (bool(after["open"]) or word in _CARELESS_OPENERS)


def _glued(before: str, after: re.Match[str]) -> bool:
    """Tell whether a sentence opens right behind the stop, as in "effect.We show" but not in "Node.js"."""
    word = after["word"]
    token: str = _LAST_TOKEN.findall(before)[0]
    if "(" in after["open"]:
        return _is_enumerator(after) and _WORD_TAIL.search(before) is not None
    if not word[:1].isupper() or not _AFTER_OPENER.match(after["after"]):
        return False
    if not token:  # behind a bracket, a percent sign, maths
        return before[-1:] not in ("", "(") and not before[-1:].isspace()
    if _abbreviation(before, after) or ("." in token and not token.replace(".", "").isdigit()):
        return False
    if word in _OPENERS or (word.isupper() and after["after"] in ":/"):
        return len(token) > 1 or token.isdigit()
    return len(word) > 2 and _WORD_TAIL.search(token) is not None
