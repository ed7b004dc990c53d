"""The rankers of gradient-boosting libraries: their trees, letorbench's folds, measures and rounds.

They also take every parameter of their library, by its names; the library checks the values. The
libraries' model files are rankers as well; `letorbench.models.library_trees` reads the trees.
"""

import copy
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from letorbench.compiled.threads import thread_count
from letorbench.errors import DataError, UsageError
from letorbench.features import Raw
from letorbench.losses.gains import GainSettings
from letorbench.models.library_trees import Read
from letorbench.models.tree_ensemble import TreeEnsemble
from letorbench.parameters import number
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.solvers.boosting import NOTHING_LEARNED
from letorbench.solvers.stopping import EarlyStopping

Class = TypeVar("Class", bound=type)
#: the number of feature values that is worth a thread: with fewer, threads that wait for each other
#: in thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000
#: the libraries' parameters of which some value draws random numbers
_DRAWING = re.compile("bagging|boost|drop|extra_tree|fraction|objective|pair_method|random|sampl")


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads for trees on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


def open_ended(cls: Class) -> Class:
    """Let the constructor of a dataclass also take the library's parameters."""
    given = vars(cls)["__init__"]

    @wraps(given)
    def __init__(self: Any, *args: Any, **params: Any) -> None:
        own = {each.name for each in fields(cls)}
        given(self, *args, **{key: params.pop(key) for key in list(params) if key in own})
        if params:
            self.set_params(**params)
            self.__post_init__()

    setattr(cls, "__init__", __init__)
    return cls


@dataclass
class TreeLibrary(Ranker):
    """Trees that a library boosts.

    The validation measure chooses the number of rounds, under letorbench's convention instead of
    the library's; without validation all rounds are kept. Every other parameter of the library is
    one here, by the library's name: ``lightgbm[lambda_l2=1]``, ``lb.LightGBM(lambda_l2=1)``.

    Parameters
    ----------
    rounds : int, default 1000
        The largest number of trees. Validation chooses how many are kept.
    learning_rate : float, default 0.05
        Each tree's weight.
    """

    auto_features = "raw"  # trees only compare a feature's values
    takes_missing = True
    figure = "boosting"
    formula = "trees on lambda = sigma(-(s_i - s_j)) |Delta NDCG_ij|, r_i > r_j"
    extra = "letorbench[trees]"
    order_matters = "the library ranks documents of equal scores, at first all, in file order"
    read: ClassVar[Callable[[bytes], Read]]
    #: from the library's name of a parameter to that of a field here
    theirs: ClassVar[Mapping[str, str]] = {}
    patience = 0
    more = dict[str, Any]()  # the library's parameters that are set; replaced, never changed

    rounds: int = number(1000, least=1)
    learning_rate: float = number(0.05, above=0)

    @property
    def draws(self) -> bool:
        return any(map(_DRAWING.search, self.more))

    @classmethod
    def parameter(cls, key: str) -> str | None:
        """Return the parameter that a library's name means; None if the library has none so."""
        return cls.theirs.get(key, key)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters, `features` and the library's parameters that are set."""
        return super().get_params(deep) | self.more

    def set_params(self, **params: object) -> Self:
        """Set hyper-parameters and parameters of the library; UsageError for an unknown name."""
        own = {each.name for each in fields(self) if each.init}
        for key in [key for key in params if key not in own]:
            name, value = self.parameter(key), params[key]
            if name is not None:
                del params[key]
                if name in own:
                    params[name] = value
                else:
                    self.more = self.more | {name: value}
        return super().set_params(**params)

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        stopping = EarlyStopping(self.patience, self.deadline, validation)
        seed = int(rng.integers(1 << 31)) if self.draws else 0
        try:
            model = self.boost(train, stopping, seed)
            if "dart" in self.more.values() and stopping.kept < stopping.count:
                alone = copy.copy(self)  # later rounds have changed the weights of its trees
                alone.rounds = stopping.kept
                model = alone.boost(train, EarlyStopping(), seed)
        except Exception as error:
            if type(error).__module__.strip("_").partition(".")[0] != self.needs:
                raise
            # without the place in the library's source
            place = r"^(\[[\d:]+\] |\S+:\d+: )+| at \S+, line \d+ \.$"
            said = re.sub(place, "", str(error).partition("\n")[0])
            raise UsageError(f"{self.needs} says: {said}") from error
        splits = (model.left > np.arange(len(model.left))).any()
        return FitResult(
            model, tuple(stopping.curve), stopping.kept, cut_off=stopping.cut_off(self.rounds),
            warnings=() if splits else (NOTHING_LEARNED,),
        )  # fmt: skip

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return the ranker of a model file that the library wrote; DataError for another file."""
        fitted = cls()  # feature k of LETOR text, from 1, is the library's column k - 1
        try:
            model, names = cls.read(path.read_bytes())
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        except Exception as error:  # other files raise a dozen types of errors
            reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            raise DataError(f"{path}: found no whole model of {cls.name}: {reason}") from error
        fitted.learned, fitted.transformation_ = FitResult(model), Raw()
        fitted.n_features_in_, fitted.feature_names_in_ = model.n_features, names
        fitted.takes_missing = isinstance(model, TreeEnsemble)
        return fitted

    @abstractmethod
    def boost(self, train: QuerySet, stopping: EarlyStopping, seed: int) -> TreeEnsemble:
        """Let the library train; record each round; return the trees of the rounds kept."""


@dataclass
class LambdaMARTLibrary(GainSettings, TreeLibrary):
    """LambdaMART (Burges: From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82) by a library.

    Parameters
    ----------
    rounds, learning_rate
        See `TreeLibrary`.
    patience : int, default 100
        Training ends this many rounds after the best one on validation; 0 means never.
    docs, columns : float, default 1.0
        The fraction of the documents, and of the features, that each tree sees.
    truncation : int, default 30
        Only pairs with a document among this many first ranks count.
    """

    patience: int = number(100, least=0)
    docs: float = number(1.0, above=0, most=1)
    columns: float = number(1.0, above=0, most=1)
    truncation: int = number(30, least=1)

    @property
    def draws(self) -> bool:
        return self.docs < 1.0 or self.columns < 1.0 or super().draws


def record(stopping: EarlyStopping, scores: np.ndarray) -> float:
    """Record a round by our measure of its scores on the validation set; return the measure."""
    assert stopping.validation is not None
    stopping.record(stopping.validation(scores))
    return stopping.curve[-1]
