"""Where the page listens, and a uvicorn server that stops at once, also with pages open."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from rag.errors import InputError

SHUTDOWN_SECONDS = 5
"""How long a request may keep the server from stopping."""


class Server(uvicorn.Server):
    """Ends the event streams of open pages, which never end by themselves, before it waits for the rest."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_SECONDS))
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, and say so."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections, then shut down as uvicorn does."""
        for connection in list(self.server_state.connections):
            connection.transport.close()
        await super().shutdown(sockets)


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve `app` from a thread for as long as the block runs, and yield its address: for notebooks and tests."""
    with listen(host, port) as listener:
        server = Server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        server.ready.wait()
        try:
            yield address(host, listener)
        finally:
            server.should_exit = True
            thread.join()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address; port 0 takes a free one. Raises `InputError` where it cannot."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family, backlog=128)
    except OSError as error:
        raise InputError(f"{_in_url(host)}:{port}: {_reason(error)}") from error


def address(host: str, listener: socket.socket) -> str:
    """Return the URL of what listens."""
    return f"http://{_in_url(host)}:{listener.getsockname()[1]}"


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "in use by another program; stop that one or choose another port (--port N, or --port 0 for a free one)"
    if error.errno == errno.EACCES:
        return "not allowed; choose a port above 1023 (--port N)"
    if error.errno == errno.EADDRNOTAVAIL or isinstance(error, socket.gaierror):
        return "no address of this machine; choose another (--host 127.0.0.1)"
    return f"cannot be listened on: {error.strerror}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
