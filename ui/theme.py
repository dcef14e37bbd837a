"""Colours and type. Gradio brings the fonts along: nothing is fetched from a font service.

Of the files in its 6.31 wheel, Source Sans Pro and IBM Plex Mono hold Latin letters in 400 and 700; Source Sans 3,
Lora, Roboto Mono and most others hold none (a subset for another script).
"""

from __future__ import annotations

import gradio as gr
from gradio.themes.utils import colors, sizes
from gradio.themes.utils.fonts import LocalFont


def theme() -> gr.themes.Base:
    """Return the page's theme; style.css goes on from its variables."""
    return gr.themes.Base(
        primary_hue=colors.teal,
        neutral_hue=colors.stone,
        text_size=sizes.text_md,
        radius_size=sizes.radius_sm,
        font=[LocalFont("Source Sans Pro", weights=(400, 700)), "system-ui", "sans-serif"],
        font_mono=[LocalFont("IBM Plex Mono", weights=(400, 700)), "ui-monospace", "monospace"],
    ).set(
        body_background_fill="#faf9f6",
        body_background_fill_dark="#171614",
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_text_color="white",
    )
