"""LambdaMART by LightGBM."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from letorbench import conventions
from letorbench.losses.base import require_comparable
from letorbench.models.library_trees import of_lightgbm
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.parameters import number
from letorbench.rankers.base import QuerySet
from letorbench.rankers.tree_libraries import LambdaMARTLibrary, open_ended, record, threads_for
from letorbench.solvers.stopping import EarlyStopping


@open_ended
@dataclass
class LightGBM(LambdaMARTLibrary):
    """LambdaMART by LightGBM, with the objective `lambdarank`: leaf-wise trees.

    Parameters
    ----------
    rounds, patience, learning_rate, docs, columns, truncation
        See `LambdaMARTLibrary`.
    leaves : int, default 15
        The largest number of leaves of a tree.
    min_docs : int, default 50
        The smallest number of documents in a leaf.
    """

    name = "lightgbm"
    families = ("listwise", "boosting", "trees")
    title = "LightGBM's LambdaMART (optional: pip install 'letorbench[trees]')"
    paper = "Ke et al.: LightGBM: A Highly Efficient Gradient Boosting Decision Tree, NIPS 2017"
    grid = {"leaves": (4, 7, 15, 31), "learning_rate": (0.03, 0.1)}
    needs = "lightgbm"
    read = staticmethod(of_lightgbm)  # type: ignore[assignment]  # mypy takes it for a method
    theirs = {
        "num_leaves": "leaves", "min_data_in_leaf": "min_docs", "bagging_fraction": "docs",
        "feature_fraction": "columns", "lambdarank_truncation_level": "truncation",
        "num_iterations": "rounds", "early_stopping_round": "patience",
    }  # fmt: skip

    leaves: int = number(15, least=2)
    min_docs: int = number(50, least=0)

    @classmethod
    def parameter(cls, key: str) -> str | None:
        cls.require()
        name = _names().get(key)
        return cls.theirs.get(name, name) if name else None

    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        import lightgbm

        require_comparable(train)
        validation = stopping.validation
        levels, codes = np.unique(train.labels, return_inverse=True)
        data = _dataset(lightgbm, train, codes)
        options = {  # the same trees for any number of threads
            "objective": "lambdarank", "metric": "None", "verbosity": -1, "seed": seed,
            "deterministic": True, "force_col_wise": True, "feature_pre_filter": False,
            "num_threads": threads_for(train.features), "learning_rate": self.learning_rate,
            "num_leaves": self.leaves, "min_data_in_leaf": self.min_docs,
            "bagging_fraction": self.docs, "bagging_freq": int(self.docs < 1.0),
            "feature_fraction": self.columns, "lambdarank_truncation_level": self.truncation,
            # without this the library knows the gains of the labels up to 30 only
            "label_gain": conventions.gains(levels, self.gain).tolist(),
        } | {
            # a list in a label has parentheses, as its commas would end the value
            key: re.sub(r"^\((.*)\)$", r"\1", value) if isinstance(value, str) else value
            for key, value in self.more.items()
        }  # fmt: skip

        def stop(state: Any) -> None:
            if validation is None:
                stopping.record(None)
            if stopping.over:
                last = state.iteration  # the trees are cut below at the round that is kept
                raise lightgbm.callback.EarlyStopException(last, state.evaluation_result_list)

        booster = lightgbm.train(
            options,
            data,
            self.rounds,
            valid_sets=[_dataset(lightgbm, validation.queries, None, data)] if validation else None,
            feval=lambda scores, _: ("measure", record(stopping, scores), True),
            callbacks=[stop],
        )
        text = booster.model_to_string(num_iteration=stopping.kept)
        return cast(TreeEnsemble, of_lightgbm(text.encode())[0])


@cache
def _names() -> dict[str, str]:
    """Return LightGBM's parameters by their names and all other names for them."""
    from lightgbm.basic import _ConfigAliases

    every = _ConfigAliases._get_all_param_aliases()  # no public function has them
    return {name: main for main, names in every.items() for name in (main, *names)}


def _dataset(
    lightgbm: Any, queries: QuerySet, labels: np.ndarray | None, reference: Any = None
) -> Any:
    group = queries.lengths[queries.lengths > 0]
    return lightgbm.Dataset(
        queries.features, np.zeros(queries.n_docs) if labels is None else labels, group=group,
        weight=None if queries.weights is None else queries.document_weights, reference=reference,
        params={"verbosity": -1, "feature_pre_filter": False},
    )  # fmt: skip
