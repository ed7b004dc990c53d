"""What is installed on this machine."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, requires, version

from letorbench import __version__


def installed_version(name: str) -> str | None:
    """Return the version of an installed package, None if it is missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def packages() -> list[tuple[str, str | None, str]]:
    """Return the name, the installed version and what is required of each package.

    The packages are letorbench, Python and what letorbench depends on, without optional extras.
    """
    from packaging.requirements import Requirement

    rows: list[tuple[str, str | None, str]] = [
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
            rows.append((each.name, installed_version(each.name), wanted))
    return rows
