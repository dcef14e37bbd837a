"""A gate before Gradio: no files in or out, no large bodies, and headers that keep a page to this server."""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1_000_000

_CLOSED = re.compile(
    r"/gradio_api/(upload|file|proxy|stream|deep_link|process_recording|component_server|vibe|undo-vibe|run-history)"
)
"""Gradio's doors for files, recordings and editing the app: the page has no use for any of them."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; frame-src 'none'; "
        "form-action 'none'; base-uri 'self'; frame-ancestors 'self'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Gate:
    """An ASGI middleware that lets through what the page and its API need."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it on with its body counted and headers set on the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _CLOSED.match(scope["path"]):
            await PlainTextResponse("Files are not taken or given here.", 403)(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            await PlainTextResponse("The request is too large.", 413)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, _limited(receive), send_guarded)


def _limited(receive: Receive) -> Receive:
    """Count a body that comes without a length, and end the connection where it grows past the limit."""
    received = 0

    async def receive_counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        return message if received <= MAX_BODY_BYTES else {"type": "http.disconnect"}

    return receive_counted
