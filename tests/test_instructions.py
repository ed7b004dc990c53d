"""Kernels are compiled for the baseline on the processors that have all of it, and nowhere else."""

import numba
import pytest

from letorbench import jit

#: of x86-64-v3, by its definition in the x86-64 ABI, less what every x86-64 processor has
WHOLE = dict.fromkeys(
    "cx16 popcnt sse3 sse4.1 sse4.2 ssse3 avx avx2 bmi bmi2 f16c fma lzcnt movbe".split(), True
)


@pytest.mark.parametrize(
    ("triple", "features", "name", "used"),
    [
        ("x86_64-unknown-linux-gnu", WHOLE | {"avx512f": False}, None, True),
        ("x86_64-unknown-linux-gnu", WHOLE | {"fma": False}, None, False),
        ("x86_64-unknown-linux-gnu", {n: v for n, v in WHOLE.items() if n != "fma"}, None, False),
        ("aarch64-unknown-linux-gnu", WHOLE, None, False),
        ("x86_64-unknown-linux-gnu", WHOLE, "native", False),
    ],
    ids=["all", "one lacking", "one not known", "another architecture", "set by the user"],
)
def test_the_baseline_is_used_where_a_processor_has_it(
    monkeypatch: pytest.MonkeyPatch,
    triple: str,
    features: dict[str, bool],
    name: str | None,
    used: bool,
) -> None:
    monkeypatch.setattr(jit.llvm, "get_process_triple", lambda: triple)
    monkeypatch.setattr(jit.llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(numba.config, "CPU_NAME", name)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    jit.use_baseline()
    chosen = ("x86-64-v3", "") if used else (name, None)
    assert (numba.config.CPU_NAME, numba.config.CPU_FEATURES) == chosen
