"""The command line, as a user types it: answers on stdout, one clear line on stderr, and the right exit code."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rag.cli import cli
from rag.terminal import printable


@pytest.fixture
def rag(settings: object, store: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs the command line over the seeds' store; `new=True` over a new one."""
    seeds = str(settings.store.path)  # type: ignore[attr-defined]

    def run(*arguments: str, new: bool = False, stdin: str | None = None) -> Result:
        monkeypatch.setenv("RAG_STORE__PATH", str(tmp_path / "store") if new else seeds)
        return CliRunner().invoke(cli, arguments, input=stdin)

    return run


def assert_one_line(result: Result, message: str, code: int = 2) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_ask(rag) -> None:  # type: ignore[no-untyped-def]
    result = rag("ask", "how many bits per parameter do GPT-style models memorise?")
    assert result.exit_code == 0
    assert "3.6 bits per parameter. [1]" in " ".join(result.stdout.split())
    assert "(000_e3f70eced2022ecb.txt#3)" in result.stdout


def test_ask_json_is_the_answer_object(rag) -> None:  # type: ignore[no-untyped-def]
    answer = json.loads(rag("ask", "--json", "What is the capital of Peru?").stdout)
    assert (answer["kind"], answer["answerable"], answer["citations"]) == ("refusal", False, [])
    assert set(answer) >= {
        "question", "standalone_question", "kind", "answerable", "refusal", "text", "sentences", "citations",
        "retrieved", "notes", "dropped", "answerer", "model", "timings_ms",
    }  # fmt: skip


def test_a_refusal_is_a_normal_answer(rag) -> None:  # type: ignore[no-untyped-def]
    result = rag("ask", "What is the capital of Peru?")
    assert result.exit_code == 0
    assert "do not deal with this" in result.stdout
    assert "Nearest:" in result.stdout


def test_search(rag) -> None:  # type: ignore[no-untyped-def]
    assert len(rag("search", "diffusion language models", "-k", "3").stdout.splitlines()) == 3
    found = json.loads(rag("search", "diffusion language models", "-k", "6", "--json").stdout)["results"]
    assert {"d64640b94cfc", "e92935bd7944", "8ec40253ee7a"} <= {row["abstract_id"] for row in found}


def test_chat_remembers(rag) -> None:  # type: ignore[no-untyped-def]
    result = rag("chat", stdin="What is SceneSmith?\nhow many participants did its user study have?\n/clear\n\n")
    assert result.exit_code == 0
    assert "205 participants" in " ".join(result.stdout.split())


def test_status(rag) -> None:  # type: ignore[no-untyped-def]
    assert "abstracts   92" in rag("status").stdout
    assert json.loads(rag("status", "--json").stdout)["encoder"] == "minilm"


def test_ingest_twice_and_a_paragraph_more(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mine.txt"
    file.write_text("Mine\n\nZebras have stripes.\n")
    assert "1 added" in rag("ingest", str(file), new=True).stdout
    assert "nothing changed" in rag("ingest", str(file), new=True).stdout
    file.write_text("Mine\n\nZebras have stripes.\n\nLions have manes.\n")
    assert "1 added, 1 unchanged; the store holds 2" in rag("ingest", str(file), new=True).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest", "nowhere.txt"], "nowhere.txt: no such file or folder"),
        (["ingest", "."], "no text file"),
        (["ask", ""], "the question is empty"),
        (["ask", "x" * 20_000], "the question has 20,000 characters; at most 4,000"),
        (["search", " "], "the question is empty"),
        (["ask", "x", "--config", "nowhere.toml"], "config file nowhere.toml: No such file"),
    ],
    ids=["missing path", "no abstracts", "empty", "too long", "empty search", "no config"],
)
def test_bad_input_is_one_line_and_exit_2(  # type: ignore[no-untyped-def]
    rag, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line(rag(*arguments), message)


def test_a_store_of_another_encoder(rag, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("RAG_ENCODER__MODEL", "other/model")
    assert_one_line(rag("ask", "anything?"), "made with encoder 'minilm'")


def test_a_port_in_use(rag) -> None:  # type: ignore[no-untyped-def]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_one_line(rag("serve", "--port", str(port)), f"127.0.0.1:{port}")


def test_the_module_runs_as_the_script_does() -> None:
    done = subprocess.run([sys.executable, "-m", "rag", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("rag, version ")


def test_no_progress_bar_without_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Heading\n\nZebras have stripes.\n")
    command = [sys.executable, "-m", "rag", "ingest", str(tmp_path / "a.txt"), "--store", str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"NO_COLOR": "1"})
    assert done.stderr == ""
    assert done.stdout.startswith("read 1 abstract from 1 file: 1 added")


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31mred\u202e\n") == "a\\x1b[31mred\\u202e\n"
