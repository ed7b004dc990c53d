"""The command line: parse, call, print. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from letorbench import __version__
from letorbench.cli.algos import algos
from letorbench.cli.compare import compare
from letorbench.cli.datasets import datasets
from letorbench.cli.doctor import doctor
from letorbench.cli.export import export
from letorbench.cli.external import external
from letorbench.cli.group import INTERRUPTED, TERMINATED, Commands
from letorbench.cli.merge import results
from letorbench.cli.rank import rank
from letorbench.cli.report import report
from letorbench.cli.reproduce import reproduce
from letorbench.cli.run import run
from letorbench.cli.score import score
from letorbench.cli.study import study
from letorbench.cli.tables import plot, table

__all__ = ["cli", "main"]


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="letorbench", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
def cli(debug: bool) -> None:
    """Benchmark learning-to-rank algorithms under the LETOR protocol.

    Try it with nothing at hand: letorbench run --dataset DEMO --algo regression,ndcgboost
    """


for command in (
    run, datasets, algos, score, table, plot, compare, report, results, external, export, rank,
    doctor, reproduce, study,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """The `letorbench` command."""
    try:
        cli()
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            _leave(end.code)
        raise


def _leave(status: int) -> None:
    """End the process without its other threads.

    Ctrl-C may end this thread while it holds a lock of a library, which another waits for.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(status)
