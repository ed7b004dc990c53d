"""The tests that may notice an edit: those that execute its lines, the nearest and quickest first.

A line that the module executes when it is imported belongs to every test. There the tests count
that execute a line with one of the names that it binds, and all those nearest to the module, or
to the modules that import it where it has none.
"""

from __future__ import annotations

import ast
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

from kernels import direct_importers, first_line, imported
from recorder import LINES, TESTS
from scratch import TREE, module, sources

#: seconds of tests in the first step, and in all steps together
FIRST, ALL = 6.0, 30.0

#: these read the source as text: any edit makes them fail
READ_SOURCE = ("tests/test_planted_faults.py", "tests/test_architecture.py")


class Tests:
    """What the tests executed when nothing was broken."""

    def __init__(self) -> None:
        noted = json.loads(TESTS.read_text())
        self.failed = sorted(name for name, test in noted.items() if not test["passed"])
        self.seconds = {
            name: test["seconds"]
            for name, test in noted.items()
            if test["passed"] and not name.startswith(READ_SOURCE)
        }
        self._users: dict[str, set[str]] = defaultdict(set)
        self._in_file: dict[str, set[str]] = defaultdict(set)
        for name in self.seconds:
            self._in_file[name.partition("::")[0]].add(name)
            for fixture in noted[name]["shared"]:
                self._users[fixture].add(name)
        self._executed = _executed()

    def steps(self, file: str, lines: range) -> Iterator[list[str]]:
        """Return the tests for an edit of lines of a file, in steps of rising length."""
        tree = module(file)
        statement = statement_around(tree, lines)
        executing = self.executing(file, statement)
        near = nearest(file)
        if in_no_function(tree, lines):
            read = mentions(file, _bound(tree, lines), in_class(tree, lines))
            for other, numbers in read.items():
                executing |= self.executing(other, numbers)
            executing |= self._nearest({file})
        rank = {each: place for place, each in enumerate(near)}

        def order(test: str) -> tuple[int, float, str]:
            return rank.get(test.partition("::")[0], len(near)), self.seconds[test], test

        yield from self._in_steps(sorted(executing, key=order))

    def _nearest(self, files: set[str]) -> set[str]:
        """Return the tests nearest to modules, or else to those that import them, and so on."""
        seen: set[str] = set()
        while files:
            tests = {test for f in files for each in nearest(f) for test in self._in_file[each]}
            if tests:
                return tests
            seen |= files
            files = {each for file in files for each in direct_importers(file)} - seen
        return set()

    def executing(self, file: str, lines: Iterable[int]) -> set[str]:
        """Return the tests that execute one of the lines, themselves or by a shared fixture."""
        names = {name for name, bits in self._executed[file] if any(_has(bits, n) for n in lines)}
        return {test for name in names for test in self._users.get(name, {name})} & {*self.seconds}

    def _in_steps(self, tests: list[str]) -> Iterator[list[str]]:
        """Return the quick ones of the nearest tests, then as many others as there is time for."""
        first = self._for(FIRST, tests)
        yield first
        rest = sorted({*tests} - {*first}, key=lambda test: (self.seconds[test], test))
        yield self._for(ALL, rest) or rest[:1]

    def _for(self, limit: float, tests: list[str]) -> list[str]:
        """Return the tests, in their order, that fit together into so many seconds."""
        taken, spent = [], 0.0
        for test in tests:
            if spent + self.seconds[test] <= limit:
                taken.append(test)
                spent += self.seconds[test]
        return taken


def _executed() -> dict[str, list[tuple[str, bytes]]]:
    """Return, for each file, who executed it, and a bit for each line that was.

    This is coverage.py's own form (its page "dbschema"): to list the tests of every line of every
    file takes minutes.
    """
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    with closing(sqlite3.connect(LINES)) as database:
        asked = """
            select file.path, context.context, line_bits.numbits
            from line_bits join file on file.id = file_id join context on context.id = context_id
        """
        for path, context, bits in database.execute(asked):
            found[str(Path(path).relative_to(TREE))].append((context, bits))
    return found


def _has(bits: bytes, line: int) -> bool:
    return line // 8 < len(bits) and bool(bits[line // 8] >> line % 8 & 1)


def statement_around(tree: ast.Module, lines: range) -> range:
    """Return the lines of the innermost statement around lines, without those in its body.

    What stands before the body of a function, a default or a decorator, concerns all of it.
    """
    around = range(lines[0], lines[-1] + 1)
    for node in ast.walk(tree):  # outer nodes come first
        if isinstance(node, ast.stmt) and first_line(node) <= lines[0]:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body and body[0].lineno > node.lineno else node.end_lineno
            if lines[-1] <= last:
                whole = isinstance(node, ast.FunctionDef | ast.ClassDef)
                around = range(first_line(node), (node.end_lineno if whole else last) + 1)
    return around


def in_no_function(tree: ast.Module, lines: range) -> bool:
    """Return whether lines are executed when the module is imported."""
    return not any(
        isinstance(node, ast.FunctionDef)
        and node.body[0].lineno <= lines[0] and lines[-1] <= node.end_lineno
        for node in ast.walk(tree)
    )  # fmt: skip


def in_class(tree: ast.Module, lines: range) -> bool:
    """Return whether lines are in the body of a class."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return any(node.lineno < lines[0] and lines[-1] <= node.end_lineno for node in classes)


def _bound(tree: ast.Module, lines: range) -> set[str]:
    """Return the names that the statements around lines bind: constants, fields, definitions."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= lines[0] and lines[-1] <= node.end_lineno:
            names |= {getattr(node, "name", "")}
            if not isinstance(node, ast.ClassDef):
                names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)
                          and isinstance(n.ctx, ast.Store)}  # fmt: skip
    return names - {""}


def mentions(file: str, names: set[str], of_class: bool) -> dict[str, list[int]]:
    """Return the lines that read one of a module's names, in it and in those that import it.

    A name that a class binds may be read anywhere.
    """
    files = sources() if of_class else (file, *direct_importers(file))
    return {each: [n for name in names for n in _read(each).get(name, ())] for each in files}


@cache
def _read(file: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for node in ast.walk(module(file)):
        name = (
            getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
        )
        if isinstance(name, str) and hasattr(node, "lineno"):
            found[name].append(node.lineno)
    return found


@cache
def nearest(file: str) -> list[str]:
    """Return a module itself, the test that has its name, and those that import it."""
    dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    tests = sorted((TREE / "tests").rglob("test_*.py"))
    near = [path for path in tests if path.stem == f"test_{Path(file).stem}"]
    importing = [path for path in tests if dotted in imported(ast.parse(path.read_text()))]
    return [file, *(str(path.relative_to(TREE)) for path in dict.fromkeys(near + importing))]
