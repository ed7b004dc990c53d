"""Compiled loops: one decorator for all of them, and the place of their machine code.

They are compiled for one fixed set of instructions on x86-64. A compiler that uses the widest
vectors of the machine at hand sums in another order on another machine. With one set for all, the
machine code, and so the results, are the same on all machines that have it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import event

from letorbench.source import PACKAGE, imported, reached, source_digest, text

Function = TypeVar("Function", bound=Callable)
#: the x86-64 level of about 2013 and later: AVX2 and fused multiply-add
BASELINE = "x86-64-v3"
#: the features of a processor of that level, by LLVM's names
_NEEDED = frozenset({
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse3",
    "sse4.1", "sse4.2", "ssse3",
})  # fmt: skip
#: floating-point freedoms that let a sum be vectorised; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz", "arcp"})


def use_baseline() -> None:
    """Let Numba compile for the baseline from now on, on machines that have it.

    Nothing changes if NUMBA_CPU_NAME or NUMBA_CPU_FEATURES is set, on other architectures and on
    older processors. Numba has one target per process and makes it with the first function that is
    declared, so code that used Numba before has chosen for its process.
    """
    x86, features = llvm.get_process_triple().startswith("x86_64"), llvm.get_host_cpu_features()
    chosen = numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None
    if x86 and not chosen and all(features.get(name, False) for name in _NEEDED):
        numba.config.CPU_NAME, numba.config.CPU_FEATURES = BASELINE, ""


use_baseline()


def kernel(*, reorder: bool = False, kept: bool = True) -> Callable[[Function], Function]:
    """Compile a function on its first call with each combination of argument types.

    A kernel is a plain loop over arrays: it releases the interpreter lock, allocates little and
    checks nothing; its caller checks the input. Numba keeps the machine code in `kernel_folder`, so
    a later process loads it. `reorder` lets the compiler reorder floating-point sums; use it only
    if no result depends on the last bit of a sum. `kept` is False for a kernel that takes other
    kernels as arguments: Numba cannot keep it by itself, but in the machine code of the kernels
    that call it.
    """

    def decorate(function: Function) -> Function:
        if not kept:
            return numba.njit(**{**options, "cache": False})(function)
        return _cached(numba.njit(**options), function, kernel_folder(function.__module__))

    options: dict[str, Any] = dict(
        nogil=True,
        cache=True,
        # A kernel that is called but not inlined has a copy in every caller's machine code, each
        # optimised differently, and which copy runs depends on what was loaded first: reordered
        # sums then differ between a freshly compiled process and one that loads the cache.
        forceinline=True,
        fastmath=set(REORDER) if reorder else False,
        error_model="numpy",  # a check for zero would keep divisions from being vectorised
        no_cfunc_wrapper=True,  # no kernel is called from C
    )
    return decorate


def _cached(compiled: Callable[[Function], Function], function: Function, folder: Path) -> Function:
    """Declare a kernel with its folder; it also works if nothing can be saved there."""
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        kernel = compiled(function)
    finally:
        numba.config.CACHE_DIR = before
    cache = getattr(kernel, "_cache", None)  # NUMBA_DISABLE_JIT leaves plain Python functions
    if cache is not None:
        save = cache.save_overload

        def save_where_possible(*arguments: object) -> None:
            with suppress(OSError):
                save(*arguments)

        cache.save_overload = save_where_possible
    return kernel


@cache
def kernel_folder(module: str) -> Path:
    """Return the folder of the machine code of a module's current source.

    Numba checks whether a kernel's file has changed, not the files of the kernels that it calls. So
    the folder's name holds a digest of the module and of all modules with kernels that it imports,
    and an edit of any of them compiles anew. A kernel takes constants only from such modules and
    from modules that import no other.
    """
    file = module.removeprefix("letorbench.").replace(".", "/") + ".py"
    # a plug-in's kernels may call any
    places = [file] if (PACKAGE / file).is_file() else ["models", "losses", "solvers"]
    compiled = {each for each in reached(places) if may_hold_kernels(each)}
    digest = source_digest(compiled | reached(["compiled/jit.py"]))
    return kernel_root() / f"{module.rpartition('.')[2]}-{digest[:16]}"


def may_hold_kernels(file: str) -> bool:
    """Return whether a module may hold kernels or constants of kernels."""
    return "letorbench.compiled.jit" in text(file) or not imported(file)


def kernel_root() -> Path:
    """Return the folder of all machine code: NUMBA_CACHE_DIR, the package or the user's cache."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if os.access(PACKAGE, os.W_OK):
        return PACKAGE / "__pycache__" / "kernels"
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_home) / "letorbench"


@contextmanager
def on_compile(callback: Callable[[], None]) -> Iterator[None]:
    """Call a function each time that this process compiles a kernel, which takes seconds."""

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            callback()

        def on_end(self, event: Any) -> None:
            pass

    # not emitted for a kernel that is loaded from its folder
    with event.install_listener("numba:compile", Listener()):
        yield


def instruction_set() -> str:
    """Return the name of the processor that kernels are compiled for, the baseline if possible."""
    _, name, features = longest_query.targetctx.codegen().magic_tuple()
    return name if name != BASELINE or not features else f"{name} with {features}"


@kernel()
def longest_query(offsets: np.ndarray, first: int, last: int) -> int:
    """Return the largest number of documents of the queries first..last - 1."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    return longest
