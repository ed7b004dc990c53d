"""Break the package, and say which faults no test notices.

`make mutants N=100 SEED=0` works in a scratch copy of the last commit, build/mutants. It plants
the faults of faults.toml one after the other and runs the tests that each names. A fault that no
longer fits the code is reported; `--check` does only that. Then it draws N places outside kernels,
runs all tests once to see which execute each place, and changes each by an operator of Cosmic Ray:
the tests that execute it, then those of the same room, then all tests run until one fails.
"""

import argparse
import ast
import builtins
import json
import keyword
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("faults.toml")
PROBES = Path(__file__).with_name("probes")
TREE = ROOT / "build" / "mutants"
#: seconds that the tests of a fault, and all tests, may take; a kernel is compiled in them
FAULT_SECONDS, ALL_SECONDS = 600, 3600
#: these read the source as text, or ask whether pages are of this code: they would notice any edit
READ_SOURCE = (
    "tests/tools/test_faults.py", "tests/test_architecture.py", "tests/docs/test_check.py",
)  # fmt: skip


class Fault(NamedTuple):
    """One text in place of another that stands once in a file, and the tests that must notice."""

    breaks: str
    file: str
    old: str
    new: str
    tests: str

    def misfit(self, root: Path) -> str:
        """Return why the fault cannot be planted, empty where it can.

        A module must fail by its tests, not by its syntax or by a name that the package lacks.
        """
        missing = [each for each in (self.file, *self.tests.split()) if not (root / each).exists()]
        if missing:
            return f"found no {' and no '.join(missing)}"
        text = (root / self.file).read_text()
        if text.count(self.old) != 1:
            return f"{self.file}: found {self.old!r} {text.count(self.old)} times, expected once"
        if not self.file.endswith(".py"):
            return ""
        try:
            compile(text.replace(self.old, self.new), self.file, "exec", dont_inherit=True)
        except SyntaxError as error:
            return f"{self.file}: {error}"
        unknown = sorted({*re.findall(r"[^\W\d]\w*", self.new)} - known_words(root))
        return f"{self.file}: found no {' and no '.join(unknown)}" if unknown else ""


@cache
def known_words(root: Path) -> set[str]:
    """Return the words of the package and of Python."""
    texts = [path.read_text() for path in (root / "letorbench").rglob("*.py")]
    return {*re.findall(r"\w+", " ".join(texts)), *dir(builtins), *keyword.kwlist}


def faults() -> list[Fault]:
    """Return the kept list."""
    return [Fault(**each) for each in tomllib.loads(LIST.read_text())["fault"]]


def misfits(root: Path) -> dict[str, str]:
    """Return why faults cannot be planted, by what they break."""
    return {fault.breaks: reason for fault in faults() if (reason := fault.misfit(root))}


def plant(match: str) -> int:
    """Plant faults in the scratch copy and run their tests; return how many are missed."""
    every, missed = [fault for fault in faults() if match in fault.breaks], 0
    unbroken = cache(first_failure)
    for fault in every:
        if why := fault.misfit(TREE):
            verdict = "DOES NOT FIT"
        elif why := unbroken(FAULT_SECONDS, *fault.tests.split()):
            verdict = "PROVES NOTHING"  # the tests fail without the fault
        else:
            with restored(TREE / fault.file) as path:
                path.write_text(path.read_text().replace(fault.old, fault.new))
                why = first_failure(FAULT_SECONDS, *fault.tests.split())
            verdict = "noticed" if why else "NOT NOTICED"
        missed += verdict != "noticed"
        print(f"{verdict:14} {fault.file}: {fault.breaks}\n               {why}", flush=True)
    print(f"{len(every) - missed} of {len(every)} planted faults noticed")
    return missed


@contextmanager
def restored(path: Path) -> Iterator[Path]:
    """Put a file back at the end, with its time: compiled kernels are kept by both."""
    content, times = path.read_bytes(), path.stat()
    try:
        yield path
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def first_failure(seconds: float, *tests: str) -> str:
    """Run tests, or all, until one fails; return what failed, empty where all pass."""
    return run_tests(seconds, "-x", "--tb=line", *tests)[0]


def run_tests(
    seconds: float, *words: str, path: Sequence[Path] = (), **variables: str
) -> tuple[str, list[str]]:
    """Run pytest in the scratch copy; return what failed, empty where all pass, and its lines."""
    before = [sys.executable, "-m", "pytest", "-rfE", "-p", "no:cacheprovider"]
    before += [f"--ignore={each}" for each in READ_SOURCE]
    variables |= {"PYTHONPATH": os.pathsep.join(map(str, [TREE, *path]))}
    variables |= {"PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            [*before, *words], cwd=TREE, env=os.environ | variables, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return f"still running after {seconds:.0f} s", []
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        lines = output.read().splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return next(iter(failed or lines[-1:]), f"status {status}") if status else "", lines


def copy_commit() -> None:
    """Make the scratch copy, or bring it to the last commit."""
    if not TREE.exists():
        TREE.parent.mkdir(exist_ok=True)
        _git("clone", "--quiet", "--shared", str(ROOT), str(TREE), cwd=ROOT)
    _git("fetch", "--quiet", "origin", "HEAD", cwd=TREE)
    _git("reset", "--quiet", "--hard", "FETCH_HEAD", cwd=TREE)


def _git(*words: str, cwd: Path) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def draw_and_try(number: int, seed: int) -> int:
    """Try random mutants, print those that no test notices, and return how many they are."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    mutants, missed = drawn(number, seed), 0
    for mutation, tests in zip(mutants, executing(mutants)):
        file = mutation.module_path
        operator = get_operator(mutation.operator_name)()
        with restored(file), use_mutation(file, operator, mutation.occurrence):
            difference = _git("diff", "--unified=0", "--no-color", cwd=TREE)
            near = near_tests(file.relative_to(TREE))
            some = (first_failure(FAULT_SECONDS, *each) for each in (tests, near) if each)
            why = next(filter(None, some), "") or first_failure(ALL_SECONDS)
        missed += not why
        place = f"{file.relative_to(TREE)}:{mutation.start_pos[0]}"
        print(f"{'noticed' if why else 'NOT NOTICED':12} {place}", why or difference, flush=True)
    print(f"{number - missed} of {number} random mutants noticed")
    return missed


def executing(mutants: Sequence) -> list[list[str]]:
    """Run all tests; return those that execute the place of each mutant, the quickest files first.

    What only an import executes has none: each test depends on it.
    """
    places = defaultdict(list)
    for number, mutation in enumerate(mutants):
        places[str(mutation.module_path)].append((*mutation.start_pos, number))
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "tests"
        found.touch()
        failure, lines = run_tests(
            ALL_SECONDS, "--numprocesses=auto", "--durations=0", path=[PROBES],
            PROBED_PLACES=json.dumps(places), PROBED_TESTS=str(found), PYTHONPYCACHEPREFIX=folder,
        )  # fmt: skip
        pairs = {tuple(json.loads(line)) for line in found.read_text().splitlines()}
    if failure:
        sys.exit(f"the tests fail before anything is broken: {failure}")
    timed = (re.fullmatch(r"([0-9.]+)s \w+ +(.+)", line) for line in lines)
    seconds = {each[2]: float(each[1]) for each in timed if each}
    return [
        _by_file([test for place, test in pairs if place == number], seconds)
        for number in range(len(mutants))
    ]


def _by_file(tests: list[str], seconds: Mapping[str, float]) -> list[str]:
    """Sort tests: a file's after one another, since they share what takes long to set up."""
    total = Counter[str]()
    for test in tests:
        total[test.partition("::")[0]] += seconds.get(test, 0.0)
    file = {test: test.partition("::")[0] for test in tests}
    return sorted(tests, key=lambda test: (total[file[test]], file[test], seconds.get(test, 0.0)))


def near_tests(file: Path) -> list[str]:
    """Return the tests of a module's room, and those that have its name."""
    near = f"tests/{file.parts[1]}", f"tests/test_{file.stem}.py"
    return [each for each in near if (TREE / each).exists()]


#: no operator changes these: most of a file, left out for the time it takes to ask them all
PLAIN = ("name", "string", "newline", "endmarker", "fstring_string", *"()[]{},:.=")
#: for small integers, None, True and most short texts these are the same
SAME = ("ReplaceComparisonOperator_Eq_Is", "ReplaceComparisonOperator_NotEq_IsNot")


def drawn(number: int, seed: int) -> list:
    """Return so many mutants of the package, drawn by a seed, in random order.

    A place of the code is drawn first and one of its mutants then: a sum has eleven mutants, most
    of them alike, and would otherwise be drawn eleven times as often as a condition.
    """
    places = defaultdict(list)
    for path in sorted(TREE.glob("letorbench/**/*.py")):
        for mutation in mutations(path):
            places[path, mutation.start_pos, mutation.end_pos].append(mutation)
    rng = Random(seed)
    chosen = rng.sample(sorted(places), min(number, len(places)))
    print(f"{len(chosen)} of the mutants of {len(places):,} places are drawn")
    return [rng.choice(places[place]) for place in chosen]


def mutations(path: Path) -> Iterator:
    """Yield every mutant of a file, without those of kernels and of annotations.

    Annotations are never evaluated; kernels take up to a minute to compile, and faults.toml has
    faults inside them.
    """
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.work_item import MutationSpec

    spans, seen = _left_out(path), Counter()
    for node in ast_nodes(get_ast_from_path(path)):
        if node.type in PLAIN or getattr(node, "value", "") in PLAIN:
            continue
        for name, operator in _operators().items():
            for start, end in operator.mutation_positions(node):
                if not any(first <= start and end <= last for first, last in spans):
                    yield MutationSpec(path, name, seen[name], start, end)
                seen[name] += 1


@cache
def _operators() -> dict:
    from cosmic_ray.plugins import get_operator, operator_names

    known = {name: get_operator(name) for name in operator_names() if not name.endswith(SAME)}
    return {name: each() for name, each in known.items() if not each.arguments()}


def _left_out(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return where the annotations and the kernels of a file begin and end."""
    found: list[ast.AST] = []
    for node in ast.walk(ast.parse(path.read_text())):
        found += filter(None, (getattr(node, of, None) for of in ("annotation", "returns")))
        if any("kernel(" in ast.unparse(each) for each in getattr(node, "decorator_list", [])):
            found += [node, *node.decorator_list]
    return [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=100, help="random mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--only", choices=("drawn", "planted"), help="one of the two kinds")
    parser.add_argument("--match", default="", help="plant only what breaks something so called")
    parser.add_argument("--check", action="store_true", help="list the faults that do not fit")
    options = parser.parse_args()
    if options.check:
        wrong = misfits(ROOT)
        print("".join(f"{breaks}: {reason}\n" for breaks, reason in wrong.items()), end="")
        print(f"{len(faults()) - len(wrong)} of {len(faults())} faults fit the code")
        return int(bool(wrong))
    copy_commit()
    missed = plant(options.match) if options.only != "drawn" else 0
    if options.only != "planted":
        missed += draw_and_try(options.number, options.seed)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
