"""The command line, as a user types it: answers on stdout, one clear line on stderr, and the right exit code."""

import json
import os
import shutil
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
    assert ["abstracts", "92"] in [line.split() for line in rag("status").stdout.splitlines()]
    assert json.loads(rag("status", "--json").stdout)["encoder"] == "minilm"


def test_ingest_twice_and_a_paragraph_more(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mine.txt"
    file.write_text("Mine\n\nZebras have stripes.\n")
    assert "1 added" in rag("ingest", str(file), new=True).stdout
    assert "nothing changed" in rag("ingest", str(file), new=True).stdout
    file.write_text("Mine\n\nZebras have stripes.\n\nLions have manes.\n")
    would = rag("ingest", str(file), "--dry-run", new=True).stdout
    assert "would be: 1 added, 1 unchanged; the store would hold 2" in would
    assert "added 67c708926df9" in would
    assert "1 added, 1 unchanged; the store holds 2" in rag("ingest", str(file), new=True).stdout


def test_what_is_skipped_is_named_on_stderr(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "mine.jsonl"
    file.write_text('{"text": "Zebras have stripes."}\n' + '{"title": "\x1b[31mNo text"}\n' * 30)
    result = rag("ingest", str(file), new=True)
    assert result.exit_code == 0
    assert "1 added, 0 unchanged, 30 skipped; the store holds 1" in result.stdout
    assert "skipped mine.jsonl:2: it has no abstract\n" in result.stderr
    assert "skipped 10 more; --json names all" in result.stderr
    assert len(json.loads(rag("ingest", str(file), "--json", new=True).stdout)["skipped"]) == 30


def test_ingest_from_the_standard_input(rag) -> None:  # type: ignore[no-untyped-def]
    result = rag("ingest", "-", new=True, stdin='{"id": "z", "abstract": "Zebras have stripes."}\n')
    assert "1 added" in result.stdout
    assert "1 added" in rag("ingest", "-", new=True, stdin='{"id": "l", "abstract": "Lions have manes."}\n').stdout
    assert "Zebras have stripes.  (stdin#z)" in rag("list", new=True).stdout  # another stream takes nothing away


def test_the_library_from_the_command_line(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    records = [
        {"abstract": "Zebras have stripes.", "title": "On zebras", "authors": ["Ada Lovelace"], "year": 1999,
         "doi": "10.1234/z"},
        {"abstract": "Lions have manes.", "title": "On lions", "year": 2005, "journal": "Zoo"},
    ]  # fmt: skip
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    rag("ingest", str(file), new=True)
    assert "On zebras — Ada Lovelace, 1999  (mine.jsonl:1)" in rag("list", "--year", "-2000", new=True).stdout
    assert json.loads(rag("list", "--venue", "zoo", "--json", new=True).stdout)["shown"][0]["title"] == "On lions"
    shown = rag("show", "10.1234/Z", new=True).stdout
    assert "url       https://doi.org/10.1234/z" in shown
    assert "Zebras have stripes." in shown
    answer = rag("ask", "what do zebras have?", "--author", "lovelace", new=True).stdout
    assert "Looked at 1 of 2 abstracts only: author lovelace." in " ".join(answer.split())
    assert "removed 40d4382487a4  On zebras" in rag("remove", "10.1234/z", new=True).stdout
    assert rag("list", new=True).stdout.count("\n") == 1
    assert "1 abstracts that came from mine.jsonl only" in rag("remove", "--source", "mine.jsonl", new=True).stdout
    assert rag("list", new=True).stdout == "No abstracts.\n"


def test_collections_are_apart(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for name, text in (("zoo", "Zebras have stripes."), ("farm", "Cows have four stomachs.")):
        (tmp_path / f"{name}.txt").write_text(f"{name}\n\n{text}\n")
        rag("ingest", str(tmp_path / f"{name}.txt"), "--collection", name, new=True)
    assert "farm, zoo" in rag("status", "--collection", "zoo", new=True).stdout
    assert "Cows" in rag("ask", "how many stomachs have cows?", "--collection", "farm", new=True).stdout
    assert "Cows" not in rag("list", "--collection", "zoo", new=True).stdout


def test_duplicates_are_listed(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = "We measure how many stripes a zebra has in the wild, and find that there are fifty of them."
    (tmp_path / "a.txt").write_text(f"A\n\n{text}\n\nOwls hear mice.\n")
    (tmp_path / "b.txt").write_text(f"B\n\n{text.replace(',', ';').upper()}\n\nOwls hear mice.\n")
    rag("ingest", str(tmp_path), new=True)
    listed = rag("list", "--duplicates", new=True).stdout
    assert listed.index("nearly the same (1):") < listed.index("the same text in several places (1):")
    assert "(a.txt#2, b.txt#2)" in listed
    found = json.loads(rag("list", "--duplicates", "--json", new=True).stdout)
    assert [len(group) for group in found["nearly the same"]] == [2]


def test_doctor_and_rebuild(rag, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.txt").write_text("A\n\nZebras have stripes.\n")
    rag("ingest", str(tmp_path), new=True)
    assert "PROBLEM" not in rag("doctor", new=True).stdout
    shutil.rmtree(tmp_path / "store" / "lexical")
    sick = rag("doctor", new=True)
    assert sick.exit_code == 1
    assert "PROBLEM  bm25" in sick.stdout
    assert "-> rag rebuild" in sick.stdout
    assert "1 abstracts embedded anew" in rag("rebuild", new=True).stdout
    assert rag("doctor", "--json", new=True).exit_code == 0


@pytest.mark.parametrize("form", ["jsonl", "bibtex", "ris", "csv"])
def test_what_is_exported_comes_back(rag, form: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    suffix = {"bibtex": "bib"}.get(form, form)
    out = tmp_path / f"out.{suffix}"
    assert "92 abstracts written" in rag("export", "--format", form, "-o", str(out)).stdout
    result = rag("ingest", str(out), new=True)
    assert "92 added" in result.stdout, result.stderr
    ids = {row["id"] for row in json.loads(rag("list", "-n", "100", "--json").stdout)["shown"]}
    back = {row["id"] for row in json.loads(rag("list", "-n", "100", "--json", new=True).stdout)["shown"]}
    lost = len(ids - back)
    assert lost <= {"jsonl": 0, "csv": 0, "ris": 0, "bibtex": 20}[form], lost


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ingest", "nowhere.txt"], "nowhere.txt: no such file or folder"),
        (["ingest", "."], "no file of abstracts"),
        (["ingest", "x.txt", "--field", "words=abstract"], "--field words=abstract: expected NAME=THEIRS"),
        (["ask", "x", "--year", "soon"], "years 'soon': expected 2021, 2019-2021, 2021- or -2019"),
        (["ask", "x", "--venue", "Nowhere"], "none of the 92 abstracts fits the filter (venue Nowhere)"),
        (["ask", "x", "--collection", "../evil"], "collection '../evil': a name has letters"),
        (["show", "nobody"], "nobody: no abstract of the store has this id or key"),
        (["remove"], "say what to remove"),
        (["list", "--collection", "none"], "there is none; `rag ingest PATH` makes one"),
        (["ask", ""], "the question is empty"),
        (["ask", "x" * 20_000], "the question has 20,000 characters; at most 4,000"),
        (["search", " "], "the question is empty"),
        (["ask", "x", "--config", "nowhere.toml"], "config file nowhere.toml: No such file"),
    ],
    ids=[
        "missing path",
        "no abstracts",
        "field",
        "years",
        "filter",
        "collection",
        "show",
        "remove",
        "no collection",
        "empty",
        "too long",
        "empty search",
        "no config",
    ],
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
