"""Which tests concern a module, by what they are called and what they import."""

from __future__ import annotations

import ast
from pathlib import Path

from scratch import TREE


def steps(file: str) -> list[list[str]]:
    """Return the tests nearest to a module of the package, then the others of its folder.

    The nearest are its own doctests, the file that mirrors its name, and those that import it.
    """
    room = Path(file).parts[1].removesuffix(".py")
    rooms = {"api": {"api", "cli"}, "cli": {"api", "cli"}}.get(room, {room})
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    tests = sorted((TREE / "tests").rglob("test_*.py"))
    near = [path for path in tests if path.stem == f"test_{Path(file).stem}"]
    near += [path for path in tests if module in _imported(path) and path not in near]
    words = {
        path: {*path.relative_to(TREE).parts, path.stem.removeprefix("test_")} for path in tests
    }
    rest = [path for path in tests if rooms & words[path] and path not in near]
    return [[file, *map(_name, near)], [*map(_name, rest)]]


def _name(path: Path) -> str:
    return str(path.relative_to(TREE))


def _imported(path: Path) -> set[str]:
    """Return the modules that a test file imports, or of which it imports a name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found
