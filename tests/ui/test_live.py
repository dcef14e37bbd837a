"""A page that is running follows what other processes do to its store, while questions go on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from rag.chain.chain import Chain
from rag.settings import Settings, load_settings
from ui.app import build_app
from ui.server import running

ZEBRAS = {"_id": "z", "title": "On zebras", "year": 1999, "text": "Zebras have 47 stripes, which confuse tsetse flies."}
WHALES = {"_id": "w", "title": "On whales", "year": 2005, "text": "Whales sing for 20 minutes, which impresses squids."}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(flags={"store": {"path": tmp_path / "store"}}, environ={})


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with running(build_app(Chain.open(settings), settings)) as address:
        yield Client(address, verbose=False)


def rag(settings: Settings, *arguments: str) -> str:
    command = [sys.executable, "-m", "rag", *arguments, "--store", str(settings.store.path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(file: Path, *records: dict[str, Any]) -> str:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(file)


def test_new_abstracts_answer_the_next_question_and_removed_ones_no_longer_do(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    def ask(question: str) -> dict[str, Any]:
        return dict(client.predict(question, None, api_name="/ask"))

    assert ask("how many stripes have zebras?")["refusal"] == "empty_store"
    file = write(tmp_path / "a.jsonl", ZEBRAS)
    rag(settings, "ingest", file)
    found = ask("how many stripes have zebras?")
    assert "47 stripes" in found["text"]
    assert found["citations"][0]["label"] == "On zebras — 1999"
    write(tmp_path / "a.jsonl", ZEBRAS | {"text": ZEBRAS["text"].replace("47", "53")}, WHALES)
    rag(settings, "ingest", file)
    assert "53 stripes" in ask("how many stripes have zebras?")["text"]
    assert "20 minutes" in ask("for how long do whales sing?")["text"]
    rag(settings, "remove", "w")
    gone = ask("for how long do whales sing?")
    assert (gone["kind"], "Whales" in gone["text"]) == ("refusal", False)


def test_questions_go_on_during_an_ingest(client: Client, settings: Settings, tmp_path: Path) -> None:
    rag(settings, "ingest", write(tmp_path / "a.jsonl", ZEBRAS))
    many = [{"_id": f"k{n}", "text": f"Abstract {n} deals with the animal of number {n}."} for n in range(150)]
    file = write(tmp_path / "b.jsonl", *many)
    with ThreadPoolExecutor() as pool:
        ingest = pool.submit(rag, settings, "ingest", file)
        answers = []
        while not ingest.done() or len(answers) < 3:
            answers.append(client.predict("how many stripes have zebras?", None, api_name="/ask"))
    assert all("47 stripes" in answer["text"] for answer in answers)
    assert "150 added" in ingest.result()
    assert "animal of number 77" in client.predict("what does abstract 77 deal with?", None, api_name="/ask")["text"]


def test_a_collection_and_filters_are_chosen_by_the_question(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    rag(settings, "ingest", write(tmp_path / "a.jsonl", ZEBRAS, WHALES), "--collection", "zoo")

    def ask(question: str, *scope: Any) -> dict[str, Any]:
        return dict(client.predict(question, None, *scope, api_name="/ask"))

    question = "how many stripes have zebras?"
    assert ask(question)["refusal"] == "empty_store"
    assert "47 stripes" in ask(question, "zoo")["text"]
    narrowed = ask(question, "zoo", {"year": "-2000"})
    assert "47 stripes" in narrowed["text"]
    assert narrowed["notes"] == ["Looked at 1 of 2 abstracts only: year -2000."]
    assert ask(question, "zoo", {"year": 2005})["kind"] == "refusal"
    for scope, message in (
        (("farm",), "collection 'farm': there is none"),
        (("zoo", {"year": "soon"}), "years 'soon': expected"),
        (("zoo", {"colour": "red"}), "filter 'colour': expected year, venue, author, source"),
        (("zoo", {"venue": "Nature"}), "none of the 2 abstracts fits the filter"),
    ):
        with pytest.raises(Exception, match=message):
            ask(question, *scope)
