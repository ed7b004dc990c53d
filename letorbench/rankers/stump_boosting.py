"""What RankBoost and FRank share: threshold stumps boosted until validation says enough."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.base import Ranker
from letorbench.solvers.boosting import Booster, boost, stump_ensemble
from letorbench.solvers.learned import Learned
from letorbench.solvers.stump_search import BinnedFeatures
from letorbench.solvers.validation import Validation


@dataclass
class StumpBoosting(Ranker):
    """rounds, patience, bins: see the rankers."""

    rounds: int = 300
    patience: int = 50
    bins: int | None = 256

    @abstractmethod
    def booster(self, train: QuerySet, binned: BinnedFeatures) -> Booster:
        """What tells one algorithm from the other."""

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        booster = self.booster(train, BinnedFeatures.of(train.features, self.bins))
        model = partial(stump_ensemble, n_features=train.n_features)
        return boost(booster, train, self.rounds, validation, model, self.patience)
