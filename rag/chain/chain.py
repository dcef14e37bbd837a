"""The chain: a question and its conversation in, a grounded, cited answer out. Nobody else builds answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter

from rag.chain.cite import cite, write_out
from rag.chain.replies import NOT_ENGLISH, READER_OFF, Reply
from rag.chain.retrieve import HybridRetriever
from rag.chain.writers import Writers, is_courtesy
from rag.corpus.labels import method_name
from rag.dialogue.conversation import Understood, understand
from rag.dialogue.kinds import Kinds
from rag.dialogue.language import is_english
from rag.dialogue.talk import exchanges
from rag.errors import InputError
from rag.index.catalog import collections
from rag.index.encoder import MINILM, Encoder
from rag.index.selection import Selection
from rag.index.store import Store
from rag.reader.passage import Passage
from rag.reader.read import Reader
from rag.records import Answer, Retrieved, Turn, Where
from rag.settings import Settings

SHORTEST_QUOTE = 20
NAME_WORDS = 6
"""Words of an abstract that stand for it in an understood question where it names nothing of its own."""


class Chain:
    """Answers questions about the abstracts of one store. Safe to call from several threads."""

    def __init__(self, store: Store, settings: Settings, like: Chain | None = None) -> None:
        """Set up a chain over an open store, with the reader of a chain `like` it where one is given."""
        self.store = store
        self.settings = settings
        self.kinds: Kinds = like.kinds if like else Kinds(store.encoder)
        self.retriever = HybridRetriever(store, settings.retriever)
        self.reader: Reader = Reader(lambda: store.lexical.rarity, settings.reader, like.reader if like else None)
        self.writers = Writers(store, self.retriever, self.reader, settings.answer)
        self.answerer = self.writers.answerer
        self.about = ""
        """What is said with every answer of how the abstracts were narrowed."""

    @classmethod
    def open(cls, settings: Settings | None = None) -> Chain:
        """Open the store that the settings name and load the encoder: several seconds.

        Raises `StoreError` where the store cannot be used, `OutsideError` where the encoder cannot be had.
        """
        settings = settings or Settings()
        encoder = Encoder(settings.encoder)
        store = Store.open(settings.store.path, encoder, settings.store.collection)
        encoder.load()
        chain = cls(store, settings)
        chain.reader.load()
        return chain

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        refuse_below: float | None = None,
        where: Where | None = None,
    ) -> Answer:
        """Answer a question, taking the conversation before it into account, the oldest turn first.

        `refuse_below` overrides the setting: 0 answers whatever the confidence is. `where`: which abstracts count.

        Raises `InputError` for a question that is empty or longer than the settings allow, and where none counts.
        """
        asked = self.settings.check_question(question)
        clock = _Clock()
        self.store.refresh()
        if where is not None:
            return self.narrowed(where).ask(question, history, refuse_below)
        with clock("understand"):
            courteous = is_courtesy(self.kinds.chances(asked))
            understood = Understood(asked, asked) if courteous else self._understand(asked, history)
            chances = self.kinds.chances(understood.said)
        with clock("retrieve"):
            found = [] if courteous else self.retriever.retrieve_passages(understood.question, understood.focus)
            passages = [passage for passage in found if passage.reading.abstract.id not in understood.without]
        with clock("answer"):
            reply = self.writers.write(understood, chances, passages, refuse_below)
            answer = self._answer(asked, understood.question, passages, reply)
        return clock.stamp(answer)

    def narrowed(self, where: Where) -> Chain:
        """Return a chain over the abstracts that count only. Raises `InputError` where there is none."""
        ids = self.store.catalog.where(where)
        if not ids and len(self.store):
            raise InputError(f"none of the {len(self.store):,} abstracts fits the filter ({where})")
        chain = Chain(Selection(self.store, ids), self.settings, self)
        chain.about = f"Looked at {len(ids):,} of {len(self.store):,} abstracts only: {where}."
        return chain

    def sibling(self, collection: str) -> Chain:
        """Return a chain over another collection of the same store, with the same encoder and reader.

        Raises `InputError` where there is none of that name.
        """
        place = self.settings.store
        if collection not in collections(place.path):
            raise InputError(
                f"collection {collection!r}: there is none; there are {', '.join(collections(place.path))}"
            )
        moved = place.model_copy(update={"collection": collection})
        settings = self.settings.model_copy(update={"store": moved})
        return Chain(Store.open(place.path, self.store.encoder, collection), settings, self)

    def search(self, text: str, count: int = 10, where: Where | None = None) -> list[Passage]:
        """Return the `count` abstracts nearest to a text, the best first. Raises `InputError` as `ask` does."""
        self.store.refresh()
        if where is not None:
            return self.narrowed(where).search(text, count)
        return self.retriever.passages(self.settings.check_question(text), count)

    def _understand(self, asked: str, history: Sequence[Turn]) -> Understood:
        latest = self.settings.answer.max_history_messages
        turns = [self._still_there(turn) for turn in history[-latest:]] if latest else []
        talk = exchanges(turns, self._find)
        return understand(asked, talk, self._name)

    def _still_there(self, turn: Turn) -> Turn:
        """Return a turn without the abstracts that the store holds no more, or never did."""
        return (
            turn if turn.about is None else replace(turn, about=tuple(one for one in turn.about if one in self.store))
        )

    def _find(self, question: str, said: str, spoken_of: Sequence[str]) -> list[str]:
        """Return the abstract that what was said quotes, or else those nearest to question and answer."""
        for passage in self.retriever.passages(said):
            if any(len(text) > SHORTEST_QUOTE and text in said for text in passage.reading.abstract.texts):
                return [passage.reading.abstract.id]
        return [passage.reading.abstract.id for passage in self.retriever.passages(f"{question} {said}", 3, spoken_of)]

    def _name(self, abstract_id: str) -> str:
        abstract = self.store.abstract(abstract_id)
        first = " ".join(abstract.label.rstrip("…").split()[:NAME_WORDS])
        return method_name(abstract.text) or f"“{first}…”"

    def _notes(self, asked: str, reply: Reply) -> tuple[str, ...]:
        """Return what the reader of an answer or a refusal should know of how it came about."""
        if reply.kind not in ("answer", "refusal"):
            return ()
        where = (self.about,) if self.about else ()
        english = self.store.encoder.settings.model == MINILM and not is_english(asked)
        off = self.reader.model == "off"
        return where + (NOT_ENGLISH,) * english + (READER_OFF,) * off

    def _answer(self, asked: str, standalone: str, passages: Sequence[Passage], reply: Reply) -> Answer:
        notes = self._notes(asked, reply)
        parts = (*reply.parts, *notes)
        statements, citations = cite(reply.evidence)
        return Answer(
            question=asked,
            standalone_question=standalone,
            kind=reply.kind,
            answerable=reply.kind != "refusal",
            text=write_out(parts, reply.form, statements),
            refusal=reply.refusal,
            sentences=tuple(statements),
            citations=tuple(citations),
            retrieved=tuple(Retrieved(p.reading.abstract.id, round(p.score, 6)) for p in passages),
            form=reply.form,
            sides=reply.sides,
            notes=tuple(part for part in parts if isinstance(part, str)) if reply.kind == "answer" else notes,
            dropped=reply.dropped,
            confidence=round(reply.confidence, 4),
            answerer=self.answerer.name,
            reader=self.reader.model,
            model=self.answerer.model,
        )


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
