"""Plug-ins: rankers, measures and losses from packages with an entry point and from files."""

from __future__ import annotations

import atexit
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import ModuleType
from typing import TYPE_CHECKING, Any

from letorbench import registry
from letorbench.errors import FAILURES, DataError, LetorError, UsageError, WriteError
from letorbench.files import digest
from letorbench.source import users_digest

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: the end of the error if a plug-in writes into a data set
SHARED = "; all rankers share the data: change a copy, as of X.copy()"
#: the entry point group; each entry names a module or a class in one
GROUP = "letorbench.rankers"
#: the module of a plug-in file has this prefix before the file's name
PREFIX = "letorbench_plugin_"
#: the environment variable with the plug-in files that every command loads, separated as in PATH
VARIABLE = "LETORBENCH_PLUGINS"
#: the names that rankers may have; they are also names of results folders
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")

#: the plug-ins' rankers in this process, by name
RANKERS: dict[str, type[Ranker]] = {}


@dataclass(frozen=True)
class UserCode:
    """User code of this process, for a worker process to `load_user_code`."""

    files: Mapping[Path, bytes]  # the plug-in files and their content
    given: Mapping[str, dict[str, Any]]  # of a program's modules, as `registry.USER_DEFINED`


def user_code() -> UserCode:
    """Return the user code in this process."""
    given = {
        module: values
        for module, values in registry.USER_DEFINED.items()
        if not module.startswith(PREFIX)
    }
    return UserCode({path: path.read_bytes() for path in files()}, given)


def load_user_code(code: UserCode) -> None:
    """Load the user code of another process; newer plug-in files replace those loaded before."""
    registry.USER_DEFINED.update(code.given)
    for path, text in code.files.items():
        name = f"{PREFIX}{path.stem}"
        if name in sys.modules:
            if sys.modules[name].__digest__ == digest(text):
                continue
            del sys.modules[name]
            registry.USER_DEFINED.pop(name, None)
            for ranker in [key for key, cls in RANKERS.items() if cls.__module__ == name]:
                del RANKERS[ranker]
            load_file.cache_clear()
        there = path.is_file() and path.read_bytes() == text  # this may be another machine
        load_file(path if there else _unpacked(path.name, text))


@cache
def _unpacked(name: str, text: bytes) -> Path:
    folder = Path(mkdtemp(prefix="letorbench-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    (folder / name).write_bytes(text)
    return folder / name


def files() -> tuple[Path, ...]:
    """Return the plug-in files in use."""
    modules = {cls.__module__ for cls in RANKERS.values()} | registry.USER_DEFINED.keys()
    loaded = sorted(name for name in modules if name.startswith(PREFIX) and name in sys.modules)
    return tuple(Path(str(sys.modules[name].__file__)) for name in loaded)


def is_known_to_workers(cls: type[Ranker]) -> bool:
    """Return whether a worker process knows the ranker by its name, given the plug-in files."""
    return cls.__module__.startswith((PREFIX, "letorbench."))  # not a notebook's or a program's


def load_all() -> dict[str, type[Ranker]]:
    """Return the rankers by name of all entry points and of the files in LETORBENCH_PLUGINS."""
    _load_packages()
    for part in os.environ.get(VARIABLE, "").split(os.pathsep):
        if part:
            load_file(Path(part).resolve())
    return RANKERS


@contextmanager
def blamed(cls: type[Ranker]) -> Iterator[None]:
    """Turn a plug-in ranker's error in the block into a DataError with its file and line."""
    try:
        yield
    except (KeyboardInterrupt, UsageError, WriteError):
        raise
    except BaseException as error:  # also of `sys.exit`
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)  # none of a notebook
        if file is None or cls.__module__.startswith("letorbench."):
            raise
        # the last line of the file that was running, else that of `learn`
        frames = traceback.extract_tb(error.__traceback__)
        lines = [cls.learn.__code__.co_firstlineno]
        lines += [frame.lineno or 0 for frame in frames if frame.filename == file]
        hint = SHARED if "read-only" in str(error) else ""
        raise DataError(f"{error_text(error)}{hint} ({file}:{lines[-1]})") from error


def error_text(error: BaseException) -> str:
    """Return an error's message, with its type unless it is one of letorbench's."""
    if isinstance(error, LetorError):
        return str(error)
    return " ".join("".join(traceback.format_exception_only(error)).split())


@cache
def _load_packages() -> None:
    for entry in entry_points(group=GROUP):
        _register(f"plug-in {entry.name} = {entry.value}", entry.load)


@cache
def load_file(path: Path) -> None:
    """Load a plug-in file, an absolute path."""
    if not _register(str(path), partial(_import, path)):
        raise UsageError(
            f"{path}: found no ranker, measure or loss, expected a subclass of Ranker with a name, "
            "a model with fit and predict, or a function"
        )


def _import(path: Path) -> ModuleType:
    name = f"{PREFIX}{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ != str(path):
        raise ImportError(f"another plug-in file is called {path.name}, expected different names")
    spec = importlib.util.spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ImportError("found no name that ends in .py, expected a Python file")
    # a dataclass looks its types up in its module, which must be registered before
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    vars(module)["__digest__"] = digest(path.read_bytes())
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _register(where: str, load: Callable[[], object]) -> bool:
    """Register what a plug-in defines; return whether it defines anything."""
    try:
        loaded = load()
        rankers = _rankers_of(loaded)
        for cls in rankers:
            _check(cls)
        others = _others_of(loaded, bool(rankers))
    except FAILURES as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise UsageError(f"{where}{line}: {kind}{error}") from error
    RANKERS.update({cls.name: cls for cls in rankers})
    if others:
        registry.USER_DEFINED[str(getattr(loaded, "__name__", where))] = others
    return bool(rankers or others)


def _others_of(loaded: object, helpers: bool) -> dict[str, Any]:
    """Return the measures, losses and functions that a module defines, by name."""
    from letorbench import losses, measures

    if not isinstance(loaded, ModuleType):
        return {}
    others: dict[str, Any] = {}
    known = {*losses.families(), *losses.OTHER_NAMES}
    for key, value in vars(loaded).items():
        code = value.function if isinstance(value, measures.Measure) else value
        if key.startswith("_") or not hasattr(code, "__qualname__"):
            continue
        if not f"{code.__module__}.".startswith(f"{loaded.__name__}."):
            continue
        if isinstance(value, measures.Measure):
            registry.require_new(value.name, measures.MEASURES, "measure")
            others[value.name] = replace(value, source=users_digest(code))
        elif isinstance(value, type):
            if issubclass(value, losses.Loss) and hasattr(value, "name"):
                registry.require_new(value.name, known, "loss")
                value()  # raises if something is missing
                others[value.name] = value
        elif callable(value):  # a measure or a loss: its first use decides
            others[key.lower()] = others[key] = value
            if not helpers:  # beside rankers, functions may have any name
                registry.require_new(key.lower(), measures.MEASURES, "measure")
                registry.require_new(key, known, "loss")
    return others


def _rankers_of(loaded: object) -> list[type[Ranker]]:
    """Return the rankers of a module or package: its named ranker classes and its models."""
    from letorbench.rankers.any_model import is_model, ranker_of
    from letorbench.rankers.base import Ranker

    prefix = f"{loaded.__name__}." if isinstance(loaded, ModuleType) else ""
    classes = set[type[Ranker]]()
    for key, value in vars(loaded).items() if prefix else [("", loaded)]:
        if inspect.isclass(value) and issubclass(value, Ranker) and "name" in vars(value):
            if f"{value.__module__}.".startswith(prefix):
                classes.add(value)
        elif prefix and is_model(value) and not key.startswith("_"):
            classes.add(type(ranker_of(value, key.replace("_", "-"))))
    return sorted(classes, key=lambda cls: cls.name)


def _check(cls: type[Ranker]) -> None:
    """Raise ValueError if a ranker's name is taken or a required part is missing."""
    other = registry.places("rankers", "name").get(cls.name)
    if RANKERS.get(cls.name, cls) is not cls:
        other = RANKERS[cls.name].__module__
    unknown = sorted(set(cls.grid) - set(cls.__dataclass_fields__))
    wrong = ""
    if other is not None:
        raise ValueError(
            f"two rankers are named {cls.name!r}, in {other} and {cls.__module__}; rename one"
        )
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
