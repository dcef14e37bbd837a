"""A conversation as the page keeps it, over the real chain."""

from __future__ import annotations

from typing import Any

import pytest

from rag.chain.chain import Chain
from rag.errors import OutsideError
from rag.records import Answer, Turn
from ui import chat, sources
from ui.scope import Scope

BITS = "How many bits per parameter do GPT-style models memorise?"


def last(chain: Chain, question: str, conversation: chat.Conversation = ()) -> tuple[Any, Any, Any, chat.Conversation]:
    return list(chat.converse(lambda: Scope(chain, None), question, conversation))[-1]


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "PAUSE_SECONDS", 0)


def test_question_is_shown_at_once_and_the_box_is_emptied(chain: Chain) -> None:
    box, messages, _, conversation = next(chat.converse(lambda: Scope(chain, None), BITS, ()))
    assert box == ""
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert BITS in messages[0]["content"]
    assert "waiting" in messages[1]["content"]
    assert conversation == ()


def test_answer_comes_with_its_sources(chain: Chain) -> None:
    shown = list(chat.converse(lambda: Scope(chain, None), BITS, ()))
    assert "3.6 bits per parameter" in shown[-1][1][1]["content"]
    assert 'id="s-1-1-0"' in shown[1][2]
    (exchange,) = shown[-1][3]
    assert exchange.said is not None
    assert "[1]" in exchange.said


def test_next_question_stands_on_the_conversation(chain: Chain) -> None:
    first = last(chain, "What is d3LLM?")[3]
    _, messages, panel, conversation = last(chain, "How much faster is it?", first)
    assert "Understood as: " in messages[3]["content"]
    assert len(conversation) == 2
    newer, older = panel.split("\n\n")
    assert 'id="c-2-1"' in newer
    assert 'id="c-1-1"' in older


@pytest.mark.parametrize(
    ("question", "message"),
    [("  ", "The question is empty."), ("x" * 20_000, "The question has 20,000 characters; at most 4,000 are taken.")],
)
def test_question_that_cannot_be_asked_goes_back_to_the_box(chain: Chain, question: str, message: str) -> None:
    before = last(chain, "What is d3LLM?")[3]
    box, messages, _, conversation = last(chain, question, before)
    assert box == question
    assert f"<p>{message}</p>" in messages[3]["content"]
    assert len(messages[2]["content"]) < 500
    assert conversation[0] == before[0]
    assert chat.history(conversation) == chat.history(before)


class Broken:
    """A chain that fails as a fault of ours, or of the machine's, would."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def ask(self, question: str, history: list[Turn], where: object = None) -> Answer:
        raise self.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OutsideError("store: the disk is full"), "Store: the disk is full."),
        (ZeroDivisionError("secret"), "Something went wrong here; the server's terminal says what."),
    ],
)
def test_failure_becomes_a_message(error: Exception, message: str, caplog: pytest.LogCaptureFixture) -> None:
    broken: Any = Broken(error)
    box, messages, _, _ = last(broken, "Why?")
    assert box == "Why?"
    assert messages[1]["content"].replace("&#x27;", "'").endswith(f"<p>{message}</p></div>")
    assert ("secret" in caplog.text) == isinstance(error, ZeroDivisionError)


def test_examples_are_answered_by_the_seeds(chain: Chain) -> None:
    for example in chat.EXAMPLES:
        assert chain.ask(example).kind == "answer", example


def test_panel_without_sources_says_what_it_is_for() -> None:
    assert sources.content(["", ""]) == sources.EMPTY
