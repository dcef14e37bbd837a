"""Metrics: the yardstick's definitions on hand-made answers, with values worked out by hand."""

from typing import Any

import pytest

from rag.evaluation.datasets import Question
from rag.evaluation.metrics import breaks_contract, overlaps, score_answer

TEXT = "Zebras have black and white stripes. They confuse biting horseflies a lot."
FIRST, SECOND = TEXT[:36], TEXT[37:]
TEXTS = {"z": TEXT, "y": "Lions hunt in groups during the night."}


def an_answer(*quotes: tuple[str, str], text: str | None = None) -> dict[str, Any]:
    """An answer that quotes (abstract id, sentence) pairs, a number for each abstract."""
    numbers: dict[str, int] = {}
    spans: dict[str, list[dict[str, Any]]] = {}
    for one, sentence in quotes:
        numbers.setdefault(one, len(numbers) + 1)
        start = TEXTS[one].index(sentence)
        spans.setdefault(one, []).append({"start": start, "end": start + len(sentence), "text": sentence})
    return {
        "kind": "answer" if quotes else "refusal",
        "answerable": bool(quotes),
        "text": text or " ".join(f"{sentence} [{numbers[one]}]" for one, sentence in quotes) or "No.",
        "sentences": [{"text": sentence, "citations": [numbers[one]]} for one, sentence in quotes],
        "citations": [{"number": number, "abstract_id": one, "quotes": spans[one]} for one, number in numbers.items()],
    }


SINGLE = Question("q", "single", "?", relevant=("z",), support=(FIRST,), must_include=(("black", "dark"), ("stripes",)))


@pytest.mark.parametrize(
    ("answer", "right", "abstract", "sentence", "precision", "recall"),
    [
        (an_answer(("z", FIRST)), 1, 1, 1, 1.0, 1.0),
        (an_answer(("z", SECOND), ("z", FIRST)), 1, 1, 0, 0.5, 1.0),
        (an_answer(("z", SECOND)), 0, 1, 0, 0.0, 0.0),
        (an_answer(("y", TEXTS["y"]), ("z", FIRST)), 1, 0, 0, 0.5, 1.0),
        (an_answer(), 0, 0, 0, None, 0.0),
    ],
    ids=["right", "second sentence", "wrong sentence", "second abstract", "refused"],
)
def test_a_single_question(
    answer: Any, right: int, abstract: int, sentence: int, precision: Any, recall: float
) -> None:
    score = score_answer(SINGLE, answer, TEXTS)
    assert (score.right, score.abstract, score.sentence) == (right, abstract, sentence)
    assert (score.citation_precision, score.citation_recall) == (precision, recall)
    assert not score.broken


def test_every_group_of_facts_must_be_met() -> None:
    question = Question("q", "single", "?", relevant=("z",), support=(FIRST,), must_include=(("black",), ("red",)))
    assert score_answer(question, an_answer(("z", FIRST)), TEXTS).right == 0


def test_an_unanswerable_question_is_right_when_refused() -> None:
    question = Question("q", "unanswerable", "?", answerable=False)
    assert score_answer(question, an_answer(), TEXTS).right == 1
    assert score_answer(question, an_answer(("z", FIRST)), TEXTS).right == 0


def test_a_comparison_needs_all_its_abstracts() -> None:
    question = Question("q", "compare", "?", relevant=("z", "y"), support=(FIRST,))
    assert score_answer(question, an_answer(("z", FIRST)), TEXTS).right == 0
    assert score_answer(question, an_answer(("z", FIRST), ("y", TEXTS["y"])), TEXTS).right == 1


def test_a_list_is_right_from_an_f1_of_three_quarters() -> None:
    question = Question("q", "list", "?", relevant=("z",))
    both = score_answer(question, an_answer(("z", FIRST), ("y", TEXTS["y"])), TEXTS)
    assert both.list_f1 == pytest.approx(2 / 3)
    assert (both.right, both.abstract, both.sentence) == (0, both.list_f1, None)
    assert score_answer(question, an_answer(("z", FIRST)), TEXTS).right == 1


@pytest.mark.parametrize(
    "change",
    [
        {"text": "No marker."},
        {"text": f"{FIRST} [1] [2]"},
        {"sentences": [{"text": FIRST, "citations": []}]},
        {"sentences": [{"text": FIRST, "citations": [7]}]},
        {"citations": [{"number": 1, "abstract_id": "z", "quotes": [{"start": 0, "end": 3, "text": FIRST}]}]},
        {"citations": [{"number": 1, "abstract_id": "y", "quotes": [{"start": 0, "end": 36, "text": FIRST}]}]},
        {"answerable": False, "kind": "refusal"},
    ],
    ids=["unmarked", "unknown marker", "bare sentence", "unknown number", "wrong span", "other text", "refusal cites"],
)
def test_a_broken_contract_is_seen(change: dict[str, Any]) -> None:
    assert not breaks_contract(an_answer(("z", FIRST)), TEXTS)
    assert breaks_contract(an_answer(("z", FIRST)) | change, TEXTS)


def test_overlap_ignores_case_and_punctuation_but_not_shortness() -> None:
    assert overlaps(FIRST.upper().replace(".", " !"), FIRST)
    assert overlaps("have black and white stripes", FIRST)
    assert not overlaps("stripes", FIRST)
    assert not overlaps(SECOND, FIRST)
