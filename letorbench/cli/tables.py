"""`letorbench table` and `letorbench plot`: stored results, shown again."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options, procedure, stored, theirs
from letorbench.cli.group import say


@click.command(short_help="Print stored results as text, CSV, Markdown or LaTeX.")
@stored.datasets
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["text", "csv", "markdown", "latex"]),
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE…",
    help="Columns: repeat, comma lists, `all`.  [default: ndcg@1,3,5,10 and map; csv: all]",
)
@stored.algos
@theirs.option
@click.option("--published", is_flag=True, help="Published figures beside ours, with sources.")
@click.option(
    "--relative", is_flag=True, help="Numbers as shares of the way from random (0) to ideal (1)."
)
@procedure.baseline
@procedure.test
@procedure.correction
@procedure.alpha
@procedure.seed
@options.data_dir
@options.out
def table(
    datasets: tuple[str, ...],
    form: str,
    measures: tuple[str, ...],
    algos: tuple[str, ...],
    externals: tuple[str, ...],
    published: bool,
    relative: bool,
    baseline: str | None,
    test: str,
    correction: str,
    alpha: float,
    seed: int,
    data_dir: Path,
    out: Path,
) -> None:  # fmt: skip
    """Print the stored results of data sets (all that have any by default).

    A measure or cut-off that was not stored is computed from the stored scores and the data.
    """
    from letorbench.api.showing import Procedure, table_text

    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    found = stored.results(datasets, algos, data_dir, out, baseline)
    chosen = Procedure(test, correction, alpha, seed)
    text = table_text(found, form, measures, baseline, published, chosen, relative)
    say(text, nl=False)


@click.command(short_help="Draw stored results, a panel a data set.")
@stored.datasets
@click.option(
    "--measure",
    default="ndcg",
    show_default=True,
    metavar="MEASURE",
    help="What is drawn at n = 1..10.",
)
@click.option(
    "--format",
    "forms",
    multiple=True,
    type=click.Choice(["png", "svg", "pdf"]),
    help="Repeat for several.  [default: all three]",
)
@stored.algos
@theirs.option
@click.option("--published", is_flag=True, help="Draw published figures in.")
@click.option(
    "--to",
    "stem",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where, without the ending.  [default: in the data set's results, or beside several]",
)
@options.data_dir
@options.out
def plot(
    datasets: tuple[str, ...],
    measure: str,
    forms: tuple[str, ...],
    algos: tuple[str, ...],
    externals: tuple[str, ...],
    published: bool,
    stem: Path | None,
    data_dir: Path,
    out: Path,
) -> None:
    """Draw the stored results of data sets, one panel each, and print the files' paths."""
    from letorbench.api.showing import write_figure

    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    found = stored.results(datasets, algos, data_dir, out)
    for path in write_figure(found, measure, forms, stem, published):
        say(path)
