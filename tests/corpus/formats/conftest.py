"""Reads a file's content as the product does: its kind by content and name, its bytes decoded, its fields cleaned."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rag.corpus.characters import open_binary, open_text
from rag.corpus.fields import rename, to_record
from rag.corpus.formats import Options, kind_of, reader_of
from rag.corpus.record import Record, Skipped

Read = Callable[..., tuple[list[Record], list[Skipped]]]


@pytest.fixture
def read() -> Read:
    """Reads `content` as a file `name`, with names of fields as `--field` gives them."""

    def run(content: bytes | str, name: str, *fields: str) -> tuple[list[Record], list[Skipped]]:
        data = content.encode() if isinstance(content, str) else content
        binary = open_binary(io.BytesIO(data))
        kind = kind_of(name, binary.peek(4096)[:4096].decode("utf-8", "replace"))
        assert kind is not None
        raw = reader_of(kind)(open_text(binary), Options(rename(fields)))
        items = [one if isinstance(one, Skipped) else to_record(one) for one in raw]
        return [one for one in items if isinstance(one, Record)], [one for one in items if isinstance(one, Skipped)]

    return run
