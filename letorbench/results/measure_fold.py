"""A fold's scores measured: what is stored of every test query."""

from __future__ import annotations

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import Fold
from letorbench.measures import default_measures
from letorbench.results.added_measures import measured
from letorbench.results.fold_result import Measured
from letorbench.results.per_query import PerQuery


def measure_fold(
    algo: str, fold: Fold, scores: np.ndarray, convention: Convention, n_folds: int
) -> Measured:
    """Measure scores of a fold's test part by every measure that an experiment stores.

    Parameters
    ----------
    algo : str
        The name of the algorithm.
    fold : Fold
        The fold that was scored.
    scores : ndarray of shape (n_docs,), float64
        The finite scores of its test documents, in file order.
    convention : Convention
        The rules to measure by.
    n_folds : int
        How many folds the data set has.
    """
    test = fold.test
    measures = default_measures(convention)
    table = measured(algo, scores, test, measures, convention)
    values = {str(measure): column for measure, column in zip(measures, table.T)}
    numbers = np.full(test.n_queries, fold.number, dtype=np.int64)
    return Measured(PerQuery(algo, numbers, test.qids, values), convention.name, n_folds)
