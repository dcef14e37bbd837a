"""The command line. Heavy parts are imported inside the commands, so that `rag --help` answers at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rag.cli_eval import evaluation
from rag.cli_library import LIBRARY
from rag.cli_options import Commands, dumped, json_option, with_filters, with_settings
from rag.errors import AskAbstractsError

if TYPE_CHECKING:
    from rag.chain.chain import Chain
    from rag.records import Where
    from rag.settings import Settings


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="askabstracts", prog_name="rag")
def cli() -> None:
    """Ask questions about scientific abstracts; every sentence of an answer is a quote that you can check."""


@cli.command()
@click.argument("question")
@json_option
@with_filters
@with_settings
def ask(question: str, as_json: bool, where: Where | None, settings: Settings) -> None:
    """Answer one question, with the sentences that say so."""
    from rag.terminal import show_answer

    chain = _chain(settings, question)
    answer = chain.ask(question, where=where)
    click.echo(dumped(answer.as_dict()) if as_json else show_answer(answer, chain.store))


@cli.command()
@with_filters
@with_settings
def chat(where: Where | None, settings: Settings) -> None:
    """Hold a conversation in the terminal; /clear begins anew, Ctrl-D ends it."""
    from rag.records import Turn
    from rag.terminal import show_answer

    chain = _chain(settings)
    history: list[Turn] = []
    click.echo(f"{len(chain.store)} abstracts. /clear begins anew, Ctrl-D ends.")
    while (question := _read_line()) is not None:
        if question == "/clear":
            history.clear()
        elif question:
            try:
                answer = chain.ask(question, history, where=where)
            except AskAbstractsError as error:
                click.echo(f"Error: {error}", err=True)
                continue
            click.echo(f"\n{show_answer(answer, chain.store)}\n")
            history += answer.turns


@cli.command()
@click.argument("query")
@click.option("-k", "count", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many abstracts.")
@json_option
@with_filters
@with_settings
def search(query: str, count: int, as_json: bool, where: Where | None, settings: Settings) -> None:
    """List the abstracts nearest to a text."""
    from rag.terminal import show_passages

    passages = _chain(settings, query).search(query, count, where)
    if as_json:
        rows = [{"score": p.score, "abstract_id": p.reading.abstract.id, "label": p.reading.abstract.label,
                 "sources": p.reading.abstract.sources, "text": p.reading.abstract.text} for p in passages]  # fmt: skip
        click.echo(dumped({"query": query, "results": rows}))
    else:
        click.echo(show_passages(passages) or "The store is empty; add abstracts with: rag ingest")


@cli.command()
@click.option("--host", help="Address to listen on (setting server.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (setting server.port).")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@with_settings
def serve(open_browser: bool, settings: Settings) -> None:
    """Serve the chat page."""
    from ui.app import serve as run

    run(settings, open_browser)


for command in (*LIBRARY, evaluation):
    cli.add_command(command)


def main() -> None:
    """Run the command line."""
    cli()


def _chain(settings: Settings, question: str | None = None) -> Chain:
    if question is not None:
        settings.check_question(question)
    from rag.chain.chain import Chain

    return Chain.open(settings)


def _read_line() -> str | None:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None
