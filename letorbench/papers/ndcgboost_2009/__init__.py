"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009."""

from __future__ import annotations

from functools import partial

import numpy as np

from letorbench.papers.ndcgboost_2009 import single_changes, statements
from letorbench.papers.runs import Measured, Study, exactly

NAME = "ndcgboost-2009"
SETS = ("OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003")
PROBLEMS = 100_000


def data(study: Study) -> dict[str, Measured]:
    """Section 4.1: the counts of the data sets at hand."""
    found = {}
    for dataset in filter(study.has, SETS):
        test = [fold.test for fold in study.benchmark(dataset).folds]
        found[f"{dataset} queries"] = exactly(float(sum(part.n_queries for part in test)))
        found[f"{dataset} documents"] = exactly(float(sum(part.n_docs for part in test)))
        found[f"{dataset} features"] = exactly(float(test[0].n_features))
    return found


def theory(study: Study) -> dict[str, Measured]:
    """Section 3: every statement on random problems, and the bounds through training."""
    found = {}
    for number, name in enumerate(statements.STATEMENTS):
        study.say(f"{NAME}: {name}")
        rng = np.random.default_rng([study.seed, number])
        found[name] = exactly(statements.largest(name, rng, PROBLEMS))
    rng = np.random.default_rng(study.seed)
    found["floor-share"] = exactly(statements.floor_share(rng))
    found["equation-8"] = exactly(statements.rank_error(rng))
    return found


PARTS = {
    "data": data,
    "theory": theory,
    "single-changes": partial(single_changes.single_changes, "single-changes"),
    "single-changes-again": partial(single_changes.single_changes, "single-changes-again"),
}
