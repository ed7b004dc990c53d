"""The surrogates of the NDCG consistency paper, each a ranker of its own."""

from __future__ import annotations

from dataclasses import dataclass
from types import new_class

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import loss
from letorbench.losses.consistent import NORMS
from letorbench.models.linear_functional import LinearFunctional
from letorbench.rankers.base import Ranker
from letorbench.solvers.gradient_descent import descend_steepest
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

TITLES = {
    "cosine": "Linear score on the cosine of scores and gains",
    "least-squares": "Linear score on the squared error of gains",
    "cross-entropy": "Linear score on the cross entropy of lists",
    "qnorm": "Linear score on gains over Z, scores divided by their q-norm",
    "qnorm-penalised": "Linear score on gains over Z, scores penalised by their q-norm",
}


@dataclass
class _Surrogate(Ranker):
    """Ravikumar, Tewari, Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011.

    min over w, b of the mean over queries of the surrogate of the same name (see
    `letorbench.losses.consistent`), s = w . x + b, by plain gradient descent: as in section 6
    nothing is tuned and no validation set is used.

    iterations: of gradient descent at most; it says so when they were not enough.

    Where the paper is silent (it took MATLAB's gradient descent): weights start at zero,
    steps are found by backtracking, the discount of Z is 1 / log2(1 + rank) whatever the
    convention measures with, features are as they come; b, which no ranking sees, is there
    because these losses set the scores' level: sum e^s is to be sum G / Z.
    """

    paper = (
        "Ravikumar, Tewari, Yang: On NDCG Consistency of Listwise Ranking Methods, AISTATS 2011"
    )

    iterations: int = 500

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        functional = LinearFunctional.plain(train.n_features, intercept=True)
        return descend_steepest(functional, loss(self.name), train, self.iterations)


def _declare(name: str, title: str) -> None:
    facts = {
        "__doc__": _Surrogate.__doc__,
        "__module__": __name__,
        "name": name,
        "title": title,
        "formula": loss(name).formula,
    }
    base, _, ending = name.partition("-ndcg")
    python = {"qnorm": "QNorm", "qnorm-penalised": "QNormPenalised"}.get(
        base, base.title().replace("-", "")
    ) + ("NDCG" + ending.lstrip("@") if "-ndcg" in name else "")
    globals()[python] = dataclass(
        new_class(python, (_Surrogate,), exec_body=lambda space: space.update(facts))
    )


for _name, _title in TITLES.items():
    _declare(_name, _title)
    if not _name.startswith("qnorm"):
        for _ending, _k in NORMS.items():
            _z = f"Z@{_k}" if _k else "Z"
            _declare(_name + _ending, f"{_title}, made NDCG consistent by {_z}")
