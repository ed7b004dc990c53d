"""A scratch copy of the last commit, in which code may be broken without harm."""

from __future__ import annotations

import ast
import compileall
import io
import os
import py_compile
import shutil
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
WORK = REPOSITORY / "build" / "mutants"
TREE = WORK / "tree"
KERNELS = WORK / "kernels"  # machine code, in a folder for each state of the source
MADE = WORK / "made"  # the commit, and the folder of its machine code
FOR_TESTS = WORK / "tmp"  # what tests write, also those that are stopped


def prepare() -> bool:
    """Clone the last commit and compile its kernels; return whether it had to be done."""
    head = git("rev-parse", "HEAD", cwd=REPOSITORY)
    if MADE.is_file() and MADE.read_text().split()[0] == head:
        git("checkout", "--quiet", "--", ".", cwd=TREE)
        return False
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    git("clone", "--quiet", "--shared", str(REPOSITORY), str(TREE), cwd=WORK)
    link_shared()
    # by content: an edit may be undone within the second and byte count that are compared else
    by_content = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(TREE / "letorbench", quiet=1, invalidation_mode=by_content)
    compile_kernels = [sys.executable, "-m", "letorbench.compile"]
    subprocess.run(compile_kernels, env=environment(), cwd=TREE, check=True)
    (folder,) = KERNELS.glob("kernels-*")
    MADE.write_text(f"{head} {folder.name}")
    return True


def link_shared() -> None:
    """Let tests in the scratch copy find the real data beside the repository."""
    shared = REPOSITORY.parent / "shared"
    if shared.is_dir():
        (WORK / "shared").symlink_to(shared.resolve())


@cache
def sources() -> dict[str, str]:
    """Return the package's Python files as committed: one may be broken at the moment."""
    command = ["git", "archive", "HEAD", "letorbench"]
    packed = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        files = [each for each in archive if each.name.endswith(".py")]
        return {each.name: archive.extractfile(each).read().decode() for each in files}


@cache
def module(file: str) -> ast.Module:
    """Return the syntax tree of a file of the package as committed."""
    return ast.parse(sources()[file])


def environment() -> dict[str, str]:
    """Return the environment in which the scratch copy is what is imported and tested."""
    changes = {
        "PYTHONPATH": str(TREE),
        "NUMBA_CACHE_DIR": str(KERNELS),
        "LETORBENCH_THREADS": "1",
        "MPLBACKEND": "Agg",
        "TMPDIR": str(FOR_TESTS),
    }
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | changes


def git(*words: str, cwd: Path) -> str:
    return subprocess.run(
        ["git", *words], cwd=cwd, capture_output=True, text=True, check=True
    ).stdout.strip()
