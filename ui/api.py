"""The endpoint for scripts: `client.predict(question, history, api_name="/ask")` gives the answer object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import gradio as gr

from rag.errors import AskAbstractsError, InputError
from rag.records import Turn

if TYPE_CHECKING:
    from rag.chain.chain import Chain

Ask = Callable[[str, list[dict[str, str]] | None], dict[str, Any]]


def ask_with(chain: Chain) -> Ask:
    """Return the endpoint's function over `chain`."""

    def ask(question: str, history: list[dict[str, str]] | None = None) -> dict[str, Any]:
        """Answer a question about the abstracts.

        `history` holds the conversation before it, the oldest message first: `{"role": "user", "content": "…"}`,
        with the role "user" or "assistant". Returns the answer object: its text with markers, its sentences with
        their citations, and for each citation the exact spans of the abstract.
        """
        try:
            return chain.ask(_question(question), turns(history)).as_dict()
        except AskAbstractsError as error:
            raise gr.Error(str(error), print_exception=False) from error

    return ask


def turns(history: object) -> list[Turn]:
    """Check a history that came from outside. Raises `InputError` that names the message."""
    if history is None:
        return []
    if not isinstance(history, Sequence) or isinstance(history, str):
        raise InputError('history: expected a list of {"role": …, "content": …}')
    return [_turn(number, message) for number, message in enumerate(history, 1)]


def _turn(number: int, message: object) -> Turn:
    role = message.get("role") if isinstance(message, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if role not in ("user", "assistant") or not isinstance(content, str):
        raise InputError(f'history: message {number} is no {{"role": "user" or "assistant", "content": text}}')
    return Turn(cast("Any", role), content)


def _question(question: object) -> str:
    if not isinstance(question, str):
        raise InputError("the question is no text")
    return question
