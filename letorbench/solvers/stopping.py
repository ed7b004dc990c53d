"""When training ends and which of its rounds is kept: time limits, validation, patience."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from letorbench.compiled.threads import cancelled
from letorbench.conventions import CONVENTIONS, Convention, with_rules
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.measures import Measure, PreparedMetric, parse, query_metrics
from letorbench.measures.evaluation import relative_weights, rules_of
from letorbench.models.base import Model

#: from the validation measure (n_models, n_queries) to the number of the chosen model, from 0
Rule = Callable[[np.ndarray], int]
#: how far below the highest mean a round may be, in standard errors of the difference
TOLERANCE = 0.5


@dataclass(frozen=True)
class Deadline:
    """The time on the clock of `time.monotonic` at which training must end; infinity is never.

    A solver checks the deadline once per round, so training may exceed its limit by one round and
    by the preparations for the first one.
    """

    end: float = float("inf")

    @staticmethod
    def after(seconds: float | None) -> "Deadline":
        """Return the deadline `seconds` from now; None is never."""
        if seconds is None:
            return NEVER
        if not seconds > 0.0:
            raise UsageError(f"found time_limit={seconds}, expected more than 0 seconds")
        return Deadline(time.monotonic() + seconds)

    @property
    def passed(self) -> bool:
        """Whether the time is over or the task is cancelled, see `cancelled`."""
        return time.monotonic() >= self.end or cancelled()


NEVER = Deadline()


def best(values: np.ndarray) -> int:
    """Return the first model with the highest mean: LETOR's rule."""
    return int(np.argmax(values.mean(axis=1)))


def latest(values: np.ndarray, tolerance: float = TOLERANCE) -> int:
    """Return the last model within a fraction of a standard error of the best.

    The highest of many means over few queries is high by chance, and often an early one, since the
    first rounds of training differ most. Breiman's rule takes the simplest model within one
    standard error of the best. Boosting and descent with small steps lose little by superfluous
    rounds and much by missing ones, so this rule takes the last. The standard error is that of the
    paired differences by query. `benchmarks.selection` compares tolerances and other rules on
    validation queries.

    L. Breiman, J. Friedman, R. Olshen, C. Stone: Classification and Regression Trees, 1984, section
    3.4.3 (the 1 SE rule). L. Prechelt: Early Stopping -- But When?, Neural Networks: Tricks of the
    Trade, 1998. G. C. Cawley, N. L. C. Talbot: On Over-fitting in Model Selection, JMLR 11, 2010.
    """
    n_queries = values.shape[1]
    if n_queries < 2:
        return best(values)
    behind = values[best(values)] - values
    error = behind.std(axis=1, ddof=1) / np.sqrt(n_queries)
    return int(np.flatnonzero(behind.mean(axis=1) <= tolerance * error)[-1])


@dataclass(frozen=True, eq=False)
class Validation:
    """A validation set with the measure of every choice and the rule for the round that is kept."""

    queries: QuerySet
    measure: Measure = parse("ndcg@10")
    convention: Convention = CONVENTIONS["standard"]
    rule: Rule = latest

    def __post_init__(self) -> None:
        if self.measure.error:
            raise UsageError(f"{self.measure}: nothing is chosen by an error of scores, "
                             "expected a measure of rankings, such as ndcg@10")  # fmt: skip
        rules_of(self.measure, self.convention)

    @staticmethod
    def on_training(
        train: QuerySet, measure: Measure = parse("ndcg@10"), gain: str = "exp2"
    ) -> "Validation":
        """Return a validation on the training set itself, with the queries' weights."""
        mean = "plain" if train.weights is None else "weighted"
        return Validation(train, measure, with_rules(CONVENTIONS["standard"], gain=gain, mean=mean))

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return the measure of each query that counts, times its weight in the mean."""
        if self.prepared is not None:
            return self.prepared(scores)
        queries = self.queries
        values = query_metrics(
            queries.labels, scores, queries.offsets, [self.measure], self.convention, queries.docids
        )
        return (values * self._weights_of_means(values))[~np.isnan(values)]

    def _weights_of_means(self, values: np.ndarray) -> np.ndarray:
        queries = self.queries
        about = queries.weights, self.convention, queries.labels, queries.offsets
        return relative_weights(values, [self.measure], *about)

    def expectation_over_ties(self, scores: np.ndarray) -> float:
        """Return the mean over queries and, for NDCG and MAP, over all orders of equal scores."""
        if self.prepared is None:
            return float(self(scores).mean())
        return float(self.prepared.expectation_over_ties(scores).mean())

    @cached_property
    def prepared(self) -> PreparedMetric | None:
        """The fast form of the measure, if it has one."""
        queries, rules = self.queries, self.convention
        metric = PreparedMetric.of(queries.labels, queries.offsets, self.measure, rules)
        return metric and metric.times(
            self._weights_of_means(np.ones((queries.n_queries, 1)))[:, 0]
        )


@dataclass(frozen=True, eq=False)
class Watched(Validation):
    """The validation on the first of several query sets, which measures the others beside it.

    `queries` has the documents of all sets, so that a round's scores are computed once.
    """

    sets: tuple[Validation, ...] = ()
    #: the mean of each set's measure, each time that scores were measured
    means: list[list[float]] = field(default_factory=list)

    @staticmethod
    def of(sets: Sequence[Validation]) -> "Watched":
        every = [each.queries for each in sets]
        widths = [each.n_features for each in every]
        if min(widths) < max(widths):
            found = f"found sets of {min(widths)} and of {max(widths)} features"
            raise DataError(f"eval_set: {found}, expected as many in all")
        features, labels, lengths, qids = (
            np.concatenate([getattr(each, name) for each in every])
            for name in ("features", "labels", "lengths", "qids")
        )
        queries = QuerySet(features, labels, np.append(0, np.cumsum(lengths)), qids)
        return Watched(queries, sets[0].measure, sets[0].convention, sets[0].rule, tuple(sets))

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        ends = np.cumsum([each.queries.n_docs for each in self.sets])[:-1]
        values = [each(part) for each, part in zip(self.sets, np.split(scores, ends), strict=True)]
        self.means.append([float(each.mean()) for each in values])
        return values[0]


class EarlyStopping:
    """The rounds so far (boosting rounds, epochs, trees) and their validation measures.

    Training is over after `patience` rounds in a row without a new highest mean (0: never), or at
    the first round that ends after the deadline. The rule of `validation` chooses the kept round.
    """

    def __init__(
        self, patience: int = 0, deadline: Deadline = NEVER, validation: Validation | None = None
    ) -> None:
        self.patience, self.deadline, self.validation = patience, deadline, validation
        self.count = 0  # rounds so far
        self.late = False  # whether a round has ended after the deadline
        self.curve: list[float] = []  # the mean of the validation measure after each round
        self._values: list[np.ndarray] = []

    def measure(self, model: Model) -> None:
        """Record a round that ends with this model."""
        if self.validation is None:
            self.record(None)
        else:
            self.record(self.validation(model.predict(self.validation.queries.features)))

    def record(self, values: np.ndarray | None) -> None:
        """Record a round and the validation measure (n_queries,) after it, or None."""
        self.count += 1
        self.late = self.deadline.passed
        if values is not None:
            self._values.append(values)
            self.curve.append(float(values.mean()))

    @property
    def kept(self) -> int:
        """The number of the round that is kept, from 1; 0 before the first round."""
        if not self._values:
            return self.count
        rule = best if self.validation is None else self.validation.rule
        return 1 + rule(np.array(self._values))

    @property
    def over(self) -> bool:
        return self.late or self._out_of_patience

    @property
    def _out_of_patience(self) -> bool:
        highest = 1 + self.curve.index(max(self.curve)) if self.curve else self.count
        return 0 < self.patience <= self.count - highest

    def cut_off(self, rounds: int) -> bool:
        """Return whether the deadline alone prevented that many rounds."""
        return self.late and self.count < rounds and not self._out_of_patience
