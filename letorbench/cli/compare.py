"""`letorbench compare`: is the difference real, and who is ahead over all data sets?"""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from letorbench.cli import options, procedure, stored, theirs
from letorbench.cli.group import say
from letorbench.errors import UsageError


@click.command(short_help="Test whether differences between algorithms are real.")
@stored.datasets
@stored.algos
@theirs.option
@procedure.baseline
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE…",
    help="Repeat, or comma lists.  [default: ndcg@10]",
)
@click.option("--published", is_flag=True, help="Against what is published of each, by fold.")
@procedure.test
@procedure.correction
@procedure.alpha
@procedure.seed
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["text", "csv", "markdown"]),
)
@options.data_dir
@options.out
def compare(
    datasets: tuple[str, ...],
    algos: tuple[str, ...],
    externals: tuple[str, ...],
    baseline: str | None,
    measures: tuple[str, ...],
    published: bool,
    test: str,
    correction: str,
    alpha: float,
    seed: int,
    form: str,
    data_dir: Path,
    out: Path,
) -> None:  # fmt: skip
    """Compare algorithms on the per-query values of all folds of each data set.

    Each row is one algorithm against another: mean difference, 95 % bootstrap interval,
    p-value, the same corrected for all comparisons of the data set and measure, effect size
    (Cohen's d_z), and on how many queries it is better, equal, worse. Several data sets also
    give winning numbers, average ranks, Friedman's and Nemenyi's tests and a diagram.
    With --published the rows are our means by fold less those of the same algorithm in print.
    """
    if published:
        _refuse_procedure()
    from letorbench.api.showing import Procedure, comparison_text, overall_lines

    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    found = stored.results(datasets, algos, data_dir, out, baseline)
    chosen, asked = Procedure(test, correction, alpha, seed), measures or ("ndcg@10",)
    say(comparison_text(found, form, asked, baseline, chosen, published), nl=False)
    if form != "csv" and not published:
        for text in overall_lines(found, asked):
            say("\n" + text, nl=False)


def _refuse_procedure() -> None:
    """Raise UsageError where --published stands beside an option of the tests by query."""
    context = click.get_current_context()
    for name in ("test", "correction", "alpha", "seed"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--published compares folds, not queries; drop it or --{name}")
