"""The ranker's interface: hyper-parameters in, a model learned on a training set out."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.features import Raw, Transformation, resolved, transformation
from letorbench.models.model_file import save
from letorbench.rankers.estimator import Estimator
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import NEVER, Deadline, Validation
from letorbench.threads import one_blas_thread


class Ranker(Estimator):
    """A published algorithm.

    A subclass is a dataclass whose fields are its hyper-parameters. `learn` is all that it must
    write. It is a scikit-learn estimator as well, see `Estimator`.

    Attributes
    ----------
    name : str
        What users call it.
    title : str
        One line for `letorbench algos`.
    paper : str
        The reference.
    formula : str
        The objective, in plain text.
    grid : mapping
        From a hyper-parameter to the values that validation chooses from.
    spelled : mapping
        From a hyper-parameter to what users may call it, where that is no name in Python.
    judges_itself : bool
        Whether `learn` chooses by the validation measure otherwise than by its rounds, so that a
        model does not hold for another measure.
    published : bool
        Whether it is an algorithm of its own, which `--algo all` includes.
    order_matters : str
        Why the model depends on the order of a query's training documents; "" where it does not.
    feature_order_matters : str
        Why the model depends on the order of the features, apart from random draws; "" where it
        does not.
    one_thread : bool
        Whether `learn` uses one thread, whatever it may use: the settings of a grid are then
        learned at the same time.
    learns : bool
        Whether it learns from features; the reference points `random` and `ideal` do not.
    sees_labels : bool
        Whether its scores are the labels, so that it scores a QuerySet alone.
    needs : str or None
        An optional package that it cannot do without.
    extra : str
        What `pip install` brings that package.
    deadline : Deadline
        When `learn` must end; it looks at this once a round or iteration.
    auto_features : str
        What `auto` does to features whose scales do not compare: "raw" where the ranker only
        compares a feature's values with each other, as most stumps and trees do.
    learned : FitResult
        The model and history of its training, after fitting.
    transformation_ : Transformation
        What is done to the features before the model sees them, after fitting.
    n_features_in_ : int
        The number of features of the training set, after fitting.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    formula: ClassVar[str]
    grid: ClassVar[Mapping[str, Sequence[object]]] = {}
    spelled: ClassVar[Mapping[str, str]] = {}
    judges_itself: ClassVar[bool] = False
    published: ClassVar[bool] = True
    order_matters: ClassVar[str] = ""
    feature_order_matters: ClassVar[str] = ""
    one_thread: ClassVar[bool] = False
    learns: ClassVar[bool] = True
    sees_labels: ClassVar[bool] = False
    needs: ClassVar[str | None] = None
    extra: ClassVar[str] = ""
    deadline = NEVER
    auto_features: ClassVar[str] = "query-minmax"

    @property
    def draws(self) -> bool:
        """Whether the model depends on random draws: then a run repeats it with several seeds.

        It may depend on the hyper-parameters. A ranker that does not draw gives the same bytes
        for any seed.
        """
        return False

    @property
    def effort(self) -> float:
        """How long a round of training takes beside other settings of this ranker, in any unit.

        Where settings are trained at the same time, those that take most begin first.
        """
        return 1.0

    @classmethod
    def available(cls) -> bool:
        """Return whether the package that the ranker needs is installed."""
        return cls.needs is None or find_spec(cls.needs) is not None

    @classmethod
    def require(cls) -> None:
        """Raise UsageError, which says how to install it, where the package is missing."""
        if not cls.available():
            how = f"`python -m pip install '{cls.extra or cls.needs}'`"
            raise UsageError(f"{cls.name}: needs the package {cls.needs}; {how} installs it")

    @abstractmethod
    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        """Train on checked query sets.

        Parameters
        ----------
        train : QuerySet
        validation : Validation or None
            What rounds or epochs are chosen on, where there is any.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        FitResult
        """

    def fit_sets(
        self,
        train: QuerySet,
        validation: Validation | QuerySet | None = None,
        rng: np.random.Generator | None = None,
        time_limit: float | None = None,
    ) -> Ranker:
        """Learn from query sets.

        Parameters
        ----------
        train : QuerySet
        validation : Validation or QuerySet, optional
            What rounds or epochs are chosen on, by NDCG@10 where no measure is given.
        rng : numpy.random.Generator, optional
            The only source of randomness; by default one of seed 0.
        time_limit : float, optional
            The training ends after so many seconds, with what it has by then. `learned.cut_off`
            says whether it did.

        Returns
        -------
        Ranker
            The fitted ranker itself.

        Raises
        ------
        DataError
            The training features hold NaN or infinity, or validation has other features.
        UsageError
            A hyper-parameter's value is not valid.
        """
        self.require()
        for name, value in self.get_params().items():
            if isinstance(value, float) and math.isnan(value):
                raise UsageError(f"found {name}={value}, expected a number")
        if isinstance(validation, QuerySet):
            validation = Validation(validation)
        if not np.isfinite(train.features.sum(dtype=np.float64)):
            raise DataError(f"{self.name}: the training features hold NaN or infinity")
        if validation is not None and validation.queries.n_features != train.n_features:
            raise DataError(
                f"{self.name}: found {validation.queries.n_features} features in the validation "
                f"set, expected {train.n_features} as in the training set"
            )
        fitted = self.fit_transformation(train)
        if not isinstance(fitted, Raw):
            train = fitted(train)
            if validation is not None:
                validation = replace(validation, queries=fitted(validation.queries))
        self.deadline = Deadline.after(time_limit)
        try:
            with one_blas_thread():
                learned = self.learn(train, validation, rng or np.random.default_rng(0))
        finally:
            del self.deadline
        if not isinstance(learned, FitResult):
            found = "nothing" if learned is None else f"a {type(learned).__name__}"
            raise TypeError(f"learn returned {found}, expected a FitResult")
        self.learned = learned
        return self._fitted_to(train, fitted)

    def with_learned(self, learned: FitResult, train: QuerySet) -> Ranker:
        """Return the ranker itself, fitted by what an earlier training on `train` gave."""
        self.learned = learned
        return self._fitted_to(train, self.fit_transformation(train))

    def _fitted_to(self, train: QuerySet, transformation: Transformation) -> Ranker:
        self.transformation_ = transformation
        self.n_features_in_ = train.n_features
        self.feature_names_in_ = train.feature_names
        return self

    def fit_transformation(self, train: QuerySet, normalised: bool | None = None) -> Transformation:
        """Return the transformation that `features` names, fitted on a training set.

        Parameters
        ----------
        train : QuerySet
        normalised : bool, optional
            Whether the data set is published normalised, for "auto", where that is known.

        Raises
        ------
        UsageError
            There is no such transformation.
        """
        if self.features is None:
            return Raw()
        name = resolved(self.features, self.auto_features, train.features, normalised)
        return transformation(name).fit(train.features)

    def taking_raw_features(self, transformation: Transformation) -> Ranker:
        """Return the ranker itself; it was fitted to features that were so transformed before."""
        self.features = transformation.name  # type: ignore[assignment]
        self.transformation_ = transformation
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted ranker: its name, its parameters, its model, its transformation.

        `letorbench.load_model` reads the file.
        """
        self._require_fitted()
        facts = {
            "ranker": self.name,
            "settings": self.get_params(),
            "features": self.n_features_in_,
            "transformation": self.transformation_.as_json(),
        }
        save(self.learned.model, Path(path), facts)
