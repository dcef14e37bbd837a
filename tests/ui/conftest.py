"""Strings that mean harm, and a reader that tells whether HTML is inert."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.records import Abstract
from rag.settings import Settings
from ui.app import build_app
from ui.server import running

HOSTILE = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="utf-8"))

_TAGS = set(
    "a article br code details div em h2 h3 h4 li mark ol p section span strong summary table tbody td tr".split()
)
_ATTRIBUTES = {"class", "href", "id", "open", "rel", "start", "target", "title"}


class Reader(HTMLParser):
    """Reads HTML, collects its text, and fails on what could run, load, cover or imitate."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.open: list[str] = []
        self.ids: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        maths = re.fullmatch(r"m[a-z]+", tag) is not None
        assert maths or tag in _TAGS, tag
        for name, value in attrs:
            assert name in _ATTRIBUTES or (maths and name not in ("href", "src", "id")), (tag, name)
            assert not name.startswith("on")
            assert name != "href" or re.match(r"https?://|#", value or ""), value
            if name == "id":
                self.ids.append(value or "")
        if tag not in ("br", "mspace"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ("br", "mspace"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


@pytest.fixture
def inert() -> Callable[[str], Reader]:
    """Reads HTML and fails where it is not inert or not well-formed."""
    return Reader


@pytest.fixture(params=HOSTILE, ids=[f"hostile-{number}" for number in range(1, len(HOSTILE) + 1)])
def hostile(request: pytest.FixtureRequest) -> str:
    """Every hostile string in turn."""
    return str(request.param)


@pytest.fixture
def abstract() -> Abstract:
    """A small abstract with everything that a file may give."""
    text = r"Bees dance. They use $x^2$ moves, up to 50\%. Code: https://github.com/bees/dance."
    return Abstract(
        id="abc123def456",
        text=text,
        label="Bees dance. They use x² moves…",
        sentences=((0, 11), (12, 45), (46, len(text))),
        sources=("bees.txt#1", "more.txt#7"),
        title="On $k$ bees",
        authors=("A. Apis", "B. Bombus", "C. Ceratina", "D. Dasypoda"),
        year=2026,
        venue="ICML",
        url="https://openreview.net/forum?id=1&x=2",
    )


@pytest.fixture(scope="session")
def url(chain: Chain, settings: Settings) -> Iterator[str]:
    """The address of the real page over the seeds, on a free loopback port."""
    with running(build_app(chain, settings)) as address:
        yield address
