"""Regression trees of LightGBM and XGBoost, kept as the libraries' own model text.

The libraries trust their own texts. A file whose bytes were changed is refused by its check sum,
but whoever makes a file makes its check sum too: load trees only of people you trust.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.models.base import Model, array
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
class LightGBMTrees(Model):
    """Trees of LightGBM.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        LightGBM's model text.
    """

    kind = "lightgbm"

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> lightgbm.Booster:
        """The library's booster."""
        try:
            import lightgbm
        except ImportError as error:
            raise _missing("lightgbm", error) from None
        try:
            return lightgbm.Booster(model_str=self.model.tobytes().decode())
        except (ValueError, lightgbm.basic.LightGBMError) as error:
            raise _damaged("LightGBM", error) from error

    @property
    def n_features(self) -> int:
        return self.booster.num_feature()

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = self.booster.predict(features, raw_score=True, num_threads=threads_for(features))
        return np.asarray(scores)


@dataclass(frozen=True, eq=False)
class XGBoostTrees(Model):
    """Trees of XGBoost.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        XGBoost's model as JSON.
    """

    kind = "xgboost"

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> xgboost.Booster:
        """The library's booster."""
        try:
            import xgboost
        except ImportError as error:
            raise _missing("xgboost", error) from None
        try:
            json.loads(self.model.tobytes())  # another text would end the process
            return xgboost.Booster(model_file=bytearray(self.model))
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
    reason = " ".join(str(error).split())[-200:]
    return DataError(f"found no model of {library}, or a damaged one ({reason})")
