"""Rank functionals: a score as a function of a document and of parameters that L-BFGS moves.

What is learned, the functional at its best parameters, is a scorer (`letorbench.scorers`).
"""

from __future__ import annotations

from letorbench.functionals.base import Functional
from letorbench.functionals.linear import LinearFunctional

__all__ = ["Functional", "LinearFunctional"]
