"""Follow-ups: what stands alone is left alone, what points back gets what it points to."""

import pytest

from rag.chain.chain import Chain
from rag.chain.conversation import depends, stand_alone
from rag.records import Abstract, Turn

FOOBAR = Abstract(
    "id", "We propose FooBar, a sorting method. FooBar is fast.", "FooBar", ((0, 36), (37, 52)), ("a.txt#1",)
)
HISTORY = [Turn("user", "How fast is sorting?"), Turn("assistant", "FooBar sorts a million keys in 3 ms. [1]")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How is it trained?", "How is it trained (FooBar)?"),
        ("what about strings", "what about strings (How fast is sorting, FooBar)?"),
        ("Does the method use memory?", "Does the method use memory (FooBar)?"),
        ("why?", "why (How fast is sorting, FooBar)?"),
        ("How does BazNet pick its learning rate?", "How does BazNet pick its learning rate?"),
        ("Which tasks is penguin tracking used for?", "Which tasks is penguin tracking used for?"),
        ("Different question: how does it rain?", "how does it rain?"),
        ("Unrelated - what is BazNet?", "what is BazNet?"),
    ],
)
def test_stand_alone(question: str, expected: str) -> None:
    assert stand_alone(question, HISTORY, lambda _: FOOBAR) == expected


def test_without_a_conversation_a_question_is_left_as_it_is() -> None:
    assert stand_alone("How is it trained?", [], lambda _: pytest.fail("nothing to look up")) == "How is it trained?"


def test_the_topic_is_looked_up_in_what_was_said_without_markers() -> None:
    asked: list[str] = []
    stand_alone("How is it trained?", HISTORY, lambda text: asked.append(text))  # type: ignore[func-returns-value]
    assert asked == ["How fast is sorting? FooBar sorts a million keys in 3 ms."]


@pytest.mark.parametrize(
    ("question", "points_back"),
    [
        ("What do the authors conclude?", True),
        ("and for images?", True),
        ("Is that better than before?", True),
        ("Do experiments show that pruning helps?", False),
        ("How does the method of Smith work?", False),
        ("What is pruning good for?", False),
    ],
)
def test_depends(question: str, points_back: bool) -> None:
    assert depends(question) is points_back


def test_a_follow_up_finds_the_paper_of_the_talk(chain: Chain) -> None:
    first = chain.ask("What is SceneSmith?")
    history = [Turn("user", "What is SceneSmith?"), Turn("assistant", first.text)]
    answer = chain.ask("how many participants did its user study have?", history)
    assert "SceneSmith" in answer.standalone_question
    assert "205 participants" in answer.text
