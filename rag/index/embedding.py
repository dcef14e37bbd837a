"""The encoder as a LlamaIndex embedding, for pipelines of LlamaIndex's own."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag.index import encoder
from rag.settings import EncoderSettings


class Encoder(BaseEmbedding):
    """Gives unit vectors of texts and questions as lists of numbers."""

    _encoder: encoder.Encoder = PrivateAttr()

    def __init__(self, settings: EncoderSettings | None = None, **fields: Any) -> None:
        settings = settings or EncoderSettings()
        super().__init__(model_name=settings.model, embed_batch_size=settings.batch_size, **fields)
        self._encoder = encoder.Encoder(settings)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex lists it."""
        return "AskAbstractsEncoder"

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(number) for number in self._encoder.encode_query(query)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in vector] for vector in self._encoder.encode(texts)]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
