"""What a result may depend on besides its inputs: packages, compiled kernels."""

from __future__ import annotations

import importlib
import platform
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from letorbench import __version__


def installed_version(name: str) -> str | None:
    """The version of an installed package, None where it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def packages() -> list[tuple[str, str | None, str]]:
    """(name, installed version or None, what is required): letorbench, Python, dependencies.

    Those of optional extras and of other versions of Python are none.
    """
    from packaging.requirements import Requirement

    found: list[tuple[str, str | None, str]] = [
        ("letorbench", __version__, ""),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}", ""),
    ]
    try:
        needed = requires("letorbench") or []
    except PackageNotFoundError:  # run from a folder, never installed
        needed = []
    for each in map(Requirement, needed):
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            wanted = str(each.specifier) or "any version"
            found.append((each.name, installed_version(each.name), wanted))
    return found


def compiled() -> tuple[int, int]:
    """(kernels that the disk cache holds, all kernels); a kernel edited since does not count."""
    import pkgutil

    from letorbench import kernels

    for module in pkgutil.iter_modules(kernels.__path__):
        importlib.import_module(f"{kernels.__name__}.{module.name}")
    ready = sum(_is_cached(dispatcher) for dispatcher, _ in kernels.COMPILED)
    return ready, len(kernels.COMPILED)


def _is_cached(dispatcher: object) -> bool:
    function = dispatcher.py_func
    source = Path(function.__code__.co_filename)
    line = function.__code__.co_firstlineno
    pattern = f"{source.stem}.{function.__qualname__}-{line}.*.nbi"
    index = list(Path(dispatcher.stats.cache_path).glob(pattern))
    return any(path.stat().st_mtime >= source.stat().st_mtime for path in index)
