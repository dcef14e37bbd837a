"""The encoder: the published weights, by two ways that agree, and a clear word when a model is missing."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag.errors import OutsideError
from rag.index import embedding, minilm
from rag.index.encoder import Encoder
from rag.index.minilm import MiniLM
from rag.settings import EncoderSettings


def test_alike_texts_are_near(encoder: Encoder) -> None:
    cat, kitten, tax = encoder.encode(["a cat", "a kitten", "tax law"])
    assert cat @ kitten > 0.6 > 0.3 > cat @ tax
    assert encoder.dimension == 384


def test_it_is_a_llamaindex_embedding(encoder: Encoder) -> None:
    own = embedding.Encoder()
    assert np.allclose(own.get_query_embedding("a cat"), encoder.encode_query("a cat"))
    assert np.allclose(own.get_text_embedding_batch(["a cat", "b"])[0], encoder.encode(["a cat"])[0], atol=1e-5)


@pytest.fixture(scope="module")
def by_pytorch() -> Encoder:
    encoder = Encoder()
    encoder._fast = None
    return encoder


def test_both_ways_give_the_same_vectors(encoder: Encoder, by_pytorch: Encoder) -> None:
    texts = [f"Abstract {n} deals with zebras" + " and lions" * n for n in range(60)]
    alike = (encoder.encode(texts) * by_pytorch.encode(texts)).sum(axis=1)
    assert float(alike.min()) > 0.98  # in int8 here
    assert float(alike.mean()) > 0.99
    assert float(encoder.encode_query("a cat") @ by_pytorch.encode_query("a cat")) > 0.99999
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.count_word_pieces(texts) == by_pytorch.count_word_pieces(texts)


def test_a_text_has_the_same_vector_whatever_is_encoded_beside_it(encoder: Encoder) -> None:
    texts = [f"Zebra {n} has {n} stripes" + " and more" * n for n in range(20)]
    assert (encoder.encode(texts) == np.stack([encoder.encode([text])[0] for text in texts])).all()


def test_long_texts_are_cut_as_the_published_model_cuts_them(encoder: Encoder, by_pytorch: Encoder) -> None:
    long = "zebra " * 400
    assert float(encoder.encode_query(long) @ by_pytorch.encode_query(long)) > 0.9999
    assert float(encoder.encode([long])[0] @ by_pytorch.encode([long])[0]) > 0.97


def test_a_question_needs_no_pytorch() -> None:
    code = (
        "import sys; from rag.index.encoder import Encoder; Encoder().encode_query('a cat'); "
        "sys.exit('torch' in sys.modules or 'llama_index' in sys.modules)"
    )
    Encoder().encode_query("the network is exported")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_a_cache_pytorch_does_it(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(minilm, "user_cache_path", lambda _: tmp_path / "file")
    assert float(Encoder().encode_query("a cat") @ encoder.encode_query("a cat")) > 0.9999
    assert "goes by PyTorch" in caplog.text


def test_a_damaged_export_is_made_anew(encoder: Encoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(minilm, "user_cache_path", lambda _: tmp_path)
    first = MiniLM()
    assert first.load()
    file = next(tmp_path.glob("*-2.onnx"))
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    again = MiniLM()
    assert again.load()
    assert (again.encode(["a cat"]) == encoder.encode(["a cat"])).all()
    assert file.stat().st_size == len(whole)


def test_word_pieces_are_counted(encoder: Encoder) -> None:
    assert encoder.count_word_pieces(["a cat", "", "unbelievableness"]) == [2, 0, 2]
    assert encoder.count_word_pieces([]) == []


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match=r"encoder '.*nowhere' cannot be loaded"):
        Encoder(EncoderSettings(model=str(tmp_path / "nowhere"))).load()


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MINILM_SHA256", "0" * 64)
    monkeypatch.setattr(minilm, "minilm_folder", minilm.minilm_folder.__wrapped__)
    with pytest.raises(OutsideError, match=r"SHA-256 is 53aa51172d142c89"):
        minilm.minilm_folder()
