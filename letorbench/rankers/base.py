"""The ranker's interface: hyper-parameters in, a scorer learned on a training set out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.models.base import load, save
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation
from letorbench.threads import one_blas_thread

RANKERS: dict[str, type[Ranker]] = {}


class Ranker(ABC):
    """A published algorithm; a subclass is a dataclass whose fields are its hyper-parameters.

    A subclass that has a `name` is known to every command and test. `learn` is all it must
    write.

    name:    what users call it.
    title:   one line for `letorbench algos`.
    paper:   the reference.
    formula: the objective, in plain text.
    grid:    hyper-parameter -> the values that validation chooses from.
    spelled: hyper-parameter -> what users may call it, where that is no name in Python.
    needs:   an optional package that it cannot do without, None for most.
    extra:   what `pip install` brings that package.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    formula: ClassVar[str]
    grid: ClassVar[Mapping[str, Sequence[object]]] = {}
    spelled: ClassVar[Mapping[str, str]] = {}
    needs: ClassVar[str | None] = None
    extra: ClassVar[str] = ""

    learned: Learned
    n_features: int | None = None

    def __init_subclass__(cls, **rest: object) -> None:
        super().__init_subclass__(**rest)
        if "name" in vars(cls):  # what several share has none of its own
            if cls.name in RANKERS:
                both = f"{RANKERS[cls.name].__module__} and {cls.__module__}"
                raise UsageError(f"two rankers are named {cls.name!r}, in {both}; rename one")
            RANKERS[cls.name] = cls

    @classmethod
    def available(cls) -> bool:
        """Whether the package that the ranker needs is installed."""
        return cls.needs is None or find_spec(cls.needs) is not None

    @classmethod
    def require(cls) -> None:
        """UsageError, saying how to install it, where the ranker's package is missing."""
        if not cls.available():
            how = f"`python -m pip install '{cls.extra or cls.needs}'`"
            raise UsageError(f"{cls.name}: needs the package {cls.needs}; {how} installs it")

    @abstractmethod
    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        """Train; the only source of randomness is `rng`."""

    def fit_sets(
        self,
        train: QuerySet,
        validation: Validation | QuerySet | None = None,
        rng: np.random.Generator | None = None,
    ) -> Ranker:
        """Learn from `train`, choosing rounds or epochs on `validation` where there are any."""
        self.require()
        if isinstance(validation, QuerySet):
            validation = Validation(validation)
        if not np.isfinite(train.features.sum(dtype=np.float64)):
            raise DataError(f"{self.name}: the training features hold NaN or infinity")
        self.n_features = train.n_features
        with one_blas_thread():
            self.learned = self.learn(train, validation, rng or np.random.default_rng(0))
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        """(n_docs, n_features) float32 -> (n_docs,) float64 scores."""
        return self.learned.model.predict(features)

    def settings(self) -> dict[str, object]:
        """The hyper-parameters as JSON can hold them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def save(self, path: Path) -> None:
        """Write the fitted ranker: its name, its settings, its scorer's arrays."""
        facts = {"ranker": self.name, "settings": self.settings(), "features": self.n_features}
        save(self.learned.model, path, facts)

    @staticmethod
    def load(path: Path) -> Ranker:
        """The fitted ranker that `save` wrote."""
        scorer, facts = load(path)
        if facts.get("ranker") not in RANKERS:
            raise DataError(
                f"{path}: found ranker {facts.get('ranker')!r}, expected a known one; "
                "a plug-in's model needs its --plugin"
            )
        ranker = RANKERS[facts["ranker"]](**facts["settings"])
        ranker.learned = Learned(scorer)
        ranker.n_features = facts.get("features")
        return ranker
