"""NDCG Boost: boosting an upper bound on one minus the expected NDCG."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels import ndcg_bound
from letorbench.rankers.base import Ranker
from letorbench.solvers.boosting import Term, boost, stump_ensemble
from letorbench.solvers.learned import Learned
from letorbench.solvers.stump_search import BinnedFeatures, best_stump
from letorbench.solvers.validation import Validation
from letorbench.threads import in_threads

#: the longest step: where the bound falls for ever, a longer one would only overflow
LONGEST_STEP = 5.0


@dataclass
class NDCGBoost(Ranker):
    """Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009.

    Minimises M (equation 11) over an additive F of binary classifiers f (Algorithm 1), each
    chosen to maximise eta (17) and given the step of Theorem 1 (15), which lowers the bound of
    Proposition 2 and so never raises M.

    rounds: terms of F; the paper's 100, with no validation set.
    stumps: "exact" finds the decision stump that maximises eta; "sample" is the paper's way:
            as many documents as there are, drawn with probability proportional to |w|, and
            the stump that classifies the sample best.
    bins:   None tries every threshold; a number tries at most that many thresholds a feature.

    Where the paper is silent: Z is the ideal DCG of the whole list under equation (1)'s
    discount; queries with Z = 0 weigh nothing; a negative alpha (possible for a sampled
    stump) is the opposite stump with -alpha, which is the same step; alpha is cut off at 5
    where the second sum of (15) vanishes; training stops where no stump has eta > 0.
    """

    name = "ndcgboost"
    title = "NDCG Boost: decision stumps boosted on a bound of the expected NDCG"
    paper = (
        "Valizadegan, Jin, Zhang, Mao: Learning to Rank by Optimizing NDCG Measure, NIPS 2009"
    )
    formula = "M = sum_q 1/Z_q sum_i (2^r_i - 1) sum_{j != i} 1/(1 + exp(F_i - F_j))"

    rounds: int = 100
    stumps: str = "exact"
    bins: int | None = None

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.stumps not in ("exact", "sample"):
            raise UsageError(f"ndcgboost: found stumps={self.stumps}, expected exact or sample")
        booster = _Booster(
            train,
            BinnedFeatures.of(train.features, self.bins),
            rng if self.stumps == "sample" else None,
        )
        model = partial(stump_ensemble, n_features=train.n_features)
        return boost(booster, train, self.rounds, None, model)


class _Booster:
    """Algorithm 1's lines 3 to 7 on one training set."""

    def __init__(
        self, train: QuerySet, binned: BinnedFeatures, rng: np.random.Generator | None
    ) -> None:
        self.offsets = train.offsets
        self.blocks = train.by_label
        self.binned = binned
        self.rng = rng
        self.gains = np.repeat(np.exp2(self.blocks.labels) - 1.0, np.diff(self.blocks.starts))
        self.scale = _inverse_ideal(self.gains, train.offsets)
        # threads pay off from about a thousand documents each
        self.least = max(1, 1_000 * train.n_queries // max(1, train.n_docs))
        self.cost = train.lengths**2

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """w of equation (16) and M of equation (11), without its 1 / n."""
        w, objective = np.empty(len(scores)), np.empty(len(self.scale))
        blocks = self.blocks

        def part(start: int, stop: int) -> None:
            ndcg_bound.weights(
                scores, blocks.order, blocks.starts, blocks.queries, self.offsets,
                self.gains, self.scale, start, stop, w, objective,
            )  # fmt: skip

        in_threads(part, len(self.scale), self.least, self.cost)
        return w, float(objective.sum())

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        w = weights if self.rng is None else self._sample(weights)
        found = best_stump(self.binned, w)
        if found is None:
            return None
        stump, cut, _ = found
        chosen = self.binned.flags(stump, cut)
        alpha = self._step(scores, chosen)
        if alpha < 0.0:
            stump, chosen, alpha = replace(stump, above=not stump.above), ~chosen, -alpha
        return Term(stump, chosen, alpha) if alpha > 0.0 else None

    def _sample(self, weights: np.ndarray) -> np.ndarray:
        """Signed counts of a sample of the documents drawn with probability ~ |w|."""
        total = np.abs(weights).sum()
        if total == 0.0:
            return weights
        counts = self.rng.multinomial(len(weights), np.abs(weights) / total)
        return counts * np.sign(weights)

    def _step(self, scores: np.ndarray, chosen: np.ndarray) -> float:
        """alpha of equation (15)."""
        sums = np.empty((len(self.scale), 2))

        def part(start: int, stop: int) -> None:
            ndcg_bound.step_sums(
                scores, chosen, self.blocks.order, self.offsets,
                self.gains, self.scale, start, stop, sums,
            )  # fmt: skip

        in_threads(part, len(self.scale), self.least, self.cost)
        up, down = sums.sum(axis=0)
        if up == 0.0 or down == 0.0:
            return LONGEST_STEP * float(np.sign(up - down))
        return float(np.clip(0.5 * np.log(up / down), -LONGEST_STEP, LONGEST_STEP))


def _inverse_ideal(gains: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """(n_queries,) 1 / Z from the gains in label order, 0 where nothing is relevant."""
    position = np.arange(1, len(gains) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    dcg = np.append(gains * CONVENTIONS["standard"].discount(position), 0.0)
    z = np.where(np.diff(offsets) > 0, np.add.reduceat(dcg, offsets[:-1]), 0.0)
    return np.divide(1.0, z, out=np.zeros_like(z), where=z > 0.0)
