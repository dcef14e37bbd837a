"""Thumbs under an answer, and a note if one wants: kept beside the store, for `rag eval from-feedback`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import gradio as gr

from rag.evaluation.feedback import MAX_NOTE_CHARACTERS, keep_feedback
from ui.chat import Conversation, history

FILE = "feedback.jsonl"

Thumb = Literal["up", "down"]
Rated = tuple[int, Thumb] | None
"""The turn, counted from 0, that was rated last, and how."""


def build(messages: gr.Chatbot, conversation: gr.State, file: Path) -> None:
    """Add the note's box to the page, and keep in `file` what is thumbed and noted."""
    rated = gr.State(None)
    note = gr.Textbox(
        placeholder="Noted. What was good or bad about it? (optional, Enter sends)",
        label="Note", show_label=False, container=False, visible=False, max_length=MAX_NOTE_CHARACTERS, elem_id="note",
    )  # fmt: skip

    def on_like(turns: Conversation, event: gr.LikeData) -> tuple[Rated, Any]:
        place: Any = event.index
        chosen: Rated = (int(place) // 2, "up" if event.liked else "down")
        kept = keep(file, turns, chosen)
        return (chosen if kept else None), gr.update(visible=kept, value="")

    def on_note(text: str, turns: Conversation, chosen: Rated) -> Any:
        keep(file, turns, chosen, text)
        return gr.update(visible=False, value="")

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    messages.like(on_like, conversation, [rated, note], **quiet)
    note.submit(on_note, [note, conversation, rated], note, **quiet)


def keep(file: Path, turns: Conversation, chosen: Rated, note: str = "") -> bool:
    """Append what was thumbed; tell whether there was an answer to rate."""
    if chosen is None or not 0 <= chosen[0] < len(turns):
        return False
    place, thumb = chosen
    answer = turns[place].answer
    if answer is None:
        return False
    keep_feedback(file, thumb, answer, history(turns[:place]), note)
    return True
