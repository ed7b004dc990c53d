"""FRank: its objective and bound, its first round by hand, its longest step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries, unlocked
from letorbench.solvers.fidelity_search import FidelityBooster, gain

from letorbench.errors import UsageError
from letorbench.rankers import frank
from letorbench.rankers.frank import FRank
from letorbench.rankers.rankboost import pairs
from letorbench.solvers.stopping import Validation, best
from letorbench.solvers.stump_search import BinnedFeatures


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0, 400.0])
@pytest.mark.parametrize("bins", [None, 7])
def test_the_kernels_compute_the_equations(
    rng: np.random.Generator, spread: float, bins: int | None
) -> None:
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3, 60], levels=4)
    with unlocked(queries):
        queries.labels[3:10] = 0
        queries.labels[50:80] = 1
    scores = spread * rng.normal(size=queries.n_docs)
    i, j = pairs(queries)
    W = frank.pair_weights(scores, queries)
    binned = BinnedFeatures.of(queries.features, bins)
    booster = FidelityBooster(queries, binned)
    booster.least = 1  # a thread for every query
    weight, loss = booster.weigh(scores)
    expected = np.bincount(i, W, queries.n_docs) - np.bincount(j, W, queries.n_docs)
    by_label = queries.by_label.order
    np.testing.assert_allclose(weight[:, 0], expected[by_label], rtol=1e-10, atol=1e-13)
    assert loss == pytest.approx(frank.objective(scores, queries), rel=1e-10)

    best = (0.0, 0.0)
    for k, n_bins in enumerate(binned.n_bins):
        for cut in range(n_bins - 1):
            _, h = binned.stump(k, cut, True)
            right, wrong = frank.separated(h, scores, queries)
            assert booster._wrong_of(k, cut) == pytest.approx(wrong, rel=1e-9, abs=1e-300)
            alpha = 0.5 * abs(np.log(right / wrong)) if right * wrong else 5.0
            best = max(best, ((np.sqrt(right) - np.sqrt(wrong)) ** 2, min(5.0, alpha)))
    term = booster.choose(scores, weight)
    right, wrong = frank.separated(term.values, scores, queries)
    assert right > wrong
    assert (np.sqrt(right) - np.sqrt(wrong)) ** 2 == pytest.approx(best[0], rel=1e-6)
    assert term.alpha == pytest.approx(best[1], rel=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_the_sums_of_every_cut(rng: np.random.Generator, dtype: type) -> None:
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3, 60], levels=4)
    scores = rng.normal(size=queries.n_docs)
    n_bins = np.array([1, 2, 5, 200, 90], dtype=np.int64)
    codes = np.stack([rng.integers(0, bins, queries.n_docs) for bins in n_bins]).astype(dtype)
    booster = FidelityBooster(queries, BinnedFeatures(codes, n_bins, ()))
    weight, _ = booster.weigh(scores)
    D, _ = booster._cuts(weight)
    order = np.array([3, 1, 4, 0, 2])
    exact = booster._sums(order, D[order])
    off = np.abs(booster._sums(order, D[order], booster.rough) - exact).max()
    assert off <= 1e-15 if dtype == np.uint32 else 0.0 < off <= booster.doubt
    for k, row in zip(order, exact):
        sums = [frank.separated(codes[k] > cut, scores, queries) for cut in range(n_bins[k] - 1)]
        right, wrong = np.array(sums).reshape(-1, 2).T
        cuts = slice(0, n_bins[k] - 1)
        np.testing.assert_allclose(D[k, cuts], right - wrong, atol=1e-12)
        np.testing.assert_allclose(row[cuts], right + wrong, atol=1e-12)
        expected = (np.sqrt(right) - np.sqrt(wrong)) ** 2
        np.testing.assert_allclose(gain(D[k], row)[cuts], expected, rtol=1e-6, atol=1e-12)
        assert not D[k, n_bins[k] - 1 :].any() and not row[n_bins[k] - 1 :].any()


@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0, 50.0, 400.0, 1e4])
def test_rough_sums_are_off_by_no_more_than_is_said(
    rng: np.random.Generator, spread: float
) -> None:
    queries = random_queries(rng, [1, 2, 40, 0, 7, 300, 3, 60], levels=4)
    booster = FidelityBooster(queries, BinnedFeatures.of(queries.features, 30))
    features = np.arange(queries.n_features)
    for scores in (spread * rng.normal(size=queries.n_docs), spread * queries.labels):
        weight, objective = booster.weigh(scores)
        assert np.abs(frank.pair_weights(scores, queries)).sum() <= 2.0 * objective * (1.0 + 1e-9)
        D, _ = booster._cuts(weight)
        rough = booster._sums(features, D, booster.rough)
        assert np.abs(rough - booster._sums(features, D)).max() <= booster.doubt


def test_features_whose_rough_sums_are_alike_are_told_apart(rng: np.random.Generator) -> None:
    """60 features differ in one document's bin each, by less than a rough sum tells."""
    queries = random_queries(rng, [400], levels=2, n_features=1)
    column = np.clip(8.0 + 4.0 * rng.normal(size=400) + queries.labels, 0.0, 15.0)
    codes = np.tile(column.astype(np.uint8), (60, 1))
    codes[np.arange(60), np.arange(60)] = 8
    n_bins = np.full(60, 16, dtype=np.int64)
    booster = FidelityBooster(queries, BinnedFeatures(codes, n_bins, (np.arange(15.0),) * 60))
    scores = rng.normal(size=queries.n_docs)
    weight, _ = booster.weigh(scores)
    D, _ = booster._cuts(weight)
    gains = gain(D, booster._sums(np.arange(60), D))
    term = booster.choose(scores, weight)
    assert (term.learner.feature, term.learner.threshold) == np.unravel_index(
        gains.argmax(), gains.shape
    )


def test_the_bounds_exclude_no_stump_that_is_best(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round by round: what the search takes is the best of all, and few features are summed."""
    queries = random_queries(rng, [30] * 12, levels=4, n_features=60)
    binned = BinnedFeatures.of(queries.features, 9)
    booster = FidelityBooster(queries, binned)
    summed = []
    count = FidelityBooster._sums
    monkeypatch.setattr(
        FidelityBooster,
        "_sums",
        lambda self, k, *rest: summed.append(len(k)) or count(self, k, *rest),
    )
    scores = np.zeros(queries.n_docs)
    for _ in range(25):
        weight, _ = booster.weigh(scores)
        D, _ = booster._cuts(weight)
        every = count(booster, np.arange(60), D)
        gains = gain(D, every).max(axis=1)
        term = booster.choose(scores, weight)
        assert term.learner.feature == np.argmax(gains)
        right, wrong = frank.separated(term.values, scores, queries)
        assert (right**0.5 - wrong**0.5) ** 2 == pytest.approx(gains.max(), rel=1e-9)
        assert (booster.lowest <= every * (1.0 + 1e-9)).all()
        scores = scores + term.alpha * term.values
    assert sum(summed) < 25 * 30


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0])
def test_the_kernels_sum_what_weights_may_have_fallen_by(
    rng: np.random.Generator, spread: float
) -> None:
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3, 60], levels=4)
    booster = FidelityBooster(queries, BinnedFeatures.of(queries.features, 9))
    booster.scores = spread * rng.normal(size=queries.n_docs)
    scores = booster.scores + rng.normal(size=queries.n_docs)
    i, j = pairs(queries)
    falls = frank.falls(scores, booster.scores, queries)
    expected = np.bincount(i, falls, queries.n_docs) + np.bincount(j, falls, queries.n_docs)
    sums, _ = booster.weigh(scores)
    expected = expected[queries.by_label.order]
    np.testing.assert_allclose(sums[:, 1], expected, rtol=1e-10, atol=1e-14)
    _, at_most = booster._cuts(sums)
    for k, n_bins in enumerate(booster.binned.n_bins):
        for cut in range(n_bins - 1):
            above = booster.binned.codes[k] > cut
            sides = min(expected[above].sum(), expected[~above].sum())
            exact = min(sides, falls.sum())
            assert exact <= at_most[k, cut] <= exact + 1e-8 * falls.sum()


def test_weights_fall_by_no_more_than_is_said() -> None:
    """Every o and step: the bound holds, and is near where steps are short."""
    pair = random_queries(np.random.default_rng(0), [2], levels=2)
    with unlocked(pair):
        pair.labels[:] = [1, 0]
    for o in np.linspace(-12.0, 12.0, 97):
        for step in (-5.0, -1.0, -0.1, -1e-6, 0.0, 1e-6, 0.1, 1.0, 5.0):
            before, now = np.array([o, 0.0]), np.array([o + step, 0.0])
            (was,), (weight,) = (frank.pair_weights(s, pair) for s in (before, now))
            (fall,) = frank.falls(now, before, pair)
            assert was - weight <= fall * (1.0 + 1e-9) + 1e-13
            if abs(step) <= 0.1 and abs(o + np.log(2.0)) > 1.0:
                assert fall <= 1.2 * max(was - weight, 0.0) + 1e-13


def test_the_pair_weights_are_the_slope_of_the_objective(rng: np.random.Generator) -> None:
    queries = random_queries(rng, [6, 9, 4], levels=3)
    s = rng.normal(size=queries.n_docs)
    i, j = pairs(queries)
    W = frank.pair_weights(s, queries)
    slope = -0.5 * (np.bincount(i, W, len(s)) - np.bincount(j, W, len(s)))
    for row in range(queries.n_docs):
        moved = np.eye(queries.n_docs)[row] * 1e-5
        change = frank.objective(s + moved, queries) - frank.objective(s - moved, queries)
        assert slope[row] == pytest.approx(change / 2e-5, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("bins", [None, 8])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, bins: int | None
) -> None:
    train = random_queries(rng, [1, 30, 12, 5, 40, 2, 17], levels=4)
    with unlocked(train):
        train.labels[train.offsets[3] : train.offsets[4]] = 0
    model = FRank(rounds=60, bins=bins).fit_sets(train)
    values = model.learned.objective
    assert values[0] == pytest.approx(1.0 - np.sqrt(0.5), rel=1e-12)
    assert values[-1] == pytest.approx(
        frank.objective(model.predict(train.features), train), rel=1e-9
    )
    assert len(values) == 61
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert values[-1] < 0.9 * values[0]


def test_first_round_is_the_best_of_all_stumps(rng: np.random.Generator) -> None:
    """At equal scores a pair's W is 2^(-3/2) over the pairs of its query."""
    train = random_queries(rng, [12, 9, 15])
    query = np.repeat(np.arange(3), train.lengths)
    i, j = np.nonzero((query[:, None] == query) & (train.labels[:, None] > train.labels))
    W = 2.0**-1.5 / np.bincount(query[i])[query[i]] / 3.0
    most, step = 0.0, 0.0
    for column in train.features.T:
        for value in np.unique(column)[:-1]:
            h = (column > value).astype(int)
            right, wrong = W[h[i] - h[j] == 1].sum(), W[h[i] - h[j] == -1].sum()
            if (np.sqrt(right) - np.sqrt(wrong)) ** 2 > most:
                most = (np.sqrt(right) - np.sqrt(wrong)) ** 2
                step = min(5.0, 0.5 * abs(np.log(max(right, 1e-99) / max(wrong, 1e-99))))
    learned = FRank(rounds=1, bins=None).fit_sets(train).learned
    assert learned.model.alpha[0] == pytest.approx(step, rel=1e-9)
    assert learned.objective[1] <= learned.objective[0] - 0.5 * most * (step < 5.0) + 1e-12


def test_a_perfect_feature_gives_the_longest_step(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = -train.labels
    scorer = FRank(rounds=1).fit_sets(train).learned.model
    assert (scorer.feature[0], scorer.above[0], scorer.alpha[0]) == (3, False, 5.0)


def test_steps_without_end_stay_finite(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = train.labels
    model = FRank().fit_sets(train)
    values = model.learned.objective
    assert np.isfinite(values).all() and values[-1] < 1e-9
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert np.isfinite(model.predict(train.features)).all()


def test_the_best_round_on_validation_is_kept(rng: np.random.Generator) -> None:
    held_out = random_queries(rng, [20] * 8)
    train, valid = random_queries(rng, [20] * 20), Validation(held_out, rule=best)
    model = FRank(patience=7).fit_sets(train, valid)
    curve, chosen = model.learned.curve, model.learned.best
    assert len(curve) == chosen + 7 and curve[chosen - 1] == max(curve)
    kept = valid(model.predict(valid.queries.features)).mean()
    assert kept == pytest.approx(max(curve), abs=1e-12)


def test_no_pairs_learn_nothing_and_say_so(rng: np.random.Generator) -> None:
    model = FRank().fit_sets(random_queries(rng, [5, 5], levels=1))
    assert not len(model.learned.model.alpha) and model.learned.warnings


@pytest.mark.parametrize("pick", ["bound", "loss"])
def test_features_of_whole_queries_learn_nothing(rng: np.random.Generator, pick: str) -> None:
    """They separate no pairs, though the sums over their documents are zero up to rounding only."""
    train = random_queries(rng, [40] * 30, levels=4)
    with unlocked(train):
        train.features[:] = np.repeat(train.features[::40], 40, axis=0)
    booster = frank.BOOSTERS[pick](train, BinnedFeatures.of(train.features, 16))
    scores = rng.normal(size=train.n_docs)
    assert booster.choose(scores, booster.weigh(scores)[0]) is None


def test_the_pick_by_the_loss_is_the_least_of_the_features_best(rng: np.random.Generator) -> None:
    train = random_queries(rng, [30, 12, 25], levels=4)
    binned = BinnedFeatures.of(train.features, 16)
    scores = rng.normal(size=train.n_docs)
    booster = frank.ByLoss(train, binned)
    found = booster.choose(scores, booster.weigh(scores)[0])
    after = []
    for k in range(train.n_features):
        steps = []
        for cut in range(binned.n_bins[k] - 1):
            for above in (True, False):
                _, h = binned.stump(k, cut, above)
                right, wrong = frank.separated(h, scores, train)
                if right > wrong > 0.0:
                    alpha = 0.5 * np.log(right / wrong)
                    gain = (np.sqrt(right) - np.sqrt(wrong)) ** 2
                    steps.append((gain, frank.objective(scores + alpha * h, train)))
        after.append(max(steps)[1])
    picked = frank.objective(scores + found.alpha * found.values, train)
    assert picked == pytest.approx(min(after), rel=1e-9)


def test_the_loss_falls_at_least_as_far_in_one_round_by_either_pick(rng) -> None:
    train = random_queries(rng, [40] * 10, levels=4)
    by_bound, by_loss = (FRank(rounds=1, pick=p).fit_sets(train) for p in ("bound", "loss"))
    assert by_loss.learned.objective[1] <= by_bound.learned.objective[1]
    with pytest.raises(UsageError, match="pick of frank"):
        FRank(pick="luck").fit_sets(train)
