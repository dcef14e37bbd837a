"""The reader: which sentences of the passages answer the question, and whether any does.

Three kinds. `transformer` reads the question and each abstract together, and adds its logits to what `linear` says;
`linear` looks at similarities, rare words in common, and what a sentence offers; `off` goes by similarity alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag.corpus.labels import coined_names
from rag.corpus.markup import plain
from rag.reader.columns import SENTENCE, Judged, feature_columns, fused_columns, pick, softmax
from rag.reader.features import Rarity
from rag.reader.passage import Passage
from rag.reader.question import Question
from rag.reader.transformer import Transformer
from rag.reader.weights import Weights, shipped_weights
from rag.records import Abstract, Evidence
from rag.settings import ReaderSettings

PRESENT = 0.5
"""With less belief that the abstract asked about is there, a refusal says that nothing near was found."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Evidence, the strongest first (scores add up to 1), the probability that it answers, and whether it is near."""

    evidence: tuple[Evidence, ...]
    confidence: float
    near: bool


def _names(question: Question, abstract: Abstract) -> bool:
    """Tell whether a question names something that an abstract names too, in the way that only names are spelled."""
    return not set(coined_names(plain(question.text))).isdisjoint(coined_names(plain(abstract.text)))


class Reader:
    """Scores every sentence of the passages as evidence."""

    def __init__(
        self, rarity: Callable[[], Rarity], settings: ReaderSettings | None = None, like: Reader | None = None
    ) -> None:
        """Set up a reader over an index's rarity of words; `like` another, it shares what that one has loaded."""
        settings = settings or ReaderSettings()
        self.rarity = rarity
        self.model = settings.model
        own = Transformer(settings.threads) if settings.model == "transformer" and like is None else None
        self.transformer: Transformer | None = like.transformer if like else own
        self.weights: Weights = shipped_weights(settings.model)

    def load(self) -> None:
        """Load what reading needs. Raises `OutsideError` where it cannot be had."""
        if self.transformer:
            self.transformer.load()

    def read(self, question: Question, passages: Sequence[Passage], meant: Sequence[str] = ()) -> Findings:
        """Return the sentences of all passages by how well they answer. No passages, no evidence.

        Where the best one is of an abstract that is known to be meant, by its id, that it is there is not in doubt.
        """
        if not passages:
            return Findings((), 0.0, near=False)
        judged = self.judge(question, passages)
        shares = softmax(judged.scores)
        columns = judged.findings_columns(self.rarity())
        sentences = [(p.reading.abstract, i) for p in passages for i in range(len(p.reading.abstract.sentences))]
        order = [int(place) for place in np.argsort(-judged.scores, kind="stable")]
        evidence = tuple(Evidence(*sentences[place], float(shares[place])) for place in order)
        near = bool(self.weights.present.chance(columns) >= PRESENT) or _names(question, evidence[0].abstract)
        if evidence[0].abstract.id in meant:
            return Findings(evidence, float(self.weights.says.chance(columns)), near=True)
        return Findings(evidence, float(self.weights.confidence(columns)), near)

    def judge(self, question: Question, passages: Sequence[Passage]) -> Judged:
        """Score the sentences of the passages, of which there is at least one."""
        features = feature_columns(question, passages, self.rarity())
        if self.transformer is None:
            return Judged(question, passages, features, self.weights.sentence(pick(features, SENTENCE[self.model])))
        linear = shipped_weights("linear").sentence(features)
        read = self.transformer.read(question.text, [passage.reading.abstract for passage in passages])
        scores = self.weights.sentence(fused_columns(features, linear, read))
        return Judged(question, passages, features, scores, read)
