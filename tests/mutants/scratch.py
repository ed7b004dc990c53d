"""A scratch copy of the last commit, in which code may be broken without harm."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
WORK = REPOSITORY / "build" / "mutants"
TREE = WORK / "tree"
COMPILED = WORK / "compiled.json"  # the folder of machine code, the files' times


def prepare() -> None:
    """Clone the last commit, compile its kernels, and note the times of its files."""
    head = git("rev-parse", "HEAD", cwd=REPOSITORY)
    if TREE.is_dir() and git("rev-parse", "HEAD", cwd=TREE) == head and COMPILED.is_file():
        git("checkout", "--quiet", "--", ".", cwd=TREE)
        return
    shutil.rmtree(TREE, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    git("clone", "--quiet", "--shared", str(REPOSITORY), str(TREE), cwd=WORK)
    link_shared()
    subprocess.run([sys.executable, "-m", "letorbench.compile"], env=environment(), check=True)
    note_compiled()


def note_compiled() -> None:
    """Note what machine code belongs to the scratch copy as it is now."""
    times = {name: (TREE / name).stat().st_mtime_ns for name in sources()}
    COMPILED.write_text(json.dumps({"folder": str(_kernel_folder()), "times": times}))


def link_shared() -> None:
    """Let tests in the scratch copy find the real data beside the repository."""
    shared = REPOSITORY.parent / "shared"
    if shared.is_dir() and not (WORK / "shared").exists():
        (WORK / "shared").symlink_to(shared.resolve())


def sources() -> list[str]:
    return git("ls-files", "letorbench", cwd=TREE).splitlines()


def changed() -> dict[str, list[int]]:
    """Return the lines, as numbered in the commit, that differ in each file of the scratch copy."""
    found: dict[str, list[int]] = {}
    name = ""
    for line in git("diff", "--unified=0", "--no-color", cwd=TREE).splitlines():
        if line.startswith("--- a/"):
            name = line.removeprefix("--- a/")
        elif line.startswith("@@"):
            first, _, count = line.split()[1].removeprefix("-").partition(",")
            numbers = range(int(first), int(first) + max(1, int(count or 1)))
            found.setdefault(name, []).extend(numbers)
    return found


@contextmanager
def machine_code(changed_files: set[str], in_kernels: bool) -> Iterator[None]:
    """Keep the machine code that an edit does not concern.

    The folder of machine code is named by a digest of the source, so an edit would compile every
    kernel again. Inside the folder Numba looks at the time of each kernel's own file: those of
    the files that did not change stay good, but for those that import a changed one where the
    edit is in a kernel or in a constant that kernels read.
    """
    compiled = json.loads(COMPILED.read_text())
    for name, time in compiled["times"].items():
        if name not in changed_files:
            os.utime(TREE / name, ns=(time, time))
    new = _kernel_folder()
    if new is None or new.exists():
        yield
        return
    shutil.copytree(compiled["folder"], new, copy_function=os.link)
    for name in _importers(changed_files) if in_kernels else ():
        for index in new.rglob(f"{Path(name).stem}.*.nbi"):
            index.unlink()
    try:
        yield
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _importers(files: set[str]) -> set[str]:
    """Return the files that import one of these, directly or not."""
    imports = {name: _imported(TREE / name) for name in sources() if name.endswith(".py")}
    found: set[str] = set()
    waiting = {_module(name) for name in files}
    while waiting:
        new = {name for name, modules in imports.items() if modules & waiting} - found
        found |= new
        waiting = {_module(name) for name in new}
    return found


def _imported(path: Path) -> set[str]:
    """The modules that a file imports from; a name may be a module itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {str(node.module), *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def _module(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _kernel_folder() -> Path | None:
    """The folder of machine code of the source as it is, None where it cannot be imported."""
    command = "from letorbench.jit import kernel_folder; print(kernel_folder())"
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment(), capture_output=True, text=True
    )
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def environment() -> dict[str, str]:
    """Return the environment in which the scratch copy is what is imported."""
    return os.environ | {"PYTHONPATH": str(TREE)}


def git(*words: str, cwd: Path) -> str:
    return subprocess.run(
        ["git", *words], cwd=cwd, capture_output=True, text=True, check=True
    ).stdout.strip()
