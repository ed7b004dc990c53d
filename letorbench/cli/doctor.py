"""`letorbench doctor`: what is here, and what is missing."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import say
from letorbench.errors import DataError


@click.command(short_help="Versions, cores, data, cache, and what is missing.")
@options.data_dir
@options.out
def doctor(data_dir: Path, out: Path) -> None:
    """Print what letorbench finds on this machine; status 1 where something needed is missing."""
    from letorbench.api.machine_facts import facts

    rows, missing = facts(data_dir, out)
    width = max(len(what) for what, _ in rows)
    for what, text in rows:
        say(f"{what.ljust(width)}  {text}")
    if missing:
        raise DataError(f"missing: {', '.join(missing)}; `python -m pip install letorbench`")
