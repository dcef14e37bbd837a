"""From use to test: thumbs in the chat are kept as lines, and become questions with known answers.

A line: {"time", "thumb": "up"|"down", "note", "history", "question", "answer": answer object}.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rag.errors import InputError
from rag.evaluation.files import read_jsonl, write_jsonl
from rag.records import Answer, Turn

MAX_NOTE_CHARACTERS = 2000


def keep_feedback(
    file: Path, thumb: Literal["up", "down"], answer: Answer, history: Sequence[Turn], note: str = ""
) -> None:
    """Append one thumb to the feedback file, which is made where it is missing."""
    record = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "thumb": thumb,
        "note": note[:MAX_NOTE_CHARACTERS],
        "history": [{"role": turn.role, "content": turn.content} for turn in history],
        "question": answer.question,
        "answer": answer.as_dict(),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8", newline="\n") as lines:
        lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_questions(feedback: Path, out: Path) -> int:
    """Write a question file from a feedback file, and return how many questions it holds.

    An answer with a thumb up gives its own abstract and sentences as the expected ones. With a thumb down nothing is
    known but the question: what to fill in is left empty, and `check` says so. The later of two thumbs counts.
    Raises `InputError` where `out` exists or the feedback cannot be read.
    """
    if out.exists():
        raise InputError(f"{out}: exists already; name a new file")
    latest: dict[str, dict[str, Any]] = {}
    for line, record in read_jsonl(feedback):
        if "question" not in record or "answer" not in record:
            raise InputError(f"{feedback}:{line}: not a line of feedback")
        latest[json.dumps([record.get("history", []), record["question"]])] = record
    write_jsonl(out, [_question(number, record) for number, record in enumerate(latest.values(), 1)])
    return len(latest)


def _question(number: int, record: dict[str, Any]) -> dict[str, Any]:
    answer, liked = record["answer"], record.get("thumb") == "up"
    good = answer["citations"] if liked else []
    return {
        "id": f"f{number:03}",
        "kind": "feedback" if answer["answerable"] else "unanswerable",
        "history": record.get("history", []),
        "question": record["question"],
        "relevant": [citation["abstract_id"] for citation in good],
        "support": [quote["text"] for citation in good for quote in citation["quotes"]],
        "must_include": [],
        "answerable": answer["answerable"] if liked else True,
        "check": "must_include" if liked else "everything: the answer was marked as bad",
        "note": record.get("note", ""),
    }
