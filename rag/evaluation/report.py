"""One HTML file that tells a colleague how a run went; it asks nothing of the network.

    rag eval report runs/today [runs/yesterday …]

Everything that a run's folder holds is taken for hostile: jinja2 escapes it, and a policy in the page allows no
script but report.js, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rag.errors import InputError, OutsideError
from rag.evaluation.plots import coverage_plot, rank_plot
from rag.settings import Settings

HERE = Path(__file__).parent
NOTHING = "–"
VERDICTS = ("right", "refused rightly", "wrong", "refused wrongly", "broken", "error")
PLACES = ("store", "server")
"""Sections of the settings that say where, not how; they change no answer."""

COLUMNS = {
    "right": "answered with every fact asked for, a relevant abstract cited, and a quote that is an expected sentence; "
    "where the abstracts hold no answer: refused",
    "abstract": "a relevant abstract is cited first; for lists the F1 of the cited abstracts",
    "sentence": "the first sentence of the answer rests on an expected sentence",
    "refused": "share refused: wanted only where the abstracts hold no answer",
    "broken": "share of answers that break the contract, such as a marker without a citation; 0 is wanted",
    "words": "median length of the answers",
}
RATES = tuple(COLUMNS)[:-1]
SINGLES = {
    "refusal_precision": "of the questions refused, the share that the abstracts cannot answer",
    "refusal_recall": "of the questions that the abstracts cannot answer, the share refused",
    "citation_precision": "of the quotes, the share that are expected sentences",
    "citation_recall": "of the expected sentences, the share quoted",
    "list_f1": "lists: F1 of the cited abstracts against the relevant ones",
    "dropped": "of a language model's sentences, the share not shown for want of support",
}
RETRIEVAL = {
    "nDCG@10": "gain of the first ten abstracts, discounted by rank; 1 is the ideal order",
    "R@1": "share of the relevant abstracts that come first",
    "R@5": "share of the relevant abstracts among the first 5",
    "R@20": "share of the relevant abstracts among the first 20",
    "RR@10": "one over the rank of the first relevant abstract, 0 beyond ten",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder as read: run.json, metrics.json and, where asked for, the lines of per_question.jsonl."""

    name: str
    about: Mapping[str, Any]
    metrics: Mapping[str, Any]
    questions: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A metric: its name, its value in each run ({"value", "low", "high"}, a number, or None), and what it means."""

    name: str
    values: tuple[Any, ...]
    meaning: str = ""


def write_report(runs: Sequence[Path], out: Path | None = None) -> Path:
    """Write the first run in full, with the others' metrics beside its own, as one self-contained HTML file.

    `out` is the file to write; without it, report.html in the first run's folder. Returns the file written. The same
    folders give the same bytes. Raises `InputError` where a folder lacks a file or a file cannot be read, and
    `OutsideError` where the report cannot be written.
    """
    if not runs:
        raise InputError("a report needs the folder of at least one run")
    names = _names(runs)
    read = [_read(folder, name, questions=not at) for at, (folder, name) in enumerate(zip(runs, names, strict=True))]
    target = out or runs[0] / "report.html"
    try:
        # A lone surrogate, which JSON may hold, has no UTF-8: it becomes a question mark.
        target.write_bytes(_render(read).encode("utf-8", errors="replace"))
    except OSError as error:
        raise OutsideError(f"cannot write the report {target}: {error.strerror}") from error
    return target


def _names(runs: Sequence[Path]) -> list[str]:
    """Name runs by their folders, or by their whole paths where two folders share a name."""
    names = [folder.resolve().name for folder in runs]
    return names if len(set(names)) == len(names) else [str(folder) for folder in runs]


def _read(folder: Path, name: str, questions: bool) -> Run:
    def only(file: str) -> Mapping[str, Any]:
        return _parse(folder / file, _text(folder, file), 0)

    lines: list[Mapping[str, Any]] = []
    if questions:
        path = folder / "per_question.jsonl"
        # Not splitlines(): U+2028 and its like may stand unescaped in JSON and end no line.
        numbered = enumerate(_text(folder, path.name).split("\n"), 1)
        lines = [_parse(path, line, number) for number, line in numbered if line.strip()]
    return Run(name, only("run.json"), only("metrics.json"), tuple(lines))


def _text(folder: Path, file: str) -> str:
    try:
        return (folder / file).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{folder} has no {file}; `rag eval run` makes a run's folder") from error
    except OSError as error:
        raise InputError(f"cannot read {folder / file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{folder / file} is not UTF-8; `rag eval score {folder}` writes it again") from error


def _parse(path: Path, text: str, line: int) -> Mapping[str, Any]:
    place = f"{path}:{line}" if line else str(path)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{place}: a JSON object is expected, not {type(value).__name__}")
    return value


def _render(runs: Sequence[Run]) -> str:
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"figure": _figure, "interval": _interval, "date": _date, "words": _words, "ms": _ms}
    script = (HERE / "report.js").read_text(encoding="utf-8")
    first = runs[0]
    return environment.get_template("report.html.j2").render(
        run=first,
        runs=runs,
        style=Markup((HERE / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        plots={name: Markup(svg) for name, svg in _plots(first.metrics).items()},  # noqa: S704 - numbers and our words
        settings=_changed(first.about.get("settings") or {}),
        columns={key: COLUMNS[key] for key in _columns(first.metrics)},
        rows=_single_rows([first.metrics]),
        compared=_compared(runs) if len(runs) > 1 else [],
        same_questions=len({run.about.get("dataset_fingerprint") for run in runs}) == 1,
        verdicts=_verdicts(first.questions),
        kinds=list(dict.fromkeys(question.get("kind", "") for question in first.questions)),
    )


def _plots(metrics: Mapping[str, Any]) -> dict[str, str]:
    plots = {}
    if curve := metrics.get("curve"):
        plots["coverage"] = coverage_plot(curve, metrics.get("operating_point"))
    if ranks := metrics.get("ranks"):
        plots["ranks"] = rank_plot(ranks)
    return plots


def _changed(settings: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the name, value and default of each setting that is not at its default and may change an answer."""
    defaults = Settings().model_dump(mode="json")
    return [
        (f"{section}.{key}", value, defaults.get(section, {}).get(key))
        for section, values in settings.items()
        if section not in PLACES
        for key, value in values.items()
        if value != defaults.get(section, {}).get(key)
    ]


def _columns(metrics: Mapping[str, Any]) -> list[str]:
    """The columns of the table by kind that hold anything."""
    blocks = [*(metrics.get("kinds") or {}).values(), metrics.get("overall") or {}]
    return [column for column in COLUMNS if any(block.get(column) is not None for block in blocks)]


def _single_rows(metrics: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The metrics that are one figure for the whole run, each over all runs; those that none has are left out."""
    rows = [
        Row(name.replace("_", " ").replace("f1", "F1"), tuple(one.get(name) for one in metrics), meaning)
        for name, meaning in SINGLES.items()
    ]
    retrieval = [one.get("retrieval") or {} for one in metrics]
    for name in dict.fromkeys([*RETRIEVAL, *(key for one in retrieval for key in one)]):
        rows.append(Row(name, tuple(one.get(name) for one in retrieval), RETRIEVAL.get(name, "")))
    return _filled(rows)


def _compared(runs: Sequence[Run]) -> list[Row]:
    """The rows of the table that sets runs side by side."""
    metrics = [run.metrics for run in runs]
    overall = [one.get("overall") or {} for one in metrics]
    kinds = [one.get("kinds") or {} for one in metrics]
    rows = [Row("questions", tuple(one.get("n") for one in overall)), Row("right", _pick(overall, "right"))]
    for kind in dict.fromkeys(kind for one in kinds for kind in one):
        rows.append(Row(f"right, {kind}", tuple((one.get(kind) or {}).get("right") for one in kinds)))
    rows += [Row(name, _pick(overall, name)) for name in (*RATES[1:], "words")]
    rows += _single_rows(metrics)
    total = [(one.get("latency_ms") or {}).get("total") or {} for one in metrics]
    rows += [Row(f"latency {name}, ms", _pick(total, name)) for name in ("p50", "p95")]
    return _filled([*rows, Row("errors", _pick(metrics, "errors"))])


def _pick(blocks: Sequence[Mapping[str, Any]], name: str) -> tuple[Any, ...]:
    return tuple(block.get(name) for block in blocks)


def _filled(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if any(value is not None for value in row.values)]


def _verdicts(questions: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Count the verdicts, the good ones first."""
    counts = Counter(str(question.get("verdict")) for question in questions)
    return {verdict: counts[verdict] for verdict in (*VERDICTS, *sorted(set(counts) - {*VERDICTS})) if counts[verdict]}


def _figure(value: Any) -> str:
    """A rate to three places, a count as it is; a dash for what was not measured."""
    if isinstance(value, Mapping):
        value = value.get("value")
    if not isinstance(value, int | float) or not math.isfinite(value):
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"


def _interval(value: Any) -> str:
    """The 95% interval to two places, or nothing where there is none."""
    if not isinstance(value, Mapping) or value.get("low") is None or value.get("high") is None:
        return ""
    return f"{value['low']:.2f}–{value['high']:.2f}"


def _words(value: Any) -> str:
    return NOTHING if value is None else f"{value:g}"


def _ms(value: Any) -> str:
    """Milliseconds: whole from ten on, one decimal below."""
    return NOTHING if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _date(text: Any) -> str:
    """An ISO time as a reader writes it; anything else as it stands."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return f"{when:%Y-%m-%d %H:%M} {when.tzname() or ''}".strip()
