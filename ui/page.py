"""The page: chat and sources side by side, the collection in a tab of its own, and `/ask` for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gradio as gr

from rag.settings import Settings
from ui import api, chat, collection, sources

if TYPE_CHECKING:
    from rag.chain.chain import Chain

TITLE = "askabstracts"


def build_page(chain: Chain, settings: Settings) -> gr.Blocks:
    """Build the page. The conversation lives in the session's state, on the server, and nowhere else."""
    stock = collection.Collection(chain.store)
    with gr.Blocks(title=TITLE, fill_width=True, fill_height=True, analytics_enabled=False) as page:
        with gr.Row(elem_id="top"):
            gr.Markdown(f"<h1>{TITLE}</h1>", latex_delimiters=[], elem_id="name")
            summary = gr.Markdown(stock.summary(), latex_delimiters=[], elem_id="summary")
        with gr.Tabs(elem_id="rooms"):
            with gr.Tab("Ask"):
                _ask_room(chain)
            with gr.Tab("Collection") as tab:
                _collection_room(stock, tab)
        page.load(stock.summary, None, summary, api_visibility="private")
        gr.api(api.ask_with(chain), api_name="ask")
    page.queue(max_size=settings.server.max_queue, default_concurrency_limit=settings.server.concurrency)
    return page


def _ask_room(chain: Chain) -> None:
    conversation = gr.State(())
    with gr.Row(elem_id="desk"):
        with gr.Column(scale=6, min_width=300, elem_id="talk"):
            messages = chat.build(len(chain.store))
            with gr.Row(elem_id="ask"):
                box = gr.Textbox(
                    placeholder="Ask the abstracts…", show_label=False, label="Question", container=False, lines=1,
                    max_lines=6, autofocus=True, submit_btn="Ask", elem_id="box", scale=8,
                )  # fmt: skip
                clear = gr.Button("Clear", elem_id="clear", scale=0, min_width=80)
        with gr.Column(scale=5, min_width=300, elem_id="side"):
            panel = sources.build()

    def ask(question: str, turns: chat.Conversation) -> Iterator[chat.Shown]:
        yield from chat.converse(chain, question, turns)

    def ask_example(turns: chat.Conversation, event: gr.SelectData) -> Iterator[chat.Shown]:
        yield from chat.converse(chain, event.value["text"], turns)

    shown: list[Any] = [box, messages, panel, conversation]
    asked = box.submit(ask, [box, conversation], shown, show_progress="hidden", api_visibility="private")
    picked = messages.example_select(ask_example, conversation, shown, show_progress="hidden", api_visibility="private")
    clear.click(lambda: ("", [], sources.EMPTY, ()), None, shown, cancels=[asked, picked], api_visibility="private", queue=False)


def _collection_room(stock: collection.Collection, tab: gr.Tab) -> None:
    panel = collection.build()
    shown: list[Any] = [panel.files, panel.shelf, panel.page, panel.earlier, panel.later]
    tab.select(stock.show, panel.page, shown, api_visibility="private")
    panel.earlier.click(lambda page: stock.show(page - 1), panel.page, shown, api_visibility="private")
    panel.later.click(lambda page: stock.show(page + 1), panel.page, shown, api_visibility="private")
