"""Kernels are compiled for the baseline on the processors that have all of it, and nowhere else."""

from __future__ import annotations

import numba
import pytest

from letorbench import instructions

#: of x86-64-v3, by its definition in the x86-64 ABI, less what every x86-64 processor has
WHOLE = dict.fromkeys(
    "cx16 popcnt sse3 sse4.1 sse4.2 ssse3 avx avx2 bmi bmi2 f16c fma lzcnt movbe".split(), True
)


@pytest.mark.parametrize("lacks", ["nothing", "fma", "avx2", "x86_64", "a choice of the user"])
def test_the_baseline_is_used_where_a_processor_has_it(lacks, monkeypatch) -> None:
    system = "aarch64-unknown-linux-gnu" if lacks == "x86_64" else "x86_64-unknown-linux-gnu"
    features = WHOLE | {"avx512f": False, lacks: False}
    name = "native" if lacks == "a choice of the user" else None
    monkeypatch.setattr(instructions.llvm, "get_process_triple", lambda: system)
    monkeypatch.setattr(instructions.llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(numba.config, "CPU_NAME", name)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    instructions.use_baseline()
    expected = ("x86-64-v3", "") if lacks == "nothing" else (name, None)
    assert (numba.config.CPU_NAME, numba.config.CPU_FEATURES) == expected
