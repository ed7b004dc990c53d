"""Rankers from elsewhere: packages with an entry point, and single files."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import entry_points
from pathlib import Path

from letorbench.errors import UsageError
from letorbench.rankers.base import RANKERS, Ranker

#: the entry point group; each of its entries names a module or a class in it
GROUP = "letorbench.rankers"
#: the plug-in files in use, which worker processes inherit; separated as PATH is
VARIABLE = "LETORBENCH_PLUGINS"
#: what the code of a plug-in may raise while it is imported
BROKEN = (
    SyntaxError, ImportError, NameError, AttributeError, TypeError, ValueError, LookupError,
    ArithmeticError, OSError, RuntimeError,
)  # fmt: skip


def use(path: Path) -> None:
    """Load a plug-in file, here and in the worker processes that start from now on."""
    _file(Path(path).resolve())
    used = [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*used, str(Path(path).resolve())]))


def load_all() -> None:
    """Load every entry point of the group, and the files that LETORBENCH_PLUGINS names."""
    _packages()
    for part in os.environ.get(VARIABLE, "").split(os.pathsep):
        if part:
            _file(Path(part).resolve())


def digest(cls: type[Ranker]) -> str | None:
    """The hash of the file that a plug-in's ranker comes from; None for letorbench's own."""
    if cls.__module__.partition(".")[0] == "letorbench":
        return None
    source = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return blake2b(Path(source).read_bytes(), digest_size=16).hexdigest() if source else ""


@cache
def _packages() -> None:
    for entry in entry_points(group=GROUP):
        _check(f"plug-in {entry.name} = {entry.value}", entry.load)


@cache
def _file(path: Path) -> None:
    if not _check(str(path), lambda: _import(path)):
        raise UsageError(f"{path}: found no ranker, expected a subclass of Ranker with a name")


def _import(path: Path) -> None:
    name = f"letorbench_plugin_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ != str(path):
        raise ImportError(f"another plug-in file is called {path.name}, expected different names")
    spec = importlib.util.spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ImportError("found no name that ends in .py, expected a Python file")
    # a dataclass looks its types up in its module, which has to be known by then
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BROKEN:
        del sys.modules[name]
        raise


def _check(where: str, load: Callable[[], object]) -> list[type[Ranker]]:
    """The rankers that a plug-in brings; UsageError where it breaks or one is unfinished."""
    before = set(RANKERS)
    try:
        load()
        brought = [RANKERS[name] for name in sorted(set(RANKERS) - before)]
        for cls in brought:
            _check_finished(cls)
    except (*BROKEN, UsageError) as error:
        for name in set(RANKERS) - before:
            del RANKERS[name]
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        kind = "" if isinstance(error, (UsageError, ValueError)) else f"{type(error).__name__}: "
        raise UsageError(f"{where}{line}: {kind}{error}") from error
    return brought


def _check_finished(cls: type[Ranker]) -> None:
    if not (is_dataclass(cls) and "__dataclass_params__" in vars(cls)):
        raise ValueError(f"ranker {cls.name!r} is no dataclass, expected @dataclass above it")
    missing = [key for key in ("title", "paper", "formula") if not hasattr(cls, key)]
    if missing or not cls.__doc__:
        what = missing[0] if missing else "docstring"
        raise ValueError(f"ranker {cls.name!r} has no {what}, which `algos` shows")
    if cls.__abstractmethods__:
        raise ValueError(f"ranker {cls.name!r} does not define learn(train, validation, rng)")
    strange = sorted(set(cls.grid) - set(cls.__dataclass_fields__))
    if strange:
        raise ValueError(f"ranker {cls.name!r}: its grid names {strange[0]!r}, which is no field")
