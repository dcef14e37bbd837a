"""The classifier of questions, on messages that it was not fitted to."""

import pytest

from rag.dialogue.kinds import KINDS, Kind, Kinds, features
from rag.index.encoder import Encoder


@pytest.fixture(scope="module")
def kinds(encoder: Encoder) -> Kinds:
    return Kinds(encoder)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("How many neurons does the Gorilla-7 network of the second experiment have?", "fact"),
        ("why is pruning unstable at high sparsity", "fact"),
        ("Which papers deal with graph transformers?", "list"),
        ("list everything about protein folding", "list"),
        ("who else works on tabular data?", "list"),
        ("How does ZebraNet differ from LionNet in memory?", "compare"),
        ("KiwiFormer vs PlumFormer: which is faster?", "compare"),
        ("How many abstracts are in here?", "collection"),
        ("are there duplicates in this collection?", "collection"),
        ("which of them link to their code on GitHub?", "collection"),
        ("thanks a lot!", "courtesy"),
        ("hi there", "courtesy"),
        ("what can you do?", "courtesy"),
    ],
)
def test_the_kind_of_a_message(kinds: Kinds, message: str, kind: Kind) -> None:
    chances = kinds.chances(message)
    assert set(chances) == set(KINDS)
    assert sum(chances.values()) == pytest.approx(1)
    assert max(chances, key=lambda one: chances[one]) == kind


def test_names_and_numbers_are_all_the_same() -> None:
    assert features("Does ZebraNet beat LionNet by 5?") == features("Does KiwiNet beat PlumNet by 312?")


@pytest.mark.parametrize("message", ["", "?", "   ", "\x00", "🙂", "数え切れない", "a" * 4000])
def test_odd_messages_have_a_kind_too(kinds: Kinds, message: str) -> None:
    assert sum(kinds.chances(message).values()) == pytest.approx(1)
