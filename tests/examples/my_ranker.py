"""A ranker of one's own: `letorbench run --plugin my_ranker.py --algo centroid …`."""

from dataclasses import dataclass

import numpy as np

from letorbench.models import Linear
from letorbench.rankers import Ranker
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.fit_warnings import FitWarning


@dataclass
class Centroid(Ranker):
    """Scores along the line from the mean irrelevant to the mean relevant document."""

    name = "centroid"
    title = "Centroid: from the mean irrelevant to the mean relevant document"
    paper = "Rocchio: Relevance Feedback in Information Retrieval, 1971"
    formula = "w = mean(x | r > 0) - shrink mean(x | r = 0)"
    grid = {"shrink": (0.5, 1.0, 2.0)}

    shrink: float = 1.0

    def learn(self, train, validation, rng):
        relevant = train.labels > 0
        if relevant.all() or not relevant.any():
            none = FitWarning("nothing learned", "all training labels are of one class")
            return FitResult(Linear(np.zeros(train.n_features)), warnings=(none,))
        near, far = train.features[relevant], train.features[~relevant]
        weights = near.mean(axis=0, dtype=float) - self.shrink * far.mean(axis=0, dtype=float)
        return FitResult(Linear(weights))
