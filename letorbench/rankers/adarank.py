"""AdaRank: boosting single features on the measure itself."""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import exp
from letorbench.compiled.threads import parallel_for
from letorbench.conventions import CONVENTIONS, with_rules
from letorbench.features.columns import contiguous_columns
from letorbench.losses.gains import GainSettings
from letorbench.measures import MAP, Measure, PreparedMetric, nDCG
from letorbench.models.linear import Linear, products
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.boosting import Term, adaboost_step, boost

#: the objective must fall by more than this: sums in another order differ as much
ROUNDING = 1e-12
#: the smallest fraction of alpha that is tried
SMALLEST_FRACTION = 1 / 4


@dataclass
class AdaRankMAP(Ranker):
    """AdaRank of Xu and Li on mean average precision.

    It minimises the sum over queries of exp(-E(q, f)), with E the average precision, over f = sum_t
    alpha_t h_t, where each weak ranker h_t is a single feature (Algorithm 1). The reported
    objective is divided by the number of queries.

    Parameters
    ----------
    rounds : int, default 200
        The largest number of weak rankers. Validation chooses how many are kept.
    directions : str, default "ascending"
        "ascending" ranks documents by a feature's value, as in the paper; "both" also by its
        negative.

    Notes
    -----
    `letorbench run` chooses `directions` on the validation part; `--protocol published` does not.
    Both directions raise NDCG@10 on OHSUMED's validation parts by .0075 (`adarank-map`) and .0052
    (`adarank-ndcg`), and lower it on MQ2008's by .0010 and .0008. The signs are opposite on the
    test parts: -.0082 and -.0049, +.0088 and +.0026. So neither is better by more than chance.

    A single feature gives many documents equal scores. These have no order: E is its mean over all
    their orders. The paper's algorithm can choose the same feature forever. Here a feature that
    does not lower the objective at Algorithm 1's alpha is skipped for the next best one. If none
    lowers it, alpha is halved from then on, and training stops if none lowers it at a quarter of
    alpha. The objective therefore never rises. Without halving, training ends after a good first
    feature, because the full step of a second one is too long.

    Where the paper is silent: average precision counts labels >= 1 as relevant; E of the empty f is
    0, which makes the first distribution uniform; alpha is cut off at 5, where E is 1 for every
    query; features are not rescaled, so their scales should be comparable (LETOR's are normalised
    by query).
    """

    name = "adarank-map"
    families = ("listwise", "boosting")
    title = "AdaRank on MAP: single features boosted on average precision"
    paper = "Xu, Li: AdaRank: A Boosting Algorithm for Information Retrieval, SIGIR 2007"
    formula = "mean_q exp(-AP(q, f))"
    figure = "boosting"
    feature_order_matters = (
        "of features that rank the documents alike, as a feature and its logarithm do, the first "
        "is taken; sums with it are not the same as sums with the other"
    )
    grid = {"directions": ("ascending", "both")}
    as_published = {"directions": "ascending"}
    ranges = {"directions": ("ascending", "both")}

    rounds: int = number(200, least=1)
    directions: str = one_of(("ascending", "both"), "ascending")
    gain = "exp2"  # AdaRankNDCG lets users set it

    @property
    def measure(self) -> Measure:
        """The measure E, with values from 0 to 1."""
        return MAP

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        rules = with_rules(CONVENTIONS["standard"], gain=self.gain)
        E = PreparedMetric.of(train.labels, train.offsets, self.measure, rules)
        assert E is not None  # of the standard convention, map and ndcg@k have one
        booster = _Booster(train, E, self.directions == "both")

        def to_model(terms: list[Term], n_features: int) -> Linear:
            weights = np.zeros(n_features)
            for term in terms:
                weights[term.learner.feature] += term.alpha * term.learner.sign
            return Linear(weights)

        return boost(
            booster, train, self.rounds, validation, deadline=self.deadline, to_model=to_model
        )


@dataclass
class AdaRankNDCG(GainSettings, AdaRankMAP):
    """AdaRank of Xu and Li on NDCG.

    It is `AdaRankMAP` with E = NDCG@cutoff under the convention `standard`. Unlike the rules of the
    LETOR tools, this also counts queries with fewer documents than the cut-off.

    Parameters
    ----------
    rounds, directions
        See `AdaRankMAP`.
    cutoff : int, default 10
        The cut-off of NDCG. The paper uses 5; the default is the cut-off that validation uses here.
    """

    name = "adarank-ndcg"
    title = "AdaRank on NDCG: single features boosted on NDCG@10"
    formula = "mean_q exp(-NDCG@10(q, f))"

    ranges = {**AdaRankMAP.ranges, "cutoff": (3, 5, 10, 20)}

    cutoff: int = number(10, least=1)

    @property
    def measure(self) -> Measure:
        return nDCG @ self.cutoff


# Algorithm 1. E: (n_queries,) E(q, f_t) of the model so far; P: (n_queries,) the distribution;
# E_k: (n_queries,) E(q, h_k) of one weak ranker alone; weights: (n_queries,).


def objective(E: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean over queries of exp(-E(q, f_t))."""
    return float(np.average(exp(-E), weights=weights))


def distribution(E: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return P_{t+1}(q) = exp(-E(q, f_t)) / sum over q' of exp(-E(q', f_t))."""
    losses = weights * exp(-E)
    return losses / losses.sum()


@dataclass(frozen=True)
class _Feature:
    """The weak ranker sign * x_feature."""

    feature: int
    sign: float

    def predict(self, features: np.ndarray) -> np.ndarray:
        return self.sign * features[:, self.feature].astype(np.float64)


class _Booster:
    """Algorithm 1 on one training set."""

    def __init__(self, train: QuerySet, E: PreparedMetric, both: bool) -> None:
        self.features, self.E, self.weights = train.features, E, train.query_weights
        # a round tries many features one by one: each column is contiguous
        self.columns = contiguous_columns(train.features)
        signs = (1.0, -1.0) if both else (1.0,)
        self.learners = [_Feature(k, sign) for sign in signs for k in range(train.n_features)]
        #: E(q, h_k) of every weak ranker alone, (n_learners, n_queries)
        self.E_alone = np.empty((len(self.learners), E.n_queries))
        nothing = np.zeros(train.n_docs)

        def part(start: int, stop: int) -> None:
            for k in range(start, stop):
                self.E_alone[k] = self._evaluate(nothing, 1.0, self.learners[k])

        parallel_for(part, len(self.learners))
        #: the scores weighed last, and their E
        self.last = nothing, np.zeros(train.n_queries)
        self.fraction = 1.0  # of alpha

    def weigh(self, scores: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the distribution P and the objective."""
        known, E = self.last
        if not np.array_equal(scores, known):
            E = self.E.expectation_over_ties(scores)
            self.last = scores, E
        return distribution(E, self.weights), objective(E, self.weights)

    def choose(self, scores: np.ndarray, weights: np.ndarray) -> Term | None:
        """Return the feature with the largest sum of P(q) E(q, k) that lowers the objective."""
        before = objective(self.last[1], self.weights)
        agreement = products(self.E_alone, weights)
        order = np.argsort(-agreement, kind="stable")
        while self.fraction >= SMALLEST_FRACTION:
            for k in order[agreement[order] > 0.0]:
                learner = self.learners[k]
                # 1/2 ln(sum_q P(q) (1 + E_k(q)) / sum_q P(q) (1 - E_k(q)))
                alpha = self.fraction * adaboost_step(float(agreement[k]))
                E = self._evaluate(scores, alpha, learner)
                if objective(E, self.weights) < before - ROUNDING:
                    term = Term(learner, learner.predict(self.features), alpha)
                    self.last = scores + alpha * term.values, E
                    return term
            self.fraction /= 2.0
        return None

    def _evaluate(self, scores: np.ndarray, alpha: float, learner: _Feature) -> np.ndarray:
        """Return E(q, scores + alpha h_k)."""
        return self.E.expectation_over_ties(
            scores, alpha * learner.sign, self.columns[learner.feature]
        )
