"""The stump searches against trying every threshold of every feature in both directions."""

from collections.abc import Iterator

import numpy as np
import pytest

from letorbench.compiled.threads import limited_threads
from letorbench.errors import DataError
from letorbench.features.columns import COARSE, BinnedFeatures, sorted_column
from letorbench.solvers import stump_search as module
from letorbench.solvers.stump_search import ROW, SortedFeatures, stump_search


def many_kinds(rng: np.random.Generator, n_docs: int) -> np.ndarray:
    """Few, many, very unequal and neighbouring values, copies, a constant, and -0.0."""
    normal = rng.normal(size=(n_docs, 9))
    normal[:, 1] = -normal[:, 0]
    normal[:, 2] = np.round(normal[:, 0], 2)
    normal[:, 3] = 7.0
    normal[:, 4] = np.where(rng.random(n_docs) < 0.7, 0.0, normal[:, 4])
    normal[:, 5] = rng.integers(0, 3, n_docs) - 1.0
    normal[:, 5][normal[:, 5] == 0.0] = rng.choice([0.0, -0.0], (normal[:, 5] == 0.0).sum())
    normal[:, 6] = np.where(rng.random(n_docs) < 0.5, rng.integers(0, 3, n_docs), normal[:, 6])
    normal[:, 7] = np.arange(n_docs)
    normal[:, 8] = 1.0 + 2.0**-23 * rng.integers(0, 5, n_docs)  # float32 numbers without a gap
    return np.hstack([normal, normal[:, :2]]).astype(np.float32)


def many_weights(rng: np.random.Generator, features: np.ndarray) -> Iterator[np.ndarray]:
    """Weights with and without ties, of one sign, and that a feature tells of."""
    n_docs = len(features)
    for _ in range(3 if n_docs < 300 else 1):
        normal = rng.normal(size=n_docs)
        yield normal
        yield normal - normal.mean()
        yield -(normal**2)
        yield rng.integers(-2, 3, n_docs).astype(float)
        yield np.where(rng.random(n_docs) < 0.1, 9.0, -1.0) * np.abs(normal)
        yield normal + (features[:, rng.integers(0, 9)] > rng.normal())


#: how good a cut is by each criterion, of the weights p and n of both classes below it and of all
WORTH = {
    "misclassification": lambda p, n, P, N: np.maximum(p - n, (P - N) - (p - n)),
    "gini": lambda p, n, P, N: -gini(p, n) - gini(P - p, N - n),
    "entropy": lambda p, n, P, N: -entropy(p, n) - entropy(P - p, N - n),
}
IMPURITIES = list(WORTH)[1:]


def gini(p: np.ndarray, n: np.ndarray) -> np.ndarray:
    """By its definition: the weight times one minus the sum of squares of both classes' parts."""
    whole = np.maximum(p + n, 1e-300)
    return whole * (1.0 - (p / whole) ** 2 - (n / whole) ** 2)


def entropy(p: np.ndarray, n: np.ndarray) -> np.ndarray:
    return sum(x * np.log(np.maximum(p + n, 1e-300) / np.maximum(x, 1e-300)) for x in (p, n))


def best(columns: np.ndarray, weights: np.ndarray, criterion: str) -> tuple | None:
    """The worth, the feature and the threshold of the first of the best cuts, up to rounding.

    columns: (n_docs, n_features), cut between any two values.
    """
    found, slack = [], 1e-11 * np.abs(weights).sum()
    for k, column in enumerate(columns.T.astype(float)):
        values, place = np.unique(column, return_inverse=True)
        p = np.bincount(place, np.maximum(weights, 0.0)).cumsum()
        n = np.bincount(place, np.maximum(-weights, 0.0)).cumsum()
        worth = WORTH[criterion](p, n, p[-1], n[-1])
        below, above = p - n, (p[-1] - n[-1]) - (p - n)
        counts = (below > slack) & (above < -slack) | (below < -slack) & (above > slack)
        if criterion == "misclassification":
            counts = worth > slack
        cuts = np.flatnonzero(counts[:-1])
        found += [(worth[i], k, (values[i] + values[i + 1]) / 2.0) for i in cuts]
    most = max(found, default=(0.0,))[0]
    return next((each for each in found if each[0] >= most - slack), None)


@pytest.mark.parametrize("criterion", WORTH)
@pytest.mark.parametrize("n_docs", [1, 2, 7, 300, 1500])
def test_no_stump_is_better(rng, monkeypatch, n_docs, criterion):
    """Of equal ones the first is taken, whatever the order of rows and the number of threads."""
    monkeypatch.setattr(module, "LEAST", 0)  # a thread for every group of features
    order = rng.permutation(n_docs)
    for features in (many_kinds(rng, n_docs), np.roll(many_kinds(rng, n_docs), -1, axis=1)):
        searches = [
            (features, features, stump_search(features, None, criterion)),
            (features[order], features[order], stump_search(features[order], None, criterion)),
            (BinnedFeatures.of(features, 16).codes.T, features,
             stump_search(features, 16, criterion)),
        ]  # fmt: skip
        for weights in [*many_weights(rng, features), np.zeros(n_docs), np.ones(n_docs)]:
            for number, (columns, rows, search) in enumerate(searches):
                own = weights[order] if number == 1 else weights
                wanted = best(columns, own, criterion)
                with limited_threads(1 + number):
                    found = search(own)
                assert (found is None) == (wanted is None)
                if found is None:
                    continue
                (tree, values, eta), (worth, k, threshold) = found, wanted
                assert tree.feature[0] == k and eta == pytest.approx(own[values].sum()) and eta > 0
                np.testing.assert_array_equal(tree.predict(rows), values)
                if criterion == "misclassification":
                    assert eta == pytest.approx(worth, rel=1e-10)
                else:
                    high = columns[:, k] > threshold
                    np.testing.assert_array_equal(values, high == (own[high].sum() > 0.0))
                high = rows[:, k] > tree.threshold[0].astype(float)
                assert tree.cover.tolist() == [n_docs, n_docs - high.sum(), high.sum()]


@pytest.mark.parametrize("place", range(4))  # four features are summed together
def test_a_cut_inside_a_bin_is_found_beside_features_of_whole_bins(rng, place):
    order = rng.permutation(20 * COARSE)
    features = np.repeat(order[:, None] // 20, 4, axis=1).astype(np.float32)
    features[:, place] = order
    search = stump_search(features, None)
    for weights in rng.normal(size=(40, len(order))):
        assert search(weights)[2] == pytest.approx(best(features, weights, "misclassification")[0])


def test_the_first_of_equal_stumps_is_taken(rng):
    column = rng.normal(size=(200, 1)).astype(np.float32)
    for bins in (None, 256):
        search = stump_search(np.hstack([column, -column]), bins)
        assert {search(weights)[0].feature[0] for weights in rng.normal(size=(50, 200))} == {0}
    features = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]], dtype=np.float32)
    weights = np.array([1.0, 0.0, 0.0, -1.0])
    for bins in (None, 4):
        stump, _, total = stump_search(features, bins)(weights)
        assert (stump.feature[0], stump.threshold[0], total) == (0, 0.5, 1.0)
        assert stump.value.tolist() == [0.0, 1.0, 0.0]  # not above it
        assert stump.predict(np.float32([[0.5], [0.75]])).tolist() == [1.0, 0.0]


def test_no_stump_and_no_bins(rng):
    for features in (np.ones((600, 3)), many_kinds(rng, 600)):
        weights = np.zeros(600) if features[0, 0] != 1.0 else rng.normal(size=600)
        for bins in (None, 9):
            assert stump_search(features, bins)(weights) is None
    with pytest.raises(DataError, match="beyond float32"):
        SortedFeatures.of(np.array([[1e300], [0.0]]))


def test_bins_share_the_documents_about_evenly(rng):
    features = rng.exponential(size=(10_000, 1)).astype(np.float32)
    binned = BinnedFeatures.of(features, 100)
    assert 90 <= binned.n_bins[0] <= 100
    assert np.bincount(binned.codes[0]).max() <= 200
    ordered = np.argsort(features[:, 0], kind="stable")
    assert (np.diff(binned.codes[0][ordered].astype(int)) >= 0).all()
    values = np.repeat(np.arange(40, dtype=np.float32), np.arange(40) ** 2)[:, None]
    for bins, n_bins in ((39, 39), (20, 18)):  # none begins within a value
        binned = BinnedFeatures.of(values, bins)
        np.testing.assert_array_equal(
            binned.codes[0], np.searchsorted(binned.cuts[0], values[:, 0])
        )
        assert binned.n_bins[0] == n_bins and (binned.cuts[0] % 1.0 == 0.5).all()
    many = np.arange(70_000, dtype=np.float32)[:, None]
    assert [BinnedFeatures.of(many, bins).codes.dtype for bins in (9, 300, None)] == [
        np.uint8, np.uint16, np.uint32,
    ]  # fmt: skip


def test_a_column_is_sorted_as_numpy_does(rng):
    column = rng.normal(size=3000).astype(np.float32)
    column[:5] = [0.0, 1e-42, -1e-42, -3e38, 3e38]
    column[5:600] = rng.integers(0, 9, 595)
    values, rows = sorted_column(column)
    np.testing.assert_array_equal(values, np.sort(column))
    np.testing.assert_array_equal(rows, np.argsort(column, kind="stable"))
    column[600:700] = rng.choice([0.0, -0.0], 100)  # as one value, whose documents are by row
    ordered, rows = SortedFeatures.of(column[:, None]), np.argsort(column, kind="stable")
    np.testing.assert_array_equal(ordered.rows[0] & ROW, rows)
    same_value, codes = np.diff(column[rows]) == 0.0, ordered.codes[0][rows]
    assert same_value.sum() > 600 and (np.diff(codes)[same_value] == 0).all()


def test_a_stump_of_one_class_is_no_classifier():
    features = np.arange(8, dtype=np.float32)[:, None]
    weights = np.array([1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    for criterion in IMPURITIES:
        for bins in (None, 8):
            assert stump_search(features, bins, criterion)(weights) is None
            tree, values, eta = stump_search(features, bins, criterion)(weights - 0.5)
            assert (tree.threshold[0], eta) == (2.5, 1.5) and values.sum() == 3


@pytest.mark.parametrize("criterion", WORTH)
def test_most_features_and_bins_are_excluded(rng, monkeypatch, criterion):
    features = rng.normal(size=(4000, 40)).astype(np.float32)
    weights = rng.normal(size=4000) + 0.5 * (features[:, 7] > 0.5)
    tried, searched, sums_below = [], [], SortedFeatures.sums_below
    try_inside = module._try_inside

    def inside(*args):
        tried.append(args)
        try_inside(*args)

    def below(self, k, weights):
        searched.append(k)
        return sums_below(self, k, weights)

    monkeypatch.setattr(module, "_try_inside", inside)
    monkeypatch.setattr(SortedFeatures, "sums_below", below)
    found = stump_search(features, None, criterion)(weights - weights.mean())
    ((some, _, _, _, wanted, sums),) = tried
    assert some.tolist() == [7] and 0 < (sums.bound[7] >= wanted).sum() < 20
    assert found[0].feature[0] == 7 and set(searched) == {7}
