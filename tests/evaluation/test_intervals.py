"""Intervals and tests against values from the literature and from exact arithmetic."""

import pytest

from rag.evaluation.intervals import bootstrap, mcnemar, paired_bootstrap, permutation_test, wilson


def test_wilson() -> None:
    interval = wilson(10, 10)
    assert (interval.value, interval.high) == pytest.approx((1.0, 1.0))
    assert interval.low == pytest.approx(0.7225, abs=1e-4)  # 10 / (10 + 1.96²)
    half = wilson(5, 10)
    assert (half.low, half.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_bootstrap_is_seeded_and_near_the_normal_interval() -> None:
    values = [0.0, 1.0] * 200
    interval = bootstrap(values, list(range(400)), seed=1)
    assert interval == bootstrap(values, list(range(400)), seed=1)
    assert interval.value == 0.5
    assert (interval.low, interval.high) == pytest.approx((0.451, 0.549), abs=0.01)


def test_bootstrap_draws_conversations_whole() -> None:
    values = [0.0] * 50 + [1.0] * 50
    alone = bootstrap(values, list(range(100)))
    together = bootstrap(values, [number // 10 for number in range(100)])
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_equal_runs_differ_by_exactly_nothing() -> None:
    values, groups = [0.0, 1.0, 1.0, 0.3], ["a", "a", "b", "c"]
    interval = paired_bootstrap(values, values, groups)
    assert (interval.value, interval.low, interval.high) == (0.0, 0.0, 0.0)
    assert permutation_test(values, values, groups) == 1.0
    assert mcnemar([0, 1, 1], [0, 1, 1]) == 1.0


def test_mcnemar_is_the_binomial_test() -> None:
    assert mcnemar([0] * 8 + [1], [1] * 8 + [0]) == pytest.approx(2 * (1 + 9) / 2**9)
    assert mcnemar([0] * 6, [1] * 6) == pytest.approx(2 / 64)


def test_permutation_finds_a_real_difference_and_no_other() -> None:
    groups = list(range(30))
    assert permutation_test([0.0] * 30, [1.0] * 30, groups) < 0.001
    mixed = [1.0, 0.0] * 15
    assert permutation_test(mixed, mixed[::-1], groups) > 0.5
    # all in one conversation: two ways to assign it, both as far from 0
    assert permutation_test([0.0] * 30, [1.0] * 30, [0] * 30) == 1.0


def test_no_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap([], [])
