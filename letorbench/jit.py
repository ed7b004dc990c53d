"""Compiled loops: one decorator for all of them, and where their machine code is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np

from letorbench.instructions import BASELINE, use_baseline
from letorbench.source import PACKAGE, imported, reached, source_digest, text

use_baseline()

Function = TypeVar("Function", bound=Callable)

#: floating-point freedoms that let a sum be vectorised; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz", "arcp"})


def kernel(*, reorder: bool = False) -> Callable[[Function], Function]:
    """Compile a function on its first call with each combination of argument types.

    A kernel is a plain loop over arrays: it releases the interpreter lock, allocates little and
    checks nothing. The function that calls it checks its input. Numba keeps the machine code in
    `kernel_folder`, so a later process loads it.

    Parameters
    ----------
    reorder : bool
        Let the compiler reorder floating-point sums. Use it only where no result depends on the
        last bit of a sum.
    """

    def decorate(function: Function) -> Function:
        folder = str(kernel_folder(function.__module__))
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:
            return _kept_where_possible(compiled(function))
        finally:
            numba.config.CACHE_DIR = before

    compiled = numba.njit(
        nogil=True,
        cache=True,
        # A kernel that is called but not inlined has a copy in every caller's machine code, each
        # optimised differently, and which copy runs depends on what was loaded first: reordered
        # sums then differ between a freshly compiled process and one that loads the cache.
        forceinline=True,
        fastmath=set(REORDER) if reorder else False,
        error_model="numpy",  # a check for zero would keep divisions from being vectorised
    )
    return decorate


def _kept_where_possible(made: Function) -> Function:
    """Let a kernel work without a kept copy of its machine code, as on a full disk.

    Numba ends the first call with the error of the file, which has no name.
    """
    kept = getattr(made, "_cache", None)  # plain Python functions under NUMBA_DISABLE_JIT have none
    if kept is not None:
        save = kept.save_overload

        def save_where_possible(*arguments: object) -> None:
            with suppress(OSError):
                save(*arguments)

        kept.save_overload = save_where_possible
    return made


@cache
def kernel_folder(module: str) -> Path:
    """Return the folder of the machine code that belongs to a module's source as it is now.

    Numba compares a kernel's own file with the one that it compiled, not the files of the kernels
    that it calls. The folder's name holds a digest of the module and of all modules with kernels
    that it imports, so an edit of any of them compiles anew. A kernel takes constants from such
    modules only, and from modules that import no other.
    """
    file = module.removeprefix("letorbench.").replace(".", "/") + ".py"
    # a plug-in's kernels may call any
    places = [file] if (PACKAGE / file).is_file() else ["models", "losses", "solvers"]
    compiled = {each for each in reached(places) if may_hold_kernels(each)}
    digest = source_digest(compiled | reached(["jit.py"]))
    return kernel_root() / f"{module.rpartition('.')[2]}-{digest[:16]}"


def may_hold_kernels(file: str) -> bool:
    """Whether a module may hold kernels or constants of kernels."""
    return "letorbench.jit" in text(file) or not imported(file)


def kernel_root() -> Path:
    """Return the folder of all machine code.

    It is NUMBA_CACHE_DIR where that is set, else in the package, else, where the package is
    read-only, in the user's cache folder.
    """
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if os.access(PACKAGE, os.W_OK):
        return PACKAGE / "__pycache__" / "kernels"
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_home) / "letorbench"


def instruction_set() -> str:
    """Return the name of the processor that kernels are compiled for.

    It is the baseline wherever that could be chosen, else what Numba was set to or found.
    """
    _, name, features = longest_query.targetctx.codegen().magic_tuple()
    return name if name != BASELINE or not features else f"{name} with {features}"


@kernel()
def longest_query(offsets: np.ndarray, first: int, last: int) -> int:
    """Return the largest number of documents of the queries first..last - 1."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest
