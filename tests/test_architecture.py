"""The architecture as the folders promise it: layers, names, sizes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "letorbench"
FILES = sorted(PACKAGE.rglob("*.py"))

#: from the lowest to the highest; a module imports from its own layer or a lower one
LAYERS = (
    {
        "arithmetic",
        "errors",
        "escaping",
        "files",
        "instructions",
        "jit",
        "threads",
        "conventions",
        "choices",
        "lazy",
        "fit_warnings",
        "prefetch",
        "processes",
        "seals",
        "source",
    },
    {"datasets"},
    {"features"},
    {"measures"},
    {"models"},
    {"losses"},
    {"solvers"},
    {"rankers"},
    {"results"},
    {"experiment"},
    {"analysis"},
    {"papers"},
    {"api", "__init__"},
    {"cli", "compile", "__main__"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

#: file names that stand in several folders, each with its reason
EQUAL_NAMES = {
    "base.py": "the interface of its room: models, losses, measures, rankers",
}

RESULT_FILE = re.compile(
    r"scores\.txt|validation\.txt|fit\.json|model\.npz|per_query\.csv|folds\.csv|summary\.csv"
)


def room(file: Path) -> str:
    """The folder below the package, or the module's name where it stands in none."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(file: Path) -> Iterator[str]:
    """The full names of what a file imports from the package, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            top, _, rest = node.module.partition(".")
            if top == "letorbench":
                yield from ([rest.split(".")[0]] if rest else [name.name for name in node.names])
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.startswith("letorbench."):
                    yield name.name.split(".")[1]


def functions(file: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            yield node


def identify(file: Path) -> str:
    return str(file.relative_to(PACKAGE.parent))


def test_every_room_has_a_layer() -> None:
    assert {room(file) for file in FILES} <= set(LEVEL)


@pytest.mark.parametrize("file", FILES, ids=identify)
def test_imports_run_downwards(file: Path) -> None:
    own = LEVEL[room(file)]
    rooms = {name for name in imported(file) if name in LEVEL}
    upwards = {name for name in rooms if LEVEL[name] > own}
    assert not upwards, f"{identify(file)} imports from above: {', '.join(sorted(upwards))}"


def test_no_module_name_stands_twice() -> None:
    found = Counter(file.name for file in FILES if not file.name.startswith("__"))
    twice = {name for name, count in found.items() if count > 1}
    assert twice <= set(EQUAL_NAMES), sorted(twice - set(EQUAL_NAMES))


@pytest.mark.parametrize("file", FILES, ids=identify)
def test_functions_have_few_parameters(file: Path) -> None:
    """Commands are left out: click passes every option as a parameter."""
    many = [
        f"{function.name} ({count})"
        for function in functions(file)
        if not any("click" in ast.unparse(each) for each in function.decorator_list)
        and (count := _parameters(function)) >= 9
    ]
    assert not many, f"{identify(file)}: {', '.join(many)}"


def _parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in every)


def test_what_is_no_value_is_known() -> None:
    """A dataclass is frozen, except a ranker, whose settings users set, and a few that count."""
    changing = {
        name for name, cls, options in dataclasses() if not (options["frozen"] or cls.bases)
    }
    assert changing == {"Parameters", "_Cell", "_Node", "_Rows"}


def test_classes_that_hold_arrays_do_not_compare_them() -> None:
    """The equality of two arrays is an array, so that of such values would raise an error."""
    comparing = [
        name
        for name, cls, options in dataclasses()
        if options["eq"] and not cls.bases and any(map(_holds_arrays, cls.body))
    ]
    assert comparing == []


def dataclasses() -> Iterator[tuple[str, ast.ClassDef, dict[str, bool]]]:
    """Every dataclass of the package: its name, its source, and whether it is frozen and has eq."""
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            for each in node.decorator_list if isinstance(node, ast.ClassDef) else []:
                if ast.unparse(each).startswith("dataclass"):
                    given = {k.arg: k.value.value for k in getattr(each, "keywords", [])}
                    yield node.name, node, {"frozen": False, "eq": True} | given


def _holds_arrays(node: ast.stmt) -> bool:
    """Whether a field's type says that there is an array in it, other than a function's."""
    text = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
    return "ndarray" in re.sub(r"Callable\[.*\]", "", text) and "None" not in text


def test_one_module_knows_the_names_of_result_files() -> None:
    knowing = {
        identify(file)
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and RESULT_FILE.fullmatch(str(node.value))
    }
    assert knowing == {"letorbench/results/paths.py"}
