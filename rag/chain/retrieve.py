"""Find the abstracts: dense and BM25 candidates, fused by reciprocal ranks. A LlamaIndex retriever."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rag.corpus.markup import plain
from rag.index.ingest import mean_direction
from rag.index.store import Reading, Store
from rag.reader.passage import Passage
from rag.settings import RetrieverSettings


@dataclass
class Focused(QueryBundle):
    """A question for the retriever that points back to some abstracts."""

    focus: tuple[str, ...] = ()


class HybridRetriever(BaseRetriever):
    """Returns the `settings.abstracts` best abstracts as nodes with the id, text, label and source of each."""

    def __init__(self, store: Store, settings: RetrieverSettings | None = None, **options: Any) -> None:
        self.store = store
        self.settings = settings or RetrieverSettings()
        super().__init__(**options)

    def retrieve_passages(self, text: str, focus: tuple[str, ...] = ()) -> list[Passage]:
        """Retrieve through LlamaIndex, so that its tracing sees it, and return the nodes as passages."""
        return [
            Passage(self.store.read(node.node_id), node.score or 0.0, node.metadata["closeness"])
            for node in self.retrieve(Focused(text, focus=focus))
        ]

    def passages(self, text: str, count: int | None = None, focus: Sequence[str] = ()) -> list[Passage]:
        """Return up to `count` abstracts, the best first; none from an empty store.

        Dense candidates come from the chunks nearest to the question; each is then judged by `closeness`. Those of
        `focus`, which the question points back to, are candidates in any case, and a ranking of their own.
        """
        count = count or self.settings.abstracts
        candidates = max(self.settings.candidates, count)
        vector = self.store.encoder.encode_query(plain(text))
        mode = self.settings.mode
        near = self.store.nearest(vector, candidates) if mode != "bm25" else []
        matching = [i for i, _ in self.store.matching(text, candidates)] if mode != "dense" else []
        readings = self._read(dict.fromkeys([*focus, *(i for i, _ in near), *matching]))
        closeness = {reading.abstract.id: _closeness(reading, vector) for reading in readings}
        dense = sorted(closeness, key=lambda abstract_id: -closeness[abstract_id]) if near else []
        rankings = [dense, [i for i in matching if i in closeness], *([i] for i in focus if i in closeness)]
        fused = reciprocal_rank_fusion(rankings, self.settings.rrf_k)
        by_id = {reading.abstract.id: reading for reading in readings}
        kept = one_of_each(fused, self.store.group)[:count]
        return [Passage(by_id[i], fused[i], closeness[i]) for i in kept]

    def closeness(self, text: str, passages: Sequence[Passage]) -> list[float]:
        """Return how close each passage is to another text than the one that it was found for."""
        vector = self.store.encoder.encode_query(plain(text))
        return [_closeness(passage.reading, vector) for passage in passages]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        focus = query_bundle.focus if isinstance(query_bundle, Focused) else ()
        return [to_node(passage) for passage in self.passages(query_bundle.query_str, focus=focus)]

    def _read(self, ids: Iterable[str]) -> list[Reading]:
        readings = []
        for abstract_id in ids:
            try:
                readings.append(self.store.read(abstract_id))
            except KeyError:  # left behind in the index by a writer that was killed: it is no abstract yet
                continue
        return readings


def one_of_each(ids: Iterable[str], group: Callable[[str], frozenset[str]]) -> list[str]:
    """Return `ids` in their order, of each group of near-duplicates only the first."""
    seen: set[str] = set()
    kept = []
    for one in ids:
        if one not in seen:
            kept.append(one)
            seen |= group(one)
    return kept


def to_node(passage: Passage) -> NodeWithScore:
    """Return the passage as LlamaIndex knows it; the node's id is the abstract's."""
    abstract = passage.reading.abstract
    metadata = {"label": abstract.label, "source": abstract.sources[0], "closeness": passage.closeness}
    return NodeWithScore(node=TextNode(id_=abstract.id, text=abstract.text, metadata=metadata), score=passage.score)


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], k: int) -> dict[str, float]:
    """Return id -> sum of 1 / (k + rank) over the rankings that hold it, the highest first.

    Cormack, Clarke and Büttcher, SIGIR 2009; ranks count from 1.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _closeness(reading: Reading, vector: Any) -> float:
    """The best sentence's cosine plus the whole abstract's: the one finds the fact, the other the topic."""
    vectors = reading.all_vectors
    return float((vectors @ vector).max() + mean_direction(vectors) @ vector)
