"""Rank functionals: a score as a function of a document and of parameters that L-BFGS moves.

What is learned, the functional at its best parameters, is a scorer (`letorbench.scorers`).
"""

from __future__ import annotations

from letorbench.functionals.base import Functional
from letorbench.functionals.linear import LinearFunctional
from letorbench.functionals.quadratic import QuadraticFunctional
from letorbench.functionals.separate import SeparateFunctional

__all__ = ["Functional", "LinearFunctional", "QuadraticFunctional", "SeparateFunctional"]
