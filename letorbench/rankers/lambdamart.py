"""What the libraries' LambdaMART share: their trees, our folds, measures and choice of rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.models.base import Model
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

#: scores of the validation set's documents -> our measure of them
Watch = Callable[[np.ndarray], float]


@dataclass
class LambdaMART(Ranker):
    """Burges, "From RankNet to LambdaRank to LambdaMART", MSR-TR-2010-82, by a library.

    Regression trees fitted to LambdaRank's forces. Rounds are chosen by our measure under our
    convention, not by the library's; without validation all are kept. The hyper-parameters
    are explained by the rankers.
    """

    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"

    rounds: int = 1000
    patience: int = 100
    learning_rate: float = 0.05
    docs: float = 1.0
    columns: float = 1.0
    truncation: int = 30

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        curve: list[float] = []

        def watch(scores: np.ndarray) -> float:
            curve.append(validation(scores))
            return curve[-1]

        held_out = None if validation is None else validation.queries
        booster = self.boost(train, held_out, watch, int(rng.integers(1 << 31)))
        best = int(np.argmax(curve)) + 1 if curve else self.grown(booster)
        return Learned(self.model(booster, best), tuple(curve), best)

    @abstractmethod
    def boost(self, train: QuerySet, held_out: QuerySet | None, watch: Watch, seed: int) -> Any:
        """The library's booster; `watch` sees the held-out scores after each round, and none
        better in `patience` rounds (where that is not 0) ends the training.
        """

    @abstractmethod
    def grown(self, booster: Any) -> int:
        """How many rounds it has."""

    @abstractmethod
    def model(self, booster: Any, rounds: int) -> Model:
        """Its first so many rounds."""
