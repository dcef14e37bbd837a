"""Thumbs under an answer are kept with what was asked before, and rate only what was answered."""

import json
from pathlib import Path

from rag.chain.chain import Chain
from ui import feedback
from ui.chat import Conversation, converse
from ui.scope import Scope


def talk(chain: Chain, *questions: str) -> Conversation:
    turns: Conversation = ()
    for question in questions:
        *_, (_, _, _, turns) = converse(lambda: Scope(chain, None), question, turns)
    return turns


def test_a_thumb_is_kept_with_its_conversation(chain: Chain, tmp_path: Path) -> None:
    turns = talk(chain, "What is SceneSmith?", "how many participants did its user study have?")
    assert feedback.keep(tmp_path / "new" / "f.jsonl", turns, (1, "up"), "good")
    (line,) = (tmp_path / "new" / "f.jsonl").read_text(encoding="utf-8").strip().split("\n")
    kept = json.loads(line)
    assert (kept["thumb"], kept["note"], kept["question"]) == ("up", "good", turns[1].asked)
    assert [turn["content"] for turn in kept["history"]] == ["What is SceneSmith?", turns[0].said]
    assert kept["answer"]["citations"]


def test_what_was_not_answered_cannot_be_rated(chain: Chain, tmp_path: Path) -> None:
    turns = talk(chain, "x" * 5000)
    for chosen in (None, (0, "up"), (7, "down")):
        assert not feedback.keep(tmp_path / "f.jsonl", turns, chosen)  # type: ignore[arg-type]
    assert not (tmp_path / "f.jsonl").exists()
