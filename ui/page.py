"""The page: chat and sources side by side, the collection in a tab of its own, and `/ask` for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.events import api as add_endpoint

from rag.settings import Settings
from ui import api, chat, collection, feedback, scope, sources
from ui.scope import Scopes

if TYPE_CHECKING:
    from rag.chain.chain import Chain

TITLE = "askabstracts"


def build_page(chain: Chain, settings: Settings) -> gr.Blocks:
    """Build the page. The conversation lives in the session's state, on the server, and nowhere else."""
    scopes = Scopes(chain)
    stock = collection.Shelves(scopes)
    page: gr.Blocks
    with gr.Blocks(title=TITLE, fill_width=True, fill_height=True, analytics_enabled=False) as page:
        with gr.Row(elem_id="top"):
            gr.Markdown(f"<h1>{TITLE}</h1>", latex_delimiters=[], elem_id="name")
            summary = gr.Markdown(stock.of(None).summary(), latex_delimiters=[], elem_id="summary")
        with gr.Tabs(elem_id="rooms"):
            with gr.Tab("Ask"):
                messages, chosen = _ask_room(scopes)
            with gr.Tab("Collection") as tab:
                _collection_room(stock, tab, chosen)

        def greet(name: str | None) -> tuple[str, Any]:
            shelf = stock.of(name)
            return shelf.summary(), chat.greet(len(shelf.abstracts()))

        gr.on([page.load, chosen.change], greet, chosen, [summary, messages], api_visibility="private")
        page.load(
            lambda: gr.update(choices=scopes.names(), visible=len(scopes.names()) > 1),
            outputs=chosen,
            api_visibility="private",
        )
        add_endpoint(api.ask_with(scopes), api_name="ask")
    page.queue(max_size=settings.server.max_queue, default_concurrency_limit=settings.server.concurrency)
    return page


def _ask_room(scopes: Scopes) -> tuple[gr.Chatbot, gr.Dropdown]:
    chain = scopes.first
    conversation = gr.State(())
    with gr.Row(elem_id="desk"):
        with gr.Column(scale=6, min_width=300, elem_id="talk"):
            messages = chat.build(len(chain.store))
            feedback.build(messages, conversation, chain.store.path / feedback.FILE)
            with gr.Row(elem_id="ask"):
                box = gr.Textbox(
                    placeholder="Ask the abstracts…", show_label=False, label="Question", container=False, lines=1,
                    max_lines=6, autofocus=True, submit_btn="Ask", elem_id="box", scale=8,
                )  # fmt: skip
                clear = gr.Button("Clear", elem_id="clear", scale=0, min_width=80)
            which = scope.build(scopes)
        with gr.Column(scale=5, min_width=300, elem_id="side"):
            panel = sources.build()

    def on_submit(question: str, turns: chat.Conversation, *chosen: str) -> Iterator[chat.Shown]:
        yield from chat.converse(partial(scope.given, scopes, *chosen), question, turns)

    def on_example(turns: chat.Conversation, event: gr.SelectData, *chosen: str) -> Iterator[chat.Shown]:
        for _, *shown in chat.converse(partial(scope.given, scopes, *chosen), event.value["text"], turns):
            yield gr.skip(), *shown  # what was typed before stays in the box

    def on_clear() -> chat.Shown:
        return "", [], sources.EMPTY, ()

    shown: list[Any] = [box, messages, panel, conversation]
    quiet: dict[str, Any] = {"outputs": shown, "show_progress": "hidden", "api_visibility": "private"}
    asked = box.submit(on_submit, [box, conversation, *which], **quiet)
    picked = messages.example_select(on_example, [conversation, *which], **quiet)
    clear.click(on_clear, None, cancels=[asked, picked], queue=False, **quiet)
    return messages, which.collection


def _collection_room(stock: collection.Shelves, tab: gr.Tab, chosen: gr.Dropdown) -> None:
    panel = collection.build()
    events: list[tuple[Any, int]] = [(tab.select, 0), (panel.earlier.click, -1), (panel.later.click, 1)]
    for event, step in events:
        event(
            partial(_turn_page, stock, step),
            [panel.page, chosen],
            list(panel),
            api_visibility="private",
            show_progress="hidden",
        )


def _turn_page(stock: collection.Shelves, step: int, page: int, name: str | None) -> tuple[str, int, Any, Any]:
    return stock.of(name).show(page + step)
