"""`letorbench doctor`: what is here, and what is missing."""

from __future__ import annotations

import os
from pathlib import Path

import click

from letorbench.cli import options
from letorbench.errors import DataError

#: packages that commands use where they are there: name -> what for
OPTIONAL = {
    "lightgbm": "--algo lightgbm",
    "xgboost": "--algo xgboost",
    "pytest": "the tests",
}


@click.command(short_help="Versions, cores, data, cache, and what is missing.")
@options.data_dir
@options.out
def doctor(data_dir: Path, out: Path) -> None:
    """Print what letorbench finds on this machine; status 1 where something needed is missing."""
    from letorbench.experiment.machine import compiled, packages

    rows: list[tuple[str, str]] = []
    missing: list[str] = []
    for name, version, wanted in packages():
        rows.append((name, version or f"MISSING, expected {wanted}"))
        missing += [] if version else [name]
    rows += _extras()
    if "numba" not in missing:
        ready, stale = compiled()
        advice = "" if ready else "; `python -m letorbench.compile` compiles them once"
        advice += f"; {stale} of an earlier version, which it removes" if stale else ""
        rows += [*_machine(), ("kernels", f"{ready} compiled{advice}")]
    rows += [*_data(data_dir), *_results(out)]
    width = max(len(what) for what, _ in rows)
    for what, text in rows:
        click.echo(f"{what.ljust(width)}  {text}")
    if missing:
        raise DataError(f"missing: {', '.join(missing)}; `python -m pip install letorbench`")


def _extras() -> list[tuple[str, str]]:
    from letorbench.experiment.machine import installed_version

    return [
        (name, installed_version(name) or f"not installed (optional: {purpose})")
        for name, purpose in OPTIONAL.items()
    ]


def _machine() -> list[tuple[str, str]]:
    from letorbench.threads import thread_count

    setting = os.environ.get("LETORBENCH_THREADS")
    source = "as many as there are cores" if setting is None else f"LETORBENCH_THREADS={setting}"
    return [
        ("cores", str(os.cpu_count() or "unknown")),
        ("threads", f"{thread_count()} ({source})"),
    ]


def _data(data_dir: Path) -> list[tuple[str, str]]:
    from letorbench.datasets.cache import Cache
    from letorbench.datasets.layout import installed

    found = ", ".join(installed(data_dir))
    advice = "none but DEMO, which is generated on first use; `letorbench datasets list`"
    size = Cache(data_dir / ".cache").size()
    return [
        ("data folder", str(data_dir) if data_dir.is_dir() else f"{data_dir} (not there yet)"),
        ("data sets", found or advice),
        ("cache", f"{size / 1e6:,.1f} MB in {data_dir / '.cache'} (may be deleted)"),
    ]


def _results(out: Path) -> list[tuple[str, str]]:
    from letorbench.results.paths import present

    place = next((p for p in (out, *out.absolute().parents) if p.exists()), out)
    writable = "" if os.access(place, os.W_OK) else " (NOT WRITABLE)"
    return [
        ("results folder", f"{out}{writable}"),
        ("results", ", ".join(present(out)) or "none yet; `letorbench run` makes them"),
    ]
