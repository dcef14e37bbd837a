"""Languages of questions."""

import pytest

from rag.dialogue.language import is_english


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Bits pro Parameter merken sich Modelle wie GPT?",
        "Combien de bits par paramètre les modèles GPT mémorisent-ils ?",
        "¿Cuántos bits por parámetro memorizan los modelos GPT?",
        "Quantos bits por parâmetro são memorizados por um modelo?",
        "Quanti bit per parametro memorizzano i modelli, e come si misura?",
        "Hoeveel bits onthoudt een model van het type GPT?",
        "Ile bitów na parametr jest w modelu i jak to zmierzono?",
        "GPT模型每个参数记忆多少比特？",
        "Сколько бит на параметр запоминают модели?",
        "モデルはパラメータごとに何ビット記憶しますか？",
    ],
)
def test_other_languages_are_told(question: str) -> None:
    assert not is_english(question)


@pytest.mark.parametrize(
    "question",
    [
        "How many bits per parameter do GPT models memorise?",
        "bits per parameter, GPT",
        "what about La Liga and El Niño forecasts?",
        "de novo protein design en masse",
        "α-divergence for β > 0?",
        "",
        "?",
        "$\\theta_{ij}$",
        "PAPO",
    ],
)
def test_english_is_english(question: str) -> None:
    assert is_english(question)
