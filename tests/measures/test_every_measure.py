"""What holds for any measure, and each against its definition in plain Python by every rule.

A new measure is tested by everything here without being named. One in a file of its own needs no
plain definition: its bounds, permutations, short lists and the mean over orders are tested.
"""

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from conftest import random_queries, unlocked

import letorbench as lb
from letorbench.conventions import CONVENTIONS, RULES, convention, letor_discount, standard_discount
from letorbench.errors import DataError
from letorbench.measures import (
    ERR,
    MEASURES,
    RMSE,
    Measure,
    PreparedMetric,
    definitions,
    evaluation,
    nDCG,
    parse,
    query_metrics,
    sign,
)
from letorbench.verify import plain

STANDARD = CONVENTIONS["standard"]


def forms(name: str, *cuts: int) -> list[Measure]:
    """The measure with every way of a cut-off that it may have."""
    rule, measure = MEASURES[name].cutoff_rule, MEASURES[name]
    cut = [measure @ k for k in cuts] if rule != "none" else []
    return cut + ([measure] if rule != "required" else [])


ALL = [form for name in MEASURES for form in forms(name, 1, 10)]
TEXTS = [str(measure) for measure in ALL]


def value(labels, scores, rules) -> np.ndarray:
    """All measures of one query."""
    labels, scores = np.array(labels, np.int32), np.array(scores, dtype=np.float64)
    return query_metrics(labels, scores, np.array([0, len(labels)]), ALL, rules)[0]


def test_a_measure_prints_as_it_parses():
    for text in TEXTS:
        measure = parse(text)
        assert str(measure) == text
        assert parse(f" {text.upper()} ") == measure and hash(parse(text)) == hash(measure)
        entry = MEASURES[measure.name]
        assert entry.description and "Ties:" in entry.function.__doc__


def test_a_measure_that_is_best_where_scores_rank_best_has_sign_1_and_an_error_minus_1():
    """By scores that are the labels, and by those turned round."""
    r = np.array([3, 0, 2, 1, 0, 0, 1, 0, 2, *[0] * 20])
    for measure, best, worst in zip(ALL, value(r, r, STANDARD), value(r, -r, STANDARD)):
        assert np.sign(best - worst) == sign(str(measure)), measure
    assert [text for text in TEXTS if sign(text) < 0] == ["rmse"]


def test_values_are_bounded_and_no_order_of_documents_that_differ_in_score_matters(rng):
    """Also of lists shorter than the cut-off, and where nothing or everything is relevant."""
    for labels in ([2], [0], [0, 0, 0], [1, 1], rng.integers(0, 4, 7), rng.integers(0, 4, 30)):
        scores, order = rng.permutation(len(labels)), rng.permutation(len(labels))
        found, again = (value(np.take(labels, at), scores[at], STANDARD)
                        for at in (np.arange(len(labels)), order))  # fmt: skip
        np.testing.assert_allclose(again, found, rtol=1e-12)
        for measure, each in zip(ALL, found):
            assert 0.0 <= each <= 1.0 if measure.bounded else np.isfinite(each), measure


def test_what_has_no_documents_has_no_value():
    for offsets, n in (([0], 0), ([0, 0], 1), ([0, 2, 2], 2)):
        labels = np.zeros(offsets[-1], int)
        found = query_metrics(labels, 1.0 * labels, np.array(offsets), ALL, STANDARD)
        assert found.shape == (n, len(ALL)) and not (found[-1:, TEXTS.index("p@1")] > 0.0).any()


def test_scores_that_cannot_rank_are_refused(rng):
    queries = random_queries(rng, [3, 4])
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse("map"), STANDARD)

    def measured(scores: np.ndarray) -> np.ndarray:
        return query_metrics(queries.labels, scores, queries.offsets, ALL, STANDARD)

    for method in (measured, metric, metric.expectation_over_ties):
        for row in range(7):
            with pytest.raises(DataError, match="^scores: found NaN.*expected numbers$"):
                method(np.where(np.arange(7) == row, np.nan, 0.0))
        with pytest.raises(DataError, match="^found 6 scores.* 7"):
            method(np.zeros(6))


def score_patterns(n: int) -> list[tuple[int, ...]]:
    """Every order of n documents with every way of ties, once each."""
    return [s for s in product(range(n), repeat=n) if set(s) == set(range(max(s) + 1))]


#: ids whose order is not that of the rows, of several lengths; one document has none
IDS = (b"b", b"10", b"", b"B")


def small_lists() -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Labels and scores: every tuple of up to three labels 0..2 with every pattern of ties, of up
    to four labels 0..4 (four of 0, 1 and 4) without, and of up to three where some documents are
    not judged or not retrieved."""
    cases = [
        (labels, scores)
        for n in range(1, 4)
        for scores in score_patterns(n)
        for labels in product(range(3), repeat=n)
    ]
    longer = [q for n in range(1, 4) for q in product(range(5), repeat=n)]
    longer += product((0, 1, 4), repeat=4)
    cases += [(q, tuple(range(len(q), 0, -1))) for q in longer]
    return cases + [
        (labels, tuple(s or -math.inf for s in scores))
        for n in range(1, 4)
        for scores in score_patterns(n)
        for labels in product((-1, 0, 3) if n > 2 else (-1, 0, 1, 3), repeat=n)
    ]


TOOLS = ["letor3", "letor4", "mslr"]
#: each rule changed once, so that every value of every rule is measured
CHANGED = [
    f"standard,{rule}={value}" for rule, values in RULES.items() for value in values
    if value != getattr(STANDARD, rule)
] + ["standard,relevant=2", "trec_eval,depth=2", "trec_eval,missing=0,map_cut=k"]  # fmt: skip


@pytest.mark.parametrize("text", [
    *TOOLS, "standard", *CHANGED, "catboost", "mslr,gain=0/0.5/3/3/9", "letor3,empty=1",
    "letor4,gain=linear,ties=mean",
])  # fmt: skip
def test_small_lists_of_labels_with_every_pattern_of_ties(text):
    """All of them by the official tools' rules and by ours, a fifth where a rule is changed."""
    cases = small_lists()[:: 1 if text in (*TOOLS, "standard") else 5]
    labels, scores = (np.concatenate(part) for part in zip(*cases))
    offsets = np.cumsum([0, *(len(labels) for labels, _ in cases)])
    ours = [each for each in vars(definitions).values() if isinstance(each, Measure)]
    assert {*plain.DEFINITIONS} == {each.name for each in ours if not each.error}
    rules = replace(convention(text), max_label=4)
    docids = np.concatenate([IDS[: len(labels)] for labels, _ in cases])
    measures = [form for name in plain.DEFINITIONS for form in forms(name, 1, 2, 5)]
    measures = [each for each in measures if rules.apart(str(each)) is not None]
    values = query_metrics(labels, scores, offsets, measures, rules, docids)
    names, texts = [b"b", b"10", b"3", b"B"], [str(each) for each in measures]
    known = np.array([plain.values(texts, *case, rules, names) for case in cases], np.float64)
    for text, ours, expected in zip(texts, values.T, known.T):
        np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=1e-15, err_msg=text)


@pytest.mark.parametrize("measure", [nDCG @ 10, RMSE])
def test_the_weighted_mean_is_of_the_queries_that_count(measure):
    given = [0, 1, 0, 0, 1, 0], [0.9, 0.1, 0.5, 0.4, 0.9, 0.2], list("aabbcc"), measure
    rules = "standard,empty=drop,mean=weighted"
    each = lb.evaluate(*given, "standard", per_query=True)[str(measure)].to_numpy()
    found = lb.evaluate(*given, rules, sample_weight=[1.0, 9.0, 3.0])[str(measure)]
    assert found == pytest.approx((each[0] + 3.0 * each[2]) / 4.0, rel=1e-12)


@pytest.mark.parametrize("text", ["standard", "standard,ties=mean"])
@pytest.mark.parametrize("most, scale", [(None, 16), (4, 16), (5, 32)])
def test_err_goes_by_the_largest_label_of_the_scale(text, most, scale):
    labels, offsets = np.array([1, 0, 4, 0, 2, 0]), np.array([0, 2, 4, 6])
    rules = replace(convention(text), max_label=most)
    values = query_metrics(labels, -np.arange(6.0), offsets, [ERR @ 10], rules)
    assert (scale * values[:, 0]).tolist() == [1.0, 15.0, 3.0]


@pytest.mark.parametrize("ties", ["file", "last", "mean", "best", "worst"])
def test_rmse_is_the_root_of_each_querys_mean_square(ties):
    labels, scores = np.array([0, 1, 2, 1]), np.array([1.0, 1.0, 0.0, 3.0])
    rules = convention(f"standard,ties={ties}")
    values = query_metrics(labels, scores, np.array([0, 3, 3, 4]), [RMSE], rules)
    np.testing.assert_allclose(values[:, 0], [np.sqrt(5.0 / 3.0), 0.0, 2.0])


def test_discounts_have_the_logarithms_of_the_c_library():
    ranks = np.arange(1.0, 10_000.0)
    expected = [1.0 if rank < 3.0 else math.log(2.0) / math.log(rank) for rank in ranks]
    np.testing.assert_array_equal(letor_discount(ranks), expected)
    expected = [1.0 / math.log2(1.0 + rank) for rank in ranks]
    np.testing.assert_array_equal(standard_discount(ranks), expected)


# --- the mean over all orders of equal scores, and the quick measure of one set

LISTS = (
    [0, 1, 0, 2, 0, 1], [2, 2, 0], [1], [0], [0, 0, 0], [3, 3], [0, 1], [], [1, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 0], [3, 0, 2, 1, 0], [1, 0, 3, 0, 2, 0], [0, 0, 1, 0, 0, 1],
)  # fmt: skip
#: the sizes of the groups of equal scores, from the top; a list ends them early
SIZES = ((9,), (2, 3, 9), (1, 1, 2, 1, 9), (3, 1, 1, 9))


def groups_of(labels: list[int], sizes: tuple[int, ...]) -> list[list[int]]:
    ends = np.cumsum((0, *sizes))
    return [labels[a:b] for a, b in zip(ends, ends[1:]) if labels[a:b]]


@pytest.mark.parametrize("first, text", [*enumerate(["letor3", "mslr", "standard"])])
@pytest.mark.parametrize("name", sorted({*MEASURES} - {"rmse", "tau", "rho"}))
def test_is_the_mean_over_all_orders(name, first, text):
    measures, rules = forms(name, 1, 2, 3, 5, 10), CONVENTIONS[text]
    rules = replace(rules, max_label=3, ties="file")
    for number, each in enumerate(LISTS, first):
        sizes = SIZES[number % len(SIZES)]
        groups = groups_of(each, sizes)
        scores = np.repeat(-np.arange(len(groups)), [len(group) for group in groups])
        labels, offsets = np.array(each, np.int32), np.array([0, len(each)])
        tied = replace(rules, ties="mean")
        found = query_metrics(labels, scores, offsets, measures, tied)[0]
        every = [sum(map(list, order), []) for order in product(*map(permutations, groups))]
        bounds = np.arange(len(every) + 1) * len(each)
        down = -np.tile(np.arange(len(each)), len(every))
        of_orders = query_metrics(np.array(every).ravel(), down, bounds, measures, rules)
        expected = of_orders.mean(axis=0)
        np.testing.assert_allclose(
            found, expected, atol=1e-12 if name in evaluation.MEANS else 0.05
        )


def test_a_measure_without_a_sum_is_drawn(monkeypatch):
    labels, offsets = np.array([0, 1, 2, 0, 1, 1], np.int32), np.array([0, 4, 6])
    asked, rules = [parse("map"), parse("ndcg@2")], replace(CONVENTIONS["standard"], ties="mean")
    scores = np.array([1.0, 1.0, 1.0, 0.0, 2.0, 2.0])
    exact = query_metrics(labels, scores, offsets, asked, rules)
    monkeypatch.setattr(evaluation, "MEANS", {})
    drawn = query_metrics(labels, scores, offsets, asked, rules)
    np.testing.assert_allclose(drawn[0], exact[0], atol=0.05)
    np.testing.assert_allclose(drawn[1], 1.0)  # every order of equal labels is the same
    np.testing.assert_array_equal(drawn, query_metrics(labels, scores, offsets, asked, rules))
    assert (drawn[0] != exact[0]).all()


QUICK = ["map", "ndcg", "ndcg@10", "ndcg@2"]
OFFSETS = np.array([0, 1, 41, 41, 43, 150, 900])


@pytest.mark.parametrize("name", [*TOOLS, "standard", *CHANGED])
@pytest.mark.parametrize("measure", [*QUICK, "err@10", "map@5"])
def test_is_the_measure_or_none(name, measure, rng):
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0, 400], levels=4)
    with unlocked(queries):
        queries.labels[31:33] = 0
    form, rules = parse(measure), convention(name)
    metric = PreparedMetric.of(queries.labels, queries.offsets, form, rules)
    assert (metric is None) <= (measure in ("err@10", "map@5") or name in CHANGED)
    unjudged = np.where(np.arange(queries.n_docs) == 7, -1, queries.labels)
    assert PreparedMetric.of(unjudged, queries.offsets, form, rules) is None
    for grid in (0.0, 1.0, 100.0) if metric else ():
        scores = np.round(grid * rng.normal(size=queries.n_docs))
        for found, ties in (
            (metric(scores), "file"),
            (metric.expectation_over_ties(scores), "mean"),
        ):
            same = replace(rules, ties=ties)
            expected = query_metrics(queries.labels, scores, queries.offsets, [form], same)[:, 0]
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("measure", QUICK)
def test_a_step_along_a_column_is_the_same_to_the_bit(measure, rng, monkeypatch):
    monkeypatch.setattr("letorbench.measures.prepared.LEAST", 100)  # so that threads share it
    labels = rng.integers(0, 3, OFFSETS[-1]).astype(np.int32)
    metric = PreparedMetric.of(labels, OFFSETS, parse(measure), STANDARD)
    for step in (-1.0, 0.1, np.pi):
        scores = np.round(rng.normal(size=OFFSETS[-1]), 1)
        column = np.round(rng.normal(size=OFFSETS[-1]), 1).astype(np.float32)
        moved = metric.expectation_over_ties(scores + step * column.astype(np.float64))
        for threads in ("1", "3"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            np.testing.assert_array_equal(metric.expectation_over_ties(scores, step, column), moved)
