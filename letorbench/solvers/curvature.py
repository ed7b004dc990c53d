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


def mean_curvature(
    gradient: Callable[[np.ndarray], np.ndarray],
    scores: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    penalised: np.ndarray,
) -> float:
    """Estimate trace(H) / n at a point by Hutchinson's z'Hz / n, the mean over several signs z.

    H z is the difference of two gradients, at the points where the scores differ from those of
    the start by 1 in root mean square. This is the scale on which ranking losses bend, and it
    gives a finite value also for a loss with kinks. Where a loss is not convex, abs(z'Hz) counts.

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
    here = scores(start)
    found = []
    for prime in PRIMES[:DIRECTIONS]:
        z = signs(prime, len(start)) * penalised
        moved = float(np.sqrt(np.mean((scores(start + z) - here) ** 2)))
        if moved > 0.0 and np.isfinite(moved):
            h = 1.0 / moved
            change = gradient(start + h * z) - gradient(start - h * z)
            found.append(abs(dot(z, change)) / (2.0 * h))
    curvature = float(np.mean(found)) / n if found else 0.0
    return curvature if curvature > 0.0 and np.isfinite(curvature) else 1.0


def signs(prime: int, n: int) -> np.ndarray:
    """Return n signs as evenly spread as drawn ones, without drawing: those of k sqrt(prime).

    Examples
    --------
    >>> signs(2, 6)
    array([ 1., -1.,  1., -1.,  1.,  1.])
    """
    return np.where(np.arange(1, n + 1) * np.sqrt(prime) % 1.0 < 0.5, 1.0, -1.0)
