"""Rankers from elsewhere: packages with an entry point, and single files."""

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
from typing import TYPE_CHECKING, Any, TypeGuard

from letorbench import registry
from letorbench.checksum import digest
from letorbench.errors import FAILURES, DataError, LetorError, UsageError, WriteError
from letorbench.source import users_digest

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


@dataclass(frozen=True)
class Brought:
    """What users brought to this process, for a worker process to `receive`."""

    #: the plug-in files and what is in them
    files: Mapping[Path, bytes]
    #: the measures and losses that a Python program gave, see `registry.BROUGHT`
    given: Mapping[str, dict[str, Any]]


def brought() -> Brought:
    """Return what users brought to this process."""
    given = {
        module: values
        for module, values in registry.BROUGHT.items()
        if not module.startswith(PREFIX)
    }
    return Brought({path: path.read_bytes() for path in files()}, given)


def receive(brought: Brought) -> None:
    """Take what users brought to another process, perhaps on a machine without the files.

    A newer form of a plug-in file replaces what an older one brought.
    """
    registry.BROUGHT.update(brought.given)
    for path, text in brought.files.items():
        name = f"{PREFIX}{path.stem}"
        if name in sys.modules:
            if sys.modules[name].__digest__ == digest(text):
                continue
            del sys.modules[name]
            registry.BROUGHT.pop(name, None)
            for ranker in [key for key, cls in FOUND.items() if cls.__module__ == name]:
                del FOUND[ranker]
            _load_file.cache_clear()
        there = path.is_file() and path.read_bytes() == text
        use(path if there else _unpacked(path.name, text))


@cache
def _unpacked(name: str, text: bytes) -> Path:
    folder = Path(mkdtemp(prefix="letorbench-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    (folder / name).write_bytes(text)
    return folder / name


def files() -> tuple[Path, ...]:
    """Return the plug-in files in use."""
    modules = {cls.__module__ for cls in FOUND.values()} | registry.BROUGHT.keys()
    own = sorted(name for name in modules if name.startswith(PREFIX) and name in sys.modules)
    return tuple(Path(str(sys.modules[name].__file__)) for name in own)


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
    return users_digest(cls) or None


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
    # a dataclass looks its types up in its module, which has to be known by then
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    vars(module)["__digest__"] = digest(path.read_bytes())
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _register(where: str, load: Callable[[], object]) -> bool:
    """Take what a plug-in brings, if there is any; UsageError where it breaks or is unfinished."""
    try:
        loaded = load()
        brought = _rankers_of(loaded)
        for cls in brought:
            _check(cls)
        others = _others_of(loaded, bool(brought))
    except FAILURES as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise UsageError(f"{where}{line}: {kind}{error}") from error
    FOUND.update({cls.name: cls for cls in brought})
    if others:
        registry.BROUGHT[str(getattr(loaded, "__name__", where))] = others
    return bool(brought or others)


def _others_of(loaded: object, helpers: bool) -> dict[str, Any]:
    """Return the measures and losses that a module defines, by name, and its functions.

    Which a function is, its use says. UsageError where one is named as one of the package.
    Functions may be so named if they are `helpers` of rankers.
    """
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
                value()  # what it lacks is raised here
                others[value.name] = value
        elif callable(value):
            others[key.lower()] = others[key] = value
            if not helpers:
                registry.require_new(key.lower(), measures.MEASURES, "measure")
                registry.require_new(key, known, "loss")
    return others


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
