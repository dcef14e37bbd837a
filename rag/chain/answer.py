"""From evidence to the sentences of an answer. The extractive answerer says nothing of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms.mock import MockLLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, TextNode

from rag.records import Evidence

ADDS = 0.1
"""A further sentence is worth its length when its share of belief is at least this part of the best one's."""

ENOUGH_WORDS = 100


def choose(evidence: Sequence[Evidence], limit: int) -> list[Evidence]:
    """Return one to `limit` sentences: the best first, then those that say nearly as much, as the abstract has them.

    `evidence` comes with the strongest first. Twice the same sentence (of two near-twin abstracts) is said once.
    """
    if not evidence:
        return []
    best = evidence[0]
    chosen = {best.text: best}
    words = len(best.text.split())
    for further in evidence[1:]:
        words += len(further.text.split())
        if len(chosen) == limit or further.score < ADDS * best.score or words > ENOUGH_WORDS:
            break
        chosen.setdefault(further.text, further)
    rest = [further for further in chosen.values() if further is not best]
    order = {one.abstract.id: place for place, one in reversed(list(enumerate(chosen.values())))}
    return [best, *sorted(rest, key=lambda one: (order[one.abstract.id], one.index))]


class ExtractiveAnswerer(BaseSynthesizer):
    """A LlamaIndex response synthesizer that returns the nodes' sentences, one a line, unchanged."""

    model: str | None = None
    name = "extractive"

    def __init__(self, **options: Any) -> None:
        super().__init__(llm=MockLLM(), **options)

    def get_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> str:
        """Return the sentences, one a line."""
        return "\n".join(text_chunks)

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> str:
        """Return the sentences, one a line."""
        return self.get_response(query_str, text_chunks)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none to update."""


def to_node(evidence: Evidence) -> NodeWithScore:
    """Return a sentence as LlamaIndex knows it: its text, its span in the abstract, the abstract's id and label."""
    start, end = evidence.abstract.sentences[evidence.index]
    node = TextNode(
        id_=f"{evidence.abstract.id}:{start}-{end}",
        text=evidence.text,
        start_char_idx=start,
        end_char_idx=end,
        metadata={"abstract_id": evidence.abstract.id, "label": evidence.abstract.label},
        excluded_llm_metadata_keys=["abstract_id", "label"],
    )
    return NodeWithScore(node=node, score=evidence.score)
