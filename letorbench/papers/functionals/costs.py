"""What the functionals paper says of costs: quadratic models', and what groups save.

Both are timed on generated data, in processor time of one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from letorbench.analysis.tables import write_table
from letorbench.compiled.threads import limited_threads
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.group_level import group_level
from letorbench.losses.weighted_pairs import PairwiseLoss
from letorbench.models.linear import LinearFamily
from letorbench.models.quadratic import Products, QuadraticFamily
from letorbench.papers.paper import Found
from letorbench.papers.permuted_cubic import permuted_cubic
from letorbench.papers.runs import Study, exactly, kept, least_seconds, log_slope

NAME = "functionals"
#: queries and documents of each; features, of which the paper has 519
QUERIES, DOCUMENTS, FEATURES = 20, 30, 500
#: how many products are kept; the paper keeps up to 134,477
KEPT = (15_000, 30_000, 60_000, 120_000)
#: documents of the query that groups are timed on, as long as LETOR's Gov sets have
LONG = 1_000


def quadratic_costs(train: QuerySet, rng: np.random.Generator) -> list[tuple[int, float, int]]:
    """(parameters, seconds, bytes) of an objective with its gradient, a row for each of `KEPT`."""
    logistic, linear = (
        PairwiseLoss("logistic", "(Ri-Rj)/m"),
        LinearFamily.standardised(train.features),
    )
    second = np.triu_indices(train.n_features)[1]
    starts = np.append(0, np.cumsum(np.arange(train.n_features, 0, -1)))
    rows = []
    for n_kept in KEPT:  # models of the first so many products
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


def _measured(study: Study) -> dict[str, Any]:
    rng = np.random.default_rng(study.seed)
    with limited_threads(1):
        (train,) = permuted_cubic(rng, (QUERIES,), FEATURES, DOCUMENTS)
        rows = quadratic_costs(train, rng)
        (query,) = permuted_cubic(rng, (1,), 5, LONG)
        scores, plain = rng.normal(size=query.n_docs), PairwiseLoss("logistic", "1")
        both = plain, group_level(plain, "max", query)
        for each in both:
            each(scores, query)  # has the machine code made
        return {"rows": rows, "losses": [least_seconds(partial(e, scores, query)) for e in both]}


def costs(study: Study) -> Found:
    """Section 4's costs of quadratic models, and section 2's of groups."""
    stem, own = study.folder(NAME) / "costs", ("functionals/costs.py", "permuted_cubic.py")
    asked = {"seed": study.seed}
    made = kept(stem.with_suffix(".json"), asked, partial(_measured, study), *own)
    parameters, taken, sizes = zip(*made["rows"])
    documents, groups = made["losses"]
    note = f"{documents * 1e3:.2f} against {groups * 1e3:.2f} ms"
    found = {
        "cost-time": log_slope(parameters, taken),
        "cost-space": exactly(log_slope(parameters, sizes).value),
        "groups-save": exactly(documents / groups, note),
    }
    title, header = "Costs of quadratic models", ["parameters", "seconds", "bytes"]
    return Found(numbers=found, files=write_table(stem, title, header, made["rows"]))
