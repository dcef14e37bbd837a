"""Who writes the reply: one writer for each kind of question, all of them from evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from rag.chain import collection, lists
from rag.chain.answer import ExtractiveAnswerer, choose, to_node
from rag.chain.comparison import Comparer, has_aspect
from rag.chain.ground import ground
from rag.chain.replies import NOT_ANSWERED, Part, Reply, courtesy, refuse
from rag.chain.retrieve import HybridRetriever
from rag.dialogue.conversation import Understood, split_questions
from rag.dialogue.kinds import Kind
from rag.dialogue.pointers import depends
from rag.index.lexical import query_terms, terms
from rag.index.store import Store
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.read import Findings, Reader
from rag.records import Abstract, Refusal, Side
from rag.settings import AnswerSettings

SURE: Final = 0.5
LISTS: Final = 0.3
RECORDS: Final = 0.4
"""A kind other than `fact` is taken from this chance on; records must also hold what is asked for."""

LISTS_AROUND: Final = 0.8
"""A list needs this much where the question names an abstract's own: mostly it is about that one."""

COMPARES: Final = 0.15
COMPARES_SURELY: Final = 0.3
"""A comparison needs less where it names two abstracts' own, and more where its sides must be found out."""

SENTENCES_A_SIDE: Final = 2
SIDE_SAYS: Final = 0.5
"""The part of the usual confidence that one side of a comparison needs: it is asked about together with the other."""

_OTHERS: Final = re.compile(r"\b(?:others?|else|more|further|similar)\b", re.I)


def is_courtesy(chances: Mapping[Kind, float]) -> bool:
    """Tell whether a message asks nothing of the abstracts."""
    return chances["courtesy"] >= SURE


class Writers:
    """Writes replies over one store."""

    def __init__(self, store: Store, retriever: HybridRetriever, reader: Reader, settings: AnswerSettings) -> None:
        self.store = store
        self.retriever = retriever
        self.reader = reader
        self.comparer = Comparer(retriever, reader)
        self.settings = settings
        self.answerer = ExtractiveAnswerer()

    def write(
        self, asked: Understood, chances: Mapping[Kind, float], passages: Sequence[Passage], refuse_below: float | None
    ) -> Reply:
        """Return the reply that fits the kind of question; what does not come off as its kind is taken for a fact."""
        given = (refuse_below, self.settings.refuse_below, self.reader.weights.refuse_below)
        least = next(one for one in given if one is not None)
        if is_courtesy(chances):
            return courtesy(asked.said)
        if not passages:
            return refuse("off_topic" if len(self.store) else "empty_store")
        reply = None
        if chances["collection"] >= RECORDS:
            reply = self._collection(asked, least)
        if reply is None and self._asks_for_a_list(asked.said, chances["list"]):
            reply = self._list(asked, least)
        if reply is None and chances["compare"] >= COMPARES:
            reply = self._comparison(asked, least, chances["compare"])
        return reply or self._facts(asked, passages, least)

    def _asks_for_a_list(self, question: str, chance: float) -> bool:
        return chance >= LISTS and (chance >= LISTS_AROUND or not self.comparer.named_sides(question, ()))

    def _facts(self, asked: Understood, passages: Sequence[Passage], least: float) -> Reply:
        """Answer a message as one question, unless it asks several and other abstracts answer some of them."""
        meant = [passage for passage in passages if passage.reading.abstract.id in asked.focus]
        whole = self._fact(asked.question, meant, least, asked.focus) if meant else None
        if whole is None or (whole.refusal and not asked.numbered):
            whole = self._fact(asked.question, passages, least, asked.focus)
        questions = split_questions(asked.question)
        replies = [self._part(one, whole, least) for one in questions] if len(questions) > 1 else [whole]
        if all(reply is whole for reply in replies) or not any(reply.evidence for reply in replies):
            return whole
        parts: dict[Part, None] = {}
        for question, reply in zip(questions, replies, strict=True):
            parts |= dict.fromkeys(reply.evidence[:SENTENCES_A_SIDE] or (NOT_ANSWERED.format(question.rstrip("?!. ")),))
        return Reply(tuple(parts), confidence=min(reply.confidence for reply in replies if reply.evidence))

    def _part(self, question: str, whole: Reply, least: float) -> Reply:
        """Answer one of several questions: `whole` where it asks of the same abstract, a refusal where none says.

        What shares no word with that abstract is no part of what was asked of it.
        """
        about = tuple(one.abstract.id for one in whole.evidence[:1])
        if about and depends(question):
            return whole
        reply = self._fact(question, self.retriever.passages(question, focus=about), least)
        if reply.evidence:
            return whole if reply.evidence[0].abstract.id in about else reply
        words = set(terms(whole.evidence[0].abstract.text)) if about else set()
        return whole if words.intersection(query_terms(question)) else reply

    def _fact(self, question: str, passages: Sequence[Passage], least: float, meant: Sequence[str] = ()) -> Reply:
        findings = self._read(question, passages, meant)
        if findings.confidence < least:
            return refuse(_why(findings), findings.evidence[0], findings.confidence)
        chosen = choose(findings.evidence, self.settings.max_sentences)
        draft = self.answerer.synthesize(question, nodes=[to_node(one) for one in chosen])
        grounded, dropped = ground(str(draft), chosen)
        return Reply(tuple(grounded), confidence=findings.confidence, dropped=tuple(dropped))

    def _list(self, asked: Understood, least: float) -> Reply:
        more = bool(asked.before and _OTHERS.search(asked.said))
        text = f"{asked.before} {asked.question}" if more else asked.question
        passages = self.retriever.passages(text, lists.CANDIDATES)
        if _OTHERS.search(asked.said):
            passages = [passage for passage in passages if passage.reading.abstract.id not in asked.focus]
        question = Question.ask(text, self.store.encoder)
        candidates = lists.judge(question, passages, self.store, self.reader)
        if not candidates or (candidates[0].chance < lists.LEAST and least > 0):
            return refuse("off_topic", confidence=candidates[0].chance if candidates else 0.0)
        found = lists.fitting(candidates)
        count = "1 abstract fits" if len(found) == 1 else f"{len(found)} abstracts fit"
        parts: list[Part] = [f"{count}, the likeliest first:", *(one.evidence for one in found)]
        return Reply(tuple(parts), form="list", confidence=candidates[0].chance)

    def _comparison(self, asked: Understood, least: float, chance: float) -> Reply | None:
        focus = [Passage(self.store.read(one), 0.0, 0.0) for one in asked.focus]
        sides = self.comparer.named_sides(asked.question, focus)
        described = len(sides) < 2 and chance >= COMPARES_SURELY
        if described:
            sides = self.comparer.described_sides(asked.question, sides)
        if len(sides) < 2:
            return None
        aspect = has_aspect(asked.question, [side.name for side in sides])
        parts: list[Part] = []
        written: list[Side] = []
        said = 0
        best = 0.0
        for side in sides:
            meant = side.passage
            question = asked.question if aspect else f"What does {side.name} do?"
            findings = self._read(question, [meant], [meant.reading.abstract.id]) if meant else None
            if findings is None or findings.confidence < SIDE_SAYS * least:
                if findings and described:
                    return None
                why = "Not in this collection." if findings is None else "Its abstract does not say."
                parts.append(f"{side.name}: {why}")
                written.append(Side(side.name, ()))
                continue
            chosen = choose(findings.evidence, SENTENCES_A_SIDE)
            parts += [f"{side.name}:", *chosen]
            written.append(Side(side.name, tuple(range(said, said + len(chosen)))))
            said, best = said + len(chosen), max(best, findings.confidence)
        return Reply(tuple(parts), form="comparison", sides=tuple(written), confidence=best) if said else None

    def _collection(self, asked: Understood, least: float) -> Reply | None:
        def nearest(text: str) -> Abstract | None:
            found = self.retriever.passages(text, 1)
            return found[0].reading.abstract if self._read(text, found).near else None

        focus = [self.store.abstract(one) for one in asked.focus]
        abstracts = focus if len(focus) > 1 else self.store.abstracts()
        meant = focus[0] if len(focus) == 1 else None
        counted = collection.about_records(asked.said, abstracts, nearest, meant)
        if counted is None:
            return None
        if counted.missing and not least:
            return None
        if counted.missing:
            return refuse("not_stated", words=counted.text)
        return Reply((counted.text, *counted.named), kind="collection", form="list")

    def _read(self, question: str, passages: Sequence[Passage], meant: Sequence[str] = ()) -> Findings:
        return self.reader.read(Question.ask(question, self.store.encoder), passages, meant)


def _why(findings: Findings) -> Refusal:
    return "not_stated" if findings.near else "off_topic"
