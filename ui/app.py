"""`rag serve`: the page and `/healthz` on one port. Loopback by default, and nothing connects to the outside."""

from __future__ import annotations

import errno
import socket
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from rag.chain.chain import Chain
    from rag.settings import Settings

HERE = Path(__file__).parent
LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
UPLOAD_BYTES = 1
"""Gradio cannot be told to take no uploads, only small ones; the gate closes its door to them as well."""

SHUTDOWN_SECONDS = 2
"""How long open pages may keep the server from stopping: their event streams never end by themselves."""


def serve(settings: Settings, open_browser: bool = False) -> None:
    """Serve the page until Ctrl-C.

    Raises `InputError` for an address that cannot be listened on, before anything heavy is loaded.
    """
    server = settings.server
    with listen(server.host, server.port) as listener:
        import uvicorn

        from rag.chain.chain import Chain

        url = f"http://{_in_url(server.host)}:{listener.getsockname()[1]}"
        print(f"Loading the encoder and the store {settings.store.path} …", flush=True)
        chain = Chain.open(settings)
        config = uvicorn.Config(
            build_app(chain, settings), log_level="warning", timeout_graceful_shutdown=SHUTDOWN_SECONDS
        )
        print(f"{len(chain.store):,} abstracts to ask at {url} (Ctrl-C stops)", flush=True)
        if open_browser:
            webbrowser.open(url)
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            print("\nStopped.")


def build_app(chain: Chain, settings: Settings) -> FastAPI:
    """Return the whole server over an open chain: the page at `/`, its API below it, `/healthz`."""
    import gradio as gr
    from fastapi import FastAPI
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from ui.gate import Gate
    from ui.page import build_page
    from ui.theme import theme

    app = FastAPI(title="askabstracts", docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/healthz")
    def healthz() -> dict[str, str | int]:
        return {"status": "ok", "abstracts": len(chain.store)}

    app.add_middleware(Gate)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=trusted_hosts(settings.server.host), www_redirect=False)
    gr.mount_gradio_app(
        app,
        build_page(chain, settings),
        path="/",
        footer_links=[],
        run_history=False,
        enable_monitoring=False,
        mcp_server=False,
        ssr_mode=False,
        max_file_size=UPLOAD_BYTES,
        theme=theme(),
        css_paths=HERE / "style.css",
        head=f"<script>{(HERE / 'page.js').read_text(encoding='utf-8')}</script>",
    )
    return app


def trusted_hosts(host: str) -> list[str]:
    """Return the names under which the page may be asked for: other sites' names could be pointed at this machine."""
    everywhere = host in ("0.0.0.0", "::", "")
    return sorted({*LOOPBACK, socket.gethostname().lower() if everywhere else host.lower()})


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address; port 0 takes a free one. Raises `InputError` where it cannot."""
    place = f"{_in_url(host)}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except OSError as error:
        raise InputError(f"{place}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "in use by another program; stop that one or choose another port (--port N, or --port 0 for a free one)"
    if error.errno == errno.EACCES:
        return "not allowed; choose a port above 1023 (--port N)"
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return "no address of this machine; choose another (--host 127.0.0.1)"
    return f"cannot be listened on: {error.strerror}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"
