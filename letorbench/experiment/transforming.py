"""Which transformation of the features a task applies, fitted on its training part."""

from __future__ import annotations

from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import UsageError
from letorbench.experiment.plan import Protocol, Task
from letorbench.features import Transformation, resolved, transformation
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES


def features_of(task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]) -> str:
    """Return the name of the transformation that a task applies, never "auto".

    All folds of a data set have the same: where the catalog does not say whether it is published
    normalised, the features of the first fold's training part do.

    Raises
    ------
    UsageError
        The ranker's own grid chooses the transformation, which only the protocol may.
    """
    if FEATURES in cls.grid:
        raise UsageError(f"{cls.name}: found {FEATURES!r} in its grid, expected hyper-parameters")
    return resolved(
        task.features or protocol.features,
        cls(**task.settings).auto_features,
        benchmark.folds[0].train.features,
        benchmark.provenance.get("normalised"),
    )


def transformed(fold: Fold, name: str) -> tuple[Transformation, Fold]:
    """Return the transformation of that name, and the fold to learn from.

    The training and the validation part are transformed. The test part is as it was: the fitted
    ranker takes raw features.
    """
    fitted = transformation(name).fit(fold.train.features)
    return fitted, Fold(fold.number, fitted(fold.train), fitted(fold.validation), fold.test)
