"""The architecture as docs/design.md promises it: layers, values that do not change, docstrings."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "letorbench"
#: the rooms from the lowest to the highest; a module imports from its own room or a lower one
LAYERS = (
    "datasets", "features", "measures", "models", "losses", "solvers", "rankers", "results",
    "experiment", "analysis", "verify", "papers", "api",
)  # fmt: skip
#: modules that stand in no room and import from all
TOP = {"__init__", "__main__", "cli"}
RESULT_FILE = re.compile(
    r"scores\.txt|validation\.txt|fit\.json|model\.npz|per_query\.csv|folds\.csv|summary\.csv"
)


#: the top level; what a command leaves there is not to be committed
CARD = (
    ".ci .github .gitignore .pre-commit-config.yaml CHANGELOG.md CITATION.cff CONTRIBUTING.md "
    "LICENSE Makefile README.md SECURITY.md benchmarks data docs letorbench results setup.cfg "
    "setup.py submissions tests"
).split()


def test_the_top_level_is_fixed():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a clone")
    assert sorted({line.partition("/")[0] for line in listed.stdout.splitlines()}) == CARD


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of the package by its dotted name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)
        found[name] = ast.parse(file.read_text())
    return found


def level(module: str) -> int:
    """The layer of a module: -1 below all rooms, their number above them."""
    room = module.split(".")[1]
    return LAYERS.index(room) if room in LAYERS else len(LAYERS) if room in TOP else -1


def imports(module: str, nodes: Iterator[ast.AST]) -> set[str]:
    """The modules of the package that the nodes import."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{each.name}" for each in node.names}
            found |= inside if inside <= sources().keys() else inside | {node.module}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found & sources().keys() - {module}


def test_imports_run_downwards():
    upwards = [
        f"{module} imports {other}"
        for module, tree in sources().items()
        for other in imports(module, ast.walk(tree))
        if level(other) > level(module)
    ]
    assert upwards == []


#: the rooms of what learns, and what every ranker stands on
LEARNING, BASES = {"models", "losses", "solvers", "rankers"}, {"rankers.base", "losses.base"}
#: files of several algorithms, or of one that takes any part
OF_MANY = {"ravikumar2011", "tran2012", "recipe"}


def reached(modules: set[str]) -> set[str]:
    """The modules of the learning rooms that modules import, directly or not, with themselves."""
    left, found = set(modules), set[str]()
    while left:
        found |= left
        others = {each for one in left for each in imports(one, ast.walk(sources()[one]))}
        left = {each for each in others if each.split(".")[1] in LEARNING and each.count(".") > 1}
        left -= found
    return found


def test_an_algorithm_is_one_file_and_its_parts():
    """At most eight files, so that a reader can take them in; the bases of all are not counted."""
    bases = reached({f"letorbench.{each}" for each in BASES})
    parts = {
        each.stem: reached({f"letorbench.rankers.{each.stem}"}) - bases
        for each in (PACKAGE / "rankers").glob("*.py")
        if each.stem not in OF_MANY and "    paper = " in each.read_text()
    }
    assert len(parts) > 14
    assert {name: sorted(files) for name, files in parts.items() if len(files) > 8} == {}


def run_time(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a module without what a type checker alone reads; functions' bodies are in."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)


def test_no_import_goes_in_a_circle():
    """Imports inside functions count too: a circle that they hide is a circle."""
    graph = {module: imports(module, run_time(tree)) for module, tree in sources().items()}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_every_module_is_used():
    """By another one, or as what its folder registers: a paper, a ranker, a loss, a measure."""
    used = {other for name, tree in sources().items() for other in imports(name, ast.walk(tree))}
    registers = re.compile(r'^(    (name|kind) = "|@measure\()', re.MULTILINE)
    files = {
        module: (ROOT / module.replace(".", "/")).with_suffix(".py")
        for module in sources().keys() - used
        if module.split(".")[1] not in TOP
    }
    idle = [
        m for m, file in files.items() if file.exists() and not registers.search(file.read_text())
    ]
    assert idle == []


def test_what_is_public_says_what_it_is():
    """Modules, and public classes and functions in them, unless one statement says it all."""
    silent = [
        f"{module}: {getattr(node, 'name', 'the module')}"
        for module, tree in sources().items()
        for node in (tree, *tree.body)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and not getattr(node, "name", "").startswith("_")
        and ast.get_docstring(node) is None
        and (not isinstance(node, ast.FunctionDef) or len(node.body) > 1)
    ]
    assert silent == []


def test_what_changes_is_known():
    """A dataclass is frozen, except a ranker, whose settings users set, and a few that count."""
    changing = {
        node.name
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.bases
        for each in map(ast.unparse, node.decorator_list)
        if each.startswith("dataclass") and "frozen=True" not in each
    }
    settings = {"Estimator", "FamilySettings", "GainSettings", "NetDescent", "TreeSettings"}
    assert changing <= settings | {"_Cell", "_Node", "_Rows"}


def test_one_module_knows_the_names_of_result_files():
    knowing = {
        module
        for module, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and RESULT_FILE.fullmatch(str(node.value))
    }
    assert knowing == {"letorbench.results.paths"}


def test_what_learns_draws_from_the_generator_that_it_is_given():
    """Only a ranker's `fit` makes one, so equal seeds give equal models."""
    makers = {
        module
        for module, tree in sources().items()
        if module.split(".")[1] in ("models", "losses", "solvers", "rankers")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.match(r"(np\.)?random\.", ast.unparse(node.func))
    }
    # any_model's trial of whether a model draws at all; tuning's start of each setting from a seed
    assert makers == {
        f"letorbench.rankers.{each}" for each in ("base", "any_model", "tuning", "best")
    }
