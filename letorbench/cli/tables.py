"""`letorbench table` and `letorbench plot`: stored results, shown again."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options, stored

@click.command(short_help="Print stored results as text, CSV, Markdown or LaTeX.")
@stored.datasets
@click.option(
    "--format", "form", default="text", show_default=True,
    type=click.Choice(["text", "csv", "markdown", "latex"]),
)
@click.option(
    "--measure", "measures", multiple=True, metavar="MEASURE…",
    help="Columns: repeat, comma lists, `all`.  [default: ndcg@1,3,5,10 and map; csv: all]",
)
@stored.algos
@options.data_dir
@options.out
def table(
    datasets: tuple[str, ...],
    form: str,
    measures: tuple[str, ...],
    algos: tuple[str, ...],
    data_dir: Path,
    out: Path,
) -> None:
    """Print the stored results of data sets (all that have any by default).

    A measure or cut-off that was not stored is computed from the stored scores and the data.
    """
    from letorbench.analysis.tables import USUAL, render
    from letorbench.experiment.remeasure import extended

    for i, summary in enumerate(stored.summaries(datasets, algos, out)):
        columns = stored.columns(measures or (("all",) if form == "csv" else USUAL), summary)
        text = render(extended(out, data_dir, summary, columns), columns, form)
        if form == "csv":
            text = text if i == 0 else text.partition("\n")[2]
        elif i > 0:
            click.echo()
        click.echo(text, nl=False)


@click.command(short_help="Draw stored results, a panel a data set.")
@stored.datasets
@click.option(
    "--measure", default="ndcg", show_default=True, metavar="MEASURE",
    help="What is drawn at n = 1..10.",
)
@click.option(
    "--format", "forms", multiple=True, type=click.Choice(["png", "svg", "pdf"]),
    help="Repeat for several.  [default: all three]",
)
@stored.algos
@click.option(
    "--to", "stem", type=click.Path(path_type=Path), metavar="PATH",
    help="Where, without the ending.  [default: in the data set's results, or beside several]",
)
@options.out
def plot(
    datasets: tuple[str, ...],
    measure: str,
    forms: tuple[str, ...],
    algos: tuple[str, ...],
    stem: Path | None,
    out: Path,
) -> None:
    """Draw the stored results of data sets, one panel each, and print the files' paths."""
    from letorbench.analysis.plots import FORMATS, draw, write
    from letorbench.analysis.plotter import panel

    summaries = stored.summaries(datasets, algos, out)
    if stem is None:
        stem = (out / summaries[0].dataset if len(summaries) == 1 else out) / measure
    figure = draw([panel(summary, measure) for summary in summaries])
    for path in write(figure, stem, forms or FORMATS):
        click.echo(path)
