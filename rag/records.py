"""The records that walk through the house: abstracts in, evidence between, answers out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Span = tuple[int, int]
"""Half-open character offsets into an abstract's stored text."""

Form = Literal["prose", "list", "comparison"]
AnswerKind = Literal["answer", "collection", "courtesy", "refusal"]
Refusal = Literal["off_topic", "not_stated", "empty_store"]


@dataclass(frozen=True, slots=True)
class Abstract:
    """One abstract. `text` is stored in normal form: NFC, white space runs collapsed, stripped."""

    id: str
    text: str
    label: str
    sentences: tuple[Span, ...]
    sources: tuple[str, ...]
    heading: str = ""
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    keys: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all sentences, in order."""
        return tuple(self.text[start:end] for start, end in self.sentences)

    def sentence(self, index: int) -> str:
        """Return the text of the sentence at `index`, counted from 0."""
        start, end = self.sentences[index]
        return self.text[start:end]


@dataclass(frozen=True, slots=True)
class Where:
    """Which abstracts count: of the years `first` to `last`, and whose venue, author or source holds a text."""

    first: int | None = None
    last: int | None = None
    venue: str = ""
    author: str = ""
    source: str = ""

    def __str__(self) -> str:
        years = str(self.first or "") if self.first == self.last else f"{self.first or ''}-{self.last or ''}"
        named = (("year", years), ("venue", self.venue), ("author", self.author), ("source", self.source))
        return ", ".join(f"{name} {value}" for name, value in named if value)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole sentences of one abstract: `first` to `last`, exclusive, and where they stand."""

    abstract_id: str
    number: int
    first: int
    last: int
    start: int
    end: int

    @property
    def id(self) -> str:
        """The key in the vector store: `abstract id:number`."""
        return f"{self.abstract_id}:{self.number}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that may answer the question. `score` is the probability (0..1) that it does."""

    abstract: Abstract
    index: int
    score: float

    @property
    def text(self) -> str:
        """The sentence, exactly as it stands in the abstract."""
        return self.abstract.sentence(self.index)


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of an abstract: `abstract.text[start:end] == text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited abstract, under the number that the reader sees."""

    number: int
    abstract_id: str
    label: str
    source: str
    url: str | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the answer, the citations that back it, and how strongly (0..1)."""

    text: str
    citations: tuple[int, ...]
    support: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """An abstract that was looked at, with its retrieval score (higher is nearer)."""

    abstract_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that was not shown, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its name, and the numbers (from 0) of the answer's sentences on it, if any."""

    name: str
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What every door of the product gives: the command line, the page, the API, the evaluation."""

    question: str
    standalone_question: str
    kind: AnswerKind
    answerable: bool
    text: str
    refusal: Refusal | None = None
    sentences: tuple[Statement, ...] = ()
    citations: tuple[Citation, ...] = ()
    retrieved: tuple[Retrieved, ...] = ()
    form: Form = "prose"
    sides: tuple[Side, ...] = ()
    notes: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    confidence: float = 0.0
    answerer: str = "extractive"
    reader: str = "transformer"
    model: str | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)

    @property
    def turns(self) -> tuple[Turn, Turn]:
        """The question and this answer as two turns of a conversation, which the next question may point back to."""
        nearest = self.retrieved[:1] if self.refusal == "not_stated" else ()
        about = tuple(one.abstract_id for one in self.citations or nearest)
        return Turn("user", self.question), Turn("assistant", self.text, about)

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and dicts, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    content: str
    about: tuple[str, ...] | None = None
    """The ids of the abstracts that it names, in its order; where not known, they are found from the content."""
