"""BM25: words are matched by stem, compounds whole and in parts, and only what matches is returned."""

from pathlib import Path

import numpy as np
import pytest

from rag.index.lexical import TERMS, LexicalIndex, query_terms, terms, topic

ABSTRACTS = [
    ("a", "Llama-3.1-8B is pruned to half its size."),
    ("b", "Pruning roses in winter."),
    ("c", r"T$^2$PO optimises policies; RAT+ does not."),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pruning the pruned", ["prune", "prune"]),
        ("Llama-3.1-8B", ["llama-3.1-8b", "llama", "3", "1", "8b"]),
        ("Qwen3 and Qwen2.5-32B", ["qwen3", "qwen", "qwen2.5-32b", "qwen2", "5", "32b", "qwen"]),
        ("T2 at 50x", ["t2", "50x"]),
        ("what is it?", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_query_terms_leave_out_what_only_asks() -> None:
    assert query_terms("ATCI definition?") == ["atci"]
    assert query_terms("define definition") == ["defin", "definit"]


def test_topic_keeps_what_a_question_is_about() -> None:
    assert topic("Which papers deal with Diffusion LLMs?") == "Diffusion LLMs"
    assert topic("list anything?") == "list anything?"


def test_an_index_of_an_older_version_is_built_anew(tmp_path: Path) -> None:
    LexicalIndex.build(ABSTRACTS).save(tmp_path, 7)
    about = tmp_path / "about.json"
    about.write_text(about.read_text().replace(f'"terms": {TERMS}', '"terms": 1'))
    assert LexicalIndex.load(tmp_path) is None


def test_nearest_ranks_what_matches_and_nothing_else(tmp_path: Path) -> None:
    built = LexicalIndex.build(ABSTRACTS)
    built.save(tmp_path, 7)
    loaded, generation = LexicalIndex.load(tmp_path) or pytest.fail("it was not kept")
    assert generation == 7
    for index in (built, loaded):
        assert [i for i, _ in index.nearest("how to prune Llama-3.1-8B?", 5)] == ["a", "b"]
        assert [i for i, _ in index.nearest("T2PO", 5)] == ["c"]
        assert [i for i, _ in index.nearest("RAT+", 5)] == ["c"]
        assert index.nearest("elephants", 5) == []
        assert index.nearest("what is it", 5) == []
        assert len(index.nearest("prune", 1)) == 1
    assert LexicalIndex.load(tmp_path / "nowhere") is None


def test_a_rare_term_weighs_more() -> None:
    index = LexicalIndex.build(ABSTRACTS)
    assert index.rarity("rose") == pytest.approx(0.9808, abs=1e-4)  # ln(1 + 2.5 / 1.5)
    assert index.rarity("prune") == pytest.approx(0.4700, abs=1e-4)  # ln(1 + 1.5 / 2.5)
    assert index.rarity("elephant") > index.rarity("rose")


def test_an_empty_index_finds_nothing() -> None:
    assert LexicalIndex.build([]).nearest("anything", 5) == []


def test_a_change_gives_the_index_that_building_anew_would(tmp_path: Path) -> None:
    built = LexicalIndex.build(ABSTRACTS[:2])
    built.save(tmp_path, 1)
    kept, _ = LexicalIndex.load(tmp_path) or pytest.fail("it was not kept")
    changed = kept.changed([("a", "Llamas eat roses."), ABSTRACTS[2]], ["a"])
    anew = LexicalIndex.build([ABSTRACTS[1], ("a", "Llamas eat roses."), ABSTRACTS[2]])
    assert changed.ids == anew.ids == ["b", "a", "c"]
    for text in ("roses", "prune", "Llama-3.1-8B", "RAT+ policies", "llamas eat"):
        assert changed.nearest(text, 5) == anew.nearest(text, 5)
        assert changed.rarity(terms(text)[0]) == anew.rarity(terms(text)[0])
    assert changed.check() > 0


def test_scores_are_those_of_the_formula() -> None:
    index = LexicalIndex.build([("a", "apple apple pear"), ("b", "pear"), ("c", "plum plum")])
    # idf = ln(1 + 2.5 / 1.5); tf / (tf + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert index.nearest("apple", 5) == [
        ("a", pytest.approx(0.980829 * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)), abs=1e-5))
    ]


def test_only_some_abstracts_are_searched() -> None:
    index = LexicalIndex.build(ABSTRACTS)
    assert [i for i, _ in index.nearest("prune", 5, among={"b", "c"})] == ["b"]


def test_arrays_that_do_not_fit_together_are_told(tmp_path: Path) -> None:
    LexicalIndex.build(ABSTRACTS).save(tmp_path, 1)
    counts = next(tmp_path.glob("*-lengths.npy"))
    np.save(counts, np.load(counts)[:1])
    index, _ = LexicalIndex.load(tmp_path) or pytest.fail("it was not kept")
    with pytest.raises(ValueError, match="do not fit together"):
        index.check()
