"""The commands that keep the library: ingest, remove, list, show, export, status, doctor, rebuild."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.cli_options import dumped, json_option, progress, with_filters, with_settings
from rag.errors import InputError, OutsideError

if TYPE_CHECKING:
    from rag.index.catalog import Catalog
    from rag.index.ingest import IngestReport
    from rag.index.store import Store
    from rag.records import Abstract, Where
    from rag.settings import Settings

SKIPPED_SHOWN = 20
CHANGES_SHOWN = 10
UNSOUND = 1
"""The exit code of `rag doctor` where it found a problem."""


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be added, updated and removed, and do nothing.")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=THEIRS", help="Where a file has a field: text=abstract."
)
@click.option("--encoding", metavar="NAME", help="The files' encoding, where it is not UTF-8: cp1252, latin-1.")
@json_option
@with_settings
def ingest(
    paths: tuple[Path, ...],
    dry_run: bool,
    fields: tuple[str, ...],
    encoding: str | None,
    as_json: bool,
    settings: Settings,
) -> None:
    """Make the store say what files, folders and archives say: add, update, remove what vanished from them.

    PATHS may be text, Markdown, JSON, JSONL, CSV, TSV, BibTeX, RIS, PubMed XML and .nbib, arXiv's Atom XML and
    CSL-JSON, each also .gz or in a .zip, and `-` for the standard input. Without PATHS, the abstracts that come with
    the product. What came from other paths stays.
    """
    from rag.corpus.fields import rename
    from rag.corpus.files import find_files, seeds_path
    from rag.corpus.formats import Options

    chosen = paths or (seeds_path(),)
    options = Options(rename(fields))
    if not settings.store.path.exists():  # a mistake in the paths makes no store
        find_files(chosen)
    from rag.index.ingest import ingest as run

    report = run(_store(settings), chosen, settings.chunks.max_word_pieces, progress, options, encoding, dry_run)
    for left in report.skipped[:SKIPPED_SHOWN]:
        click.echo(_printable(f"skipped {left.source}: {left.reason}"), err=True)
    if len(report.skipped) > SKIPPED_SHOWN:
        click.echo(f"skipped {len(report.skipped) - SKIPPED_SHOWN} more; --json names all", err=True)
    if as_json:
        click.echo(dumped(asdict(report)))
        return
    click.echo(report)
    click.echo(f"store: {settings.store.path}" + _named(settings))
    if dry_run:
        _show_changes(report, settings)


@click.command()
@click.argument("keys", nargs=-1)
@click.option("--source", "sources", multiple=True, metavar="PATH", help="All that came from this file or folder.")
@with_settings
def remove(keys: tuple[str, ...], sources: tuple[str, ...], settings: Settings) -> None:
    """Take abstracts out of the store, by id, DOI, PMID or another key, or by where they came from.

    A file that still holds an abstract brings it back when it is next ingested.
    """
    if not keys and not sources:
        raise InputError("say what to remove: ids or keys, or --source PATH")
    from rag.index import ingest as library

    store = _store(settings)
    for abstract in library.remove(store, keys) if keys else ():
        again = f" (back at the next ingest of {', '.join(abstract.sources)})" if abstract.sources else ""
        click.echo(_printable(f"removed {abstract.id}  {abstract.label}{again}"))
    for source in sources:
        click.echo(f"removed {library.remove_source(store, source)} abstracts that came from {source} only")


@click.command("list")
@click.option("-n", "count", type=click.IntRange(1), default=50, show_default=True, help="How many at most.")
@click.option(
    "--duplicates", is_flag=True, help="The groups of abstracts that are nearly the same, and of two sources."
)
@json_option
@with_filters
@with_settings
def list_(count: int, duplicates: bool, as_json: bool, where: Where | None, settings: Settings) -> None:
    """List the abstracts: id, label, sources."""
    catalog = _catalog(settings)
    if duplicates:
        _list_duplicates(catalog, as_json)
        return
    ids = catalog.ids() if where is None else catalog.where(where)
    shown = [abstract for one in ids[:count] if (abstract := catalog.get(one))]
    if as_json:
        click.echo(dumped({"abstracts": len(ids), "shown": [_record(abstract) for abstract in shown]}))
        return
    click.echo(_lines(shown) or "No abstracts.")
    if len(ids) > count:
        click.echo(f"… and {len(ids) - count:,} more (-n {len(ids)})")


@click.command()
@click.argument("key")
@json_option
@with_settings
def show(key: str, as_json: bool, settings: Settings) -> None:
    """Show an abstract by its id, DOI, PMID, arXiv number or another key: text, sources, keys, chunks."""
    from rag.terminal import show_abstract

    catalog = _catalog(settings)
    found = [abstract for one in catalog.find(key) if (abstract := catalog.get(one))]
    if not found:
        raise InputError(f"{key}: no abstract of the store has this id or key")
    groups = _groups(catalog)
    if as_json:
        click.echo(
            dumped([_record(a) | {"chunks": catalog.chunk_ids([a.id]), "twins": groups.get(a.id, [])} for a in found])
        )
        return
    for abstract in found:
        click.echo(show_abstract(abstract, catalog.chunk_ids([abstract.id]), groups.get(abstract.id, [])))


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "bibtex", "ris", "csv"]), default="jsonl", show_default=True
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File to write (default: the standard output).")
@with_filters
@with_settings
def export(form: str, out: Path | None, where: Where | None, settings: Settings) -> None:
    """Write the abstracts with all that is known of them, in a form that `rag ingest` and other programs read."""
    from rag.corpus.export import write

    catalog = _catalog(settings)
    ids = catalog.ids() if where is None else catalog.where(where)
    abstracts = (abstract for one in ids if (abstract := catalog.get(one)))
    if out is None:
        write(abstracts, form, sys.stdout)
        return
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            count = write(abstracts, form, file)
    except OSError as error:
        raise OutsideError(f"{out}: {error.strerror}") from error
    click.echo(f"{count} abstracts written to {out}")


@click.command()
@json_option
@with_settings
def status(as_json: bool, settings: Settings) -> None:
    """Say what is in the store, with which encoder, how large, and where."""
    from rag.index.catalog import collections

    found = _store(settings).status() | {"collections": ", ".join(collections(settings.store.path))}
    click.echo(dumped(found) if as_json else "\n".join(f"{name:<16}{value}" for name, value in found.items()))


@click.command()
@json_option
@with_settings
def doctor(as_json: bool, settings: Settings) -> None:
    """Examine the store and what it needs; each problem is named with its remedy. Exits 1 where there is one."""
    from rag.index.doctor import examine

    findings = list(examine(settings))
    if as_json:
        click.echo(dumped([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            click.echo(_printable(f"{finding}"))
    if not all(finding.sound for finding in findings):
        raise click.exceptions.Exit(UNSOUND)


@click.command()
@with_settings
def rebuild(settings: Settings) -> None:
    """Embed all abstracts anew from their stored text, with the encoder of the settings, in place of the old vectors.

    A damaged store gives back every abstract whose text survived.
    """
    from rag.index.rebuild import rebuild as run

    click.echo(run(settings, progress))


LIBRARY = (ingest, remove, list_, show, export, status, doctor, rebuild)


def _store(settings: Settings) -> Store:
    from rag.index.encoder import Encoder
    from rag.index.store import Store

    return Store.open(settings.store.path, Encoder(settings.encoder), settings.store.collection)


def _catalog(settings: Settings) -> Catalog:
    from rag.index.catalog import open_catalog

    return open_catalog(settings.store.path, settings.store.collection)


def _groups(catalog: Catalog) -> dict[str, list[str]]:
    from rag.index.twins import groups

    return {one: sorted(group - {one}) for one, group in groups(catalog.twins()).items()}


def _list_duplicates(catalog: Catalog, as_json: bool) -> None:
    from rag.index.twins import SIMILAR, groups

    pairs = catalog.twins()
    near = {tuple(sorted(group)) for group in groups(pairs).values()}
    versions = {(one, other) for one, other, shared in pairs if shared < SIMILAR}
    several = {(abstract.id,) for abstract in catalog if len(abstract.sources) > 1}
    found: dict[str, list[tuple[str, ...]]] = {
        "nearly the same": sorted(near),
        "the same title over other words": sorted(versions),
        "the same text in several places": sorted(several),
    }
    listed = {
        what: [[abstract for one in group if (abstract := catalog.get(one))] for group in members]
        for what, members in found.items()
    }
    if as_json:
        click.echo(dumped({what: [[_record(one) for one in group] for group in all_] for what, all_ in listed.items()}))
        return
    for what, all_ in listed.items():
        for number, group in enumerate(all_, 1):
            click.echo(f"{what} ({number}):\n{_lines(group)}")
    if not any(found.values()):
        click.echo("No duplicates.")


def _lines(abstracts: Iterable[Abstract]) -> str:
    return "\n".join(_printable(f"{one.id}  {one.label}  ({', '.join(one.sources)})") for one in abstracts)


def _record(abstract: Abstract) -> dict[str, object]:
    return {
        name: value for name, value in asdict(abstract).items() if name != "sentences" and value not in (None, (), "")
    }


def _show_changes(report: IngestReport, settings: Settings) -> None:
    catalog = _catalog(settings)
    for name, ids in (("added", report.added), ("updated", report.updated), ("removed", report.removed)):
        for one in ids[:CHANGES_SHOWN]:
            abstract = catalog.get(one)
            click.echo(_printable(f"  {name} {one}" + (f"  {abstract.label}" if abstract else "")))
        if len(ids) > CHANGES_SHOWN:
            click.echo(f"  … {len(ids) - CHANGES_SHOWN} more {name} (--json names all)")


def _named(settings: Settings) -> str:
    return "" if settings.store.collection == "default" else f" (collection {settings.store.collection})"


def _printable(text: str) -> str:
    from rag.terminal import printable

    return printable(text)
