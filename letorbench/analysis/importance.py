"""Which features a fitted ranker needs: by the gains of its splits, and by permutation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench import escaping
from letorbench.analysis import figures, tables
from letorbench.analysis.results_table import label
from letorbench.analysis.slices import labelled
from letorbench.analysis.tables import Cell, Column, Table, table
from letorbench.choices import require_choice
from letorbench.conventions import Convention
from letorbench.conventions import convention as convention_named
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.errors import DataError
from letorbench.measures import Measure
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.rankers import load_model
from letorbench.rankers.base import Ranker
from letorbench.results.dataset_results import SystemResults
from letorbench.results.export import model_file
from letorbench.results.scores import parse
from letorbench.solvers.stopping import Validation

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: how often each feature is permuted
DRAWS = 5
#: the group of the features that have none
OTHERS = "(no group)"


def importance(
    ranker: Ranker,
    queries: QuerySet,
    measure: str | Measure = "ndcg@10",
    draws: int = DRAWS,
    rng: np.random.Generator | int = 0,
    groups: Mapping[str, Sequence[int]] | None = None,
    convention: str | Convention = "standard",
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
        A measure of rankings.
    draws : int
        How often each feature is permuted.
    rng : numpy.random.Generator or int
        The source of randomness or its seed.
    groups : mapping of str to sequence of int, optional
        The columns of each group, from 0. The values of a group move together; by default each
        feature is a group.
    convention : str or Convention
        Measuring rules.

    Returns
    -------
    DataFrame
        A row for each feature or group, the largest loss first: feature (its number, from 1, the
        first of a group), name (that of the data, or the number), gain (the sum of the gains of its
        splits; NaN for a model without them), permutation (the mean loss) and sd (of the losses
        over the draws).
    """
    import pandas as pd

    rng, n = np.random.default_rng(rng), queries.n_features
    parsed = parse(measure) if isinstance(measure, str) else measure
    rules = convention_named(convention) if isinstance(convention, str) else convention
    measured = Validation(queries, parsed, rules)
    names, columns = _names(queries), [[k] for k in range(n)]
    if groups is not None:
        names, columns = [*groups], [list(each) for each in groups.values()]
    whole = measured(ranker.predict(queries)).mean()
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    losses = np.empty((len(columns), draws))
    for number, group in enumerate(columns):
        for draw in range(draws):
            features = queries.features.copy()
            order = np.lexsort((rng.random(len(query)), query))
            features[:, group] = features[order][:, group]
            scores = ranker.predict(replace(queries, features=features))
            losses[number, draw] = whole - measured(scores).mean()
    model, gains = ranker.learned.model, np.full(n, np.nan)
    if isinstance(model, TreeEnsemble):
        gains = model.gains
    frame = pd.DataFrame({
        "feature": [each[0] + 1 for each in columns],
        "name": names,
        "gain": [gains[each].sum() for each in columns],
        "permutation": losses.mean(axis=1),
        "sd": losses.std(axis=1),
    })  # fmt: skip
    return _sorted(frame)


def _names(queries: QuerySet) -> list[str]:
    return list(map(str, queries.feature_names or range(1, queries.n_features + 1)))


def _sorted(frame: DataFrame) -> DataFrame:
    return frame.sort_values("permutation", ascending=False, kind="stable", ignore_index=True)


def feature_groups(path: Path, queries: QuerySet) -> dict[str, list[int]]:
    """Return the columns of each group of a CSV file; a feature has its name or its number."""
    names = _names(queries)
    numbers = [str(k) for k in range(1, len(names) + 1)]
    known = [*names, *numbers]
    groups = labelled(path, "", "feature", "group", known.__contains__)
    for feature in groups.index:
        if feature not in names:
            require_choice(feature, known, f"feature of {path}")
    by_group: dict[str, list[int]] = {}
    for k, each in enumerate(zip(names, numbers)):
        given = (str(groups[feature]) for feature in each if feature in groups.index)
        by_group.setdefault(next(given, OTHERS), []).append(k)
    return by_group


def stored_models(row: SystemResults) -> list[Ranker]:
    """Return the models of a system's first repeat; none where one is not kept or not readable."""
    with suppress(DataError):
        return [load_model(model_file(fold.folder)) for fold in row.by_repeat[0]]
    return []


def stored_importance(
    row: SystemResults,
    benchmark: Benchmark,
    measure: str,
    groups: Mapping[str, Sequence[int]] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> DataFrame:
    """Return the `importance` of each fold's model on its test part: mean and sd over the folds."""
    import pandas as pd

    tests = {fold.number: fold.test for fold in benchmark.folds}
    frames = []
    for fold, ranker in zip(row.by_repeat[0], stored_models(row)):
        rng = np.random.default_rng([seed, fold.number])
        rest = measure, draws, rng, groups, benchmark.convention
        frames.append(importance(ranker, tests[fold.number], *rest))
    features = pd.concat(frames).groupby(["feature", "name"], as_index=False)
    return _sorted(features.agg(permutation=("permutation", "mean"), sd=("permutation", "std")))


def importance_table(
    dataset: str, measure: str, rules: str, frames: Mapping[str, DataFrame], draws: int = DRAWS
) -> Table:
    """A row for each feature or group, the largest mean loss first; a column for each algorithm."""
    import pandas as pd

    one = pd.concat(
        [frame.set_index(["feature", "name"]) for frame in frames.values()], keys=[*frames]
    )
    losses = one["permutation"].unstack(0)
    rows = [
        [dataset, key[1], *(
            Cell(f"{loss:+.4f}", float(loss), spread="" if np.isnan(sd) else f"±{sd:.4f}")
            for loss, sd in one.xs(key, level=(1, 2))[["permutation", "sd"]].to_numpy()
        )]
        for key in losses.mean(axis=1).sort_values(ascending=False, kind="stable").index
    ]  # fmt: skip
    caption = (
        f"{dataset}, {label(measure)} [{rules}]: loss when a feature's values are exchanged within "
        f"the test queries, mean over folds and {draws} draws"
    )
    algos = (Column(algo, name=algo) for algo in frames)
    heads = (tables.DATASET, Column("feature", "left", "feature"), *algos)
    return replace(table(caption, heads, rows), seeds="± = standard deviation over folds")


def importance_figure(frame: DataFrame, most: int = 20) -> Figure:
    """Draw the permutation importance of the first `most` features, with its deviation."""
    shown = frame.head(most)
    with figures.canvas(figures.COLUMN, 0.5 + figures.ROW * len(shown)) as (figure, (axes,)):
        rows = np.arange(len(shown))
        axes.barh(rows, shown["permutation"], xerr=shown["sd"], color="0.6")
        axes.set_yticks(rows, shown["name"].map(escaping.figure))
        axes.invert_yaxis()
        figures.dress(axes, "", "loss of the measure by permutation", "feature")
    return figure
