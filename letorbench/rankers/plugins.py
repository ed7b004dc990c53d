"""Rankers from elsewhere: packages with an entry point, and single files."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard

from letorbench import registry
from letorbench.checksum import digest
from letorbench.errors import FAILURES, DataError, LetorError, UsageError, WriteError

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: how the error of a plug-in that writes into a data set goes on
SHARED = "; all rankers share the data: change a copy, as of X.copy()"
#: the entry point group; each of its entries names a module or a class in it
GROUP = "letorbench.rankers"
#: the modules of plug-in files are called this and the file's name
PREFIX = "letorbench_plugin_"
#: the variable in which users name plug-in files that every command loads; separated as PATH is
VARIABLE = "LETORBENCH_PLUGINS"
#: what a ranker may be called, as its results folder is
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")

#: the rankers that plug-ins brought to this process, by name
FOUND: dict[str, type[Ranker]] = {}


def use(path: Path) -> None:
    """Load a plug-in file."""
    _load_file(Path(path).resolve())


def files() -> tuple[Path, ...]:
    """Return the plug-in files in use, for a worker process to `use` as well."""
    modules = sorted({cls.__module__ for cls in FOUND.values()})
    return tuple(
        Path(str(sys.modules[name].__file__)) for name in modules if name.startswith(PREFIX)
    )


def found_by_name(cls: type[Ranker]) -> bool:
    """Return whether a worker process knows the ranker by its name, given the plug-in files.

    It does not know a class of a notebook or of the program that was started.
    """
    return cls.__module__.startswith((PREFIX, "letorbench."))


def load_all() -> dict[str, type[Ranker]]:
    """Return the rankers of all plug-ins by name.

    Plug-ins are the entry points of the group and the files that LETORBENCH_PLUGINS names.
    """
    _load_packages()
    for part in os.environ.get(VARIABLE, "").split(os.pathsep):
        if part:
            _load_file(Path(part).resolve())
    return FOUND


def file_digest(cls: type[Ranker]) -> str | None:
    """Return the hash of the file that a plug-in's ranker comes from; None for an own ranker."""
    if cls.__module__.startswith("letorbench."):
        return None
    source = _source(cls)
    return digest(Path(source).read_bytes()) if source else ""


@contextmanager
def blamed(cls: type[Ranker]) -> Iterator[None]:
    """Turn what goes wrong in the block into a line that names a plug-in's file and line.

    The line is the last one of the file that was at work, else that of `learn`. Errors of a
    ranker that is letorbench's own pass, and so does Ctrl-C.

    Raises
    ------
    DataError
        The ranker is a plug-in's and failed, by `sys.exit` or in any other way.
    UsageError, WriteError
        It refuses a value, or its result cannot be written.
    """
    try:
        yield
    except (KeyboardInterrupt, UsageError, WriteError):
        raise
    except BaseException as error:
        file = _source(cls)
        if file is None or cls.__module__.startswith("letorbench."):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        lines = [cls.learn.__code__.co_firstlineno]
        lines += [frame.lineno or 0 for frame in frames if frame.filename == file]
        hint = SHARED if "read-only" in str(error) else ""
        raise DataError(f"{described(error)}{hint} ({file}:{lines[-1]})") from error


def described(error: BaseException) -> str:
    """Return what an error says, with its kind where it is not one of letorbench's."""
    if isinstance(error, LetorError):
        return str(error)
    return " ".join("".join(traceback.format_exception_only(error)).split())


def _source(cls: type[Ranker]) -> str | None:
    """Return the file of the module that defines a ranker; None for one of a notebook."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


@cache
def _load_packages() -> None:
    for entry in entry_points(group=GROUP):
        _register(f"plug-in {entry.name} = {entry.value}", entry.load)


@cache
def _load_file(path: Path) -> None:
    if not _register(str(path), partial(_import, path)):
        raise UsageError(
            f"{path}: found no ranker, expected a subclass of Ranker with a name, or a model with "
            "fit and predict"
        )


def _import(path: Path) -> ModuleType:
    name = f"{PREFIX}{path.stem}"
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
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _register(where: str, load: Callable[[], object]) -> list[type[Ranker]]:
    """Return the rankers that a plug-in brings; UsageError where it breaks or one is unfinished."""
    try:
        brought = _rankers_of(load())
        for cls in brought:
            _check(cls)
    except FAILURES as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise UsageError(f"{where}{line}: {kind}{error}") from error
    FOUND.update({cls.name: cls for cls in brought})
    return brought


def _rankers_of(loaded: object) -> list[type[Ranker]]:
    """Return the named ranker classes that a module or a package defines, or the class itself.

    A model with `fit` and `predict` that a module names is a ranker of that name.
    """
    from letorbench.rankers.any_model import is_model, ranker_of
    from letorbench.rankers.base import Ranker

    def is_ranker(value: object) -> TypeGuard[type[Ranker]]:
        return inspect.isclass(value) and issubclass(value, Ranker) and "name" in vars(value)

    if not isinstance(loaded, ModuleType):
        return [loaded] if is_ranker(loaded) else []
    classes = dict.fromkeys(value for value in vars(loaded).values() if is_ranker(value))
    own = f"{loaded.__name__}."
    models = [
        type(ranker_of(value, name.replace("_", "-")))
        for name, value in vars(loaded).items()
        if is_model(value) and not name.startswith("_")
    ]
    return sorted(
        [*models, *(cls for cls in classes if f"{cls.__module__}.".startswith(own))],
        key=lambda cls: cls.name,
    )


def _check(cls: type[Ranker]) -> None:
    """Raise ValueError if a ranker's name is taken or something that it needs is missing."""
    other = registry.places("rankers", "name").get(cls.name)
    if FOUND.get(cls.name, cls) is not cls:
        other = FOUND[cls.name].__module__
    if other is not None:
        both = f"{other} and {cls.__module__}"
        raise ValueError(f"two rankers are named {cls.name!r}, in {both}; rename one")
    unknown = sorted(set(cls.grid) - set(cls.__dataclass_fields__))
    wrong = ""
    if not NAME.fullmatch(cls.name):
        wrong = ": expected letters, digits and . _ + @ - as its name"
    elif "__dataclass_params__" not in vars(cls):
        wrong = " is not a dataclass, expected @dataclass above it"
    elif cls.__abstractmethods__:
        wrong = " does not define learn(train, validation, rng)"
    elif unknown:
        wrong = f": its grid names {unknown[0]!r}, which is not a field"
    if wrong:
        raise ValueError(f"ranker {cls.name!r}{wrong}")
