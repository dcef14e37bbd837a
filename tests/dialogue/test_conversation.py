"""Follow-ups: what stands alone is left alone, what points back gets what it points to."""

import pytest

from rag.dialogue.conversation import Understood, split_questions, understand
from rag.dialogue.pointers import depends
from rag.dialogue.talk import Exchange, exchanges, items
from rag.records import Turn

NAMES = {"foo": "FooBar", "baz": "BazNet", "qux": "QuxSort"}
ONE = [Exchange("How fast is sorting?", "FooBar sorts a million keys in 3 ms. [1]", ("foo",))]
TWO = [*ONE, Exchange("And which are stable?", "FooBar is. [1] BazNet is. [2]", ("foo", "baz"))]
BACK = [*TWO, Exchange("What is QuxSort?", "QuxSort sorts strings. [1]", ("qux",))]


def meant(question: str, talk: list[Exchange]) -> Understood:
    return understand(question, talk, NAMES.__getitem__)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How is it trained?", "How is FooBar trained?"),
        ("what is its complexity?", "what is FooBar's complexity?"),
        ("what about strings", "How fast is sorting? what about strings (FooBar)"),
        ("Does the method use memory?", "Does FooBar use memory?"),
        ("why?", "How fast is sorting? why? (FooBar)"),
        ("How does BazNet pick its learning rate?", "How does BazNet pick its learning rate?"),
        ("Which tasks is penguin tracking used for?", "Which tasks is penguin tracking used for?"),
        ("Different question: how does it rain?", "how does it rain?"),
        ("Unrelated - what is BazNet?", "what is BazNet?"),
    ],
)
def test_a_question_is_made_to_stand_alone(question: str, expected: str) -> None:
    assert meant(question, ONE).question == expected


def test_without_a_conversation_a_question_is_left_as_it_is() -> None:
    assert meant("How is it trained?", []) == Understood("How is it trained?", "How is it trained?")


@pytest.mark.parametrize(
    ("question", "talk", "focus"),
    [
        ("Does the second one need memory?", TWO, ("baz",)),
        ("Does the first one need memory?", BACK, ("foo",)),
        ("What does [2] need?", TWO, ("baz",)),
        ("How large is paper 2?", BACK, ("baz",)),
        ("Is the latter stable?", TWO, ("baz",)),
        ("And the other one?", TWO, ("baz",)),
        ("Do both need memory?", TWO, ("foo", "baz")),
        ("How fast is it?", BACK, ("qux",)),
        ("How much memory does sorting a million strings with radix sort need?", BACK, ()),
        ("New topic: how fast is it?", BACK, ()),
        ("How many abstracts are in this collection?", TWO, ()),
        ("Which of these is stable?", TWO, ("foo", "baz")),
        ("Which file is it in?", TWO, ("foo",)),
        ("Is the code out?", BACK, ("qux",)),
        ("Where is the code of BazNet?", BACK, ()),
        ("What else deals with sorting in parallel?", BACK, ()),
    ],
)
def test_what_a_question_points_back_to(question: str, talk: list[Exchange], focus: tuple[str, ...]) -> None:
    assert meant(question, talk).focus == focus


@pytest.mark.parametrize(
    "words", ["no, I meant", "Wrong one, sorry - I was after", "not that one. I was looking for", "sorry, I wanted"]
)
def test_a_correction_asks_the_question_before_again_without_its_paper(words: str) -> None:
    understood = meant(f"{words} the one for strings", ONE)
    assert understood.question == "How fast is sorting? the one for strings"
    assert understood.without == ("foo",)


@pytest.mark.parametrize(
    ("question", "points_back"),
    [
        ("What do the authors conclude?", True),
        ("and for images?", True),
        ("on the constrained one?", True),
        ("savings in cost and memory?", True),
        ("Which papers use pruning?", False),
        ("gradient noise in federated learning of small models", False),
        ("Is that better than before?", True),
        ("Do experiments show that pruning helps?", False),
        ("How does the method of Smith work?", False),
        ("What is pruning good for?", False),
    ],
)
def test_depends(question: str, points_back: bool) -> None:
    assert depends(question) is points_back


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("How fast is FooBar on strings? And how large is BazNet then?",
         ["How fast is FooBar on strings?", "how large is BazNet then?"]),
        ("How fast is FooBar, and what does BazNet cost?", ["How fast is FooBar", "what does BazNet cost?"]),
        ("How fast and stable is FooBar?", ["How fast and stable is FooBar?"]),
        ("Why? And how fast is FooBar?", ["Why? And how fast is FooBar?"]),
    ],
)  # fmt: skip
def test_several_questions(message: str, questions: list[str]) -> None:
    assert split_questions(message) == questions


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("FooBar sorts keys. [1] BazNet sorts strings. [2] FooBar is small. [1]", 2),
        ("Two papers do it:\n- FooBar sorts keys in place\n- BazNet sorts strings by radix", 2),
        ("FooBar sorts keys in place; BazNet sorts strings by radix.", 2),
        ("FooBar sorts keys. It is fast.", 1),
    ],
)
def test_the_parts_of_an_answer(answer: str, parts: int) -> None:
    assert len(items(answer)) == parts


def test_an_exchange_names_the_paper_of_each_part() -> None:
    history = [
        Turn("assistant", "Hello."),
        Turn("user", "Which sort fast?"),
        Turn("assistant", "FooBar sorts keys. [1] BazNet sorts strings. [2]"),
        Turn("user", "never answered"),
    ]
    found = exchanges(history, lambda _, part, __: ["baz" if "BazNet" in part else "foo"])
    assert found == [Exchange("Which sort fast?", history[2].content, ("foo", "baz"))]


def test_a_turn_that_knows_its_papers_is_believed() -> None:
    history = [Turn("user", "Hello?"), Turn("assistant", "Hello.", ())]
    found = exchanges(history, lambda *_: pytest.fail("nothing to look up"))
    assert found == [Exchange("Hello?", "Hello.", ())]
