"""The chain: a question and its conversation in, a grounded, cited answer out. Nobody else builds answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter

from rag.chain.answer import ExtractiveAnswerer, choose, to_node
from rag.chain.cite import cite, refuse, write_out
from rag.chain.conversation import stand_alone
from rag.chain.ground import ground
from rag.chain.retrieve import HybridRetriever
from rag.index.encoder import Encoder
from rag.index.store import Store
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.read import Findings, Reader
from rag.records import Abstract, Answer, Refusal, Retrieved, Turn
from rag.settings import Settings

READER_OFF = "The reader is switched off (setting reader.model): sentences were chosen by similarity alone."


_ASKS_AUTHORS = re.compile(
    r"\bwho (?:is|are|was|were) (?:the |its |their )?authors?\b|^who wrote\b|^(?:the )?authors? of\b", re.I
)
"""Asks for what a record may hold, and the text of an abstract does not."""


class Chain:
    """Answers questions about the abstracts of one store. Safe to call from several threads."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.retriever = HybridRetriever(store, settings.retriever)
        self.reader = Reader(lambda: store.lexical.rarity, settings.reader)
        self.answerer = ExtractiveAnswerer()

    @classmethod
    def open(cls, settings: Settings | None = None) -> Chain:
        """Open the store that the settings name and load the encoder: several seconds.

        Raises `StoreError` where the store cannot be used, `OutsideError` where the encoder cannot be had.
        """
        settings = settings or Settings()
        encoder = Encoder(settings.encoder)
        store = Store.open(settings.store.path, encoder)
        encoder.load()
        chain = cls(store, settings)
        chain.reader.load()
        return chain

    def ask(self, question: str, history: Sequence[Turn] = (), refuse_below: float | None = None) -> Answer:
        """Answer a question, taking the conversation before it into account, the oldest turn first.

        `refuse_below` overrides the setting: 0 answers whatever the confidence is.

        Raises `InputError` for a question that is empty or longer than the settings allow.
        """
        asked = self.settings.check_question(question)
        clock = _Clock()
        self.store.refresh()
        with clock("understand"):
            standalone = stand_alone(asked, history[-self.settings.answer.max_history_messages :], self._about)
        with clock("retrieve"):
            passages = self.retriever.retrieve_passages(standalone)
        with clock("read"):
            findings = self.reader.read(Question.ask(standalone, self.store.encoder), passages)
        with clock("answer"):
            why = self._refusal(standalone, findings, refuse_below)
            answer = self._answer(asked, standalone, passages, findings, why)
        return clock.stamp(answer)

    def search(self, text: str, count: int = 10) -> list[Passage]:
        """Return the `count` abstracts nearest to a text, the best first. Raises `InputError` as `ask` does."""
        self.store.refresh()
        return self.retriever.passages(self.settings.check_question(text), count)

    def _about(self, text: str) -> Abstract | None:
        passages = self.retriever.passages(text, 1)
        return passages[0].reading.abstract if passages else None

    def _answer(
        self, asked: str, standalone: str, passages: Sequence[Passage], findings: Findings, why: Refusal | None
    ) -> Answer:
        retrieved = tuple(Retrieved(p.reading.abstract.id, round(p.score, 6)) for p in passages)
        confidence = round(findings.confidence, 4)
        reader = self.reader.model
        notes = () if reader != "off" else (READER_OFF,)
        if why is None:
            chosen = choose(findings.evidence, self.settings.answer.max_sentences)
            draft = self.answerer.synthesize(standalone, nodes=[to_node(one) for one in chosen])
            grounded, dropped = ground(str(draft), chosen)
            sentences, citations = cite(grounded)
            return Answer(
                question=asked,
                standalone_question=standalone,
                kind="answer",
                answerable=True,
                text="\n\n".join([write_out(sentences), *notes]),
                sentences=tuple(sentences),
                citations=tuple(citations),
                retrieved=retrieved,
                dropped=tuple(dropped),
                confidence=confidence,
                notes=notes,
                answerer=self.answerer.name,
                reader=reader,
                model=self.answerer.model,
            )
        nearest = findings.evidence[0] if findings.evidence else None
        return Answer(
            question=asked, standalone_question=standalone, kind="refusal", answerable=False, refusal=why,
            text="\n\n".join([refuse(why, nearest), *notes]), retrieved=retrieved, notes=notes, confidence=confidence,
            answerer=self.answerer.name, reader=reader,
        )  # fmt: skip

    def _refusal(self, question: str, findings: Findings, refuse_below: float | None) -> Refusal | None:
        if not findings.evidence:
            return "empty_store"
        given = (refuse_below, self.settings.answer.refuse_below, self.reader.weights.refuse_below)
        least = next(one for one in given if one is not None)
        if least and _ASKS_AUTHORS.search(question) and not findings.evidence[0].abstract.authors:
            return "not_stated" if findings.near else "off_topic"
        if findings.confidence >= least:
            return None
        return "not_stated" if findings.near else "off_topic"


class _Clock:
    """Measures the stages of one answer in milliseconds."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        self.stages[stage] = round((perf_counter() - begun) * 1000, 2)

    def stamp(self, answer: Answer) -> Answer:
        return replace(answer, timings_ms=self.stages | {"total": round(sum(self.stages.values()), 2)})
