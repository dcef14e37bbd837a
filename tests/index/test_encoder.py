"""The encoder: the published weights, as a LlamaIndex embedding, and a clear word when a model is missing."""

from pathlib import Path

import numpy as np
import pytest

from rag.errors import OutsideError
from rag.index import encoder as module
from rag.index.encoder import Encoder
from rag.settings import EncoderSettings


def test_alike_texts_are_near(encoder: Encoder) -> None:
    cat, kitten, tax = encoder.encode(["a cat", "a kitten", "tax law"])
    assert cat @ kitten > 0.6 > 0.3 > cat @ tax
    assert encoder.dimension == 384


def test_it_is_a_llamaindex_embedding(encoder: Encoder) -> None:
    assert np.allclose(encoder.get_query_embedding("a cat"), encoder.encode_query("a cat"))
    assert np.allclose(encoder.get_text_embedding_batch(["a cat", "b"])[0], encoder.encode(["a cat"])[0], atol=1e-5)


def test_word_pieces_are_counted(encoder: Encoder) -> None:
    assert encoder.count_word_pieces(["a cat", "", "unbelievableness"]) == [2, 0, 2]
    assert encoder.count_word_pieces([]) == []


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match=r"encoder '.*nowhere' cannot be loaded"):
        Encoder(EncoderSettings(model=str(tmp_path / "nowhere"))).load()


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MINILM_SHA256", "0" * 64)
    monkeypatch.setattr(module, "minilm_folder", module.minilm_folder.__wrapped__)
    with pytest.raises(OutsideError, match=r"SHA-256 is 53aa51172d142c89"):
        Encoder().load()
