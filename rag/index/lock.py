"""One writer at a time: Chroma loses vectors, silently, when two processes write one folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import LockedError, OutsideError


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Hold the store's folder for writing. Raises `LockedError`, at once, with the pid of who holds it."""
    folder = folder.resolve()
    pid = folder / "lock.pid"
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LockedError(
            f"store {folder}: process {holder(folder)} is writing to it; try again when it is done"
        ) from error
    except OSError as error:
        raise OutsideError(f"store {folder}: {error.strerror}") from error
    try:
        pid.write_text(str(os.getpid()), encoding="utf-8")
        yield
    finally:
        pid.unlink(missing_ok=True)
        lock.release()


def is_held(folder: Path) -> bool:
    """Tell whether a process holds the folder for writing."""
    lock = FileLock(folder.resolve() / "lock")
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def holder(folder: Path) -> str:
    """Return the pid of the process that writes, as it noted it."""
    try:
        return (folder / "lock.pid").read_text(encoding="utf-8") or "(unknown)"
    except OSError:
        return "(unknown)"
