"""The report's plots, as SVG to stand inside a page: its font, its colours, light or dark.

matplotlib knows no `currentColor`, so it draws in stand-in colours, which are replaced in the text of the SVG.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, LINE, ACCENT, WARN = "#010203", "#020304", "#030405", "#040506", "#050607"
COLOURS = {
    INK: "currentColor",
    FAINT: "var(--faint)",
    LINE: "var(--line)",
    ACCENT: "var(--accent)",
    WARN: "var(--warn)",
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "askabstracts",
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": FAINT,
    "axes.edgecolor": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": FAINT,
    "ytick.labelcolor": FAINT,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
}
SIZE = (4.7, 2.7)
"""Inches. 338 units wide, so that the text keeps its size on a telephone."""

LEAST_RANKS, SINGLE_RANKS = 5, 10
WIDER_BINS = ((11, 20), (21, 50), (51, 100), (101, None))


def coverage_plot(curve: Sequence[Mapping[str, Any]], point: Mapping[str, Any] | None) -> str:
    """Draw coverage and accuracy (0..1) over the refusal threshold (0..1), and `point`, where the run stands."""
    rows = sorted(curve, key=lambda row: row["threshold"])
    thresholds = [row["threshold"] for row in rows]
    with _style():
        figure, axes = _axes()
        for name, colour, dashes in (("coverage", FAINT, "--"), ("accuracy", ACCENT, "-")):
            values = [_number(row[name]) for row in rows]
            axes.plot(thresholds, values, color=colour, linestyle=dashes, linewidth=1.8, label=name)
            if point:
                axes.plot([point["threshold"]], [_number(point[name])], "o", color=colour, markersize=6, zorder=4)
        if point:
            axes.axvline(point["threshold"], color=INK, linewidth=0.8, linestyle=":", label="this run")
        axes.set(xlabel="refusal threshold", ylim=(0, 1.04), xlim=_span(thresholds, point))
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axes.grid(axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, borderaxespad=0, handlelength=1.8)
        return _inline(figure, "coverage", "Coverage and accuracy over the refusal threshold")


def rank_plot(ranks: Mapping[str, int]) -> str:
    """Draw how many questions found their first relevant abstract at each rank; keys that are no rank count as none."""
    names, counts, missing = rank_bars(ranks)
    with _style():
        figure, axes = _axes()
        bars = axes.bar(range(len(counts)), counts, width=0.72, color=ACCENT)
        axes.bar_label(bars, [f"{count:,}" if count else "" for count in counts], padding=2, color=INK)
        places: list[float] = list(range(len(names)))
        if missing:
            places, names = [*places, len(names) + 0.5], [*names, "none"]
            axes.bar_label(axes.bar([places[-1]], [missing], width=0.72, color=WARN), [f"{missing:,}"], padding=2)
        axes.set_xticks(places, names)
        axes.set(xlabel="rank of the first relevant abstract", ylim=(0, max([*counts, missing, 1]) * 1.12))
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        return _inline(figure, "ranks", "Questions by the rank of the first relevant abstract")


def rank_bars(ranks: Mapping[str, int]) -> tuple[list[str], list[int], int]:
    """Return the bars' names, their counts, and how many questions found no relevant abstract.

    Ranks up to `SINGLE_RANKS` have a bar each, the first `LEAST_RANKS` always; deeper ones share `WIDER_BINS`.
    """
    found = {int(key): count for key, count in ranks.items() if key.isdecimal()}
    missing = sum(count for key, count in ranks.items() if not key.isdecimal())
    deepest = max(found, default=0)
    last_single = min(max(deepest, LEAST_RANKS), SINGLE_RANKS)
    names = [str(rank) for rank in range(1, last_single + 1)]
    counts = [found.get(int(name), 0) for name in names]
    for first, last in WIDER_BINS:
        if deepest >= first:
            names.append(f"{first}–{last}" if last else f"{first}+")
            counts.append(sum(n for rank, n in found.items() if first <= rank <= (last or rank)))
    return names, counts, missing


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _span(thresholds: Sequence[float], point: Mapping[str, Any] | None) -> tuple[float, float]:
    """Where the horizontal axis begins and ends: never a single place, and with room for the point's mark."""
    places = [*thresholds, *([point["threshold"]] if point else [])]
    low, high = min(places), max(places)
    margin = (high - low) * 0.02 or 0.05
    return low - margin, high + margin


@contextmanager
def _style() -> Iterator[None]:
    """Set matplotlib up for the time of one plot, whatever the user's own matplotlibrc says."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def _axes() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    return figure, figure.add_subplot()


def _inline(figure: Figure, name: str, description: str) -> str:
    """Return the SVG element alone: no outside namespace, date or font; every id begins with `name`."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    head = f'<svg role="img" aria-label="{description}" '
    return re.sub(r'<svg\s[^>]*?(viewBox="[^"]*")[^>]*>', rf"{head}\1>", svg, count=1)
