"""Trees: the splits of a plain grower, Newton's leaves, any order of documents, any threads."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conftest import random_queries

from letorbench.models.tree_ensemble import Tree
from letorbench.rankers.mart import TreeBooster
from letorbench.solvers.tree_growing import Grower
from letorbench.solvers.tree_splitting import CRITERIA, TreeFeatures, TreeParams

#: of a classification, and of derivatives that are multiples of the unit they are rounded to
N = 300


def table(rng: np.random.Generator, n_features: int = 10) -> np.ndarray:
    """Features of few values, many and neighbouring ones, one of two, one constant, two alike."""
    X = rng.random((N, n_features), dtype=np.float32)
    X[:, 1:4] = np.round(4 * X[:, 1:4])
    X[:, 5], X[:, 9], X[:, 7], X[:, 6] = 7.0, X[:, 2], X[:, 7] > 0.9, 1.0 + X[::-1, 1] * 2.0**-23
    return X


def with_missing(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The table without some values; one feature has all, and one has none. NaN has both signs."""
    shares = rng.permutation(np.linspace(0.0, 1.0, X.shape[1]))
    nan = np.copysign(np.float32(np.nan), rng.normal(size=X.shape)).astype(np.float32)
    return np.where(rng.random(X.shape) < shares, nan, X)


def leaf_gain(G: np.ndarray, H: np.ndarray, params: TreeParams) -> np.ndarray:
    """The gains of leaves whose documents' derivatives sum to G and H."""
    if params.criterion == "newton":
        return np.divide(G * G, H + params.l2, out=np.zeros_like(G), where=H + params.l2 > 0.0)
    if params.criterion == "misclassification":
        return np.abs(G)
    shares = np.stack([H - G, H + G]) / 2.0
    logs = np.log(shares / np.maximum(H, 1e-300), out=np.zeros_like(shares), where=shares > 0.0)
    return (shares * logs).sum(axis=0)


def cuts_of(features: TreeFeatures, k: int) -> np.ndarray:
    return features.cuts[slice(*features.first_cut[k : k + 2])]


def codes_of(features: TreeFeatures) -> np.ndarray:
    """The bins by place, (n_places, n_docs)."""
    return np.concatenate([group >> 8 * np.arange(8)[:, None] & 255 for group in features.codes])


@pytest.mark.parametrize("missing", [False, True])
def test_features_are_binned_by_value_and_missing_values_have_the_last_bin(missing, rng):
    X = table(rng, 30)
    X = with_missing(X, rng) if missing else X
    for bins in (2, 40, 255, 256):
        made = TreeFeatures.of(X, bins)
        varied = [k for k, x in enumerate(X.T) if not (x == x[0]).all()]
        assert made.used[made.n_bins > 1].tolist() == varied
        for place in np.flatnonzero(made.n_bins > 1):
            code, k = codes_of(made)[place], made.used[place]
            known, cuts = ~np.isnan(X[:, k]), cuts_of(made, k)
            assert made.n_bins[place] == len(cuts) + 1
            assert made.missing[place] == (-1 if known.all() else len(cuts))
            if not known.all():
                assert (code[~known] == len(cuts)).all() and cuts[-1] == np.finfo(np.float32).max
                cuts = cuts[:-1]
            np.testing.assert_array_equal(code[known], np.searchsorted(cuts, X[known, k]))
            values, most = np.unique(X[known, k]).astype(float), min(bins, 255 + known.all())
            middles = (values[1:] + values[:-1]) / 2.0
            assert np.isin(cuts, middles).all() and len(cuts) == min(most - 1, len(middles))


def derivatives(rng: np.random.Generator, criterion: str) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers with the largest that can be, so that nothing is rounded."""
    g = rng.integers(-99, 100, N).astype(float)
    g[0] = 2.0**30 - 1.0
    h = np.abs(g) if criterion != "newton" else rng.integers(1, 50, N).astype(float)
    h[0] = 2.0**30 - 1.0
    return g, h


def grown_plainly(features: TreeFeatures, g: np.ndarray, h: np.ndarray, shape: TreeParams) -> list:
    """Every split as (documents of the left, of the right), in the order they are made.

    Of equal gains, the lowest feature's is taken, then one with missing values on the left, then
    the lowest cut's.
    """
    codes = codes_of(features)
    splits, leaves = [], [(np.arange(N), 0)]

    def best(leaf: tuple[np.ndarray, int]) -> tuple[float, int, int, int]:
        """A leaf's best split: gain, feature, cut, and a bin that goes left as well."""
        (rows, depth), found = leaf, (0.0, 0, 0, -1)
        if depth == shape.depth > 0:
            return found
        parent = leaf_gain(g[rows].sum(keepdims=True), h[rows].sum(keepdims=True), shape)[0]
        for k, code in enumerate(codes[:, rows]):
            bins = sorted({int(features.missing[k]), -1}, reverse=True)
            for too, cut in product(bins, range(code.max())):
                low = (code <= cut) | (code == too)
                G, H = (np.array([x[rows[low]].sum(), x[rows[~low]].sum()]) for x in (g, h))
                fewest = min(low.sum(), (~low).sum())
                fits = fewest >= shape.least_docs and H.min() >= shape.least_hessian
                gain = float(leaf_gain(G, H, shape).sum() - parent)
                if fits and gain > max(found[0], 1e-12 * abs(parent)):
                    found = (gain, k, cut, too)
        return found

    found = [best(leaf) for leaf in leaves]
    while len(leaves) < shape.leaves and any(gain > 0.0 for gain, *_ in found):
        gains = [gain for gain, *_ in found]
        at = int(np.argmax(gains if shape.leaf_wise else np.array(gains) > 0.0))
        (rows, depth), (_, k, cut, too) = leaves.pop(at), found.pop(at)
        low = (codes[k, rows] <= cut) | (codes[k, rows] == too)
        children = [(rows[low], depth + 1), (rows[~low], depth + 1)]
        splits.append(tuple(tuple(each) for each, _ in children))
        leaves += children
        found += map(best, children)
    return splits


def splits_of(tree: Tree, X: np.ndarray) -> list:
    """The same of a grown tree; children are numbered in the order of the splits."""
    at, parts = {0: np.arange(N)}, {}
    for node in range(len(tree.left)):
        if tree.left[node] != node:
            rows = at[node]
            x = X[rows, tree.feature[node]]
            low = np.where(np.isnan(x), tree.missing_left[node], x <= tree.threshold[node])
            at[tree.left[node]], at[tree.right[node]] = rows[low], rows[~low]
            parts[tree.left[node]] = tuple(rows[low]), tuple(rows[~low])
    return [parts[child] for child in sorted(parts)]


SHAPES = [
    TreeParams(12, least_docs=5),
    TreeParams(12, least_docs=1, leaf_wise=False, least_hessian=90.0, l2=70.0),
    TreeParams(16, depth=3, least_docs=1, least_hessian=0.0),
]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_splits_are_those_of_a_plain_grower(shape, criterion, missing, rng):
    X, shape = table(rng), replace(shape, criterion=criterion)
    X = with_missing(X, rng) if missing else X
    features, (g, h) = TreeFeatures.of(X, 40), derivatives(rng, criterion)
    grower = Grower(features, shape)
    tree = grower.grow(g, h, rng)
    leaf = grower.predict(tree._replace(value=np.arange(len(tree.value)))).astype(int)
    expected = grown_plainly(features, g, h, shape)
    assert splits_of(tree, X) == expected and len(expected) > 2
    np.testing.assert_array_equal(grower.predict(tree), tree.predict(X))
    leaves = np.flatnonzero(tree.left == np.arange(len(tree.left)))
    np.testing.assert_array_equal(np.bincount(leaf, minlength=len(tree.left))[leaves],
                                  tree.cover[leaves])  # fmt: skip
    for node in leaves:
        G, H = g[leaf == node].sum(), h[leaf == node].sum()
        value = -G / (H + shape.l2) if criterion == "newton" else float(G < 0)
        assert tree.value[node] == pytest.approx(value, rel=1e-12)


def test_drawn_documents_and_features_are_all_that_count(rng):
    X, (g, h) = with_missing(table(rng), rng), derivatives(rng, "newton")
    rows = np.sort(rng.choice(N, 150, replace=False)).astype(np.int32)
    shape = TreeParams(8, least_docs=3)
    grower = Grower(TreeFeatures.of(X, 40), shape)
    tree = grower.grow(g, h, rng, rows)
    assert tree.cover[0] == 150
    np.testing.assert_array_equal(grower.predict(tree), tree.predict(X))
    others = np.setdiff1d(np.arange(N), rows)
    g[others], h[others] = 7.0, 9.0
    again = Grower(TreeFeatures.of(X, 40), shape).grow(g, h, rng, rows)
    np.testing.assert_array_equal(again.threshold, tree.threshold)
    one = Grower(TreeFeatures.of(X, 40), replace(shape, columns=1e-9))
    grown = [one.grow(g, h, rng) for _ in range(40)]
    used = [set(tree.feature[tree.gain > 0.0].tolist()) for tree in grown]
    # one feature a split, and never one that is constant
    assert set.union(*used) == {k for k, x in enumerate(X.T) if len(np.unique(x)) > 1}
    assert max(map(len, used)) > 2 and min(map(len, used)) < 6  # drawn for each split, not a tree


def test_any_threads_and_any_order_of_documents_give_the_same_tree(rng, monkeypatch):
    X, (g, h) = with_missing(table(rng, 20), rng), (rng.normal(size=N), rng.random(N))
    trees, order = [], rng.permutation(N)
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        for rows in (np.arange(N), order):
            grower = Grower(TreeFeatures.of(X[rows], 255), TreeParams(9, least_docs=2))
            trees += [grower.grow(g[rows], h[rows], rng) for _ in range(20)]
    for tree in trees[1:]:
        for name in ("feature", "threshold", "missing_left", "left", "value", "gain"):
            np.testing.assert_array_equal(getattr(tree, name), getattr(trees[0], name))


def test_where_a_loss_bends_downwards_a_tree_moves_the_scores_by_the_learning_rate(rng):
    queries, scores = random_queries(rng, [10] * 5), rng.normal(size=50)
    grower = Grower(TreeFeatures.of(queries.features, 255), TreeParams(4))
    booster = TreeBooster(lambda s: (-s[None], -0.5 * float(s @ s)), grower, rng, 0.5, 1.0)
    term = booster.choose(scores, booster.weigh(scores)[0])
    assert np.sqrt(np.mean((term.alpha * term.values) ** 2)) == pytest.approx(0.5)
