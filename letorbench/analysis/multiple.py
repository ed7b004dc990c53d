"""Many tests at once: p-values adjusted so that they may be held against one level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from letorbench.errors import UsageError


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment, (m,) float64: keeps the chance of any false rejection.

    With p_(1) <= ... <= p_(m): max over j <= i of min(1, (m - j + 1) p_(j)). S. Holm, A Simple
    Sequentially Rejective Multiple Test Procedure, Scand. J. Statistics 6, 1979.
    p: (m,) in [0, 1]; ValueError otherwise.
    """
    p = _checked(p)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    return _restored(np.maximum.accumulate(factors * p[order]), order)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's step-up adjustment, (m,) float64: keeps the share of false ones.

    With p_(1) <= ... <= p_(m): min over j >= i of min(1, m p_(j) / j). Y. Benjamini, Y.
    Hochberg, Controlling the False Discovery Rate, J. Royal Statistical Society B 57, 1995.
    p: (m,) in [0, 1]; ValueError otherwise.
    """
    p = _checked(p)
    order = np.argsort(p, kind="stable")
    steps = len(p) * p[order] / np.arange(1, len(p) + 1)
    return _restored(np.minimum.accumulate(steps[::-1])[::-1], order)


#: the adjustments by name
CORRECTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"holm": holm, "bh": benjamini_hochberg, "none": lambda p: _checked(p).copy()}
)


def adjust(name: str, p: np.ndarray) -> np.ndarray:
    """The p-values adjusted as `name` says; UsageError names the choices."""
    if name not in CORRECTIONS:
        raise UsageError(f"unknown correction {name!r}; expected one of {', '.join(CORRECTIONS)}")
    return CORRECTIONS[name](p)


def _checked(p: np.ndarray) -> np.ndarray:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("expected one p-value a test, from 0 to 1")
    return p


def _restored(adjusted: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The adjusted values, at most 1, in the order in which the tests came."""
    restored = np.empty_like(adjusted)
    restored[order] = np.minimum(adjusted, 1.0)
    return restored
