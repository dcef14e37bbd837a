"""Near-duplicates: what differs in spelling is the same, a preprint is its published form, and two papers are two."""

import pytest

from rag.index.store import Store
from rag.index.twins import SAME_TITLE, SIMILAR, TwinFinder, groups, signature, similarity

PREPRINT = (
    r"Schr\"odinger bridges connect two distributions by the most likely path. We propose BridgeNet, which learns the "
    r"drift of a bridge from samples, and prove that it converges at a rate of $O(1/\sqrt{n})$. On image translation "
    r"BridgeNet reduces the FID by 12\% against the best earlier method, and on single-cell data it finds trajectories "
    r"that agree with lineage tracing. Training takes two hours on one GPU."
)
SPELLINGS = {
    "case": PREPRINT.upper(),
    "punctuation": PREPRINT.replace(",", ";").replace("-", " "),
    "a changed comma": PREPRINT.replace("BridgeNet, which", "BridgeNet which"),
    "Unicode": PREPRINT.replace(r"Schr\"odinger", "Schrödinger").replace(r"12\%", "12%"),
    "no accents": PREPRINT.replace(r"Schr\"odinger", "Schrodinger"),
    "one word": PREPRINT.replace("two hours", "three hours"),
}
PUBLISHED = PREPRINT.replace("two hours on one GPU", "ninety minutes on a single consumer GPU").replace(
    "the best earlier method", "the strongest baseline"
)
OTHER = (
    "Optimal transport connects two distributions by the cheapest plan. We propose FlowNet, which learns the velocity "
    "of a flow from samples, and show that it is fast. On speech conversion FlowNet improves the word error rate by 3%."
)


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_another_spelling_is_the_same(text: str) -> None:
    assert similarity(PREPRINT, text) > 0.85


def test_a_preprint_is_its_published_form_and_another_paper_is_not() -> None:
    assert similarity(PREPRINT, PUBLISHED) > SIMILAR > 0.2 > similarity(PREPRINT, OTHER)


def test_minima_agree_as_often_as_shingles_do() -> None:
    agree = (signature(PREPRINT) == signature(PUBLISHED)).mean()
    assert abs(float(agree) - similarity(PREPRINT, PUBLISHED)) < 0.2


def test_they_are_found_among_those_that_were_there_and_those_just_added() -> None:
    texts = {"old": PREPRINT, "other": OTHER}
    finder = TwinFinder([(one, None, signature(text).tobytes()) for one, text in texts.items()], texts.get)
    _, pairs = finder.add("new", None, SPELLINGS["case"])
    assert [pair[:2] for pair in pairs] == [("new", "old")]
    texts["new"] = SPELLINGS["case"]
    _, pairs = finder.add("newer", None, PUBLISHED)
    assert sorted(pair[:2] for pair in pairs) == [("new", "newer"), ("newer", "old")]
    assert finder.add("short", None, "Zebras.")[1] == []


def test_versions_of_one_title_are_told_and_are_no_near_duplicates() -> None:
    title = "Bridges between distributions, learned"
    rewritten = "We learn bridges. " + OTHER + " BridgeNet, which learns the drift of a bridge from samples, is ours."
    texts = {"old": PREPRINT, "other": OTHER}
    known = [("old", title, signature(PREPRINT).tobytes()), ("other", "Flows", signature(OTHER).tobytes())]
    _, pairs = TwinFinder(known, texts.get).add("new", title.upper(), rewritten)
    assert {pair[:2]: SAME_TITLE <= pair[2] < SIMILAR for pair in pairs if "old" in pair} == {("new", "old"): True}
    assert "old" not in groups(pairs)
    assert TwinFinder(known, texts.get).add("new", "Letter to editors", rewritten)[1] == [
        pair for pair in pairs if "old" not in pair
    ]


def test_pairs_that_hang_together_are_one_group() -> None:
    found = groups([("a", "b", 0.9), ("b", "c", 0.7), ("x", "y", 1.0)])
    assert found["a"] == found["c"] == {"a", "b", "c"}
    assert found["y"] == {"x", "y"}


def test_the_seeds_hold_none(store: Store) -> None:
    assert store.groups == {}
