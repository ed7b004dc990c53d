"""Random forests: bags of queries, a regression tree on the labels of each."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.threads import run_tasks, thread_count
from letorbench.models.tree_ensemble import Tree, joined
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.mart import TreeSettings
from letorbench.rankers.tuning import Between
from letorbench.solvers.tree_growing import Grower
from letorbench.solvers.tree_splitting import TreeFeatures


@dataclass
class RandomForests(TreeSettings, Ranker):
    """The mean of trees, each grown on the labels of queries that are drawn with replacement.

    Parameters
    ----------
    bags : int
        The number of trees.
    docs : float
        The number of queries that are drawn for a tree, as a fraction of all.
    leaves, depth, min_docs, columns, bins
        See `letorbench.rankers.mart.TreeSettings`.

    Notes
    -----
    Where the paper is silent (its rows have no queries): whole queries are drawn, with chances
    proportional to their weights; bags, leaves and columns are RankLib's defaults; a leaf has the
    mean label of its documents; validation chooses nothing.
    """

    name = "random-forests"
    families = ("pointwise", "trees")
    title = "The mean of regression trees, each on drawn queries and features"
    paper = "Breiman: Random Forests, Machine Learning 2001"
    formula = "sum_i (r_i - F(x_i))^2 / 2, for each tree"
    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    figure = "boosting"
    draws = True  # the queries of every tree, and the features of every split
    ranges = {
        "columns": Between(0.1, 1.0), "leaves": Between(10, 500, log=True),
        "min_docs": Between(1, 100, log=True), "docs": Between(0.3, 1.0),
    }  # fmt: skip

    bags: int = number(300, least=1)
    leaves: int = number(100, least=2)
    min_docs: int = number(1, least=1)
    columns: float = number(0.3, above=0, most=1)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        features = TreeFeatures.of(train.features, self.bins)
        params, size = self.tree_params(), max(1, round(self.docs * train.n_queries))
        r = train.labels - train.labels.mean()
        chances = None if train.weights is None else train.weights / train.weights.sum()
        bags = rng.choice(train.n_queries, (self.bags, size), p=chances)
        generators = rng.spawn(self.bags)  # of the features that splits are chosen from
        parts = min(self.bags, thread_count())

        def grown(part: int) -> list[Tree]:
            grower = Grower(features, params)
            trees: list[Tree] = []
            for bag, generator in zip(bags[part::parts], generators[part::parts], strict=True):
                if (trees or part) and self.deadline.passed:
                    break
                drawn = np.bincount(bag, minlength=train.n_queries).astype(float)
                times = np.repeat(drawn, train.lengths)
                rows = np.flatnonzero(times).astype(np.int32)
                trees.append(grower.grow(-times * r, times, generator, rows))
            return trees

        grown_parts = run_tasks([partial(grown, part) for part in range(parts)])
        # in the order of the bags, so that sums are the same for any number of threads
        longest = max(map(len, grown_parts))
        every = [each[k] for k in range(longest) for each in grown_parts if k < len(each)]
        model = joined(every, [1.0 / len(every)] * len(every), train.n_features)
        return FitResult(model, best=len(every), cut_off=len(every) < self.bags)
