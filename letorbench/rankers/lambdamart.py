"""What the libraries' LambdaMART share: their trees, our folds, measures and choice of rounds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models.base import Model
from letorbench.rankers.base import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import EarlyStopping, Validation


@dataclass(frozen=True, eq=False)
class Watch:
    """What a library asks after each round: our measure of its scores, and whether to stop."""

    validation: Validation | None
    stopping: EarlyStopping

    @property
    def queries(self) -> QuerySet | None:
        """The validation set, None where there is none."""
        return None if self.validation is None else self.validation.queries

    def over(self) -> bool:
        """Return whether to stop; without a validation set, record a round first."""
        if self.validation is None:
            self.stopping.record(None)
        return self.stopping.over

    def measure(self, scores: np.ndarray) -> float:
        """Record a round from its scores (n_docs,) of the validation set; return our measure."""
        self.stopping.record(self.validation(scores))  # type: ignore[misc]
        return self.stopping.curve[-1]


@dataclass
class LambdaMART(Ranker):
    """LambdaMART by a library: regression trees fitted to LambdaRank's forces.

    The number of rounds is chosen by our measure under our convention, not by the library's;
    without validation all rounds are kept. The rankers explain the hyper-parameters.

    References
    ----------
    C. J. C. Burges: From RankNet to LambdaRank to LambdaMART: An Overview, MSR-TR-2010-82.
    """

    auto_features = "raw"  # trees only compare a feature's values
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"
    order_matters = "the library ranks documents of equal scores, at first all, in file order"

    rounds: int = 1000
    patience: int = 100
    learning_rate: float = 0.05
    docs: float = 1.0
    columns: float = 1.0
    truncation: int = 30

    @property
    def draws(self) -> bool:
        """The documents and the features of a tree are drawn where it does not have them all."""
        return self.docs < 1.0 or self.columns < 1.0

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        stopping = EarlyStopping(self.patience, self.deadline, validation)
        watch = Watch(validation, stopping)
        seed = int(rng.integers(1 << 31)) if self.draws else 0
        booster = self.boost(train, watch, seed)
        kept = stopping.kept or self.grown(booster)
        model, cut_off = self.model(booster, kept), stopping.cut_off(self.rounds)
        return FitResult(model, tuple(stopping.curve), kept, cut_off=cut_off)

    @abstractmethod
    def boost(self, train: QuerySet, watch: Watch, seed: int) -> Any:
        """Train the library's booster; after each round, ask `watch`."""

    @abstractmethod
    def grown(self, booster: Any) -> int:
        """Return how many rounds the booster has."""

    @abstractmethod
    def model(self, booster: Any, rounds: int) -> Model:
        """Return the booster's first rounds as a model."""
