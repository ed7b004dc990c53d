"""Regression trees learned by LightGBM and XGBoost, kept as the libraries' own model text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from letorbench.errors import UsageError
from letorbench.models.base import Model
from letorbench.threads import thread_count

if TYPE_CHECKING:
    import lightgbm
    import xgboost

#: feature values that a thread is worth: with fewer, threads that wait for each other in
#: thousands of short loops take several times as long as one (results are equal for any)
LEAST = 2_000_000


def threads_for(features: np.ndarray) -> int:
    """Threads that trees should use on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass(frozen=True, eq=False)
class LightGBMTrees(Model, kind="lightgbm"):
    """model (n_bytes,) uint8: LightGBM's model text."""

    model: np.ndarray

    @cached_property
    def booster(self) -> lightgbm.Booster:
        try:
            import lightgbm
        except ImportError as error:
            raise _missing("lightgbm", error) from None
        return lightgbm.Booster(model_str=self.model.tobytes().decode())

    def predict(self, features: np.ndarray) -> np.ndarray:
        return self.booster.predict(features, raw_score=True, num_threads=threads_for(features))


@dataclass(frozen=True, eq=False)
class XGBoostTrees(Model, kind="xgboost"):
    """model (n_bytes,) uint8: XGBoost's model as JSON."""

    model: np.ndarray

    @cached_property
    def booster(self) -> xgboost.Booster:
        try:
            import xgboost
        except ImportError as error:
            raise _missing("xgboost", error) from None
        return xgboost.Booster(model_file=bytearray(self.model.tobytes()))

    def predict(self, features: np.ndarray) -> np.ndarray:
        self.booster.set_param({"nthread": threads_for(features)})
        scores = self.booster.inplace_predict(features, predict_type="margin")
        return np.asarray(scores, dtype=np.float64)


def _missing(package: str, error: ImportError) -> UsageError:
    return UsageError(
        f"this model needs the package {package} ({error}); "
        f"`python -m pip install 'letorbench[trees]'` installs it"
    )
