"""Regression trees of LightGBM and XGBoost, kept as the libraries' own model text.

The libraries trust their own texts. A file whose bytes were changed is refused by its check sum,
but whoever makes a file makes its check sum too: load trees only of people you trust.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.models.base import Model, array
from letorbench.threads import thread_count

#: how many feature values are worth a thread: with fewer, threads that wait for each other in
#: thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads that trees should use on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass(frozen=True, eq=False)
class _Trees(Model):
    """Trees of a library, which is named as the kind of the models.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        The library's own text of the model.
    """

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> Any:
        """The library's booster."""
        try:
            library = import_module(self.kind)
        except ImportError as error:
            raise UsageError(
                f"this model needs the package {self.kind} ({error}); "
                f"`python -m pip install 'letorbench[trees]'` installs it"
            ) from None
        try:
            return self._booster(library, self.model.tobytes())
        except Exception as error:
            reason = " ".join(str(error).split())[-200:]
            raise DataError(
                f"found no model of {self.kind}, or a damaged one ({reason})"
            ) from error

    @abstractmethod
    def _booster(self, library: Any, text: bytes) -> Any:
        """Let the library read its text."""


class LightGBMTrees(_Trees):
    """Trees of LightGBM, as its model text."""

    kind = "lightgbm"

    def _booster(self, library: Any, text: bytes) -> Any:
        return library.Booster(model_str=text.decode())

    @property
    def n_features(self) -> int:
        return self.booster.num_feature()

    def _score(self, features: np.ndarray) -> np.ndarray:
        return self.booster.predict(features, raw_score=True, num_threads=threads_for(features))


class XGBoostTrees(_Trees):
    """Trees of XGBoost, as its model in JSON."""

    kind = "xgboost"

    def _booster(self, library: Any, text: bytes) -> Any:
        json.loads(text)  # the library ends the process on another text
        return library.Booster(model_file=bytearray(text))

    @property
    def n_features(self) -> int:
        return self.booster.num_features()

    def _score(self, features: np.ndarray) -> np.ndarray:
        self.booster.set_param({"nthread": threads_for(features)})
        return self.booster.inplace_predict(features, predict_type="margin")
