"""Digests of the package's source, to detect results and machine code of an older version."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from letorbench.files import digest

PACKAGE = Path(__file__).parent
#: modules that, with all their imports and the ranker's module, turn data into scores and measures;
#: a fold's identity holds the results of finding data and planning runs
SCORING = ("datasets/reader.py", "features/__init__.py", "measures/definitions.py")
#: the steps of a run that decide what is trained and measured, without their imports
STEPS = (
    "experiment/select.py", "experiment/job.py", "rankers/tuning.py", "results/measuring.py",
)  # fmt: skip

#: modules without influence on scores: look-up of names, files, errors, digests
PLUMBING = frozenset({
    "aliases.py", "choices.py", "errors.py", "escaping.py", "files.py", "registry.py", "source.py",
    "version.py",
})  # fmt: skip

_IMPORT = re.compile(r"^ *(?:from|import) (letorbench[\w.]*)(?: import (\([^)]*\)|.*))?", re.M)
#: lines of comments and docstrings, comments behind code, and strings, which may look like both
_PROSE = re.compile(
    r"""(?P<lines>\n(?:[ ]*(?:[rR]?\"{3}(?:[^\\]|\\.)*?\"{3}[ ]*)?(?:\#[^\n]*)?\n)+)
    |(?P<string>\"{3}(?:[^\\]|\\.)*?\"{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |[ ]*\#[^\n]*""",
    re.DOTALL | re.VERBOSE,
)


@cache
def text(file: str) -> str:
    """Return the source of a module, which is named relative to the package's folder."""
    return (PACKAGE / file).read_text("utf-8")


@cache
def code(file: str) -> str:
    """Return the source of a module without docstrings, comments and blank lines."""
    # the syntax tree is equivalent, takes 20 times as long and differs between versions of Python
    return _PROSE.sub(lambda m: m["string"] or ("\n" if m["lines"] else ""), f"\n{text(file)}")


@cache
def imported(file: str) -> frozenset[str]:
    """Return the modules of the package that the text of a module imports."""
    modules: set[str] = set()
    for module, names in _IMPORT.findall(text(file)):
        place = PACKAGE.joinpath(*module.split(".")[1:])
        for each in (place, *(place / name for name in re.findall(r"\w+", names))):
            for path in (each.with_suffix(".py"), each / "__init__.py"):
                if path.is_file() and path != PACKAGE / "__init__.py":
                    modules.add(path.relative_to(PACKAGE).as_posix())
    return frozenset(modules - PLUMBING)


def reached(places: Iterable[str]) -> frozenset[str]:
    """Return modules, and folders of modules, with all their direct and indirect imports."""
    left, modules = set[str](), set[str]()
    for place in map(PACKAGE.joinpath, places):
        paths = place.glob("*.py") if place.is_dir() else [place]
        left |= {path.relative_to(PACKAGE).as_posix() for path in paths}
    while left:
        modules |= left
        left = {file for each in left for file in imported(each)} - modules
    return frozenset(modules)


def source_digest(files: Iterable[str]) -> str:
    """Return a digest of the code of modules in any order."""
    digest = blake2b(digest_size=16)
    for file in sorted(files):
        # with lengths, so that no two lists join to one text
        digest.update(f"{file} {len(code(file))} {code(file)}".encode())
    return digest.hexdigest()


@cache
def scoring_digest(module: str, *parts: str) -> str:
    """Return a digest of the code that a fold's scores and measures depend on.

    `module` is the ranker's; `parts` are those of a measure, a transformation, a loss or a model.
    """
    files = {file_of(each) for each in (module, *parts)} - {""}
    # a plug-in may use all parts of rankers
    if not file_of(module):
        files |= {"rankers/base.py", "models", "losses", "solvers"}
    return source_digest({*STEPS, *reached([*SCORING, *files])})


@cache
def added_digest(module: str) -> str:
    """Return a digest of the code of a part; "" if `scoring_digest` covers it for every ranker."""
    file = file_of(module)
    return "" if file in reached(SCORING) else source_digest(reached([file]))


def is_current(identity: Mapping[str, Any]) -> bool:
    """Return whether a stored, perhaps invalid, identity is of the current code."""
    parts = identity.get("parts", [])
    named = [identity.get("module"), *(parts if isinstance(parts, list) else [parts])]
    try:
        return identity.get("code") == scoring_digest(*map(str, named))
    except OSError:  # a module was removed
        return False


def file_of(module: str) -> str:
    """Return the file of a module of the package, "" for any other."""
    package, *names = module.split(".")
    if package != "letorbench" or not names or not all(map(str.isidentifier, names)):
        return ""
    file = "/".join(names)
    return f"{file}/__init__.py" if (PACKAGE / file).is_dir() else f"{file}.py"


def users_digest(value: Any) -> str:
    """Return a digest of the code of a user's class or function; "" for one of this package.

    It is the digest of the file. Without a file, as in a notebook, it is that of the code and of
    all that it uses of the same module; so it is for a function made by another, with the values it
    holds.
    """
    if value.__module__.startswith("letorbench."):
        return ""
    file = getattr(sys.modules.get(value.__module__), "__file__", None)
    code = Path(file).read_bytes() if file and Path(file).is_file() else b""
    value = getattr(value, "py_func", value)  # a compiled function wraps the plain one
    function = isinstance(value, FunctionType)
    if not code or (function and "<locals>" in value.__qualname__):
        code += repr(list(_code(value, value.__module__, {}))).encode()
    if function:  # a file may define a name again
        code += f"{value.__qualname__} {value.__code__.co_firstlineno}".encode()
    return digest(code)


def _code(value: Any, module: str, seen: dict[int, Any]) -> Iterator[object]:
    """Yield the parts of a value as texts and bytes; code of other modules is a name."""
    value = getattr(value, "py_func", value)
    if id(value) in seen or isinstance(value, ModuleType):
        return
    seen[id(value)] = value
    parts: list[Any] = []
    if isinstance(value, CodeType):
        parts = [value.co_code.hex(), " ".join(value.co_names), *value.co_consts]
    elif isinstance(value, (FunctionType, type)) and value.__module__ != module:
        yield f"{value.__module__}.{value.__qualname__}"
    elif isinstance(value, FunctionType):
        used = [value.__globals__.get(name) for name in value.__code__.co_names]
        around = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, *around, *used]
    elif isinstance(value, type):
        parts = [each for pair in vars(value).items() for each in pair]
    else:
        yield re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    for each in parts:
        yield from _code(each, module, seen)
