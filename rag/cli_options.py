"""Options that several commands take, turned into the object that they mean before the command sees them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from rag.errors import AskAbstractsError

Item = TypeVar("Item")
Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class Commands(click.Group):
    """Turns the product's own errors into one line on stderr and their exit code."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(context)
        except AskAbstractsError as error:
            click.echo(f"Error: {' '.join(str(error).split())}", err=True)
            context.exit(error.exit_code)
        except KeyboardInterrupt:
            context.exit(130)


def with_settings(command: Command) -> Command:
    """Give a command `settings`, from the options that name a store, a collection and a settings file."""

    @click.option("--store", type=click.Path(path_type=Path), help="Folder of the store (setting store.path).")
    @click.option("--collection", metavar="NAME", help="Which collection of the store (setting store.collection).")
    @click.option("--config", type=click.Path(path_type=Path), help="Settings file (else $RAG_CONFIG).")
    @wraps(command)
    def run(*, store: Path | None, collection: str | None, config: Path | None, **given: Any) -> Any:
        from rag.settings import load_settings

        flags = {"store": {"path": store, "collection": collection}, "server": _server(given)}
        return command(settings=load_settings(config, flags), **given)

    return run  # type: ignore[return-value]


def with_filters(command: Command) -> Command:
    """Give a command `where`: which abstracts count, None for all."""

    @click.option("--year", "years", metavar="YEAR|FROM-TO", help="Only of these years: 2021, 2019-2021, 2021-, -2019.")
    @click.option("--venue", metavar="TEXT", help="Only where the venue holds this.")
    @click.option("--author", metavar="TEXT", help="Only where an author's name holds this.")
    @click.option("--source", metavar="TEXT", help="Only what came from a file whose name holds this.")
    @wraps(command)
    def run(*, years: str | None, venue: str | None, author: str | None, source: str | None, **given: Any) -> Any:
        from rag.filters import parse_where

        where = parse_where({"year": years, "venue": venue, "author": author, "source": source})
        return command(where=where, **given)

    return run  # type: ignore[return-value]


def progress(items: Iterable[Item], count: int) -> Iterable[Item]:
    """Show how far an ingest or a rebuild is, on a terminal."""
    from tqdm import tqdm

    bar: Iterable[Item] = tqdm(items, total=count, desc="indexing", unit=" abstracts", disable=None)
    return bar


def dumped(value: Any) -> str:
    """Return a value as JSON for people and programs."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _server(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given.pop(name) for name in ("host", "port") if name in given}
