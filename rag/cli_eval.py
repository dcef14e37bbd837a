"""`rag eval`: measure answers, compare two runs, make a report. Heavy parts are imported inside the commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag.cli_options import progress
from rag.errors import InputError

if TYPE_CHECKING:
    from rag.evaluation.datasets import Question

SINGLE = ("citation_precision", "citation_recall", "list_f1", "refusal_precision", "refusal_recall", "dropped")
FALLS_SHORT = 1
"""The exit code of a gate that is not met."""

_folder = click.Path(path_type=Path)


@click.group("eval")
def evaluation() -> None:
    """Measure answers: run, score, compare, report."""


@evaluation.command()
@click.argument("dataset")
@click.option("--out", type=_folder, required=True, help="Folder of the run; an unfinished one is gone on with.")
@click.option("--retrieval", is_flag=True, help="Measure what is found only, and write no answers.")
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit 1 where a metric is lower.")
@click.option("--against", type=_folder, help="The earlier run of --max-regression (default: the latest beside OUT).")
@click.option("--max-regression", multiple=True, metavar="METRIC=VALUE", help="Exit 1 where a metric fell by more.")
@click.option("--store", type=_folder, help="Folder of the store (setting store.path).")
@click.option("--config", type=_folder, help="Settings file (else $RAG_CONFIG).")
def run(
    dataset: str, out: Path, retrieval: bool, fail_under: Sequence[str], against: Path | None,
    max_regression: Sequence[str], store: Path | None, config: Path | None,
) -> None:  # fmt: skip
    """Answer the questions of DATASET and score the answers.

    DATASET is a question file, beir:FOLDER, scifact:FOLDER, pubmedqa:FILE or heldout:FOLDER.
    """
    floors, falls = _gates(fail_under), _gates(max_regression)
    if falls and against is None:
        against = _run_before(out, dataset)
    from rag.settings import load_settings

    settings = load_settings(config, {"store": {"path": store}})
    from rag.evaluation.datasets import load_dataset

    loaded = load_dataset(dataset)
    from rag.evaluation.run import generate, open_chain
    from rag.evaluation.score import score_run

    generate(loaded, open_chain(loaded, settings, progress), out, retrieval, _asking)
    metrics = score_run(out)
    if not retrieval:
        from rag.evaluation.report import write_report

        write_report([out])
    click.echo(_table(metrics))
    click.echo(f"run: {out}")
    _hold(metrics, floors, falls, against)


@evaluation.command()
@click.argument("datasets", nargs=-1, required=True)
@click.option("--out", type=_folder, required=True, help="Folder of the runs; what is there is not done again.")
@click.option("--store", type=_folder, help="Folder of the store (setting store.path).")
@click.option("--config", type=_folder, help="Settings file (else $RAG_CONFIG).")
def systems(datasets: Sequence[str], out: Path, store: Path | None, config: Path | None) -> None:
    """Measure what each part is worth: DATASETS with dense search only, with BM25 only, and without the reader."""
    from rag.settings import load_settings

    settings = load_settings(config, {"store": {"path": store}})
    from rag.evaluation.datasets import load_dataset

    loaded = [load_dataset(dataset) for dataset in datasets]
    from rag.evaluation.systems import measure_systems

    click.echo(measure_systems(loaded, settings, out, progress, _asking))


@evaluation.command()
@click.argument("target")
@click.option("--answers", type=_folder, help="Score these answers (JSONL) to the question file TARGET.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print metrics.json.")
@click.option("--fail-under", multiple=True, metavar="METRIC=VALUE", help="Exit 1 where a metric is lower.")
@click.option("--store", type=_folder, help="The store that the answers quote from, so that quotes are checked.")
@click.option("--config", type=_folder, help="Settings file (else $RAG_CONFIG).")
def score(
    target: str, answers: Path | None, seed: int, as_json: bool, fail_under: Sequence[str], store: Path | None,
    config: Path | None,
) -> None:  # fmt: skip
    """Score a run's folder again, without a model; or somebody else's answers to a question file."""
    floors = _gates(fail_under)
    from rag.evaluation.score import score_foreign, score_run

    if answers is None:
        metrics = score_run(Path(target), seed)
    else:
        from rag.evaluation.datasets import load_dataset
        from rag.evaluation.files import read_answers

        metrics = score_foreign(load_dataset(target), read_answers(answers), _texts(store, config), seed)
    click.echo(json.dumps(metrics, indent=1) if as_json else _table(metrics))
    _hold(metrics, floors)


@evaluation.command()
@click.argument("before", type=_folder)
@click.argument("after", type=_folder)
@click.option("--force", is_flag=True, help="Compare the questions that both have, though datasets differ.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap and the permutations.")
@click.option("--worst", type=int, default=5, show_default=True, help="Regressions to show, both answers side by side.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def compare(before: Path, after: Path, force: bool, seed: int, worst: int, as_json: bool) -> None:
    """Compare two runs, question by question: what got better, what got worse, and whether it is real."""
    from rag.evaluation.compare import compare_runs

    found = compare_runs(before, after, force, seed)
    click.echo(json.dumps(found, ensure_ascii=False, indent=1) if as_json else _comparison(found, worst))


@evaluation.command()
@click.argument("runs", nargs=-1, required=True, type=_folder)
@click.option("--out", type=_folder, help="Where to write it (default: report.html in the first run).")
def report(runs: Sequence[Path], out: Path | None) -> None:
    """Write one self-contained HTML page about a run, beside further runs if given."""
    from rag.evaluation.report import write_report

    click.echo(write_report(runs, out))


@evaluation.command("from-feedback")
@click.argument("feedback", type=_folder)
@click.argument("out", type=_folder)
def from_feedback(feedback: Path, out: Path) -> None:
    """Turn the thumbs of the chat page into a question file to complete."""
    from rag.evaluation.feedback import write_questions

    click.echo(f"{write_questions(feedback, out)} questions in {out}: complete what is marked to be checked")


def _gates(texts: Sequence[str]) -> dict[str, float]:
    gates = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            gates[name.strip()] = float(value)
        except ValueError as error:
            raise InputError(f"{text!r}: a gate is METRIC=VALUE, as in right=0.8 or single.right=0.8") from error
    return gates


def _run_before(out: Path, dataset: str) -> Path:
    """Return the latest scored run of the same dataset beside `out`. Raises `InputError` where there is none."""
    runs = [file.parent for file in out.resolve().parent.glob("*/metrics.json") if file.parent != out.resolve()]
    started = {run: json.loads((run / "run.json").read_text(encoding="utf-8")) for run in runs}
    same = {run: about["started"] for run, about in started.items() if about["dataset"] == dataset}
    if not same:
        raise InputError(f"{out.parent}: no earlier run of {dataset} for --max-regression; name one with --against RUN")
    return max(same, key=lambda run: same[run])


def _hold(
    metrics: Mapping[str, Any], floors: Mapping[str, float], falls: Mapping[str, float] | None = None,
    against: Path | None = None,
) -> None:  # fmt: skip
    short = [
        f"{name} is {_value(metrics, name):.3f}, under {floor}"
        for name, floor in floors.items()
        if _value(metrics, name) < floor
    ]
    if against is not None:
        before = json.loads((against / "metrics.json").read_text(encoding="utf-8"))
        for name, most in (falls or {}).items():
            fell = _value(before, name) - _value(metrics, name)
            if fell > most:
                short.append(f"{name} fell by {fell:.3f}, more than {most}")
    if short:
        click.echo("gate not met: " + "; ".join(short), err=True)
        raise click.exceptions.Exit(FALLS_SHORT)


def _value(metrics: Mapping[str, Any], name: str) -> float:
    """Find `right`, `single.right`, `nDCG@10` or `refusal_recall` among the metrics."""
    kind, _, measure = name.rpartition(".")
    anywhere = [metrics.get("overall", {}), metrics, metrics.get("retrieval") or {}]
    places = [metrics.get("kinds", {}).get(kind, {})] if kind else anywhere
    for place in places:
        found = place.get(measure)
        if isinstance(found, Mapping) and "value" in found:
            return float(found["value"])
        if isinstance(found, int | float):
            return float(found)
    raise InputError(f"{name}: this run has no such metric")


def _table(metrics: Mapping[str, Any]) -> str:
    lines = []
    if "kinds" in metrics:
        names = ("right", "abstract", "sentence", "refused", "broken")
        lines.append(f"{'kind':<14}{'n':>5}" + "".join(f"{name:>20}" for name in names) + f"{'words':>8}")
        for kind, row in {**metrics["kinds"], "all": metrics["overall"]}.items():
            cells = "".join(f"{_cell(row[name]):>20}" for name in names)
            lines.append(f"{kind:<14}{row['n']:>5}{cells}{row['words'] if row['words'] is not None else '-':>8}")
        for name in (
            "citation_precision",
            "citation_recall",
            "list_f1",
            "refusal_precision",
            "refusal_recall",
            "dropped",
        ):
            if metrics[name]:
                lines.append(f"{name:<24}{_cell(metrics[name])}")
    for name, interval in (metrics.get("retrieval") or {}).items():
        lines.append(f"{name:<24}{_cell(interval)}")
    for stage, times in metrics.get("latency_ms", {}).items():
        lines.append(f"{stage + ' ms':<24}" + "  ".join(f"{name} {value}" for name, value in times.items()))
    return "\n".join([*lines, f"{'errors':<24}{metrics['errors']}"])


def _cell(interval: Mapping[str, float] | None) -> str:
    return "-" if interval is None else f"{interval['value']:.3f} [{interval['low']:.2f}, {interval['high']:.2f}]"


def _comparison(found: Mapping[str, Any], worst: int) -> str:
    lines = [f"{found['questions']} questions: {found['before']} -> {found['after']}", ""]
    heads = f"{'before':>8}{'after':>8}{'difference (95%)':>28}{'p':>8}{'McNemar':>9}  win/loss/tie"
    lines.append(f"{'kind':<14}{'metric':<20}{heads}")
    for kind, row in {"all": found["overall"], **found["kinds"]}.items():
        for name, one in row.items():
            if name == "n":
                continue
            d = one["difference"]
            exact = "-" if one["mcnemar"] is None else f"{one['mcnemar']:.4f}"
            lines.append(
                f"{kind:<14}{name:<20}{one['before']:>8.3f}{one['after']:>8.3f}"
                f"{d['value']:>+11.3f} [{d['low']:+.3f}, {d['high']:+.3f}]{one['p']:>8.4f}{exact:>9}"
                f"  {one['wins']}/{one['losses']}/{one['ties']}{'  *' if one['significant'] else ''}"
            )
    lines.append("\n* significant: p < 0.05 and an interval without 0")
    lines.append(f"{len(found['worse'])} got worse, {len(found['better'])} better")
    for one in found["worse"][:worst]:
        lines += ["", f"[{one['id']}, {one['kind']}] {one['question']}"]
        lines += [f"  {when:<7}({one[when]['verdict']}) {one[when]['text']}" for when in ("before", "after")]
    from rag.terminal import printable

    return printable("\n".join(lines))


def _texts(store: Path | None, config: Path | None) -> dict[str, str]:
    from rag.index.catalog import CATALOG, Catalog, collection_folder
    from rag.settings import load_settings

    place = load_settings(config, {"store": {"path": store}}).store
    file = collection_folder(place.path, place.collection) / CATALOG
    return {abstract.id: abstract.text for abstract in Catalog(file)} if file.exists() else {}


def _asking(questions: Sequence[Question]) -> Iterable[Question]:
    from tqdm import tqdm

    bar: Iterable[Question] = tqdm(questions, desc="asking", unit=" questions", disable=None)
    return bar
