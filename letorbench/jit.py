"""Compiled loops: one decorator for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable)

#: floating-point freedoms that let a sum be vectorised; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz", "arcp"})


def kernel(*, reorder: bool = False) -> Callable[[Function], Function]:
    """Compile a function on its first call with each combination of argument types.

    Numba keeps the machine code on disk, so a later process loads it. A kernel is a plain loop
    over arrays: it releases the interpreter lock, allocates little and checks nothing. The
    function that calls it checks its input.

    Parameters
    ----------
    reorder : bool
        Let the compiler reorder floating-point sums. Use it only where no result depends on the
        last bit of a sum.
    """
    return numba.njit(
        nogil=True,
        cache=True,
        # A kernel that is called but not inlined has a copy in every caller's machine code, each
        # optimised differently, and which copy runs depends on what was loaded first: reordered
        # sums then differ between a freshly compiled process and one that loads the cache.
        forceinline=True,
        fastmath=set(REORDER) if reorder else False,
        error_model="numpy",  # a check for zero would keep divisions from being vectorised
    )


@kernel()
def longest_query(offsets: np.ndarray, first: int, last: int) -> int:
    """Return the largest number of documents of the queries first..last - 1."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest
