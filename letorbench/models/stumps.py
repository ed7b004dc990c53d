"""Decision stumps: s = sum over t of alpha_t f_t(x), each f_t with values 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.jit import kernel
from letorbench.models.base import Model, array


@dataclass(frozen=True, eq=False)
class StumpEnsemble(Model):
    """A weighted sum of T decision stumps.

    Stump t is f_t(x) = 1[x_k > theta], or 1[x_k <= theta] where `above` is false, with
    k = feature[t] and theta = threshold[t].

    Parameters
    ----------
    feature : ndarray of shape (T,), int64
        The feature that each stump looks at.
    threshold : ndarray of shape (T,), float64
    above : ndarray of shape (T,), bool
        Whether f_t is 1 above the threshold, rather than up to it.
    alpha : ndarray of shape (T,), float64
        The weights of the stumps.
    n_features : int
        The number of features of a document.

    Examples
    --------
    >>> model = StumpEnsemble([0, 1], [0.5, 0.5], [True, False], [2.0, 1.0], n_features=2)
    >>> model.predict([[0.9, 0.9], [0.1, 0.1]])
    array([2., 1.])
    """

    kind = "stumps"

    feature: np.ndarray = array("n_stumps", dtype=np.int64, below="n_features")
    threshold: np.ndarray = array("n_stumps")
    above: np.ndarray = array("n_stumps", dtype=bool)
    alpha: np.ndarray = array("n_stumps")
    n_features: int = array(dtype=np.int64)

    docs_a_thread = 4096

    def _score(self, features: np.ndarray) -> np.ndarray:
        return _sum_stumps(features, self.feature, self.threshold, self.above, self.alpha)


@kernel()
def _sum_stumps(
    features: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    above: np.ndarray,
    alpha: np.ndarray,
) -> np.ndarray:
    """scores[i] = sum over t of alpha[t] [(features[i, feature[t]] > threshold[t]) == above[t]]."""
    scores = np.empty(len(features))
    for i in range(len(features)):
        total = 0.0
        for t in range(len(feature)):
            if (features[i, feature[t]] > threshold[t]) == above[t]:
                total += alpha[t]
        scores[i] = total
    return scores
