"""Registration of classes and values by being defined in a file of a folder.

`places` searches the files as text without importing them, so that the names of all rankers are
known before any is loaded; the names of a package are imported on first use (PEP 562). `members`
imports the whole folder. `USER_DEFINED` holds users' additions to a process.
"""

import re
from collections.abc import Callable, Container, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from letorbench import aliases
from letorbench.errors import UsageError

PACKAGE = Path(__file__).parent
#: users' additions to this process besides rankers, by module and name: the public values of
#: plug-in files, and the measures and losses of Python programs
USER_DEFINED: dict[str, dict[str, Any]] = {}


@cache
def places(folder: str, attribute: str) -> dict[str, str]:
    """Return the places ``package.module:Class`` of a folder's registered classes by their names.

    A class is registered by ``name = "…"``, or another attribute, in its body, and a `preset` by
    ``Class = preset(Base, "Class", name="…"``.

    >>> places("rankers", "name")["listnet"]
    'letorbench.rankers.listnet:ListNet'
    """
    by_name, current = dict[str, str](), ""
    by_body = rf'class (\w+)|    {attribute} = "([^"]+)"$'
    by_call = rf'\w+ = preset\(\w+, "(\w+)", {attribute}="([^"]+)"'
    line = re.compile(rf"^(?:{by_body}|{by_call})", re.MULTILINE)
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for class_name, in_body, preset_name, in_call in line.findall(path.read_text("utf-8")):
            current = class_name or preset_name or current
            if name := in_body or in_call:
                if name in by_name:
                    raise ValueError(f"{by_name[name]} and {path} both define {name!r}; rename one")
                by_name[name] = f"{PACKAGE.name}.{folder}.{path.stem}:{current}"
    return dict(sorted(by_name.items()))


def preset(base: type, class_name: str, *, doc: str, **facts: object) -> Any:
    """Make a subclass in the module of its base with other class attributes or other defaults."""
    # every command imports this module, and few of them a ranker
    from dataclasses import dataclass, field, fields

    body: dict[str, Any] = {"__module__": base.__module__, "__doc__": doc, **facts}
    changed = [each for each in fields(base) if each.name in facts]
    for each in changed:
        body[each.name] = field(default=facts[each.name], metadata=each.metadata)
    body["__annotations__"] = {each.name: each.type for each in changed}
    made = type(base)(class_name, (base,), body)
    return dataclass(made) if changed else made


def by_class(folder: str, attribute: str) -> dict[str, str]:
    """Return the same places by the names of the classes: ``{"ListNet": "…:ListNet"}``."""
    return {place.partition(":")[2]: place for place in places(folder, attribute).values()}


def modules(package: str) -> dict[str, ModuleType]:
    """Import all files of a package's folder; return the modules by the names of the files."""
    path = import_module(package).__path__
    return {each.name: import_module(f"{package}.{each.name}") for each in iter_modules(path)}


def members(package: str, kind: type) -> dict[str, Any]:
    """Return a package's instances and subclasses of `kind` that have a `name`, by `name`."""
    return {
        value.name: value
        for module in (*modules(package).values(), import_module(package))
        for value in vars(module).values()
        if isinstance(value, kind) or (isinstance(value, type) and issubclass(value, kind))
        if hasattr(value, "name")
    }


def load(place: str) -> Any:
    """Import the value of a place `package.module:name`, or a module if there is no name."""
    module, _, name = place.partition(":")
    imported = import_module(module)
    return getattr(imported, name) if name else imported


def user_defined(name: str, fits: Callable[[Any], bool]) -> Any:
    """Return the user's addition of a name that `fits`, or None; UsageError if there are two."""
    by_module = {
        module: values[name]
        for module, values in USER_DEFINED.items()
        if name in values and fits(values[name])
    }
    if len(by_module) > 1:
        raise UsageError(f"two are named {name!r}, in {' and '.join(by_module)}; rename one")
    return next(iter(by_module.values()), None)


def require_new(name: str, known: Container[str], what: str) -> None:
    """Raise UsageError if a user's measure or loss has the name of one of the package."""
    if name in known:
        raise UsageError(f"a {what} of letorbench is named {name!r}, too; rename yours")


def define(name: str, value: Any, origin: Any) -> None:
    """Add a measure or a loss of a Python program, made of `origin`, instead of an older form."""
    # a function may make two of one name, for instance with other values
    of_module = USER_DEFINED.setdefault(origin.__module__, {})
    sources = {getattr(each, "source", "") for each in (of_module.get(name), value)} - {""}
    if "<locals>" in origin.__qualname__ and len(sources) > 1:
        raise UsageError(f"two functions are named {name!r}, expected another __name__ of each")
    of_module[name] = value


def imports_of(file: str) -> dict[str, str]:
    """Return the places of the names that a file imports under ``if TYPE_CHECKING``."""
    # indented lines ``from m import a as b``
    lines = re.findall(
        r"^    from (\S+) import (\w+) as (\w+)", Path(file).read_text("utf-8"), re.M
    )
    return {name: f"{module}:{there}" for module, there, name in lines}


def attach(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package that imports names from places on first use."""

    def get(name: str) -> Any:
        known = name if name in places else aliases.attribute(name, places)
        if known is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(places[known])

    return get, lambda: sorted(places)
