"""The commands about this machine: `doctor`, what is there and missing, and `completion`."""

import os
import platform
import re
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from letorbench.analysis.tables import text_table
from letorbench.cli import options
from letorbench.cli.group import echo, print_table
from letorbench.errors import DataError
from letorbench.version import __version__

#: packages that commands use if they are there: name -> purpose
OPTIONAL = {
    "lightgbm": "--algo lightgbm",
    "xgboost": "--algo xgboost",
    "catboost": "--algo catboost",
    "scikit-learn": "cross-validation of rankers",
    "pytest": "the tests",
}


@click.command(short_help="Show versions, cores, data, cache, and what is missing.")
@options.data_dir
@options.out
def doctor(data_dir: Path, out: Path) -> None:
    """Print versions, cores, data and cache of this machine; status 1 if something is missing."""
    rows, missing = [], []
    for name, at_hand, wanted in _packages():
        rows.append((name, at_hand or f"MISSING, expected {wanted}"))
        missing += [] if at_hand else [name]
    for name, purpose in OPTIONAL.items():
        at_hand = _installed(name) or _installed(f"{name}-cpu")  # which has the same module
        rows.append((name, at_hand or f"not installed (optional: {purpose})"))
    if "numba" not in missing:
        rows += _machine()
    print_table(text_table(["", ""], [*rows, *_folders(data_dir, out)]))
    if missing:
        raise DataError(f"missing: {', '.join(missing)}; `python -m pip install letorbench`")


def _packages() -> Iterator[tuple[str, str | None, str]]:
    """Yield the name, the installed version and the required version of each package."""
    from importlib.metadata import PackageNotFoundError, requires

    yield "letorbench", __version__, ""
    yield "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}", ""
    try:
        needed = requires("letorbench") or []
    except PackageNotFoundError:  # run from a folder, never installed
        needed = []
    for line in sorted(needed, key=str.lower):  # the metadata's order is the installer's
        package = re.fullmatch(r"([\w.-]+)([^;]*)", line)  # an extra has a marker behind it
        if package is not None:
            yield package[1], _installed(package[1]), package[2].strip()


def _installed(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _machine() -> Iterator[tuple[str, str]]:
    from letorbench.compiled.jit import instruction_set, kernel_root
    from letorbench.compiled.threads import thread_count

    setting = os.environ.get("LETORBENCH_THREADS")
    source = "as many as there are cores" if setting is None else f"LETORBENCH_THREADS={setting}"
    compiled = sum(1 for _ in kernel_root().rglob("*.nbi"))
    yield "cores", str(os.cpu_count() or "unknown")
    yield "threads", f"{thread_count()} ({source})"
    yield "kernels", f"{compiled} compiled in {kernel_root()} (may be deleted)"
    yield "instructions", instruction_set()


def _folders(data_dir: Path, out: Path) -> Iterator[tuple[str, str]]:
    from letorbench.datasets.cache import Cache
    from letorbench.datasets.layout import installed
    from letorbench.results.paths import present

    advice = "none but DEMO, which is generated on first use; `letorbench datasets list`"
    size = Cache(data_dir / ".cache").size()
    place = next((p for p in (out, *out.absolute().parents) if p.exists()), out)
    writable = "" if os.access(place, os.W_OK) else " (NOT WRITABLE)"
    yield "data folder", str(data_dir) if data_dir.is_dir() else f"{data_dir} (not there yet)"
    yield "data sets", ", ".join(installed(data_dir)) or advice
    yield "cache", f"{size / 1e6:,.1f} MB in {data_dir / '.cache'} (may be deleted)"
    yield "results folder", f"{out}{writable}"
    yield "results", ", ".join(present(out)) or "none yet; `letorbench run` makes them"


@click.command(short_help="Print a script that completes names in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options and names.

    For bash: letorbench completion bash >> ~/.bashrc
    """
    made = get_completion_class(shell)
    assert made is not None
    root = context.find_root().command
    echo(made(root, {}, "letorbench", "_LETORBENCH_COMPLETE").source(), nl=False)
