"""SVM-MAP: a structural SVM whose loss is one minus average precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels import hinge, most_violated
from letorbench.models import Linear
from letorbench.models.weighted_rows import weighted_rows
from letorbench.rankers.base import Ranker
from letorbench.solvers import cutting_planes
from letorbench.solvers.learned import Learned
from letorbench.solvers.margin import least_queries
from letorbench.solvers.validation import Validation
from letorbench.threads import in_threads


@dataclass
class SVMMAP(Ranker):
    """The structural SVM for average precision.

    min over w of |w|^2 / 2 + (C / n) sum_q max over rankings y' of
    1 - AP(y') - w . (Psi(x, y) - Psi(x, y')),
    Psi(x, y) = 1 / (R N) sum over relevant i, other j of y_ij (x_i - x_j), y_ij = 1 where i is
    ranked above j, else -1 (Yue, Finley, Radlinski, Joachims, "A support vector method for
    optimizing average precision", SIGIR 2007).

    C:   the weight of the loss against the margin.
    gap: the objective is at most this share of itself above the optimum.

    A document is relevant where its label is 1 or more (the paper knows two labels only).
    Queries without a relevant or without another document have one ranking of labels, hence
    no loss: n counts the others. The paper solves with one slack a query; one slack in all is
    the same problem (Joachims, Finley, Yu, Machine Learning 2009, Theorem 1) in fewer planes.
    """

    name = "svmmap"
    title = "Structural SVM for mean average precision"
    paper = "Yue, Finley, Radlinski, Joachims: A support vector method for ..., SIGIR 2007"
    formula = "|w|^2/2 + (C/n) sum_q max_y' [1 - AP(y') - w.(Psi(x, y) - Psi(x, y'))]"
    grid = {"C": (0.1, 1.0, 10.0, 100.0, 1000.0)}

    C: float = 10.0
    gap: float = 1e-3

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if not self.C > 0:
            raise UsageError(f"svmmap: found C={self.C}, expected more than 0")
        if not self.gap > 0:
            raise UsageError(f"svmmap: found gap={self.gap}, expected more than 0")
        risk = MAPRisk(train)
        found = cutting_planes.minimise(risk, train.n_features, self.C, self.gap)
        warnings = [] if risk.n else ["no query has both labels 0 and more: all scores are 0"]
        if not found.converged:
            warnings.append(
                f"stopped after {len(found.values)} planes with a gap of"
                f" {found.gap / found.value:.1e} of the objective, asked for {self.gap:.1e}"
            )
        return Learned(Linear(found.point), objective=found.values, warnings=tuple(warnings))


class MAPRisk:
    """The mean over queries of the structural hinge of average precision."""

    def __init__(self, queries: QuerySet) -> None:
        self.features = queries.features
        self.offsets = queries.offsets
        self.relevant = queries.labels >= 1
        found = np.concatenate([[0], np.cumsum(self.relevant)])
        n_relevant = found[queries.offsets[1:]] - found[queries.offsets[:-1]]
        self.n = int(np.sum((n_relevant > 0) & (n_relevant < queries.lengths)))
        self.least = least_queries(queries)

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The risk at w (n_features,), and the subgradient of the most violated rankings."""
        scores = Linear(w).predict(self.features)
        order = np.empty(len(scores), dtype=np.int64)
        weights, losses = np.empty(len(scores)), np.empty(len(self.offsets) - 1)

        def part(first: int, last: int) -> None:
            hinge.sort(scores, self.offsets, first, last, order)
            most_violated.average_precision(
                scores, self.relevant, order, self.offsets, first, last, weights, losses
            )

        in_threads(part, len(losses), self.least)
        n = max(self.n, 1)
        risk = (float(losses.sum()) - float(np.sum(weights * scores))) / n
        return risk, weighted_rows(self.features, weights) / -n
