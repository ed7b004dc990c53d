"""Which machine code an edit concerns, so that the rest need not be compiled anew."""

from __future__ import annotations

import ast
import importlib.util
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from numba.core.caching import _SourceFileBackedLocatorMixin
from scratch import KERNELS, MADE, TREE, module, sources
from warm import in_fork

#: seconds of processor time that importing the package may take
IMPORTING = 60.0


def is_kernel(node: ast.AST) -> bool:
    """Return whether a node is a function that is compiled."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(each).startswith("kernel(") for each in node.decorator_list
    )


def reaches_kernels(file: str, lines: range) -> bool:
    """Return whether an edit of lines, as numbered in the commit, may change machine code.

    It lies in a kernel, or in a statement of the module whose names a kernel reads.
    """
    for node in module(file).body:
        if first_line(node) <= lines[-1] and lines[0] <= (node.end_lineno or 0):
            return is_kernel(node) or bool(_constants(node) & read_by_kernels())
    return False


def first_line(node: ast.stmt) -> int:
    """Return a statement's first line, that of its first decorator."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def _constants(node: ast.stmt) -> set[str]:
    """The names that a statement outside functions and classes binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    return {
        each.id
        for target in targets
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign)
    }


@cache
def read_by_kernels() -> frozenset[str]:
    """Return every name that stands in a kernel."""
    kernels = (n for file in sources() for n in module(file).body if is_kernel(n))
    return frozenset(n.id for each in kernels for n in ast.walk(each) if isinstance(n, ast.Name))


@contextmanager
def machine_code(file: str, in_kernels: bool) -> Iterator[None]:
    """Keep the machine code that the edit of a file does not concern.

    The folder of machine code is named by a digest of the source, and Numba stamps what it keeps
    of a file with that file's content: an edit would compile every kernel again. So the broken
    source gets a folder of links to the machine code of the commit. There the file's own is
    stamped anew, unless the edit is in a kernel or in what kernels read: then the machine code
    of that file, and of those that import it, is left out.
    """
    compiled, broken = compiled_folder(), KERNELS / f"kernels-{_digest()}"
    if broken == compiled:  # nothing compiled may depend on the file
        yield
        return
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(compiled, broken, copy_function=lambda a, b: Path(b).hardlink_to(a))
    try:
        for name in {file, *importers(file)} if in_kernels else {file}:
            found = list(broken.rglob(f"{Path(name).stem}.*.nbi"))
            if in_kernels:
                for index in found:
                    index.unlink()
            elif found:
                _stamp_apart(found, TREE / file)
        yield
    finally:
        shutil.rmtree(broken, ignore_errors=True)


def _stamp_apart(indexes: list[Path], file: Path) -> None:
    """Stamp indexes in a fork, since reading one imports the package as it is broken now.

    Where it cannot be imported, they stay as they are, and every test fails.
    """

    def work() -> int:
        for index in indexes:
            _stamp(index, file)
        return 0

    in_fork(work, IMPORTING)


def _stamp(index: Path, file: Path) -> None:
    """Let an index of machine code belong to the file as it is."""
    with index.open("rb") as stream:
        version = pickle.load(stream)
        _, overloads = pickle.loads(stream.read())
    stamp = _SourceFileBackedLocatorMixin.get_source_stamp(SimpleNamespace(_py_file=str(file)))
    index.unlink()  # it is a link
    index.write_bytes(pickle.dumps(version, -1) + pickle.dumps((stamp, overloads), -1))


def compiled_folder() -> Path:
    """Return the folder of the commit's machine code."""
    return KERNELS / MADE.read_text().split()[1]


def _digest() -> str:
    """The digest that names the folder of machine code, by the package's own rule."""
    found = [n for n in module("letorbench/jit.py").body if "COMPILED = (" in ast.unparse(n)]
    specification = importlib.util.spec_from_file_location("rule", TREE / "letorbench/source.py")
    rule = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(rule)
    return rule.source_digest(*ast.literal_eval(found[0].value))[:16]


def importers(file: str) -> set[str]:
    """Return the files that import a file, directly or not."""
    found: set[str] = set()
    waiting = {file}
    while waiting:
        new = {name for each in waiting for name in direct_importers(each)} - found
        found |= new
        waiting = new
    return found


@cache
def direct_importers(file: str) -> list[str]:
    """Return the files that import a file."""
    return [name for name in sources() if _dotted(file) in imported(module(name))]


def imported(module: ast.Module) -> set[str]:
    """Return what a module imports; a name that it imports may be a module itself."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def _dotted(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
