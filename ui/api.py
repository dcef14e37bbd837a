"""The endpoint for scripts: `client.predict(question, history, api_name="/ask")` gives the answer object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import gradio as gr

from rag.errors import AskAbstractsError, InputError
from rag.records import Turn
from ui.scope import Scopes

Ask = Callable[..., dict[str, Any]]


def ask_with(scopes: Scopes) -> Ask:
    """Return the endpoint's function over the store's collections."""

    def ask(
        question: str,
        history: list[dict[str, str]] | None = None,
        collection: str | None = None,
        where: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Answer a question about the abstracts.

        `history` holds the conversation before it, the oldest message first: `{"role": "user", "content": "…"}`,
        with the role "user" or "assistant". `collection` names one of the store's; `where` narrows it:
        `{"year": "2019-2021", "venue": "ICML", "author": "Lovelace", "source": "pubmed.xml"}`. Returns the answer
        object: its text with markers, its sentences with their citations, and for each citation the exact spans of
        the abstract.
        """
        try:
            chain, chosen = scopes.scope(_name(collection), _filters(where))
            return chain.ask(_question(question), turns(history), where=chosen).as_dict()
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


def _name(collection: object) -> str | None:
    if collection is not None and not isinstance(collection, str):
        raise InputError("collection: expected a name")
    return collection


def _filters(where: object) -> dict[str, Any]:
    if where is not None and not isinstance(where, dict):
        raise InputError('where: expected {"year": …, "venue": …, "author": …, "source": …}')
    return where or {}


def _question(question: object) -> str:
    if not isinstance(question, str):
        raise InputError("the question is no text")
    return question
