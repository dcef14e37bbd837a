"""The panel beside the chat: the sources of every answer of this conversation, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

EMPTY = '<p class="hint">The abstracts behind an answer appear here, with the cited sentences marked.</p>'


def build() -> gr.Markdown:
    """Build the panel. Gradio's sanitiser looks at its HTML again, as a second wall."""
    gr.Markdown("<h2>Sources</h2>", latex_delimiters=[], elem_classes="heading")
    return gr.Markdown(EMPTY, elem_id="shelf", latex_delimiters=[], container=False)


def content(sections: Sequence[str]) -> str:
    """Return the panel's content. A blank line between turns lets the page keep those that did not change."""
    return "\n\n".join(section for section in reversed(sections) if section) or EMPTY
