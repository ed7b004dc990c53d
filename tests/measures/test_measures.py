"""Every measure against its definition in plain Python, by every convention and rule."""

import math
from dataclasses import replace
from itertools import pairwise as pairwise_of
from itertools import product

import numpy as np
import pytest

import letorbench as lb
from letorbench.conventions import RULES, convention, letor_discount, standard_discount
from letorbench.measures import ERR, MEASURES, RMSE, Measure, nDCG, query_metrics, rank
from letorbench.verify import plain


def forms(name: str) -> list[Measure]:
    """The measure with every way of a cut-off that it may have."""
    cutoffs = {"none": [None], "optional": [None, 1, 2, 3, 6], "required": [1, 2, 3, 6]}
    measure = MEASURES[name]
    return [measure if k is None else measure @ k for k in cutoffs[measure.cutoff_rule]]


def all_forms() -> list[Measure]:
    return [measure for name in plain.DEFINITIONS for measure in forms(name)]


def score_patterns(n: int) -> list[tuple[int, ...]]:
    """Every order of n documents with every way of ties, once each."""
    return [s for s in product(range(n), repeat=n) if set(s) == set(range(max(s) + 1))]


Case = tuple[tuple[int, ...], tuple[float, ...]]
Cases = tuple[np.ndarray, np.ndarray, np.ndarray, list[Case]]
#: ids whose order is not that of the rows, of several lengths; one document has none
IDS = (b"b", b"10", b"", b"B")


@pytest.fixture(scope="module")
def small() -> Cases:
    """Every tuple of up to three labels 0..2 with every pattern of ties, of up to four labels 0..4
    (four of 0, 1 and 4) without, and of up to three where some documents are not judged or not
    retrieved, flat: labels, scores, offsets, and as pairs."""
    cases = [
        (labels, scores)
        for n in range(1, 4)
        for scores in score_patterns(n)
        for labels in product(range(3), repeat=n)
    ]
    longer = [q for n in range(1, 4) for q in product(range(5), repeat=n)]
    longer += product((0, 1, 4), repeat=4)
    cases += [(q, tuple(range(len(q), 0, -1))) for q in longer]
    cases += [
        (labels, tuple(s or -math.inf for s in scores))
        for n in range(1, 4)
        for scores in score_patterns(n)
        for labels in product((-1, 0, 1, 3), repeat=n)
    ]
    labels, scores = (np.concatenate(part) for part in zip(*cases))
    offsets = np.cumsum([0, *(len(labels) for labels, _ in cases)])
    return labels, scores, offsets, cases


TOOLS = ["letor3", "letor4", "mslr"]
#: each rule changed once, so that every value of every rule is measured
CHANGED = [f"standard,{rule}={value}" for rule, values in RULES.items() for value in values] + [
    "standard,relevant=2",
    "trec_eval,depth=2",
    "trec_eval,missing=0,map_cut=k",
]


@pytest.mark.parametrize(
    "text",
    [
        *TOOLS,
        *CHANGED,
        "catboost",
        "mslr,gain=0/0.5/3/3/9",
        "letor3,empty=1",
        "letor4,gain=linear,ties=mean",
    ],
)
def test_every_small_list_of_labels_with_every_pattern_of_ties(small: Cases, text: str) -> None:
    labels, scores, offsets, cases = small
    assert {*plain.DEFINITIONS} == {n for n, measure in MEASURES.items() if not measure.error}
    rules = replace(convention(text), max_label=4)
    docids = np.concatenate([IDS[: len(labels)] for labels, _ in cases])
    measures = [each for each in all_forms() if rules.apart(str(each)) is not None]
    values = query_metrics(labels, scores, offsets, measures, rules, docids)
    names = [b"b", b"10", b"3", b"B"]
    for column, measure in enumerate(measures):
        known = {case: plain.value(str(measure), *case, rules, names) for case in cases}
        np.testing.assert_allclose(
            values[:, column],
            [known[case] for case in cases],
            rtol=1e-13,
            atol=1e-15,
            err_msg=str(measure),
        )


@pytest.mark.parametrize("measure", [nDCG @ 10, RMSE])
def test_the_weighted_mean_is_of_the_queries_that_count(measure: Measure) -> None:
    """The second query has no relevant document, and the most weight."""
    given = [0, 1, 0, 0, 1, 0], [0.9, 0.1, 0.5, 0.4, 0.9, 0.2], list("aabbcc"), measure
    rules = "standard,empty=drop,mean=weighted"
    each = lb.evaluate(*given, "standard", per_query=True)[str(measure)].to_numpy()
    found = lb.evaluate(*given, rules, sample_weight=[1.0, 9.0, 3.0])[str(measure)]
    assert found == pytest.approx((each[0] + 3.0 * each[2]) / 4.0, rel=1e-12)


@pytest.mark.parametrize("text", ["standard", "standard,ties=mean"])
@pytest.mark.parametrize("most, scale", [(None, 16), (4, 16), (5, 32)])
def test_err_goes_by_the_largest_label_of_the_scale(text: str, most: int, scale: int) -> None:
    labels, offsets = np.array([1, 0, 4, 0, 2, 0]), np.array([0, 2, 4, 6])
    rules = replace(convention(text), max_label=most)
    values = query_metrics(labels, -np.arange(6.0), offsets, [ERR @ 10], rules)
    assert (scale * values[:, 0]).tolist() == [1.0, 15.0, 3.0]


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_ranks_as_a_stable_sort_of_each_query(rng: np.random.Generator, decimals: int) -> None:
    offsets = np.cumsum([0, 1, 2, 31, 32, 33, 100, 256, 257, 600, 0, 7])
    scores = np.round(rng.normal(size=offsets[-1]), decimals)
    scores[rng.random(len(scores)) < 0.05] = np.inf
    scores[rng.random(len(scores)) < 0.05] = -0.0
    expected = [a + np.argsort(-scores[a:b], kind="stable") for a, b in pairwise_of(offsets)]
    np.testing.assert_array_equal(rank(scores, offsets), np.concatenate(expected))


@pytest.mark.parametrize("ties", ["file", "last", "mean", "best", "worst"])
def test_rmse_is_the_root_of_each_querys_mean_square(ties: str) -> None:
    labels, scores = np.array([0, 1, 2, 1]), np.array([1.0, 1.0, 0.0, 3.0])
    rules = convention(f"standard,ties={ties}")
    values = query_metrics(labels, scores, np.array([0, 3, 3, 4]), [RMSE], rules)
    np.testing.assert_allclose(values[:, 0], [np.sqrt(5.0 / 3.0), 0.0, 2.0])


def test_discounts_have_the_logarithms_of_the_c_library() -> None:
    ranks = np.arange(1.0, 10_000.0)
    expected = [1.0 if rank < 3.0 else math.log(2.0) / math.log(rank) for rank in ranks]
    np.testing.assert_array_equal(letor_discount(ranks), expected)
    expected = [1.0 / math.log2(1.0 + rank) for rank in ranks]
    np.testing.assert_array_equal(standard_discount(ranks), expected)
