"""`letorbench report`: everything about stored results in one HTML file."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from letorbench.cli import options, procedure, stored
from letorbench.cli.group import say


@click.command(short_help="Write stored results as one self-contained HTML file.")
@stored.datasets
@stored.algos
@procedure.baseline
@click.option(
    "--measure",
    default="ndcg@10",
    show_default=True,
    metavar="MEASURE",
    help="What algorithms are compared by.",
)
@procedure.test
@procedure.correction
@procedure.alpha
@procedure.seed
@click.option(
    "--out-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The file to write.",
)
@options.data_dir
@options.out
def report(
    datasets: tuple[str, ...],
    algos: tuple[str, ...],
    baseline: str | None,
    measure: str,
    test: str,
    correction: str,
    alpha: float,
    seed: int,
    out_file: Path,
    data_dir: Path,
    out: Path,
) -> None:  # fmt: skip
    """Write a report of data sets (all that have results by default) that any browser opens.

    Results, curves with 95 % bands, per-query differences from the baseline (where none is
    given, the best algorithm of each data set), validation curves, settings, timings, warnings
    and where everything comes from. Needs no network and no server.
    """
    from letorbench.api.reporting import Procedure, write_report

    found = stored.results(datasets, algos, data_dir, out, baseline)
    chosen = Procedure(test, correction, alpha, seed)
    say(write_report(found, out_file, baseline, measure, chosen, _given()))


def _given() -> list[str]:
    """The options of the command line, without where the report goes."""
    ctx = click.get_current_context()
    words = []
    for param in ctx.command.params:
        given = ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        if given and isinstance(param, click.Option) and param.name != "out_file":
            value = ctx.params[param.name]
            for each in value if param.multiple else (value,):
                words += [param.opts[0], str(each)]
    return words
