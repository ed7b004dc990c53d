"""Where a minimisation of |w|^2 / 2 + C R(w), R convex, ended, and how near to the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.fit_warnings import FitWarning

#: a sum is rounded by about this share of its terms
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Minimum:
    """The end of a minimisation with a certified gap.

    Parameters
    ----------
    point : ndarray of shape (n,), float64
    value : float
        The objective at the point.
    gap : float
        A bound on value - the least value, or, for Newton's method on features of very
        different sizes, what the last step promised.
    values : tuple of float
        The objective at the start and after each iteration.
    asked : float
        The gap that was asked for, as a share of the value.
    late : bool
        Whether the deadline ended the minimisation.
    """

    point: np.ndarray
    value: float
    gap: float
    values: tuple[float, ...]
    asked: float
    late: bool = False

    @property
    def converged(self) -> bool:
        """Whether the gap is as small as asked, or no more than rounding of the first value."""
        return self.gap <= max(self.asked * self.value, ROUNDING * self.values[0])

    def warnings(self) -> tuple[FitWarning, ...]:
        """Return what to tell the user: nothing, or how far the minimisation got."""
        if self.converged:
            return ()
        text = (
            f"stopped after {len(self.values) - 1} iterations with a gap of "
            f"{self.gap / self.value:.1e} of the objective, asked for {self.asked:.1e}"
        )
        return (FitWarning("cut off" if self.late else "not converged", text),)
