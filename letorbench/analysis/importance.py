"""Which features a fitted ranker needs: by the gains of its splits, and by permutation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.measures import Measure
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.rankers.base import Ranker
from letorbench.results.spellings import parse
from letorbench.solvers.stopping import Validation

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def importance(
    ranker: Ranker,
    queries: QuerySet,
    measure: str | Measure = "ndcg@10",
    draws: int = 5,
    rng: np.random.Generator | int = 0,
) -> DataFrame:
    """Measure how much a fitted ranker needs each feature.

    A feature's values are exchanged at random among the documents of each query. The loss of the
    measure's mean is the feature's permutation importance (L. Breiman, Random Forests, Machine
    Learning 45, 2001, section 10).

    Parameters
    ----------
    ranker : Ranker
        A fitted ranker.
    queries : QuerySet
        Judged documents, preferably ones that the ranker was not trained on.
    measure : str or Measure
        Under the convention `standard`.
    draws : int
        How often each feature is permuted.
    rng : numpy.random.Generator or int
        The source of randomness or its seed.

    Returns
    -------
    DataFrame
        A row for each feature, the largest loss first: feature (its number, from 1), gain (the sum
        of the gains of its splits; NaN for a model without them), permutation (the mean loss) and
        sd (of the losses over the draws).
    """
    import pandas as pd

    rng = np.random.default_rng(rng)
    measured = Validation(queries, parse(measure) if isinstance(measure, str) else measure)
    whole = float(measured(ranker.predict(queries)).mean())
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    losses = np.empty((queries.n_features, draws))
    for k in range(queries.n_features):
        for draw in range(draws):
            features = queries.features.copy()
            features[:, k] = features[np.lexsort((rng.random(len(query)), query)), k]
            scores = ranker.predict(replace(queries, features=features))
            losses[k, draw] = whole - float(measured(scores).mean())
    model = ranker.learned.model
    gains = np.full(queries.n_features, np.nan)
    if isinstance(model, TreeEnsemble):
        gains = np.bincount(model.feature, model.gain, model.n_features)
    frame = pd.DataFrame({
        "feature": np.arange(1, queries.n_features + 1),
        "gain": gains,
        "permutation": losses.mean(axis=1),
        "sd": losses.std(axis=1),
    })  # fmt: skip
    return frame.sort_values("permutation", ascending=False, kind="stable", ignore_index=True)


def importance_figure(frame: DataFrame, most: int = 20) -> Figure:
    """Draw the permutation importance of the first `most` features, with its deviation."""
    from matplotlib.figure import Figure

    shown = frame.head(most)
    figure = Figure(figsize=(5.0, 0.8 + 0.22 * len(shown)), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(shown))
    axes.barh(rows, shown["permutation"], xerr=shown["sd"], color="0.6")
    axes.set_yticks(rows, [str(feature) for feature in shown["feature"]])
    axes.invert_yaxis()
    axes.set(xlabel="loss of the measure by permutation", ylabel="feature")
    return figure
