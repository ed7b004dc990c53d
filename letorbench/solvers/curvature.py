"""How strongly an objective curves at a point: the unit of l2.

A prior l2/2 |theta|^2 changes a model where l2 is near the second derivatives of the loss. They
differ by orders of magnitude between losses (a sum over pairs, a mean over documents), and with
the number and the scale of the features. In units of their mean,

    c = trace(H) / n,  H the Hessian of the loss by its n penalised parameters,

l2 means the same everywhere: a loss or a data set that is c times as large has c times the
prior, and the same minimum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from letorbench.arithmetic import dot

#: in how many directions the curvature is measured
DIRECTIONS = 8
#: the square roots of these primes make the directions' signs
PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19])

#: a point or a direction (n_parameters,) -> its gradient (n_parameters,), or its scores (n_docs,)
Function = Callable[[np.ndarray], np.ndarray]


def mean_curvature(
    gradient: Function, scores: Function, start: np.ndarray, penalised: np.ndarray
) -> float:
    """Estimate trace(H) / n at a point by Hutchinson's z'Hz / n, the mean over several signs z.

    H z is the difference of two gradients, at the points where the scores differ from those of
    the start by 1 in root mean square. This is the scale on which ranking losses bend, and it
    gives a finite value also for a loss with kinks. Where a loss is not convex, abs(z'Hz) counts.

    A parameter has the sign of its rank, see `ranks`. The order of the features is thereby no
    matter, nor is that of the documents.

    Parameters
    ----------
    gradient : callable
        theta (n_parameters,) -> the loss's gradient (n_parameters,).
    scores : callable
        theta (n_parameters,) -> scores (n_docs,).
    start : ndarray of shape (n_parameters,)
    penalised : ndarray of shape (n_parameters,)
        1 for a parameter that the prior penalises, else 0.

    Returns
    -------
    float
        1 where the loss does not curve, or no parameter is penalised.

    References
    ----------
    M. F. Hutchinson: A Stochastic Estimator of the Trace of the Influence Matrix for Laplacian
    Smoothing Splines, Communications in Statistics 19, 1990.
    """
    n = penalised.sum()
    rank = ranks(gradient, scores, start)
    found = []
    for prime in PRIMES[:DIRECTIONS]:
        z = signs(prime, len(start))[rank] * penalised
        h = _unit_step(scores, start, z)
        if h is not None:
            change = gradient(start + h * z) - gradient(start - h * z)
            found.append(abs(dot(z, change)) / (2.0 * h))
    curvature = float(np.mean(found)) / n if found else 0.0
    return curvature if curvature > 0.0 and np.isfinite(curvature) else 1.0


def ranks(gradient: Function, scores: Function, start: np.ndarray) -> np.ndarray:
    """Order the parameters by their partial derivatives, a step down the gradient from the start.

    Another order of features and documents gives the same order of parameters. Parameters that
    are alike at the start, as those of two features that are as often 1 among relevant documents,
    differ after the step. Those of equal features do not, and may change places.

    Returns
    -------
    ndarray of shape (n_parameters,), int64
        The place of each parameter, from 0.
    """
    slope = gradient(start)
    h = _unit_step(scores, start, -slope)
    if h is not None:
        slope = gradient(start - h * slope)
    rank = np.empty(len(start), dtype=np.int64)
    rank[np.argsort(slope, kind="stable")] = np.arange(len(start))
    return rank


def _unit_step(scores: Function, start: np.ndarray, along: np.ndarray) -> float | None:
    """Return the h with which start + h along changes the scores by 1 in root mean square.

    It is taken from the step of h = 1, as if scores were linear. None where none changes them.
    """
    moved = float(np.sqrt(np.mean((scores(start + along) - scores(start)) ** 2)))
    return 1.0 / moved if moved > 0.0 and np.isfinite(moved) else None


def signs(prime: int, n: int) -> np.ndarray:
    """Return n signs as evenly spread as drawn ones, without drawing: those of k^2 sqrt(prime).

    Two signs at any distance are equal as often as not, so that parameters whose ranks are near
    because they are alike count as any others.

    Examples
    --------
    >>> signs(2, 6)
    array([ 1., -1., -1., -1.,  1., -1.])
    """
    k = np.arange(1, n + 1, dtype=np.float64)
    return np.where(k * k * np.sqrt(prime) % 1.0 < 0.5, 1.0, -1.0)
