"""What is here and what is missing: packages, cores, data, results."""

from __future__ import annotations

import os
from pathlib import Path

from letorbench.datasets.cache import Cache
from letorbench.datasets.layout import installed
from letorbench.experiment.machine import installed_version, packages
from letorbench.jit import instruction_set, kernel_root
from letorbench.results.paths import present
from letorbench.threads import thread_count

Row = tuple[str, str]

#: packages that commands use where they are there: name -> what for
OPTIONAL = {
    "lightgbm": "--algo lightgbm",
    "xgboost": "--algo xgboost",
    "distributed": "--backend dask",
    "scikit-learn": "cross-validation of rankers",
    "pytest": "the tests",
}


def facts(data_dir: Path, out: Path) -> tuple[list[Row], list[str]]:
    """Return what is here, and the required packages that are missing.

    Parameters
    ----------
    data_dir, out : Path
        The folders of the data sets and of the results.

    Returns
    -------
    rows : list of (str, str)
        A word for each fact, and the fact.
    missing : list of str
        Packages.
    """
    rows: list[Row] = []
    missing: list[str] = []
    for name, version, wanted in packages():
        rows.append((name, version or f"MISSING, expected {wanted}"))
        missing += [] if version else [name]
    rows += [
        (name, installed_version(name) or f"not installed (optional: {purpose})")
        for name, purpose in OPTIONAL.items()
    ]
    if "numba" not in missing:
        rows += _machine()
    return [*rows, *_data(data_dir), *_results(out)], missing


def _machine() -> list[Row]:
    setting = os.environ.get("LETORBENCH_THREADS")
    source = "as many as there are cores" if setting is None else f"LETORBENCH_THREADS={setting}"
    folder = kernel_root()
    compiled = sum(1 for _ in folder.rglob("*.nbi"))
    return [
        ("cores", str(os.cpu_count() or "unknown")),
        ("threads", f"{thread_count()} ({source})"),
        ("kernels", f"{compiled} compiled in {folder} (may be deleted)"),
        ("instructions", instruction_set()),
    ]


def _data(data_dir: Path) -> list[Row]:
    found = ", ".join(installed(data_dir))
    advice = "none but DEMO, which is generated on first use; `letorbench datasets list`"
    size = Cache(data_dir / ".cache").size()
    return [
        ("data folder", str(data_dir) if data_dir.is_dir() else f"{data_dir} (not there yet)"),
        ("data sets", found or advice),
        ("cache", f"{size / 1e6:,.1f} MB in {data_dir / '.cache'} (may be deleted)"),
    ]


def _results(out: Path) -> list[Row]:
    place = next((p for p in (out, *out.absolute().parents) if p.exists()), out)
    writable = "" if os.access(place, os.W_OK) else " (NOT WRITABLE)"
    return [
        ("results folder", f"{out}{writable}"),
        ("results", ", ".join(present(out)) or "none yet; `letorbench run` makes them"),
    ]
