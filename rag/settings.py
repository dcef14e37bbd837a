"""Settings: defaults < a config file < environment < flags. See config/default.toml for every key."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import InputError, SettingsError

PREFIX = "RAG_"

ReaderModel = Literal["transformer", "linear", "off"]


class Section(BaseModel):
    """A table of the config file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(Section):
    """Where the store is, and which of its collections is meant."""

    path: Path = Field(default_factory=lambda: user_data_path("askabstracts") / "store")
    collection: str = "default"


class EncoderSettings(Section):
    """What turns sentences into vectors."""

    model: str = "minilm"
    device: str = "cpu"
    batch_size: int = Field(default=32, ge=1, le=1024)
    threads: int = Field(default=0, ge=0, le=256)


class ChunkSettings(Section):
    """How abstracts are cut."""

    max_word_pieces: int = Field(default=128, ge=32, le=8192)


class RetrieverSettings(Section):
    """How abstracts are found."""

    mode: Literal["hybrid", "dense", "bm25"] = "hybrid"
    abstracts: int = Field(default=8, ge=1, le=100)
    candidates: int = Field(default=50, ge=1, le=1000)
    rrf_k: int = Field(default=60, ge=1, le=1000)


class ReaderSettings(Section):
    """What finds the sentences that answer."""

    model: ReaderModel = "transformer"
    threads: int = Field(default=0, ge=0, le=256)


class AnswerSettings(Section):
    """How answers are made."""

    max_sentences: int = Field(default=3, ge=1, le=10)
    refuse_below: float | None = Field(default=None, ge=0, le=1)
    max_question_characters: int = Field(default=4000, ge=1, le=100_000)
    max_history_messages: int = Field(default=20, ge=0, le=1000)


class ServerSettings(Section):
    """Where the page is served, and how much it takes at once."""

    host: str = "127.0.0.1"
    port: int = Field(default=7860, ge=0, le=65535)
    concurrency: int = Field(default=4, ge=1, le=64)
    max_queue: int = Field(default=64, ge=1, le=10_000)


class Settings(Section):
    """Everything that can be set."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    encoder: EncoderSettings = Field(default_factory=EncoderSettings)
    chunks: ChunkSettings = Field(default_factory=ChunkSettings)
    retriever: RetrieverSettings = Field(default_factory=RetrieverSettings)
    reader: ReaderSettings = Field(default_factory=ReaderSettings)
    answer: AnswerSettings = Field(default_factory=AnswerSettings)
    server: ServerSettings = Field(default_factory=ServerSettings)

    def check_question(self, question: str) -> str:
        """Return the question on one line. Raises `InputError` where it is empty, too long or no text."""
        limit = self.answer.max_question_characters
        if len(question) > limit:
            raise InputError(f"the question has {len(question):,} characters; at most {limit:,} are taken")
        if any("\ud800" <= character <= "\udfff" for character in question):
            raise InputError("the question is not valid UTF-8 text")
        if not (asked := " ".join(question.split())):
            raise InputError("the question is empty")
        return asked


def load_settings(
    config: Path | str | None = None,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Merge all layers into one `Settings`.

    `config` is a TOML file (else the one that `RAG_CONFIG` names); `flags` maps section to key to value,
    and a value of None counts as not given. Raises `SettingsError`, which names the place of the mistake.
    """
    path = config or environ.get("RAG_CONFIG")
    layers: list[tuple[str, Mapping[str, Any]]] = [(str(path), _read(Path(path)))] if path else []
    layers += [("the environment", _from_environment(environ)), ("the command line", flags or {})]
    merged: dict[str, dict[str, Any]] = {}
    for place, layer in layers:
        for section, values in layer.items():
            if not isinstance(values, Mapping):
                raise SettingsError(f"{place}: [{section}] must be a table of keys")
            given = {key: value for key, value in values.items() if value is not None}
            _check({section: given}, place)
            merged.setdefault(section, {}).update(given)
    return Settings.model_validate(merged)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"config file {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"config file {path}: not TOML: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, value in environ.items():
        section, separator, key = name.removeprefix(PREFIX).partition("__")
        if name.startswith(PREFIX) and separator:
            found.setdefault(section.lower(), {})[key.lower()] = value
    return found


def _check(layer: Mapping[str, Any], place: str) -> None:
    try:
        Settings.model_validate(layer)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        problem = "is no setting" if first["type"] == "extra_forbidden" else f"cannot be used: {first['msg']}"
        raise SettingsError(f"{place}: {name} {problem} (config/default.toml lists all settings)") from error
