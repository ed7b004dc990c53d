"""Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012.

Its statements that need no data are checked on random small problems. The appendix bounds the log
loss of the Markov random field P(r) = prod psi(r_i, r_j) / Z (equation 14) by a sum over pairs
(equation 17). Every labelling of a problem is enumerated. With P pairs, the inequality of Hoelder
(19) is taken with q = P for each, which meets sum 1/q = 1.

Its statements on costs are timed on generated data, in processor time of one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from letorbench.analysis.tables import write_table
from letorbench.compiled.threads import limited_threads
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import permuted_cubic
from letorbench.losses.label_order import group_level
from letorbench.losses.weighted_pairs import PairwiseLoss
from letorbench.measures import parse, query_metrics
from letorbench.models.functionals import Products, QuadraticFamily
from letorbench.models.linear import LinearFamily
from letorbench.papers.paper import PartResult
from letorbench.papers.problems import LABELS, labelled
from letorbench.papers.runs import Context, Estimate, exactly, kept, least_seconds, log_slope

#: random problems, and random queries of each length for the bounds of 1 - NDCG
PROBLEMS, QUERIES, LENGTHS = 3_000, 20_000, (2, 3, 4, 6)
#: the pairwise losses that section 2 calls upper bounds
BOUNDING = ("hinge", "exponential", "logistic")
#: the timed queries, documents of each, and features, of which the paper has 519
TIMED, DOCUMENTS, FEATURES = 20, 30, 500
#: how many products are kept; the paper keeps up to 134,477
KEPT = (15_000, 30_000, 60_000, 120_000)
#: documents of the query that groups are timed on, as long as LETOR's Gov sets have
LONG = 1_000


def field_excesses(f: np.ndarray, levels: int, gamma: float) -> tuple[float, float, float]:
    """The excess over a field's equations 19, 21 and 17, for scores f (N,), |L| and its scale."""
    N = len(f)
    i, j = np.triu_indices(N, 1)
    r = np.indices((levels,) * N).reshape(N, -1)
    log_psi = gamma * np.sign(r[i] - r[j]) * (f[i] - f[j])[:, None]
    signs = np.sign(np.subtract.outer(np.arange(levels), np.arange(levels))).ravel()
    of_pair = gamma * signs * (f[i] - f[j])[:, None]
    log_Z = logsumexp(log_psi.sum(axis=0))
    log_Z_pair = logsumexp(of_pair, axis=1)
    P = len(i)
    hoelder = log_Z - float((logsumexp(P * log_psi, axis=1) / P).sum())
    powers = max(
        float((logsumexp(q * of_pair, axis=1) - q * log_Z_pair).max()) for q in range(1, 11)
    )
    C = (N - 2) * np.log(levels)
    log_loss = log_Z - log_psi.sum(axis=0)
    bound = (log_Z_pair[:, None] - log_psi).sum(axis=0) + C
    return hoelder, powers, float((log_loss - bound).max())


def beyond_loss(name: str, rng: np.random.Generator, queries: int) -> float:
    """The most by which 1 - NDCG exceeds a sum of pairwise losses on random queries."""
    worst, rules = -np.inf, CONVENTIONS["standard"]
    for m in LENGTHS:
        labels = rng.integers(0, LABELS, (queries, m))
        labels[:, 0] = np.maximum(labels[:, 0], 1)
        drawn = labelled(labels)
        spread = np.repeat(np.exp(rng.uniform(-4.0, 2.0, queries)), m)
        scores = spread * rng.normal(size=queries * m)
        ndcg = query_metrics(drawn.labels, scores, drawn.offsets, [parse("ndcg")], rules)[:, 0]
        value, _ = PairwiseLoss(name)(scores, drawn)
        worst = max(worst, float((1.0 - ndcg - value).max()))
    return worst


def appendix(context: Context) -> dict[str, Estimate]:
    """The appendix's bound and the statements of section 2 that can be enumerated."""
    rng, worst = np.random.default_rng(context.seed), np.full(3, -np.inf)
    for _ in range(PROBLEMS):
        N, levels = rng.integers(2, 5, size=2)
        f = np.exp(rng.uniform(-2.0, 2.0)) * rng.normal(size=N)
        gamma = 2.0 / (N * (N - 1)) * np.exp(rng.uniform(-1.0, 1.0))
        worst = np.maximum(worst, field_excesses(f, int(levels), float(gamma)))
    excesses = dict(zip(("hoelder", "powers", "upper-bound"), worst.tolist()))
    for name in BOUNDING:
        excesses[f"{name}-bounds-ndcg"] = beyond_loss(name, rng, QUERIES)
    return {name: exactly(value) for name, value in excesses.items()}


def quadratic_costs(train: QuerySet, rng: np.random.Generator) -> list[tuple[int, float, int]]:
    """(parameters, seconds, bytes) of an objective with its gradient, a row for each of `KEPT`."""
    logistic = PairwiseLoss("logistic", "(Ri-Rj)/m")
    linear = LinearFamily.standardised(train.features)
    second = np.triu_indices(train.n_features)[1]
    starts = np.append(0, np.cumsum(np.arange(train.n_features, 0, -1)))
    rows = []
    for n_kept in KEPT:  # a model of the first products
        first = np.minimum(starts, n_kept).astype(np.int64)
        family = QuadraticFamily(Products(linear.mean, linear.scale, first, second[:n_kept]))
        theta = 0.01 * rng.normal(size=family.n_parameters)

        def work(family: QuadraticFamily = family, theta: np.ndarray = theta) -> np.ndarray:
            _, slope = logistic(family.scores(theta, train.features), train)
            return family.gradient(theta, train.features, slope)

        model = family.model(theta)
        size = model.coefficients.nbytes + model.second.nbytes + model.weights.nbytes
        size += work().nbytes
        rows.append((family.n_parameters, least_seconds(work), size))
    return rows


def _measured(context: Context) -> dict[str, Any]:
    rng = np.random.default_rng(context.seed)
    with limited_threads(1):
        (train,) = permuted_cubic(rng, (TIMED,), FEATURES, DOCUMENTS)
        rows = quadratic_costs(train, rng)
        (query,) = permuted_cubic(rng, (1,), 5, LONG)
        scores, plain = rng.normal(size=query.n_docs), PairwiseLoss("logistic", "1")
        both = plain, group_level(plain, "max", query)
        for each in both:
            each(scores, query)  # has the machine code made
        return {"rows": rows, "losses": [least_seconds(partial(e, scores, query)) for e in both]}


def costs(context: Context) -> PartResult:
    """Section 4's costs of quadratic models, and section 2's of groups."""
    stem, settings = context.folder("functionals") / "costs", {"seed": context.seed}
    files = "papers/functionals/__init__.py", "datasets/synthetic/cubic.py"
    made = kept(stem.with_suffix(".json"), settings, partial(_measured, context), *files)
    parameters, taken, sizes = zip(*made["rows"])
    documents, groups = made["losses"]
    note = f"{documents * 1e3:.2f} against {groups * 1e3:.2f} ms"
    numbers = {
        "cost-time": log_slope(parameters, taken),
        "cost-space": exactly(log_slope(parameters, sizes).value),
        "groups-save": exactly(documents / groups, note),
    }
    title, header = "Costs of quadratic models", ["parameters", "seconds", "bytes"]
    return PartResult(numbers=numbers, files=write_table(stem, title, header, made["rows"]))


PARTS = {"appendix": appendix, "costs": costs}
