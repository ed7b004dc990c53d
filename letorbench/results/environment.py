"""The versions and the machine that a fold is made with, as its fit.json has them."""

import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from letorbench.version import __version__


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
def machine() -> dict[str, Any]:
    """Return the hardware and the system, without a name, as the schema ir_metadata has them."""
    kilobytes = _said("/proc/meminfo", r"^MemTotal:\s*(\d+) kB$")
    cpu = {
        "model": _said("/proc/cpuinfo", r"^model name\s*: (.+)$"),
        "architecture": platform.machine(), "number of cores": os.cpu_count(),
    }  # fmt: skip
    system = {
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": _said("/etc/os-release", r'^PRETTY_NAME="?(.*?)"?$'),
    }
    ram = f"{int(kilobytes) / 2**20:.1f} GB" if kilobytes else ""
    return {"hardware": {"cpu": cpu, "ram": ram}, "operating system": system}


def _said(file: str, pattern: str) -> str:
    """Return what Linux says in a file, "" elsewhere."""
    with suppress(OSError):
        return "".join(re.findall(pattern, Path(file).read_text(), re.MULTILINE)[:1])
    return ""
