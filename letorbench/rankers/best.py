"""The answer to "which do I take?": different rankers, tuned, and their mean or one of them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.choices import require_choice
from letorbench.compiled.arithmetic import exp
from letorbench.errors import DataError, UsageError
from letorbench.features import AUTO, Raw
from letorbench.models.average import Average, Part
from letorbench.parameters import number
from letorbench.rankers import names, ranker
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.estimator import FEATURES
from letorbench.rankers.tuning import MOST, Trial, best_of, bounded, drawn_settings, trials
from letorbench.solvers.fit_warnings import FitWarning

#: rankers that differ in their models, losses and solvers; those without their package are left out
PORTFOLIO = (
    "ranksvm", "listnet", "ndcgboost", "lambdamart", "lightgbm", "random-forests", "adarank-ndcg",
    "coordinate-ascent",
)  # fmt: skip
#: with this many validation queries, equal weights count as much as those of validation
EQUAL = 100
#: how many standard errors the best member must be ahead of the mean to be taken alone
AHEAD = 2.0
#: the share of the training queries that validates where there is no validation set
HELD_OUT = 0.2


@dataclass
class Best(Ranker):
    """A portfolio of different rankers, each tuned on validation, and the mean of their scores.

    Every member tries the first `trials` settings of its ranges, as under `--protocol tuned`, and
    the best on validation is its entry. The score is the mean of the entries' scores, standardised
    in each query. An entry's weight is between the equal one and one in proportion to exp(-t^2/2),
    where t is how many standard errors of the paired difference it is behind the best entry. Of n
    validation queries the latter counts n / (n + 100). If the best entry is more than two standard
    errors ahead of that mean, it is taken alone.

    Parameters
    ----------
    members : str
        The names of the rankers, joined by ``+``. Those whose package is missing are left out.
    trials : int
        The number of settings that each member may try.
    seconds : float, optional
        The time that the search may take: every member's first setting comes first, then every
        second one. The model then depends on the speed of the machine.

    Notes
    -----
    With few validation queries choosing costs more than it gains (docs/algorithms/best.md). Without
    a validation set, a fifth of the training queries chooses, and the members then learn from all.
    Each member transforms the features as it does by itself.
    """

    name = "best"
    title = "Several different rankers, tuned, and the mean of their scores or one of them"
    paper = "none: rankers of several papers"
    formula = "sum over members m of w_m (s_m - mean of s_m) / standard deviation, in the query"
    published = False  # it is made of the others
    auto_features = "raw"  # each member transforms them as it needs
    draws = True
    order_matters = "some members take documents of equal scores in file order"
    feature_order_matters = "some members draw random numbers for one feature after the other"

    members: str = "+".join(PORTFOLIO)
    trials: int = number(8, least=1, most=MOST)
    seconds: float | None = number(None, above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        every = [name for name in names() if name != self.name]
        for each in self.members.split("+"):
            require_choice(each, every, f"member of {self.name}")
        if not self.parts:
            raise UsageError(f"{self.name}: found no member whose package is installed")

    @property
    def parts(self) -> tuple[type[Ranker], ...]:
        """The members that can run here."""
        every = dict.fromkeys(map(ranker, self.members.split("+")))
        return tuple(each for each in every if each.available())

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        seen = train
        if validation is None:
            seen, validation = held_out(train, rng)
        made = self.search(seen, validation, rng)
        cut_off = any(each.ranker.learned.cut_off for tried in made for each in tried)
        entries, weights, why = taken(made, validation)
        rankers = [each.ranker for each in entries]
        if seen is not train:
            for k, each in enumerate(entries):
                settings = bounded(type(rankers[k]), each.settings, [each.ranker.learned.best])
                rankers[k] = type(rankers[k])(**settings).fit_sets(train, None, rng)
        first = rankers[0]
        single = len(rankers) == 1 and isinstance(first.transformation_, Raw)
        model = first.learned.model if single else average(rankers, weights)
        return FitResult(model, warnings=(FitWarning("chosen", why),), cut_off=cut_off)

    def search(self, train: QuerySet, validation: Validation, rng: Generator) -> list[list[Trial]]:
        """Train the settings of each member that there is time for, at least the first."""
        members = self.parts
        tried = [drawn_settings(cls, {FEATURES: AUTO}, self.trials) for cls in members]
        seeds = np.random.SeedSequence(int(rng.integers(1 << 62))).spawn(len(members))
        end = min(self.deadline.end, time.monotonic() + (self.seconds or math.inf))
        step = 1 if math.isfinite(end) else self.trials
        made: list[list[Trial]] = [[] for _ in members]
        for first in range(0, self.trials, step):
            for m, cls in enumerate(members):
                left = end - time.monotonic()
                if first > 0 and left <= 0.0:
                    return made
                # the first settings of all members share the time
                left = max(left, 1e-3) / (len(members) - m if first == 0 else 1)
                limit = left if math.isfinite(left) else None
                some = tried[m][first : first + step]
                made[m] += trials(cls, some, train, validation, seeds[m], limit)
        return made


def taken(
    made: Sequence[Sequence[Trial]], validation: Validation
) -> tuple[list[Trial], np.ndarray, str]:
    """Return each member's best trial, or the one that is surely ahead; their weights; and why."""
    entries = [each for each in map(best_of, made) if math.isfinite(each.value)]
    if not entries:
        raise DataError(f"{Best.name}: found no member whose scores are numbers")
    values = np.array([validation(each.scores) for each in entries])
    weights = weights_of(values)
    queries, mean = validation.queries, average([each.ranker for each in entries], weights)
    of_mean = validation(mean.predict_queries(queries.features, queries.offsets))
    best = int(np.argmax(values.mean(axis=1)))
    lead = ahead(values[best], of_mean)
    if lead > AHEAD or len(entries) == 1:
        entries, weights = [entries[best]], np.ones(1)
        what = f"{entries[0].ranker.name} alone"
    else:
        shares = (f"{e.ranker.name} {w:.2f}" for e, w in zip(entries, weights.tolist()))
        what = f"the mean of {', '.join(shares)}"
    why = (
        f"took {what} after {sum(map(len, made))} trainings: {validation.measure} on "
        f"{values.shape[1]} validation queries is {of_mean.mean():.4f} of the mean and "
        f"{values[best].mean():.4f} of the best member, {lead:+.1f} standard errors from it, where "
        f"{AHEAD:g} take it alone"
    )
    return entries, weights, why


def held_out(train: QuerySet, rng: Generator) -> tuple[QuerySet, Validation]:
    """Return most of the training queries, and a validation on the others, drawn at random."""
    n = train.n_queries
    if n < 2:
        return train, Validation.on_training(train)
    order = rng.permutation(n)
    count = max(1, round(HELD_OUT * n))
    part = Validation(train.take(np.sort(order[:count])))
    return train.take(np.sort(order[count:])), part


def weights_of(values: np.ndarray) -> np.ndarray:
    """Return the weights (n_models,) of models by their validation measures (n_models, n_queries).

    Examples
    --------
    >>> weights_of(np.array([[0.5, 0.6], [0.5, 0.6]]))
    array([0.5, 0.5])
    """
    n_models, n_queries = values.shape
    best = values[np.argmax(values.mean(axis=1))]
    likely = exp(np.array([-0.5 * ahead(best, each) ** 2 for each in values]))
    trust = n_queries / (n_queries + EQUAL)
    return (1.0 - trust) / n_models + trust * likely / likely.sum()


def ahead(a: np.ndarray, b: np.ndarray) -> float:
    """Return by how many standard errors of the paired difference a's mean is above b's."""
    difference = a - b
    error = difference.std(ddof=1) / math.sqrt(len(difference)) if len(difference) > 1 else 0.0
    return float(difference.mean() / error) if error > 0.0 else 0.0


def average(rankers: Sequence[Ranker], weights: np.ndarray) -> Average:
    """Return the weighted mean of fitted rankers."""
    parts = [Part(each.name, each.learned.model, each.transformation_) for each in rankers]
    return Average.of(parts, weights)
