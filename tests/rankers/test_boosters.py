"""The boosters: their rounds against the papers' equations, their objectives, their ends."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.features.columns import BinnedFeatures
from letorbench.losses.gains import pairs
from letorbench.measures import parse, query_metrics
from letorbench.rankers import frank, ndcgboost, rankboost, ranker
from letorbench.solvers.boosting import LONGEST_STEP, Booster
from letorbench.solvers.stump_search import stump_search


def E(measure: str, F: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return AdaRank's E(q, F), (n_queries,)."""
    measures, standard = [parse(measure)], CONVENTIONS["standard"]
    return query_metrics(queries.labels, F, queries.offsets, measures, standard)[:, 0]


ADARANK = {"adarank-map": partial(E, "map"), "adarank-ndcg": partial(E, "ndcg@10")}
#: scores, queries -> what the booster minimises, by the paper's equations
OBJECTIVES = {
    "adarank-map": lambda F, queries: np.exp(-E("map", F, queries)).mean(),
    "adarank-ndcg": lambda F, queries: np.exp(-E("ndcg@10", F, queries)).mean(),
    "frank": frank.objective,
    "ndcgboost": ndcgboost.objective,
    "rankboost": rankboost.objective,
}
STUMPS = ["frank", "ndcgboost", "rankboost"]


def booster_of(name: str, queries: QuerySet, bins: int | None, truncation: int = 0) -> Booster:
    if name == "frank":
        return frank._Booster(queries, BinnedFeatures.of(queries.features, bins))
    search = stump_search(queries.features, bins)
    if name == "rankboost":
        return rankboost._Booster(queries, search)
    booster = ndcgboost.BoundBooster(queries, search, truncation)
    booster.least = 1  # a thread for every query
    return booster


def weights(name: str, F: np.ndarray, queries: QuerySet, *truncation: int) -> np.ndarray:
    """Return the documents' weights by the paper's equations, in file order."""
    if name == "ndcgboost":
        return ndcgboost.weights(F, queries, *truncation)
    if name == "rankboost":
        return rankboost.potentials(F, queries)
    (i, j), W = pairs(queries), frank.pair_weights(F, queries)
    return np.bincount(i, W, len(F)) - np.bincount(j, W, len(F))


def gain_and_step(name: str, F: np.ndarray, h: np.ndarray, queries: QuerySet, *truncation: int):
    """Return what the best stump has most of, and alpha, by the paper's equations."""
    if name == "ndcgboost":
        sums = ndcgboost.step_sums(F, h, queries, *truncation)
        return abs(ndcgboost.weights(F, queries, *truncation)[h].sum()), ndcgboost.step(*sums)
    if name == "rankboost":
        r = rankboost.potentials(F, queries)[h].sum()
        return abs(r), min(LONGEST_STEP, np.arctanh(min(r, 1.0 - 1e-15)))
    right, wrong = frank.separated(h, F, queries)
    alpha = 0.5 * np.log(max(right, 1e-300) / max(wrong, 1e-300))
    return (np.sqrt(right) - np.sqrt(wrong)) ** 2, min(LONGEST_STEP, alpha)


def hinted(rng: np.random.Generator, lengths: list[int]) -> QuerySet:
    """Features 1 and 2 tell of the label, 0 of its opposite; one query has equal labels."""
    queries = random_queries(rng, lengths, levels=4)
    with unlocked(queries):
        queries.labels[: lengths[0]] = 0
        queries.features[:, 0] -= queries.labels
        queries.features[:, 1:3] += queries.labels[:, None]
    return queries


@pytest.mark.parametrize("name, truncation", [*((name, ()) for name in STUMPS), ("ndcgboost", [3])])
@pytest.mark.parametrize("spread", [0.0, 1.0, 12.0, 50.0, 400.0])
def test_a_round_is_the_equations(rng, name, truncation, spread):
    queries = random_queries(rng, [7, 1, 2, 40, 0, 33, 3], levels=4)
    with unlocked(queries):
        queries.labels[:7] = 0
        queries.labels[20:50] = 1
    F = spread * rng.normal(size=queries.n_docs)
    if name == "rankboost" and spread > 50.0:  # else no float64 holds the loss of the wrong pairs
        F = F / 40.0 + 600.0 * (queries.labels > 1) * (np.arange(len(F)) < 50)
    booster = booster_of(name, queries, None, *truncation)
    if name == "frank":
        booster.scores = F  # where its first bounds, 0 and infinity, hold too
    found, loss = booster.weigh(F)
    expected = weights(name, F, queries, *truncation)
    in_order = expected[queries.by_label.order] if name == "frank" else expected
    np.testing.assert_allclose(found, in_order, rtol=1e-9, atol=1e-12)
    assert loss == pytest.approx(OBJECTIVES[name](F, queries, *truncation), rel=1e-10)
    stumps = np.array([column > value for column in queries.features.T for value in column])
    most = np.abs(stumps @ expected).max()
    if name == "frank":
        most = max(gain_and_step(name, F, h, queries)[0] for h in stumps)
    term = booster.choose(F, found)
    gain, alpha = gain_and_step(name, F, term.values, queries, *truncation)
    assert gain == pytest.approx(most, rel=1e-6)
    assert 0.0 < term.alpha == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("directions", ["ascending", "both"])
@pytest.mark.parametrize("name", ADARANK)
def test_adarank_is_algorithm_1_with_a_half_or_a_quarter_of_alpha_at_the_end(name, directions):
    """Of the features that lower the objective, the one that agrees best with P is taken."""
    train, E = hinted(np.random.default_rng(34), [15] * 12), ADARANK[name]
    with unlocked(train):  # of two equal features the first is taken
        train.features[:, 3] = train.features[:, 1]
    model = ranker(name)(directions=directions).fit_sets(train).learned
    features = train.features.T.astype(float)
    if directions == "both":
        features = np.vstack([features, -features])
    E_alone, F, w = [E(h, train) for h in features], np.zeros(train.n_docs), np.zeros(len(features))
    P, values, share, shares = np.full(12, 1.0 / 12.0), [1.0], 1.0, set()
    while share >= 0.25:
        agreement = np.array([P @ each for each in E_alone])
        for k in np.argsort(-agreement, kind="stable"):
            alpha = share * 0.5 * np.log((1.0 + agreement[k]) / (1.0 - agreement[k]))
            value = np.exp(-E(F + alpha * features[k], train)).mean()
            if value < values[-1] - 1e-12:
                break
        else:
            share /= 2.0
            continue
        shares.add(share)
        F, values, w[k] = F + alpha * features[k], [*values, value], w[k] + alpha
        P = np.exp(-E(F, train)) / np.exp(-E(F, train)).sum()
    assert len(shares) == 3 or directions == "both"
    assert model.objective == pytest.approx(values, rel=1e-9)
    np.testing.assert_allclose(model.model.weights, w[:5] - (w[5:] if len(w) > 5 else 0.0))


@pytest.mark.parametrize("name, settings", [
    ("adarank-map", {}), ("adarank-ndcg", {"directions": "both"}), ("frank", {"bins": None}),
    ("frank", {"bins": 8}), ("rankboost", {"bins": None}), ("rankboost", {"bins": 8}),
    ("ndcgboost", {}), ("ndcgboost", {"bins": 8}), ("ndcgboost", {"stumps": "sample"}),
    ("ndcgboost", {"stumps": "sample", "weak": "tree", "sample": 0.2}),  # an alpha < 0
    ("ndcgboost", {"stumps": "once", "sample": 0.2}), ("ndcgboost", {"stumps": "average"}),
])  # fmt: skip
def test_the_objective_is_the_papers_and_never_rises(rng, name, settings):
    train = hinted(rng, [12, 30, 1, 5, 0, 40, 2, 17])
    model = ranker(name)(rounds=25, **settings).fit_sets(train)
    values = model.learned.objective
    if name.startswith("adarank"):  # E of no feature is 0
        assert len(values) > 2 and values[0] == 1.0
        assert (model.learned.model.weights < 0.0).any() == bool(settings)
    else:
        first = OBJECTIVES[name](np.zeros(train.n_docs), train)
        assert len(values) == 26 and values[0] == pytest.approx(first, rel=1e-12)
    reached = OBJECTIVES[name](model.predict(train.features), train)
    assert values[-1] == pytest.approx(reached, rel=1e-9)
    assert all(after <= before * (1.0 + 1e-12) for before, after in pairwise(values))
    assert values[-1] < 0.9 * values[0]


@pytest.mark.parametrize("name", STUMPS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_perfect_feature_gives_the_longest_step(rng, name, sign):
    """Step after step: the ratio of the scores' exponentials ends beyond float64."""
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = sign * train.labels
    learned = ranker(name)().fit_sets(train).learned
    stumps = learned.model
    assert stumps.feature[0] == 3 and set(stumps.value[1:3]) == {0.0, 5.0}
    assert (stumps.value[2] > 0.0) == (sign > 0.0)  # above the threshold
    assert np.isfinite(learned.objective).all()
    assert learned.objective[-1] < 0.5 * learned.objective[0]
    assert np.isfinite(learned.model.predict(train.features)).all()


def with_signal(rng: np.random.Generator, much: float, lengths: list[int]) -> QuerySet:
    """60 features, of which 4 tell of the labels and put pairs right, whose weights change most."""
    queries = random_queries(rng, lengths, levels=4, n_features=60)
    with unlocked(queries):
        queries.features[:, :4] += much * queries.labels[:, None]
    return queries


def all_wrong(seed: int) -> QuerySet:
    """Features that put nearly all pairs wrong, some twice: W+ is a difference of equal sums."""
    rng = np.random.default_rng(seed)
    queries = random_queries(rng, [8, 5, 11, 9], levels=4, n_features=30)
    with unlocked(queries):
        k = rng.choice(30, 12, replace=False)
        steps = rng.choice([1.0, 2.0, 3.0], 12)
        jitter = rng.choice([0, 0.3, 1.2]) * rng.random((queries.n_docs, 12))
        queries.features[:, k] = -queries.labels[:, None] * steps + jitter
        queries.features[:, k[:4]] = queries.features[:, k[4:8]]
    return queries


def test_frank_excludes_no_stump_that_is_best_by_bounds_of_earlier_rounds_or_rounding(
    rng, monkeypatch
):
    """Round by round: a booster that sums all features takes the same stump."""
    counts, wrong = [], frank._Booster._wrong
    monkeypatch.setattr(
        frank._Booster, "_wrong", lambda self, k: counts.append(len(k)) or wrong(self, k)
    )
    sets = [with_signal(rng, 0.0, [30] * 12)]
    sets += [with_signal(rng, much, [8, 5, 11]) for much in 2 * [0.0, 1.0, 4.0]]
    for queries in (*sets, *map(all_wrong, (17, 91, 200, 384))):
        booster, F = booster_of("frank", queries, 9), np.zeros(queries.n_docs)
        for _ in range(20 if queries.n_features == 60 else 25):
            term, whole = booster.choose(F, booster.weigh(F)[0]), booster_of("frank", queries, 9)
            with monkeypatch.context() as patched:
                patched.setattr(frank, "LIKELY", 60)
                again = whole.choose(F, whole.weigh(F)[0])
            if term is None:
                assert again is None
                break
            for part, other in zip(term.learner, again.learner, strict=True):
                np.testing.assert_array_equal(part, other)
            if queries.n_features == 60:
                assert term.alpha == again.alpha
                assert np.all(booster.low <= whole.high * (1.0 + 1e-9) + 1e-15)
                assert np.all(whole.low <= booster.high * (1.0 + 1e-9) + 1e-15)
                smaller = min(frank.separated(term.values.astype(int), F, queries))
                assert np.isclose(booster.low[term.learner.feature[0]], smaller, atol=1e-15).any()
            F = F + term.alpha * term.values
    summed = np.reshape(counts[:80], (20, 2, 2)).sum(axis=(0, 2))  # of 20 rounds, in two calls
    assert summed[0] < 0.4 * summed[1] == 0.4 * 20 * 60


def test_features_of_whole_queries_teach_nothing(rng):
    """They separate no pairs, though the sums over their documents are zero up to rounding only."""
    train = random_queries(rng, [40] * 30, levels=4)
    with unlocked(train):
        train.features[:] = np.repeat(train.features[::40], 40, axis=0)
    F, trees = rng.normal(size=train.n_docs), ndcgboost.NDCGBoost(weak="tree").booster(train, rng)
    boosters = [trees, *(booster_of(name, train, 16) for name in STUMPS)]
    assert [each.choose(F, each.weigh(F)[0]) for each in boosters] == [None] * 4


def drawn(w, how, size=None, seed=5):
    votes = []
    ndcgboost.best_of_sample(votes.append, how, size, np.random.default_rng(seed), w)
    return votes[0]


def test_ndcgboost_draws_as_many_documents_as_it_is_told_to(rng):
    """Weights that are zero but for their rounding move no draw, and are not drawn."""
    w = np.where(np.arange(60) % 3 == 0, 0.0, rng.normal(size=60))
    effective = np.abs(w).sum() ** 2 / (w**2).sum()
    rounded = np.where(w == 0.0, 1e-20, w)
    sizes = {None: effective / 2.0, 0.7: 0.7 * effective, 9.0: 40.0, 0.001: 1.0}
    cases = [(how, size, round(n)) for how in ("once", "average") for size, n in sizes.items()]
    for how, size, docs in (("sample", None, 60), ("sample", 2.0, round(2.0 * effective)), *cases):
        votes = drawn(w, how, size)
        np.testing.assert_array_equal(votes, drawn(rounded, how, size))
        assert np.abs(votes).sum() == pytest.approx(docs) and (votes * w >= 0.0).all()
        assert how == "sample" or np.abs(votes).max() <= 1.0
        assert how != "once" or set(np.abs(votes)) <= {0.0, 1.0}
    assert ndcgboost.best_of_sample([].append, "once", None, rng, np.zeros(3)) is None
