"""The chat: one conversation, kept a session; each turn is asked, answered and shown a sentence at a time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from rag.errors import AskAbstractsError
from rag.records import Answer, Turn
from ui import cards, render, sentences, sources
from ui.scope import Scope

EXAMPLES = (
    "How many bits per parameter do GPT-style models memorise?",
    "How much faster is d3LLM than autoregressive models?",
    "How much accuracy does PAPO add on MiniImageNet?",
    "At what sparsity does MACKO-SpMV beat dense inference?",
)
"""Questions that the seeds answer, to be clicked."""

PAUSE_SECONDS = 0.06
"""Between two sentences, so that the eye can follow."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn as the page shows it: HTML of question, reply and sources; `said` is the reply's text, if it has one."""

    asked: str
    question: str
    reply: str
    sources: str = ""
    said: str | None = None
    answer: Answer | None = None


Conversation = tuple[Exchange, ...]
Asking = Callable[[], Scope]
"""Returns what is asked; what is wrong with it is shown as the reply."""

Shown = tuple[Any, list[dict[str, str]], Any, Conversation]
"""What an event sets: the question box, the chat's messages, the sources, the conversation."""


def build(count: int) -> gr.Chatbot:
    """Build the chat over a store of `count` abstracts. It shows HTML of ours, sanitised again, and no Markdown."""
    return gr.Chatbot(
        elem_id="chat",
        show_label=False,
        container=False,
        layout="panel",
        buttons=[],
        feedback_options=("Like", "Dislike"),
        render_markdown=False,
        allow_tags=False,
        latex_delimiters=[],
        label="Conversation",
        height="100%",
        **_greeting(count),
    )


def greet(count: int) -> Any:
    """Return the update that fits an empty conversation to a store of `count` abstracts."""
    return gr.update(**_greeting(count))


def _greeting(count: int) -> dict[str, Any]:
    examples = [{"text": example} for example in EXAMPLES] if count else []
    return {"placeholder": render.welcome(count), "examples": examples}


def converse(asking: Asking, question: str, conversation: Conversation) -> Iterator[Shown]:
    """Ask and yield what to show: at once the question, then the reply as it grows.

    The box keeps a question that could not be asked, and the conversation keeps every turn.
    """
    turn = len(conversation) + 1
    exchange = Exchange(question, render.question(question), render.waiting())
    yield "", messages((*conversation, exchange)), gr.skip(), conversation
    try:
        chain, where = asking()
        answer = chain.ask(question, history(conversation), where=where)
        steps = list(render.reply(turn, answer, chain.store.abstract))
        exchange = replace(exchange, sources=cards.sources(turn, answer, chain.store.abstract), said=answer.text)
        exchange = replace(exchange, answer=answer)
    except AskAbstractsError as error:
        yield from _failed(exchange, conversation, str(error))
        return
    except Exception:
        _log.exception("a question could not be answered")
        yield from _failed(exchange, conversation, "something went wrong here; the server's terminal says what")
        return
    panel = sources.content([*(before.sources for before in conversation), exchange.sources])
    for number, step in enumerate(steps):
        shown = (*conversation, replace(exchange, reply=step))
        yield gr.skip(), messages(shown), gr.skip() if number else panel, shown
        if step is not steps[-1]:
            time.sleep(PAUSE_SECONDS)


def _failed(exchange: Exchange, conversation: Conversation, message: str) -> Iterator[Shown]:
    short = render.question(sentences.clip(exchange.asked))  # the box keeps all of it
    shown = (*conversation, replace(exchange, question=short, reply=render.problem(message)))
    yield exchange.asked, messages(shown), gr.skip(), shown


def messages(conversation: Conversation) -> list[dict[str, str]]:
    """Return the conversation as the chat component takes it."""
    return [
        message
        for exchange in conversation
        for message in (
            {"role": "user", "content": exchange.question},
            {"role": "assistant", "content": exchange.reply},
        )
    ]


def history(conversation: Sequence[Exchange]) -> list[Turn]:
    """Return the turns that were answered, the oldest first, as the chain takes them."""
    return [turn for exchange in conversation if exchange.answer is not None for turn in exchange.answer.turns]
