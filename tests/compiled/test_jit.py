"""Kernels: the same bits freshly compiled and from the cache, for one set of instructions."""

import ast
import importlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import letorbench
from letorbench import source
from letorbench.compiled import jit
from letorbench.compiled.jit import may_hold_kernels
from letorbench.source import reached, text

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "letorbench"

FITS = """
import numpy as np
from letorbench.models import MLP

rng = np.random.default_rng(5)
net = MLP(rng.normal(size=(7, 46)).astype(np.float32), rng.normal(size=7), rng.normal(size=7))
print(net.predict(rng.random((158, 46), dtype=np.float32)).tobytes().hex())
"""


def test_fresh_and_cached_kernels_agree(tmp_path):
    """Reordered sums are the risk. `python -m benchmarks.digests` compares all rankers so."""
    command = [sys.executable, "-c", FITS]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    fresh, cached = (subprocess.check_output(command, env=environment) for _ in range(2))
    assert list(tmp_path.rglob("*.nbc"))
    assert cached == fresh and len(fresh) == 16 * 158 + 1


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    jit.kernel_folder.cache_clear()
    yield tmp_path / "kernels"
    jit.kernel_folder.cache_clear()


def test_a_full_disk_costs_the_kept_copy_only(kept):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most, saved in ((500, 0), (limits[0], 1)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            assert jit.kernel()(jit.longest_query.py_func)(np.array([0, 3, 4]), 0, 2) == 3
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert len(list(kept.rglob("*.nbc*"))) == saved


def test_an_edited_callee_is_compiled_anew(kept, tmp_path, monkeypatch):
    """Numba by itself goes on running the old code of a callee in another file."""
    for module in (source, jit):
        monkeypatch.setattr(module, "PACKAGE", tmp_path)
    monkeypatch.setattr(letorbench, "__path__", [*letorbench.__path__, str(tmp_path)])
    (tmp_path / "compiled").mkdir()
    for name in ("compiled/jit.py", "source.py"):
        shutil.copy(PACKAGE / name, tmp_path / name)
    body = "from letorbench.compiled.jit import kernel\n\n\n@kernel()\ndef one():\n    return {}\n"
    (tmp_path / "uses_edited.py").write_text(
        "from letorbench.compiled.jit import kernel\nfrom letorbench.edited import one\n\n\n"
        "@kernel()\ndef twice():\n    return 2 * one()\n"
    )

    def in_a_new_process(number: int) -> int:
        (tmp_path / "edited.py").write_text(body.format(number))
        for each in (source.text, source.code, source.imported, jit.kernel_folder,
                     importlib.invalidate_caches):  # fmt: skip
            getattr(each, "cache_clear", each)()
        for name in ("edited", "uses_edited"):
            monkeypatch.delitem(sys.modules, f"letorbench.{name}", raising=False)
        return importlib.import_module("letorbench.uses_edited").twice()

    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it goes by size and whole seconds
    assert [in_a_new_process(number) for number in (1, 3, 1)] == [2, 6, 2]
    for each in (source.text, source.code, source.imported):
        each.cache_clear()


def test_kernels_take_constants_from_modules_with_kernels_only():
    """The digest in a kernel folder's name knows no others."""
    strange = []
    for file in reached([folder.name for folder in PACKAGE.iterdir() if folder.is_dir()]):
        tree = ast.parse(text(file))
        origin = {
            each.asname or each.name: (
                each.name if node.module == "letorbench"
                else node.module.removeprefix("letorbench.")
            )
            for node in tree.body if isinstance(node, ast.ImportFrom) and node.module
            and node.module.startswith("letorbench") for each in node.names
        }  # fmt: skip
        kernels = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
            and any("kernel(" in ast.unparse(each) for each in node.decorator_list)
        ]  # fmt: skip
        for kernel in kernels:
            body = ast.Module(kernel.body, [])
            used = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
            used -= {each.arg for each in kernel.args.args}
            strange += [
                f"{file}: {name} of {origin[name]}" for name in sorted(used & origin.keys())
                if origin[name] != "compiled.jit"
                and not may_hold_kernels(source.file_of(f"letorbench.{origin[name]}"))
            ]  # fmt: skip
    assert strange == []


#: of x86-64-v3, by its definition in the x86-64 ABI, less what every x86-64 processor has
WHOLE = dict.fromkeys(
    "cx16 popcnt sse3 sse4.1 sse4.2 ssse3 avx avx2 bmi bmi2 f16c fma lzcnt movbe".split(), True
)


@pytest.mark.parametrize(("machine", "features", "name", "used"), [
    ("x86_64", WHOLE | {"avx512f": False}, None, True),
    ("x86_64", WHOLE | {"fma": False}, None, False),
    ("x86_64", {name: has for name, has in WHOLE.items() if name != "fma"}, None, False),
    ("aarch64", WHOLE, None, False), ("x86_64", WHOLE, "native", False),
])  # fmt: skip
def test_the_baseline_is_used_where_a_processor_has_it(machine, features, name, used, monkeypatch):
    monkeypatch.setattr(jit.llvm, "get_process_triple", lambda: f"{machine}-unknown-linux-gnu")
    monkeypatch.setattr(jit.llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(numba.config, "CPU_NAME", name)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    jit.use_baseline()
    chosen = ("x86-64-v3", "") if used else (name, None)
    assert (numba.config.CPU_NAME, numba.config.CPU_FEATURES) == chosen


def test_machine_code_is_kept_where_the_user_says_or_may_write(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    for said, writable, place in (
        ("/own", True, "/own"),
        ("", True, f"{PACKAGE}/__pycache__/kernels"),
        ("", False, "/cache/letorbench"),
    ):
        monkeypatch.setattr(numba.config, "CACHE_DIR", said)
        monkeypatch.setattr(jit.os, "access", lambda path, mode: writable)
        assert str(jit.kernel_root()) == place
