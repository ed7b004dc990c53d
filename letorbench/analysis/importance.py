"""Which features a fitted ranker needs: by the gains of its splits, and by permutation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench import escaping
from letorbench.analysis.results_table import label
from letorbench.analysis.slices import labelled
from letorbench.analysis.tables import Cell, Column, Table, table
from letorbench.choices import require_choice
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.measures import Measure, query_metrics, sign
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.rankers import load_model
from letorbench.rankers.base import Ranker
from letorbench.results.dataset_results import SystemResults
from letorbench.results.paths import MODEL
from letorbench.results.per_query import mean_of
from letorbench.results.spellings import parse
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
        A row for each feature, the largest loss first: feature (its number, from 1), name (that of
        the data, or the number), gain (the sum of the gains of its splits; NaN for a model without
        them), permutation (the mean loss) and sd (of the losses over the draws).
    """
    import pandas as pd

    rng, n = np.random.default_rng(rng), queries.n_features
    of_queries = Validation(queries, parse(measure) if isinstance(measure, str) else measure)
    losses = _losses(
        ranker, queries, np.arange(n)[:, None], lambda s: float(of_queries(s).mean()), draws, rng
    )
    model = ranker.learned.model
    gains = np.full(n, np.nan)
    if isinstance(model, TreeEnsemble):
        gains = np.bincount(model.feature, model.gain, model.n_features)
    frame = pd.DataFrame({
        "feature": np.arange(1, n + 1),
        "name": _names(queries),
        "gain": gains,
        "permutation": losses.mean(axis=1),
        "sd": losses.std(axis=1),
    })  # fmt: skip
    return _sorted(frame)


def _losses(
    ranker: Ranker,
    queries: QuerySet,
    groups: Sequence[Sequence[int]] | np.ndarray,
    mean: Callable[[np.ndarray], float],
    draws: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return what the mean loses when groups of columns are exchanged, (n_groups, draws).

    The columns of a group move together, so that only their relation to the labels is lost.
    """
    whole = mean(ranker.predict(queries))
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    losses = np.empty((len(groups), draws))
    for number, columns in enumerate(groups):
        for draw in range(draws):
            features = queries.features.copy()
            order = np.lexsort((rng.random(len(query)), query))
            features[:, columns] = features[np.ix_(order, columns)]
            scores = ranker.predict(replace(queries, features=features))
            losses[number, draw] = whole - mean(scores)
    return losses


def _names(queries: QuerySet) -> list[str]:
    names = queries.feature_names or range(1, queries.n_features + 1)
    return list(map(str, names))


def _sorted(frame: DataFrame) -> DataFrame:
    return frame.sort_values("permutation", ascending=False, kind="stable", ignore_index=True)


def feature_groups(path: Path, queries: QuerySet) -> dict[str, list[int]]:
    """Return the columns of each group of features, from a CSV file of features and groups.

    A feature has its name or its number from 1. Those that the file does not have are a group.
    """
    groups, names = labelled(path, "", "feature", "group"), _names(queries)
    for feature in groups.index:
        if feature not in names:
            numbers = [str(k + 1) for k in range(len(names))]
            require_choice(feature, [*names, *numbers], f"feature of {path}")
    found: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        group = groups.get(name, groups.get(str(k + 1), OTHERS))
        found.setdefault(str(group), []).append(k)
    return found


def has_models(row: SystemResults) -> bool:
    """Whether a system's folds keep their models."""
    return all((fold.folder / MODEL).is_file() for fold in row.by_repeat[0])


def stored_importance(
    row: SystemResults,
    benchmark: Benchmark,
    measure: str,
    groups: Mapping[str, Sequence[int]] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> DataFrame:
    """Return how much the stored models of the first repeat need each feature, or each group.

    Each fold's model is measured on its test part, by the convention of the data. A row for each,
    the largest loss first: name, permutation (the mean loss over folds and draws) and sd (over the
    folds of their mean losses).
    """
    import pandas as pd

    names = groups or {name: [k] for k, name in enumerate(_names(benchmark.folds[0].test))}
    tests = {fold.number: fold.test for fold in benchmark.folds}
    losses = []
    for fold in row.by_repeat[0]:
        test = tests[fold.number]

        def mean(scores: np.ndarray, test: QuerySet = test) -> float:
            rows = test.labels, scores, test.offsets
            asked = [parse(measure)]
            return float(mean_of(query_metrics(*rows, asked, benchmark.convention, test.docids)))

        rng = np.random.default_rng([seed, fold.number])
        ranker = load_model(fold.folder / MODEL)
        found = _losses(ranker, test, [*names.values()], mean, draws, rng)
        losses.append(sign(measure) * found.mean(axis=1))
    sd = np.std(losses, axis=0, ddof=1) if len(losses) > 1 else np.nan
    frame = pd.DataFrame({"name": [*names], "permutation": np.mean(losses, axis=0), "sd": sd})
    return _sorted(frame)


def importance_table(
    dataset: str, measure: str, rules: str, found: Mapping[str, DataFrame], draws: int = DRAWS
) -> Table:
    """A row for each feature or group, the largest mean loss first; a column for each algorithm."""
    import pandas as pd

    both = {algo: frame.set_index("name") for algo, frame in found.items()}
    losses = pd.DataFrame({algo: frame["permutation"] for algo, frame in both.items()})
    order = losses.mean(axis=1).sort_values(ascending=False, kind="stable").index
    rows = [
        [name, *(Cell(f"{losses[a][name]:+.4f}", float(losses[a][name]),
                      spread=_spread(frame["sd"][name])) for a, frame in both.items())]
        for name in order
    ]  # fmt: skip
    caption = (
        f"{dataset}, {label(measure)} [{rules}]: loss when a feature's values are exchanged within "
        f"the test queries, mean over folds and {draws} draws"
    )
    heads = (Column("feature", "left", "feature"), *(Column(a, name=a) for a in both))
    return replace(table(caption, heads, rows), seeds="± = standard deviation over folds")


def _spread(sd: float) -> str:
    return "" if np.isnan(sd) else f"±{sd:.4f}"


def importance_figure(frame: DataFrame, most: int = 20) -> Figure:
    """Draw the permutation importance of the first `most` features, with its deviation."""
    from matplotlib.figure import Figure

    shown = frame.head(most)
    figure = Figure(figsize=(5.0, 0.8 + 0.22 * len(shown)), layout="constrained")
    axes = figure.subplots()
    rows = np.arange(len(shown))
    axes.barh(rows, shown["permutation"], xerr=shown["sd"], color="0.6")
    axes.set_yticks(rows, shown["name"].map(escaping.figure))
    axes.invert_yaxis()
    axes.set(xlabel="loss of the measure by permutation", ylabel="feature")
    return figure
