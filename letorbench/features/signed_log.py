"""The logarithm of a value's size, with its sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.transformation import Transformation


@dataclass(frozen=True, eq=False)
class SignedLog(Transformation):
    """sign(x) log(1 + abs(x)), for counts and other values of many orders of magnitude."""

    name = "signed-log"
    formula = "sign(x) log(1 + abs(x))"

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        # NumPy's logarithm has other last bits on other processors
        from scipy.special import log1p

        return np.copysign(log1p(np.abs(x)), x)
