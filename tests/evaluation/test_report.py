"""The report: everything in it, nothing from outside, and no text of a run is ever markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from rag.errors import InputError, OutsideError
from rag.evaluation.plots import coverage_plot, rank_bars, rank_plot
from rag.evaluation.report import write_report
from rag.settings import Settings

HOSTILE = (
    "\"'><script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)>{{ 7*7 }}</style>\u2028\ud800$\\frac"
)
VOID = {"meta", "input", "img", "br", "link"}


def rate(value: float) -> dict[str, float]:
    return {"value": value, "low": max(0.0, value - 0.1), "high": min(1.0, value + 0.1)}


def block(n: int, right: float) -> dict[str, Any]:
    return {
        "n": n,
        "right": rate(right),
        "abstract": rate(0.9),
        "sentence": None,
        "refused": rate(0.1),
        "broken": rate(0.0),
        "words": 54.0,
    }


def question(
    at: int, kind: str = "single", verdict: str = "right", text: str = "It needs 3.6 bits. [1]"
) -> dict[str, Any]:
    return {
        "id": f"d{at:03}",
        "kind": kind,
        "question": f"How many bits does model {at} need?",
        "history": [{"role": "user", "content": f"Tell me of model {at}"}],
        "answerable": verdict != "refused rightly",
        "verdict": verdict,
        "right": float(verdict in ("right", "refused rightly")),
        "abstract": 1.0,
        "sentence": 1.0,
        "rank": 1,
        "confidence": 0.93,
        "words": 5,
        "text": text,
        "standalone_question": f"How many bits does model {at} need (Model)?",
        "citations": [
            {"number": 1, "label": f"Label {at}", "source": f"{at}.txt#1", "quotes": [{"text": f"Quote {at}."}]}
        ],
        "expected": {
            "relevant": [f"{at:012x}"],
            "labels": [f"Wanted {at}"],
            "support": [f"Support {at}."],
            "must_include": [["3.6"], ["bits", "bit"]],
        },
        "error": None,
    }


QUESTIONS = [
    question(1),
    question(2, verdict="wrong"),
    question(3, "unanswerable", "refused rightly", "The abstracts do not say."),
    question(4, "list", "refused wrongly"),
    question(5, verdict="broken"),
    question(6, verdict="error")
    | {"text": "", "citations": [], "error": "TimeoutError: no answer", "confidence": None},
]


def about(**changed: Any) -> dict[str, Any]:
    settings = Settings().model_dump(mode="json")
    settings["retriever"]["mode"] = "dense"
    return {
        "dataset": "seeds/questions.jsonl",
        "dataset_fingerprint": "3f9c1a77b2d0",
        "corpus_fingerprint": "a91e00c2d7f4",
        "questions": len(QUESTIONS),
        "encoder": "minilm",
        "answerer": "extractive",
        "model": None,
        "version": "0.1.0",
        "seed": 0,
        "started": "2026-11-30T19:46:10+00:00",
        "seconds": 12.31,
        "machine": {"python": "3.11.7", "system": "Linux", "cpus": 2},
        "settings": settings,
    } | changed


def metrics(right: float = 0.814) -> dict[str, Any]:
    stage = {"p50": 5.25, "p95": 36.4, "p99": 1204.0}
    return {
        "kinds": {"single": block(4, right), "unanswerable": block(1, 1.0), "list": block(1, 0.0)},
        "overall": block(6, right),
        "citation_precision": rate(0.75),
        "citation_recall": None,
        "list_f1": rate(0.25),
        "refusal_precision": rate(0.579),
        "refusal_recall": rate(0.688),
        "retrieval": {name: rate(0.95) for name in ("nDCG@10", "R@1", "R@5", "R@20", "RR@10")},
        "curve": [{"threshold": t / 10, "coverage": 1 - t / 10, "accuracy": 0.5 + t / 20} for t in range(10)],
        "operating_point": {"threshold": 0.25, "coverage": 0.75, "accuracy": 0.625},
        "ranks": {"1": 3, "2": 1, "not retrieved": 1},
        "latency_ms": {"retrieve": stage, "total": stage},
        "errors": 1,
    }


MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    def make(name: str = "today", run: Any = None, of: Any = None, questions: Any = None) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps(run or about()))
        (folder / "metrics.json").write_text(json.dumps(metrics() if of is None else of))
        lines = [json.dumps(one) + "\n" for one in (QUESTIONS if questions is None else questions)]
        (folder / "per_question.jsonl").write_text("".join(lines))
        return folder

    return make


class Page(HTMLParser):
    """The page as a browser takes it: its elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def hostile(value: Any) -> Any:
    """Return a copy of `value` in which markup follows every string but the date."""
    if isinstance(value, dict):
        return {key: one if key == "started" else hostile(one) for key, one in value.items()}
    if isinstance(value, list):
        return [hostile(one) for one in value]
    return value + HOSTILE if isinstance(value, str) else value


def test_the_page_is_whole_html_with_the_figures(make_run: MakeRun) -> None:
    run = make_run()
    written = write_report([run])
    assert written == run / "report.html"
    page = read(written)
    assert page.open == []
    for shown in (
        "2026-11-30 19:46 UTC",
        "0.814 0.71–0.91",
        "refusal precision 0.579 0.48–0.68",
        "refusal recall 0.688 0.59–0.79",
        "retriever.mode = dense default hybrid",
        "from a confidence of 0.250 on: coverage 0.750, accuracy 0.625",
        "retrieve 5.2 36 1,204",
        "right 1 refused rightly 1 wrong 1 refused wrongly 1 broken 1 error 1",
    ):
        assert shown in page.text
    assert page.tags().count("svg") == 2
    assert "Side by side" not in page.text


def test_the_lists_of_settings_hold_only_what_differs_and_matters(make_run: MakeRun) -> None:
    settings = Settings().model_dump(mode="json")
    settings["store"]["path"] = "/home/somebody/secret"
    page = read(write_report([make_run(run=about(settings=settings))]))
    assert "all at their defaults" in page.text
    assert "somebody" not in page.text


def test_every_question_is_there_with_all_that_belongs_to_it(make_run: MakeRun) -> None:
    page = read(write_report([make_run()]))
    cards = [attributes for _, attributes in page.elements if attributes.get("class") == "question"]
    assert [card["data-verdict"] for card in cards] == [one["verdict"] for one in QUESTIONS]
    assert [card["data-kind"] for card in cards] == [one["kind"] for one in QUESTIONS]
    for at in range(1, 6):
        for shown in (f"How many bits does model {at} need?", f"Label {at}", f"Quote {at}.", f"Tell me of model {at}"):
            assert shown in page.text
    assert "has to say 3.6 , and bits or bit" in page.text
    assert "Wanted 2 Support 2." in page.text
    assert "a refusal: the abstracts hold no answer" in page.text
    assert "TimeoutError: no answer" in page.text
    assert page.text.count("confidence 0.93") == 5


def test_what_went_wrong_is_unfolded_and_what_went_well_is_not(make_run: MakeRun) -> None:
    page = read(write_report([make_run()]))
    unfolded = ["open" in attributes for tag, attributes in page.elements if tag == "details"]
    assert unfolded == [one["verdict"] not in ("right", "refused rightly") for one in QUESTIONS]


def test_the_page_asks_nothing_of_the_network(make_run: MakeRun) -> None:
    html = write_report([make_run(), make_run("yesterday")]).read_text(encoding="utf-8")
    page = Page(html)
    assert "http:" not in html
    assert "https:" not in html
    assert "@import" not in html
    assert not {"link", "img", "iframe", "object", "embed", "base"} & set(page.tags())
    assert not [attributes for _, attributes in page.elements if "src" in attributes]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [value for _, attributes in page.elements for key, value in attributes.items() if key.endswith("href")]
    targets += re.findall(r"url\(([^)]*)\)", html)
    assert all(target and target[0] == "#" and target[1:] in ids for target in targets)


def test_no_text_of_a_run_becomes_markup(make_run: MakeRun) -> None:
    plain = read(write_report([make_run()]))
    bad = hostile(metrics())
    bad["latency_ms"] = {f"retrieve{HOSTILE}": bad["latency_ms"]["retrieve"], "total": bad["latency_ms"]["total"]}
    bad["kinds"] = {kind + HOSTILE: value for kind, value in bad["kinds"].items()}
    bad["ranks"] = {"1": 3, "2": 1, f"not retrieved{HOSTILE}": 1}
    run = hostile(about())
    run["settings"] = {f"retriever{HOSTILE}": {f"mode{HOSTILE}": HOSTILE}}
    page = read(write_report([make_run("bad<b>'\"&", run=run, of=bad, questions=hostile(QUESTIONS))]))
    assert page.tags().count("script") == 1
    assert set(page.tags()) == set(plain.tags())
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert "{{ 7*7 }}" in page.text
    assert page.text.count("<script>alert(1)</script>") > 50


def test_only_the_pages_own_script_may_run(make_run: MakeRun) -> None:
    page = read(write_report([make_run()]))
    policies = [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes]
    assert len(policies) == 1
    assert re.search(r"default-src 'none'; .*script-src 'sha256-[\w+/]+='; form-action 'none'", policies[0] or "")


@pytest.mark.parametrize(
    ("changed", "gone"),
    [
        ({"curve": [], "operating_point": None}, "When to refuse"),
        ({"ranks": {}}, "Where the evidence was found"),
        ({"latency_ms": {}}, "Latency"),
        ({"retrieval": None}, "nDCG@10"),
        ({"refusal_precision": None, "refusal_recall": None}, "refusal precision"),
        ({"kinds": {}, "overall": {}}, "By kind of question"),
        ({"citation_recall": None}, "citation recall"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_part_that_was_not_measured_is_left_out(make_run: MakeRun, changed: dict[str, Any], gone: str) -> None:
    page = read(write_report([make_run(of=metrics() | changed)]))
    assert gone not in page.text
    assert page.text.count("How many bits does model 1 need?") == 1


def test_a_run_that_holds_next_to_nothing_still_has_a_report(make_run: MakeRun) -> None:
    bare = {"id": "q1", "kind": "single", "question": "Bare?", "verdict": "error"}
    page = read(write_report([make_run(run={"dataset": "tiny.jsonl"}, of={}, questions=[bare])]))
    assert "Bare?" in page.text
    assert "None" not in page.text
    assert "svg" not in page.tags()


def test_a_null_in_the_table_by_kind_is_a_dash(make_run: MakeRun) -> None:
    of = metrics()
    of["kinds"]["list"] |= {"right": None, "words": None}
    assert "list 1 – 0.900 0.80–1.00 0.100 0.00–0.20 0.000 0.00–0.10 –" in read(write_report([make_run(of=of)])).text


def test_runs_stand_side_by_side_and_the_first_in_full(make_run: MakeRun) -> None:
    other = metrics(0.5) | {"list_f1": None}
    runs = [make_run(), make_run("yesterday", of=other, questions=[question(77)])]
    page = read(write_report(runs))
    side = page.text.partition("Side by side")[2].partition("Every question")[0]
    assert "today 2026-11-30 19:46 UTC · minilm · extractive yesterday" in side
    assert "right 0.814 0.71–0.91 0.500 0.40–0.60" in side
    assert "list F1 0.250 0.15–0.35 –" in side
    assert "errors 1 1" in side
    assert "cannot be compared" not in side
    assert "model 77" not in page.text


def test_runs_over_different_questions_are_said_to_be_so(make_run: MakeRun) -> None:
    page = read(write_report([make_run(), make_run("yesterday", run=about(dataset_fingerprint="other"))]))
    assert "different question files: their figures cannot be compared" in page.text


def test_folders_of_one_name_are_told_apart_by_their_paths(make_run: MakeRun) -> None:
    page = read(write_report([make_run("a/run"), make_run("b/run")]))
    assert "a/run 2026" in page.text
    assert "b/run 2026" in page.text


def test_the_same_folders_give_the_same_bytes(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run(), make_run("yesterday")]
    first, second = (write_report(runs, tmp_path / name).read_bytes() for name in ("1.html", "2.html"))
    assert first == second


def test_a_missing_or_torn_file_is_named(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one run"):
        write_report([])
    with pytest.raises(InputError, match=r"nowhere has no per_question\.jsonl; `rag eval run` makes"):
        write_report([tmp_path / "nowhere"])
    run = make_run()
    with (run / "per_question.jsonl").open("a") as lines:
        lines.write('{"id": "d0')
    with pytest.raises(InputError, match=r"per_question\.jsonl:7: not JSON"):
        write_report([run])
    (run / "metrics.json").write_text("[]")
    with pytest.raises(InputError, match=r"metrics\.json: a JSON object is expected, not list"):
        write_report([make_run("whole"), run])


def test_a_report_that_cannot_be_written_is_an_outside_error(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match=r"cannot write the report .*: No such file"):
        write_report([make_run()], tmp_path / "missing" / "report.html")


def test_deep_ranks_share_bars() -> None:
    names, counts, missing = rank_bars({"1": 5, "12": 2, "20": 1, "35": 4, "250": 1, "not retrieved": 3})
    assert names == [*map(str, range(1, 11)), "11–20", "21–50", "51–100", "101+"]
    assert (counts, missing) == ([5, *[0] * 9, 3, 4, 0, 1], 3)
    assert rank_bars({"1": 2})[:2] == (["1", "2", "3", "4", "5"], [2, 0, 0, 0, 0])


def test_plots_take_the_pages_font_and_colours() -> None:
    curve = [
        {"threshold": 0.0, "coverage": 1.0, "accuracy": 0.8},
        {"threshold": 1.0, "coverage": 0.0, "accuracy": None},
    ]
    for svg in (coverage_plot(curve, None), coverage_plot(curve[:1], None), rank_plot({"1": 3, "not retrieved": 1})):
        assert svg.startswith('<svg role="img" aria-label="')
        assert "currentColor" in svg
        assert "var(--accent)" in svg
        assert not re.search(r"#[0-9a-f]{6}\b|font-family|xmlns", svg)


@pytest.mark.browser
def test_the_list_is_filtered_in_a_browser_and_nothing_else_is_asked_for(make_run: MakeRun, browser: Browser) -> None:
    written = write_report([make_run(questions=[*QUESTIONS, *hostile([question(7, "odd  kind", "wrong")])])])
    page = browser.new_page(viewport={"width": 400, "height": 900})
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(message.text))
    page.goto(written.as_uri())
    assert page.inner_text("#shown") == "7 of 7 shown"
    page.select_option("[name=verdict]", "wrong")
    assert page.locator(".question:visible h3").all_inner_texts() == ["How many bits does model 2 need?"]
    page.select_option("[name=verdict]", "")
    page.fill("[name=text]", "TIMEOUTERROR answer")
    assert page.locator(".question:visible").count() == 1
    page.fill("[name=text]", "")
    page.select_option("[name=kind]", "odd  kind" + HOSTILE.replace("\ud800", "?"))
    assert page.inner_text("#shown") == "1 of 7 shown"
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.close()
    assert seen == [written.as_uri()]
