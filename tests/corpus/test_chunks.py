"""Chunks are runs of whole sentences that cover the abstract."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.corpus.chunks import chunk
from rag.records import Abstract


def an_abstract(sentences: int) -> Abstract:
    spans = tuple((3 * number, 3 * number + 2) for number in range(sentences))
    return Abstract("id", "ab " * sentences, "label", spans, ())


@pytest.mark.parametrize(
    ("pieces", "runs"),
    [
        ([10, 10, 10], [(0, 3)]),
        ([10, 10, 11], [(0, 2), (2, 3)]),
        ([40, 10], [(0, 1), (1, 2)]),
        ([10, 40, 10], [(0, 1), (1, 2), (2, 3)]),
        ([], []),
    ],
    ids=["fits", "one too many", "a giant first", "a giant inside", "empty"],
)
def test_chunk_takes_as_many_sentences_as_fit(pieces: list[int], runs: list[tuple[int, int]]) -> None:
    chunks = chunk(an_abstract(len(pieces)), pieces, 30)
    assert [(c.first, c.last) for c in chunks] == runs
    assert [c.id for c in chunks] == [f"id:{number}" for number in range(len(runs))]


@given(st.lists(st.integers(1, 60), max_size=30), st.integers(10, 100))
def test_chunks_cover_every_sentence_once(pieces: list[int], limit: int) -> None:
    chunks = chunk(an_abstract(len(pieces)), pieces, limit)
    assert [number for c in chunks for number in range(c.first, c.last)] == list(range(len(pieces)))
    assert all(sum(pieces[c.first : c.last]) <= limit or c.last - c.first == 1 for c in chunks)
