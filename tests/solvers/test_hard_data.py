"""Hard data: features of any unit, and a query of very many documents.

Features are huge, tiny, constant, repeated, nearly collinear. The reference is SciPy's optimum of
the same objective, written out document by document and pair by pair, in coordinates in which the
features are standardised.
"""

import time
from dataclasses import replace

import numpy as np
import pytest
from conftest import few_rounds, learners, random_queries
from scipy.special import log_softmax, softmax

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.losses import loss
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.models import LinearFamily
from letorbench.rankers import RankSVM, ranker
from letorbench.rankers.ranksvm import pair_differences
from letorbench.solvers.descent import LBFGS
from letorbench.solvers.objective import Objective
from letorbench.solvers.stopping import Validation


def raw_queries(seed: int, lengths: list[int], powers: tuple[int, ...] = ()) -> QuerySet:
    """Features of which the labels depend on three, in units of 10^power, and degenerate ones."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    z = rng.normal(size=(n, max(3, len(powers))))
    labels = np.digitize(z[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n), [0.5, 2.0])
    heavy = np.exp(3.0 * rng.normal(size=n)) * 1e3  # a few documents are a million times larger
    features = np.column_stack(
        [
            z * 10.0 ** np.array(powers or (0, 0, 0), dtype=float),
            heavy,
            z[:, 0] * 1e4,  # the first feature once more, in another unit
            z[:, 1] + 1e-4 * rng.normal(size=n),  # nearly the second one
            1e6 + z[:, 2],  # far from 0
            np.full(n, 3e8),
            np.zeros(n),
        ]
    ).astype(np.float32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    labels[: lengths[0]] = 1  # a query of equal labels
    labels[sum(lengths[:-1]) :] = 0  # one with nothing relevant
    return QuerySet(features, labels.astype(np.int32), offsets, np.arange(len(lengths)))


POWERS = [(0, 0, 0), (-6, 0, 9), (9, 9, 9), (-6, -6, -6), (-6, -3, 0, 3, 6, 9)]
LENGTHS = [6, 12, 1, 9, 14, 8]
#: each of the units with a usual strength of the prior, two of them with a strong and a weak one
STRENGTHS = [*((powers, 1) for powers in POWERS), (POWERS[1], 0), (POWERS[4], 2)]


def least(fun, n: int) -> float:
    """Return SciPy's minimum of a smooth convex function, by two methods in a row."""
    from scipy.optimize import minimize

    found = minimize(
        fun, np.zeros(n), jac=True, method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 100_000, "ftol": 0.0, "gtol": 1e-13, "maxcor": 50},
    )  # fmt: skip
    again = minimize(fun, found.x, jac=True, method="BFGS", options={"gtol": 1e-13})
    return min(float(found.fun), float(again.fun))


@pytest.mark.parametrize(("powers", "strength"), STRENGTHS)
def test_ranksvm_is_at_the_optimum(powers, strength):
    queries, C = raw_queries(1, LENGTHS, powers), (1e-3, 1.0, 100.0)[strength]
    differences, c = pair_differences(queries, True)
    # the prior bends the objective along tiny features, the pairs along large ones
    unit = np.sqrt(1.0 + C * (c @ differences**2))
    rows = differences / unit

    def objective(v):
        hinge = np.maximum(0.0, 1.0 - rows @ v)
        w = v / unit
        return w @ w / 2 + C * (c @ hinge**2), w / unit - 2.0 * C * rows.T @ (c * hinge)

    reference = least(objective, len(unit))
    first = objective(np.zeros(len(unit)))[0]  # nothing below its rounding can be told apart
    for gap in (1e-6, 0.1):
        learned = RankSVM(C=C, gap=gap).fit_sets(queries).learned
        found = objective(learned.model.weights * unit)[0]
        assert found == pytest.approx(learned.objective[-1], rel=1e-7, abs=1e-12 * first)
        assert found <= reference * (1.0 + 2.0 * gap) + 1e-12 * first and not learned.warnings


@pytest.mark.parametrize("powers", [(-9, 0, 9), *POWERS])
def test_cross_entropy_is_at_the_optimum(powers):
    queries, function = raw_queries(3, LENGTHS, powers), loss("cross-entropy")
    family = LinearFamily.conditioned(queries.features, shift_invariant=True)
    learned = LBFGS(1000, 1e-2).fit(family, function, queries, None, np.random.default_rng(0))
    zero, count = np.zeros(family.n_parameters), queries.n_queries
    prior = Objective(family, function, queries, count).with_prior(1e-2, zero).l2
    rows = np.split(family.design(queries.features), queries.offsets[1:-1])
    targets = [softmax(labels) for labels in np.split(queries.labels, queries.offsets[1:-1])]

    def objective(w):
        value, slope = prior / 2 * (w @ w), prior * w
        for x, target in zip(rows, targets):
            s = x @ w
            value += target @ (np.log(target) - log_softmax(s)) / count
            slope += x.T @ (softmax(s) - target) / count
        return value, slope

    found = objective(learned.model.weights * family.scale)[0]
    assert found <= least(objective, len(zero)) + 1e-8 and not learned.warnings


@pytest.mark.parametrize("kind", ["constant", "constant in each query", "equal labels"])
@pytest.mark.parametrize("name", ["cross-entropy", "mcl", "cosine", "wpll", "classification"])
def test_a_start_at_the_optimum_is_not_warned_of(name, kind):
    """The gradient is the rounding of its terms there, and may be longer wherever a step goes."""
    for seed in range(5):
        drawn = random_queries(np.random.default_rng(seed), [7, 23, 1, 11], n_features=3)
        row = drawn.offsets[:-1] if kind == "constant in each query" else np.zeros(4, int)
        features = drawn.features[row.repeat(drawn.lengths)] * np.float32([1e9, 1.0, 1e-9])
        changed = (
            {"labels": np.ones_like(drawn.labels)} if "labels" in kind else {"features": features}
        )
        queries = replace(drawn, **changed)
        learned = ranker(name)().fit_sets(queries).learned
        assert {each.kind for each in learned.warnings} <= {"nothing learned"}


def test_features_of_ordinary_size_keep_their_units():
    features = np.random.default_rng(4).random((50, 3), dtype=np.float32)
    features[:, 2] = 0.0
    for factor, shift, usual in ((1, 0, True), (1e3, 0, False), (1e-3, 0, False), (1, 1e3, False)):
        family = LinearFamily.conditioned(features * np.float32(factor) + np.float32(shift))
        kept = (family.mean == 0.0) & (family.scale == 1.0)
        assert kept.tolist() == [usual, usual, shift == 0]
    assert LinearFamily.conditioned(np.float32([[9.0, 11.0]])).scale.tolist() == [1.0, 44.0]


#: rankers that learn alike differ in their losses, which have such tests of their own
EVERY_WAY = pytest.mark.parametrize("name", sorted({*learners().values()}))


@EVERY_WAY
def test_every_way_to_learn_ends_with_numbers(name):
    cls = ranker(name)
    cls.available() or pytest.skip(f"{name} needs {cls.needs}")
    train = raw_queries(6, [20, 1, 15, 30, 2, 25], (-6, -3, 0, 3, 6, 9))
    valid = raw_queries(7, [10, 1, 12], (-6, -3, 0, 3, 6, 9))
    few = few_rounds(cls) if name == "best" else {}
    model = cls(**few).fit_sets(train, Validation(valid), np.random.default_rng(0))
    assert np.isfinite(model.predict(valid)).all()
    assert np.isfinite(model.learned.objective).all()
    assert not any("no number" in str(each) for each in model.learned.warnings)


@EVERY_WAY
def test_every_ranker_refuses_a_very_long_query_or_is_quick(name):
    cls = ranker(name)
    cls.available() or pytest.skip(f"{name} needs {cls.needs}")
    settings = few_rounds(cls)
    too_long, short = (
        random_queries(np.random.default_rng(0), [n], n_features=2)
        for n in (LONGEST_COMPARED + 1, 20)
    )
    cls(**settings).fit_sets(short)  # so that it is compiled
    start = time.process_time()
    try:
        cls(**settings).fit_sets(too_long)
    except DataError as error:
        assert f"found {LONGEST_COMPARED + 1} documents, expected at most" in str(error)
    assert time.process_time() - start < 1.0  # all pairs take seconds
