"""What is registered by being there, in a file of its folder, in one of two ways.

`places` searches the files as text and imports none, so that the names of all rankers are known
before any of them is loaded; the names of a package are imported when they are first used (PEP
562). `members` imports the whole folder. What users bring to a process is in `BROUGHT`.
"""

import re
from collections.abc import Callable, Container, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from letorbench.errors import UsageError

PACKAGE = Path(__file__).parent
#: what users brought to this process beside rankers, by the module that defines it and by name:
#: the public values of plug-in files, and the measures and losses that Python programs gave
BROUGHT: dict[str, dict[str, Any]] = {}


@cache
def places(folder: str, attribute: str) -> dict[str, str]:
    """Return where each registered class of a folder is defined.

    A class is registered where its body says ``name = "…"``, or another attribute, and a `preset`
    where it says ``Class = preset(Base, "Class", name="…"``. The folder is one of the package,
    "rankers". Names are sorted, and a place is ``package.module:Class``.

    Examples
    --------
    >>> places("rankers", "name")["listnet"]
    'letorbench.rankers.listnet:ListNet'
    """
    found, current = dict[str, str](), ""
    by_body = rf'class (\w+)|    {attribute} = "([^"]+)"$'
    by_call = rf'\w+ = preset\(\w+, "(\w+)", {attribute}="([^"]+)"'
    line = re.compile(rf"^(?:{by_body}|{by_call})", re.MULTILINE)
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for class_name, in_body, preset_name, in_call in line.findall(path.read_text("utf-8")):
            current = class_name or preset_name or current
            if name := in_body or in_call:
                if name in found:
                    raise ValueError(f"{found[name]} and {path} both define {name!r}; rename one")
                found[name] = f"{PACKAGE.name}.{folder}.{path.stem}:{current}"
    return dict(sorted(found.items()))


def preset(base: type, class_name: str, *, doc: str, **facts: object) -> Any:
    """Make a subclass in the module of its base, which differs from it in attributes alone.

    Examples
    --------
    >>> preset(Exception, "Odd", doc="An odd number.", name="odd").name
    'odd'
    """
    return type(base)(class_name, (base,), {"__module__": base.__module__, "__doc__": doc, **facts})


def by_class(folder: str, attribute: str) -> dict[str, str]:
    """Return the same places by the names of the classes: ``{"ListNet": "…:ListNet"}``."""
    return {place.partition(":")[2]: place for place in places(folder, attribute).values()}


def modules(package: str) -> dict[str, ModuleType]:
    """Import all files of a package's folder; return the modules by the names of the files."""
    path = import_module(package).__path__
    return {each.name: import_module(f"{package}.{each.name}") for each in iter_modules(path)}


def members(package: str, kind: type) -> dict[str, Any]:
    """Return what the files of a package define of a kind, its own too, by its `name`.

    These are the instances of a class and its subclasses. A class without a `name` is a base.
    """
    return {
        value.name: value
        for module in (*modules(package).values(), import_module(package))
        for value in vars(module).values()
        if isinstance(value, kind) or (isinstance(value, type) and issubclass(value, kind))
        if hasattr(value, "name")
    }


def load(place: str) -> Any:
    """Import what `package.module:name` says, or the module of a place without a name.

    Examples
    --------
    >>> load("math:tau") > 6
    True
    """
    module, _, name = place.partition(":")
    imported = import_module(module)
    return getattr(imported, name) if name else imported


def brought(name: str, fits: Callable[[Any], bool]) -> Any:
    """Return what a user brought under a name and that fits; None where there is no such thing.

    UsageError where two modules have one.
    """
    found = {
        module: values[name]
        for module, values in BROUGHT.items()
        if name in values and fits(values[name])
    }
    if len(found) > 1:
        raise UsageError(f"two are named {name!r}, in {' and '.join(found)}; rename one")
    return next(iter(found.values()), None)


def require_new(name: str, known: Container[str], what: str) -> None:
    """Raise UsageError for a name of a user's measure or loss that one of the package has."""
    if name in known:
        raise UsageError(f"a {what} of letorbench is named {name!r}, too; rename yours")


def bring(name: str, value: Any, origin: Any) -> None:
    """Take a measure or a loss that a Python program gave, in the place of an older form of it.

    It is made of `origin`, a function or a class, and its `source` is the digest of that.
    UsageError where a function made another one of the same name, as with other values in it.
    """
    own = BROUGHT.setdefault(origin.__module__, {})
    sources = {getattr(each, "source", "") for each in (own.get(name), value)} - {""}
    if "<locals>" in origin.__qualname__ and len(sources) > 1:
        raise UsageError(f"two functions are named {name!r}, expected another __name__ of each")
    own[name] = value


def imports_of(file: str) -> dict[str, str]:
    """Return the places of the names in the indented lines ``from m import a as b`` of a file.

    These are the imports under ``if TYPE_CHECKING``, which a type checker reads.
    """
    lines = re.findall(
        r"^    from (\S+) import (\w+) as (\w+)", Path(file).read_text("utf-8"), re.M
    )
    return {name: f"{module}:{there}" for module, there, name in lines}


def attach(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions `__getattr__` and `__dir__` of a package whose names are imported late.

    `places` has the place of each public name, ``package.module:name``.

    Examples
    --------
    >>> get, names = attach("shapes", {"circle": "math:pi"})
    >>> round(get("circle"), 2), names()
    (3.14, ['circle'])
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(places[name])

    return get, lambda: sorted(places)
