"""Questions and abstracts laid out in word pieces, and read."""

import numpy as np
import pytest

from rag.corpus.abstracts import from_text
from rag.reader.transformer import CLS, POSITIONS, SEP, UNKNOWN, Row, Transformer, lay_out, pooling
from rag.records import Abstract

TEXT = (
    "Zebras are striped, and nobody knew why. We propose ZebraNet, a model of their stripes. "
    "It reduces bites of horse flies by 71%. The code is available."
)


def abstract(text: str) -> Abstract:
    return from_text(text, "t.txt#1")


@pytest.fixture(scope="module")
def transformer() -> Transformer:
    return Transformer()


def test_a_row_holds_the_question_and_then_the_sentences() -> None:
    (row,) = lay_out((7, 8), [(1, 2), (3,)])
    assert row == Row((CLS, 7, 8, SEP, 1, 2, 3, SEP), ((4, 6), (6, 7)))


def test_a_sentence_without_word_pieces_keeps_its_place() -> None:
    (row,) = lay_out((7,), [(), (3,)])
    assert row == Row((CLS, 7, SEP, UNKNOWN, 3, SEP), ((3, 4), (4, 5)))


def test_long_abstracts_are_cut_between_sentences_and_none_is_lost() -> None:
    sentences = [tuple(range(1000 + 100 * i, 1100 + 100 * i)) for i in range(12)]
    rows = lay_out(tuple(range(300)), [*sentences, tuple(range(5000, 7000))])
    assert all(len(row.pieces) <= POSITIONS for row in rows)
    assert all(row.pieces[:97] == (CLS, *range(96)) for row in rows)
    read = [row.pieces[start:end] for row in rows for start, end in row.spans]
    assert read[:12] == sentences
    assert len(read) == 13
    assert read[12] == tuple(range(5000, 5000 + POSITIONS - 99))


def test_pooling_takes_means() -> None:
    row = Row((CLS, 7, SEP, 1, 2, 3, SEP), ((3, 5), (5, 6)))
    states = np.arange(7, dtype=np.float32)[:, None]
    assert (pooling(row) @ states).tolist() == [[3.5], [5.0]]


def test_the_sentence_that_answers_stands_out(transformer: Transformer) -> None:
    (found,) = transformer.read("By how much does ZebraNet reduce bites?", [abstract(TEXT)])
    assert found.evidence.argmax() == 2
    assert found.evidence.shape == (4,)


def test_answerable_tells_an_answer_from_a_near_miss(transformer: Transformer) -> None:
    said, unsaid = (
        transformer.read(question, [abstract(TEXT)])[0].answerable
        for question in ("By how much does ZebraNet reduce bites?", "Which optimizer was ZebraNet trained with?")
    )
    assert said > unsaid


def test_abstracts_are_read_each_for_itself(transformer: Transformer) -> None:
    long, short = abstract(TEXT), abstract("Lions roar.")
    both = transformer.read("Do lions roar?", [long, short])
    for together, one in zip(both, (long, short), strict=True):
        (alone,) = transformer.read("Do lions roar?", [one])
        assert np.array_equal(together.evidence, alone.evidence)
        assert together.answerable == alone.answerable


def test_an_abstract_of_many_windows_has_a_score_for_each_sentence(transformer: Transformer) -> None:
    herds = [f"Herd {i} was watched for {i + 3} days near a river." for i in range(60)]
    long = abstract(" ".join([*herds[:50], "A zebra's heart weighs four kilograms.", *herds[50:]]))
    assert len(lay_out((7,), [tuple(range(12))] * 61)) > 1
    (found,) = transformer.read("How much does the heart of a zebra weigh?", [long])
    assert found.evidence.shape == (61,)
    assert found.evidence.argmax() == 50


def test_nothing_to_read(transformer: Transformer) -> None:
    assert transformer.read("What?", []) == []
