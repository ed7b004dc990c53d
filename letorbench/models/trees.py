"""Regression trees of LightGBM and XGBoost, kept as the libraries' own model text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.models.base import Model, array
from letorbench.models.tree_texts import checked_lightgbm, checked_xgboost
from letorbench.threads import thread_count

if TYPE_CHECKING:
    import lightgbm
    import xgboost

#: how many feature values are worth a thread: with fewer, threads that wait for each other in
#: thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads that trees should use on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass(frozen=True, eq=False)
class LightGBMTrees(Model, kind="lightgbm"):
    """Trees of LightGBM.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        LightGBM's model text.
    """

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> lightgbm.Booster:
        """The library's booster."""
        try:
            import lightgbm
        except ImportError as error:
            raise _missing("lightgbm", error) from None
        try:
            text = checked_lightgbm(self.model.tobytes().decode())
            return lightgbm.Booster(model_str=text)
        except DataError:
            raise
        except (lightgbm.basic.LightGBMError, ValueError) as error:
            raise _damaged("LightGBM", error) from error

    @property
    def n_features(self) -> int:
        return self.booster.num_feature()

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = self.booster.predict(features, raw_score=True, num_threads=threads_for(features))
        return np.asarray(scores)


@dataclass(frozen=True, eq=False)
class XGBoostTrees(Model, kind="xgboost"):
    """Trees of XGBoost.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        XGBoost's model as JSON.
    """

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> xgboost.Booster:
        """The library's booster."""
        try:
            import xgboost
        except ImportError as error:
            raise _missing("xgboost", error) from None
        try:
            text = checked_xgboost(self.model.tobytes().decode())
            return xgboost.Booster(model_file=bytearray(text.encode()))
        except DataError:
            raise
        except ValueError as error:  # the library's own error is one
            raise _damaged("XGBoost", error) from error

    @property
    def n_features(self) -> int:
        return self.booster.num_features()

    def _score(self, features: np.ndarray) -> np.ndarray:
        self.booster.set_param({"nthread": threads_for(features)})
        scores = self.booster.inplace_predict(features, predict_type="margin")
        return np.asarray(scores, dtype=np.float64)


def _missing(package: str, error: ImportError) -> UsageError:
    return UsageError(
        f"this model needs the package {package} ({error}); "
        f"`python -m pip install 'letorbench[trees]'` installs it"
    )


def _damaged(library: str, error: Exception) -> DataError:
    reason = str(error).strip().splitlines()
    return DataError(f"found no model of {library} ({reason[-1] if reason else 'no reason given'})")
