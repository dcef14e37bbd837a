"""The command line. Heavy parts are imported inside the commands, so that `rag --help` answers at once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag.cli_eval import evaluation
from rag.errors import AskAbstractsError

if TYPE_CHECKING:
    from rag.chain.chain import Chain
    from rag.records import Abstract
    from rag.settings import Settings

Command = Callable[..., None]

_store_option = click.option(
    "--store", type=click.Path(path_type=Path), help="Folder of the store (setting store.path)."
)
_config_option = click.option("--config", type=click.Path(path_type=Path), help="Settings file (else $RAG_CONFIG).")
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class _Commands(click.Group):
    """Turns the product's own errors into one line on stderr and their exit code."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except AskAbstractsError as error:
            click.echo(f"Error: {' '.join(str(error).split())}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            context.exit(130)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="askabstracts", prog_name="rag")
def cli() -> None:
    """Ask questions about scientific abstracts; every sentence of an answer is a quote that you can check."""


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_store_option
@_config_option
def ingest(paths: tuple[Path, ...], store: Path | None, config: Path | None) -> None:
    """Add the abstracts of files and folders to the store (without PATHS, those that come with the product)."""
    from rag.corpus.files import find_files, read_abstracts, seeds_path

    settings = _settings(config, store)
    chosen = paths or (seeds_path(),)
    for _ in read_abstracts(find_files(chosen)):  # a mistake in the input shows before the encoder is loaded
        pass
    from rag.index.encoder import Encoder
    from rag.index.ingest import ingest as run
    from rag.index.store import Store

    opened = Store.open(settings.store.path, Encoder(settings.encoder))
    click.echo(run(opened, chosen, settings.chunks.max_word_pieces, _progress))
    click.echo(f"store: {settings.store.path}")


@cli.command()
@click.argument("question")
@_json_option
@_store_option
@_config_option
def ask(question: str, as_json: bool, store: Path | None, config: Path | None) -> None:
    """Answer one question, with the sentences that say so."""
    from rag.terminal import show_answer

    chain = _chain(config, store, question)
    answer = chain.ask(question)
    click.echo(_json(answer.as_dict()) if as_json else show_answer(answer, chain.store))


@cli.command()
@_store_option
@_config_option
def chat(store: Path | None, config: Path | None) -> None:
    """Hold a conversation in the terminal; /clear begins anew, Ctrl-D ends it."""
    from rag.records import Turn
    from rag.terminal import show_answer

    chain = _chain(config, store)
    history: list[Turn] = []
    click.echo(f"{len(chain.store)} abstracts. /clear begins anew, Ctrl-D ends.")
    while (question := _read_line()) is not None:
        if question == "/clear":
            history.clear()
        elif question:
            try:
                answer = chain.ask(question, history)
            except AskAbstractsError as error:
                click.echo(f"Error: {error}", err=True)
                continue
            click.echo(f"\n{show_answer(answer, chain.store)}\n")
            history += answer.turns


@cli.command()
@click.argument("query")
@click.option("-k", "count", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many abstracts.")
@_json_option
@_store_option
@_config_option
def search(query: str, count: int, as_json: bool, store: Path | None, config: Path | None) -> None:
    """List the abstracts nearest to a text."""
    from rag.terminal import show_passages

    passages = _chain(config, store, query).search(query, count)
    if as_json:
        rows = [{"score": p.score, "abstract_id": p.reading.abstract.id, "label": p.reading.abstract.label,
                 "sources": p.reading.abstract.sources, "text": p.reading.abstract.text} for p in passages]  # fmt: skip
        click.echo(_json({"query": query, "results": rows}))
    else:
        click.echo(show_passages(passages) or "The store is empty; add abstracts with: rag ingest")


@cli.command()
@click.option("--host", help="Address to listen on (setting server.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (setting server.port).")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@_store_option
@_config_option
def serve(host: str | None, port: int | None, open_browser: bool, store: Path | None, config: Path | None) -> None:
    """Serve the chat page."""
    from ui.app import serve as run

    run(_settings(config, store, server={"host": host, "port": port}), open_browser)


@cli.command()
@_json_option
@_store_option
@_config_option
def status(as_json: bool, store: Path | None, config: Path | None) -> None:
    """Say what is in the store, with which encoder, how large, and where."""
    from rag.index.encoder import Encoder
    from rag.index.store import Store

    settings = _settings(config, store)
    found = Store.open(settings.store.path, Encoder(settings.encoder)).status()
    click.echo(_json(found) if as_json else "\n".join(f"{name:<12}{value}" for name, value in found.items()))


cli.add_command(evaluation)


def main() -> None:
    """Run the command line."""
    cli()


def _settings(config: Path | None, store: Path | None, **flags: dict[str, Any]) -> Settings:
    from rag.settings import load_settings

    return load_settings(config, {"store": {"path": store}, **flags})


def _chain(config: Path | None, store: Path | None, question: str | None = None) -> Chain:
    from rag.settings import load_settings

    settings = load_settings(config, {"store": {"path": store}})
    if question is not None:
        settings.check_question(question)
    from rag.chain.chain import Chain

    return Chain.open(settings)


def _progress(abstracts: Sequence[Abstract]) -> Iterable[Abstract]:
    from tqdm import tqdm

    bar: Iterable[Abstract] = tqdm(abstracts, desc="encoding", unit=" abstracts", disable=None if abstracts else True)
    return bar


def _read_line() -> str | None:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
