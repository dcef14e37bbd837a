"""The files of the instrument: JSONL in and out, answers by id, JSON written whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.errors import InputError
from rag.evaluation.retrieval import Run


def read_jsonl(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a JSONL file, .gz too. Raises `InputError` with file and line."""
    file = file if file.exists() else file.with_name(file.name + ".gz")
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, _object(line, f"{file}:{number}")
    except OSError as error:
        raise InputError(
            f"{file.with_suffix('') if file.suffix == '.gz' else file}: {error.strerror or error}"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8: {error.reason}") from error


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{place}: not JSON: {error.msg} (column {error.colno})") from error
    if not isinstance(record, dict):
        raise InputError(f"{place}: not an object")
    return record


def read_answers(file: Path, repair: bool = False) -> dict[str, dict[str, Any]]:
    """Return id -> answer. A last line that a kill cut short is dropped if `repair`, else an error with its number."""
    if repair and file.exists():
        data = file.read_bytes()
        file.write_bytes(data[: data.rfind(b"\n") + 1])
    elif not file.exists():
        if repair:
            return {}
        raise InputError(f"{file}: no such file; rag eval run makes it")
    found: dict[str, dict[str, Any]] = {}
    for line, record in read_jsonl(file):
        if "id" not in record:
            raise InputError(f"{file}:{line}: the answer has no id")
        found[str(record["id"])] = record
    return found


def rankings(answers: dict[str, dict[str, Any]]) -> Run:
    """Return question id -> ranked abstracts, of the answers that have a ranking."""
    return {
        key: [(one["abstract_id"], one["score"]) for one in answer["ranking"]]
        for key, answer in answers.items()
        if answer.get("ranking") is not None
    }


def write_json(file: Path, value: Any) -> None:
    """Write `file` at once or not at all."""
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(part, file)


def write_jsonl(file: Path, records: Iterable[Any]) -> None:
    """Write one JSON object a line."""
    file.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
