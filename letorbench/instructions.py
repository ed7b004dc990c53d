"""The processor instructions that kernels are compiled for: one fixed set for x86-64.

A compiler that uses the widest vectors of the machine at hand sums in another order on another
machine. With one set for all, the machine code, and so the results, are the same on all machines
that have it.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numba

#: the x86-64 level of about 2013 and later: AVX2 and fused multiply-add
BASELINE = "x86-64-v3"

#: what a processor of that level has, by LLVM's names
_NEEDED = frozenset({
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse3",
    "sse4.1", "sse4.2", "ssse3",
})  # fmt: skip


def use_baseline() -> None:
    """Let Numba compile for the baseline from now on, on machines that have it.

    Nothing changes where NUMBA_CPU_NAME or NUMBA_CPU_FEATURES is set, on other architectures and
    on older processors: Numba then compiles for what they say, or for the machine itself. Numba
    has one target a process and makes it with the first function that is declared, so code that
    used Numba before has chosen for its process.
    """
    if numba.config.CPU_NAME is None and numba.config.CPU_FEATURES is None and _has_baseline():
        numba.config.CPU_NAME, numba.config.CPU_FEATURES = BASELINE, ""


def _has_baseline() -> bool:
    if not llvm.get_process_triple().startswith("x86_64"):
        return False
    features = llvm.get_host_cpu_features()
    return all(features.get(name, False) for name in _NEEDED)
