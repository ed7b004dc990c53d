"""The versions and the machine that a fold is made with, as its fit.json has them."""

import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from letorbench.version import __version__

#: what Linux says of the processor and the memory; other systems have no such files
_LINUX = (
    ("model", "/proc/cpuinfo", r"^model name\s*: (.+)$"),
    ("ram", "/proc/meminfo", r"^MemTotal:\s*(\d+) kB$"),
)


@cache
def versions(needed: str | None = None) -> dict[str, str]:
    """Return the versions that a result came from, with that of a package its ranker needs."""
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    if needed:
        packages[needed] = library_version(needed)
    return {"letorbench": __version__, **packages, "python": platform.python_version()}


def library_version(module: str) -> str:
    """Return the version that a module's package says; "" if it says none or is not there."""
    with suppress(ImportError):
        return str(getattr(import_module(module.partition(".")[0]), "__version__", ""))
    return ""


@cache
def machine() -> dict[str, str | int]:
    """Return what is known of this machine, except its name."""
    facts: dict[str, str | int] = {"architecture": platform.machine(), "cores": os.cpu_count() or 0}
    facts["kernel"] = f"{platform.system()} {platform.release()}"
    with suppress(OSError):
        facts["distribution"] = platform.freedesktop_os_release()["PRETTY_NAME"]
    for name, file, pattern in _LINUX:
        with suppress(OSError):
            if match := re.search(pattern, Path(file).read_text(), re.MULTILINE):
                facts[name] = match[1]
    if "ram" in facts:
        facts["ram"] = f"{int(facts['ram']) / 2**20:.1f} GB"
    return facts
