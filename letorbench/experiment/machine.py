"""What is installed on this machine: packages and compiled kernels."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version

from letorbench import __version__
from letorbench.jit import kernel_folder, stale_kernel_folders

#: stands beside the kernels when all of them are compiled
_COMPLETE = "complete"


def installed_version(name: str) -> str | None:
    """Return the version of an installed package, None where it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def packages() -> list[tuple[str, str | None, str]]:
    """Return letorbench, Python and the packages that letorbench depends on.

    Packages of optional extras and of other versions of Python are left out.

    Returns
    -------
    list of (str, str or None, str)
        The name, the installed version, and what is required.
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
    # the metadata's order is the installer's
    for each in sorted(map(Requirement, needed), key=lambda each: each.name.lower()):
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            wanted = str(each.specifier) or "any version"
            found.append((each.name, installed_version(each.name), wanted))
    return found


def compiled() -> tuple[int, int]:
    """Return the number of kernels compiled on disk, and of folders of an earlier source."""
    return sum(1 for _ in kernel_folder().rglob("*.nbi")), len(stale_kernel_folders())


def are_compiled() -> bool:
    """Return whether `python -m letorbench.compile` has compiled this source here."""
    return (kernel_folder() / _COMPLETE).exists()


def mark_compiled() -> None:
    """Leave a sign that all kernels of this source are compiled, where that can be written."""
    with suppress(OSError):
        (kernel_folder() / _COMPLETE).touch()
