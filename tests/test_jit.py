"""Compiled kernels give the same bits freshly compiled and loaded from the cache."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

from letorbench.jit import may_hold_kernels
from letorbench.source import reached, text

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "letorbench"

FITS = """
import hashlib
import sys

sys.path.insert(0, sys.argv[1])
import numpy as np
from conftest import random_queries

from letorbench.losses import loss

queries = random_queries(np.random.default_rng(5), [40, 25, 60, 33], n_features=7)
slope = loss("listnet")(queries.features[:, 0].astype(float), queries).gradient
print(hashlib.sha256(slope.tobytes()).hexdigest())
"""


def test_fresh_and_cached_kernels_agree(tmp_path: Path) -> None:
    """Reordered sums are the risk. `python -m benchmarks.digests` compares all rankers so."""
    command = [sys.executable, "-c", FITS, str(TESTS)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    fresh, cached = (subprocess.check_output(command, env=environment) for _ in range(2))
    assert list(tmp_path.rglob("*.nbc"))
    assert cached == fresh and len(fresh) == 65


def test_a_full_disk_costs_the_kept_copy_only(tmp_path: Path) -> None:
    code = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
import numpy as np
from letorbench.jit import longest_query
print(longest_query(np.array([0, 3, 4]), 0, 2))
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.stdout == b"3\n", done.stderr
    assert not [path for path in tmp_path.rglob("*.nbc*")]


def test_an_edited_callee_is_compiled_anew(tmp_path: Path) -> None:
    """Numba by itself goes on running the old code of a callee in another file."""
    package = tmp_path / "letorbench"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    callee, caller = package / "edited.py", package / "uses_edited.py"
    body = "from letorbench.jit import kernel\n\n\n@kernel()\ndef one():\n    return {}\n"
    callee.write_text(body.format(1))
    caller.write_text(
        "from letorbench.jit import kernel\nfrom letorbench.edited import one\n\n\n"
        "@kernel()\ndef twice():\n    return 2 * one()\n"
    )

    def printed() -> str:
        command = "from letorbench.uses_edited import twice; print(twice())"
        # Python takes a file's old byte code where its size and its second are the same
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, "-c", command],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip

    assert printed() == "2"
    callee.write_text(body.format(3))
    assert printed() == "6"


def test_kernels_take_constants_from_modules_with_kernels_only() -> None:
    """The digest in a kernel folder's name knows no others."""
    strange = []
    for file in reached([folder.name for folder in PACKAGE.iterdir() if folder.is_dir()]):
        tree = ast.parse(text(file))
        origin = {
            each.asname or each.name: node.module.removeprefix("letorbench.").replace(".", "/")
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
            strange += [
                f"{file}: {name} of {origin[name]}" for name in sorted(used & origin.keys())
                if not may_hold_kernels(f"{origin[name]}.py") and origin[name] != "jit"
            ]  # fmt: skip
    assert strange == []
