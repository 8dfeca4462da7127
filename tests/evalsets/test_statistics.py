"""Statistics against their oracles (scipy, statsmodels, scikit-learn) and against figures known beforehand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from evalsets import statistics
from evalsets.errors import BadInputError
from evalsets.statistics import Movement

HUMAN = [verdict == "1" for verdict in "111001101101010100100101110100"]
JUDGE = [verdict == "1" for verdict in "101000001111010100110010111010"]


@given(st.integers(1, 3000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
@settings(max_examples=60)
def test_rate_intervals_equal_statsmodels(counts: tuple[int, int]) -> None:
    passed, total = counts

    wilson = statistics.wilson_interval(passed, total)
    exact = statistics.clopper_pearson_interval(passed, total)

    assert (wilson.low, wilson.high) == pytest.approx(proportion_confint(passed, total, method="wilson"), abs=1e-9)
    assert (exact.low, exact.high) == pytest.approx(proportion_confint(passed, total, method="beta"), abs=1e-9)


@pytest.mark.parametrize(("passed", "total"), [(1, 0), (3, 2), (-1, 5)])
def test_a_rate_of_impossible_counts_is_refused(passed: int, total: int) -> None:
    with pytest.raises(BadInputError, match="count at least one item"):
        statistics.wilson_interval(passed, total)


@pytest.mark.parametrize("size", [12, 50, 150, 400, 3000])
@pytest.mark.parametrize("kind", ["graded", "skewed"])
def test_the_interval_of_a_mean_equals_scipys_bca(size: int, kind: str) -> None:
    draw = np.random.default_rng(size)
    values = draw.choice([0, 0.5, 1], size, p=[0.1, 0.3, 0.6]) if kind == "graded" else draw.beta(5, 1.2, size)
    expected = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=20_000, batch=500, rng=7)

    interval = statistics.mean_interval(values.tolist(), rounds=20_000)

    rounding = 0.12 * values.std() / np.sqrt(size) + 0.6 / size  # a step of the lattice of means, at most
    assert interval.low == pytest.approx(expected.confidence_interval.low, abs=rounding)
    assert interval.high == pytest.approx(expected.confidence_interval.high, abs=rounding)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = [position**0.5 / 10 for position in range(90)]

    assert statistics.mean_interval(values, seed=1) == statistics.mean_interval(values, seed=1)
    assert statistics.mean_interval(values, seed=1) != statistics.mean_interval(values, seed=2)


def test_equal_values_get_a_bound_and_a_warning_instead_of_nan() -> None:
    interval = statistics.mean_interval([1.0] * 50)

    assert interval.low == pytest.approx(0.05 ** (1 / 50))
    assert (interval.high, interval.warning) == (1.0, "all values are equal")


@pytest.mark.parametrize("values", [[], [0.5, float("nan")]])
def test_nan_or_nothing_is_refused_with_words(values: list[float]) -> None:
    with pytest.raises(BadInputError, match="at least one value, and every value finite"):
        statistics.mean_interval(values)


def test_groups_are_resampled_whole_so_that_copies_do_not_narrow_the_interval() -> None:
    values = [0.0, 0.2, 0.4, 0.9, 1.0, 0.7, 0.1, 0.8]
    copied = [value for value in values for _ in range(5)]
    groups = [position // 5 for position in range(len(copied))]

    alone = statistics.mean_interval(values)
    grouped = statistics.mean_interval(copied, groups=groups)

    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=0.03)
    assert "only 8 groups" in grouped.warning


def test_a_rate_over_groups_counts_as_many_items_as_they_are_worth() -> None:
    passed = [group % 3 != 0 for group in range(30) for _ in range(5)]
    groups = [group for group in range(30) for _ in range(5)]

    interval = statistics.clustered_rate_interval(passed, groups)
    alone = statistics.wilson_interval(20, 30)

    assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high), abs=0.02)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60)
def test_mcnemar_equals_statsmodels_and_mid_p_its_definition(broke: int, fixed: int) -> None:
    exact = statistics.mcnemar_exact(broke, fixed)

    assert exact == pytest.approx(mcnemar([[0, broke], [fixed, 0]], exact=True).pvalue)
    if broke != fixed:
        mass = stats.binom.pmf(min(broke, fixed), broke + fixed, 0.5)
        assert statistics.mcnemar_mid_p(broke, fixed) == pytest.approx(exact - mass)


def test_mcnemar_finds_what_overlapping_intervals_hide() -> None:
    before = [True] * 42 + [False] * 8
    after = [False] * 8 + [True] * 34 + [True] + [False] * 7

    comparison = statistics.compare_rates(before, after)

    assert (comparison.broke, comparison.fixed) == (8, 1)
    assert comparison.p_value == pytest.approx(0.0215, abs=1e-4)
    assert comparison.movement is Movement.MOVED
    assert comparison.intervals_overlap
    assert statistics.compare_rates(before, after, strict=True).p_value == pytest.approx(0.0391, abs=1e-4)


def test_five_copies_of_an_item_are_no_more_evidence_than_one() -> None:
    before, after = [True] * 30, [False] * 5 + [True] * 25
    groups = [f"family {place // 5}" for place in range(30)]

    alone = statistics.compare_rates(before, after)
    grouped = statistics.compare_rates(before, after, groups=groups)

    assert alone.p_value == pytest.approx(0.03125)
    assert (grouped.p_value, grouped.test) == (1.0, "sign-flip permutation over groups")
    graded = statistics.compare_means([1.0] * 30, [float(value) for value in after], groups=groups)
    assert graded.p_value == 1.0


def test_mcnemar_of_thousands_does_not_overflow() -> None:
    assert statistics.mcnemar_mid_p(1100, 1000) == pytest.approx(stats.binomtest(1000, 2100).pvalue, abs=0.002)


@pytest.mark.parametrize("size", [7, 60, 150, 500])
def test_the_sign_flip_test_equals_scipys_permutation_test(size: int) -> None:
    differences = np.random.default_rng(size).normal(0.04, 0.25, size)
    expected = stats.permutation_test(
        (differences,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        rng=1,
    ).pvalue

    assert statistics.sign_flip_p(differences.tolist()) == pytest.approx(expected, abs=0.015)


def test_no_difference_has_a_p_value_of_one() -> None:
    assert statistics.sign_flip_p([0.0] * 30) == 1.0
    assert statistics.mcnemar_mid_p(0, 0) == 1.0


def test_holm_equals_statsmodels() -> None:
    p_values = {"recall": 0.04, "precision": 0.01, "ndcg": 0.03, "accuracy": 0.5}

    expected = multipletests(list(p_values.values()), method="holm")[1]

    assert list(statistics.holm(p_values).values()) == pytest.approx(list(expected))


@pytest.mark.parametrize(
    ("items", "drop"), [(30, 0.29), (50, 0.20), (100, 0.125), (200, 0.08), (500, 0.05), (1000, 0.03)]
)
def test_the_smallest_drop_a_set_can_show_is_the_one_simulated(items: int, drop: float) -> None:
    assert statistics.smallest_detectable_drop(items) == pytest.approx(drop, abs=0.006)


def test_a_handful_of_items_shows_no_drop_at_all() -> None:
    assert statistics.smallest_detectable_drop(3) is None


def test_a_small_set_without_movement_is_too_small_to_tell_and_a_large_one_did_not_move() -> None:
    few, many = [True, False] * 15, [True, False] * 500

    assert statistics.compare_rates(few, few).movement is Movement.UNKNOWN
    assert statistics.compare_rates(many, many).movement is Movement.STAYED


def test_means_over_the_same_items_are_compared_item_by_item() -> None:
    before = [0.2, 0.4, 0.5, 0.9, 0.7, 0.8, 0.3, 0.6, 0.5, 0.4, 0.6, 0.7]
    comparison = statistics.compare_means(before, [value - 0.1 for value in before])

    assert comparison.difference == pytest.approx(-0.1)
    assert comparison.movement is Movement.MOVED
    assert comparison.intervals_overlap


def test_known_kappa_and_its_companions() -> None:
    result = statistics.agreement(HUMAN, JUDGE)

    assert result.kappa == pytest.approx(0.2667, abs=5e-5)
    assert result.kappa == pytest.approx(cohen_kappa_score(HUMAN, JUDGE))
    assert result.raw == pytest.approx(19 / 30)
    assert result.human_pass_rate == 16 / 30
    assert result.judge_pass_rate == 15 / 30
    assert result.true_positive_rate == 10 / 16
    assert result.true_negative_rate == 9 / 14


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
@settings(max_examples=60)
def test_kappa_equals_scikit_learn_and_stays_within_its_bounds(pairs: list[tuple[bool, bool]]) -> None:
    human, judge = zip(*pairs, strict=True)
    result = statistics.agreement(human, judge, rounds=500)

    if result.kappa is None:
        assert len({*human, *judge}) == 1
    else:
        assert result.kappa == pytest.approx(cohen_kappa_score(human, judge))
        assert result.kappa_interval is not None
        assert -1 <= result.kappa_interval.low <= result.kappa_interval.high <= 1


def test_raters_who_always_agree_on_one_label_have_no_kappa_and_a_note() -> None:
    result = statistics.agreement([True] * 10, [True] * 10)

    assert (result.kappa, result.raw, result.ac1) == (None, 1.0, 1.0)
    assert "grade items of both kinds" in result.note


def test_a_rare_label_is_named_as_the_reason_of_a_low_kappa() -> None:
    human = [True] * 98 + [False, True]
    judge = [True] * 98 + [True, False]
    result = statistics.agreement(human, judge)

    assert result.kappa == pytest.approx(-0.01, abs=0.01)
    assert result.ac1 == pytest.approx(0.98, abs=0.01)
    assert "rare" in result.note


def test_an_item_one_rater_left_open_is_left_out() -> None:
    assert statistics.agreement([True, None, False], [True, True, None]).confusion.total == 1


def test_weighted_rates_equal_statsmodels_and_know_their_worth() -> None:
    draw = np.random.default_rng(5)
    probabilities = draw.uniform(0.05, 1, 80)
    passed = draw.random(80) < 0.7

    estimate = statistics.weighted_rate(passed.tolist(), probabilities.tolist())

    assert estimate.rate == pytest.approx(DescrStatsW(passed.astype(float), weights=1 / probabilities).mean)
    assert estimate.effective_items < estimate.items == 80
    assert estimate.interval.low < estimate.rate < estimate.interval.high


def test_an_inclusion_probability_of_zero_is_refused() -> None:
    with pytest.raises(BadInputError, match="above 0"):
        statistics.weighted_rate([True, False], [0.5, 0.0])


@pytest.mark.parametrize("size", [2, 5, 8, 10])
def test_the_trend_of_a_short_series_has_scipys_exact_p_and_slope(size: int) -> None:
    values = [float(value) for value in np.random.default_rng(size).permutation(size)]
    found = statistics.monotone_trend(values)
    order = list(range(size))
    assert found.p_value == pytest.approx(stats.kendalltau(order, values, method="exact").pvalue)
    expected = stats.theilslopes(values, alpha=0.95)
    assert found.slope == pytest.approx(expected.slope)
    assert found.low <= expected.low_slope
    assert found.high >= expected.high_slope


def test_the_trend_of_a_long_series_with_ties_is_near_scipys_p_and_on_the_safe_side() -> None:
    values = [float(value) for value in np.random.default_rng(3).integers(0, 6, 60) + np.arange(60) // 20]
    found = statistics.monotone_trend(values)
    expected = stats.kendalltau(range(60), values, method="asymptotic").pvalue
    assert expected <= found.p_value <= expected * 1.1 + 1e-6
    assert statistics.monotone_trend([0.5] * 9).p_value == 1


@pytest.mark.parametrize("freedom", [5, 8.5, 30, 1000])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_students_quantile_is_within_a_hundredth_of_scipys(confidence: float, freedom: float) -> None:
    expected = stats.t.ppf((1 + confidence) / 2, freedom)
    assert statistics.t_quantile(confidence, freedom) == pytest.approx(expected, rel=0.01)
