"""From a thumb in the chat to a question file that can be loaded."""

import json
from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.errors import InputError
from rag.evaluation.datasets import read_questions
from rag.evaluation.feedback import keep_feedback, write_questions
from rag.records import Turn


def test_thumbs_become_questions(chain: Chain, tmp_path: Path) -> None:
    file, out = tmp_path / "feedback.jsonl", tmp_path / "questions.jsonl"
    history = [Turn("user", "hello\u2028there"), Turn("assistant", "…")]
    good, bad = chain.ask("What is SceneSmith?"), chain.ask("ATCI definition?")
    keep_feedback(file, "down", good, [])
    keep_feedback(file, "up", good, [], "just right")
    keep_feedback(file, "down", bad, history, "x" * 5000)
    assert write_questions(file, out) == 2
    first, second = read_questions(out)
    assert first.relevant == tuple(citation.abstract_id for citation in good.citations)
    assert first.support == tuple(quote.text for citation in good.citations for quote in citation.quotes)
    assert (second.question, second.relevant, second.history) == ("ATCI definition?", (), tuple(history))
    notes = [json.loads(line)["note"] for line in out.read_text(encoding="utf-8").split("\n") if line]
    assert notes == ["just right", "x" * 2000]


def test_nothing_is_overwritten_and_nothing_foreign_is_read(tmp_path: Path) -> None:
    file, out = tmp_path / "feedback.jsonl", tmp_path / "questions.jsonl"
    file.write_text('{"thumb": "up"}\n')
    with pytest.raises(InputError, match=r"feedback.jsonl:1: not a line of feedback"):
        write_questions(file, out)
    out.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_questions(file, out)
    assert out.read_text() == "mine"
