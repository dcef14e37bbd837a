"""One writer at a time: Chroma loses vectors, silently, when two processes write one folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import OutsideError, StoreError


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Hold the store's folder for writing. Raises `StoreError`, at once, with the pid of who holds it."""
    folder = folder.resolve()
    holder = folder / "lock.pid"
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(
            f"store {folder}: process {_read(holder)} is writing to it; try again when it is done"
        ) from error
    except OSError as error:
        raise OutsideError(f"store {folder}: {error.strerror}") from error
    try:
        holder.write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _read(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8")
    except OSError:
        return "(unknown)"
