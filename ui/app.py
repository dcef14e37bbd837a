"""`rag serve`: the page and `/healthz` on one port. Loopback by default, and nothing connects to the outside."""

from __future__ import annotations

import ipaddress
import socket
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from ui.server import Server, address, listen

if TYPE_CHECKING:
    from fastapi import FastAPI

    from rag.chain.chain import Chain
    from rag.settings import Settings

HERE = Path(__file__).parent
LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
UPLOAD_BYTES = 1
"""Gradio cannot be told to take no uploads, only small ones; the gate closes its door to them as well."""


def serve(settings: Settings, open_browser: bool = False) -> None:
    """Serve the page until Ctrl-C.

    Raises `InputError` for an address that cannot be listened on, before anything heavy is loaded.
    """
    host = settings.server.host
    with listen(host, settings.server.port) as listener:
        from rag.chain.chain import Chain

        print(f"Loading the encoder and the store {settings.store.path} …", flush=True)
        chain = Chain.open(settings)
        server = Server(build_app(chain, settings))
        url = address(host, listener)
        print(f"{len(chain.store):,} abstracts to ask at {url} (Ctrl-C stops)", flush=True)
        if open_browser:
            webbrowser.open(url)
        try:
            server.run(sockets=[listener])
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
        head=_head(),
    )
    return app


def _head() -> str:
    """Return our style and script. Gradio's own way for styles would put a prefix before every selector."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "page.js"))
    return f"<style>{style}</style><script>{script}</script>"


def trusted_hosts(host: str) -> list[str]:
    """Return the names under which the page may be asked for: other sites' names could be pointed at this machine."""
    return sorted({*LOOPBACK, socket.gethostname().lower() if _everywhere(host) else host.lower()})


def _everywhere(host: str) -> bool:
    """Tell whether `host` means every address of this machine: `0.0.0.0`, `::`."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
