"""`letorbench table` and `letorbench plot`: stored results, shown again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options

if TYPE_CHECKING:
    from letorbench.analysis.aggregate import Summary


@click.command(short_help="Print stored results as text, CSV, Markdown or LaTeX.")
@click.argument("datasets", nargs=-1, metavar="DATASET…")
@click.option(
    "--format", "form", default="text", show_default=True,
    type=click.Choice(["text", "csv", "markdown", "latex"]),
)
@click.option(
    "--measure", "measures", multiple=True, metavar="MEASURE…",
    help="Columns: repeat, comma lists, `all`.  [default: ndcg@1,3,5,10 and map; csv: all]",
)
@click.option("--algo", "algos", multiple=True, metavar="NAME…", help="Rows.  [default: all]")
@options.out
def table(
    datasets: tuple[str, ...],
    form: str,
    measures: tuple[str, ...],
    algos: tuple[str, ...],
    out: Path,
) -> None:
    """Print the stored results of data sets (all that have any by default)."""
    from letorbench.analysis.tables import USUAL, render

    for i, summary in enumerate(_summaries(datasets, algos, out)):
        columns = _columns(measures or (("all",) if form == "csv" else USUAL), summary)
        text = render(summary, columns, form)
        if form == "csv":
            text = text if i == 0 else text.partition("\n")[2]
        elif i > 0:
            click.echo()
        click.echo(text, nl=False)


@click.command(short_help="Draw stored results, a panel a data set.")
@click.argument("datasets", nargs=-1, metavar="DATASET…")
@click.option(
    "--measure", default="ndcg", show_default=True, metavar="MEASURE",
    help="What is drawn at n = 1..10.",
)
@click.option(
    "--format", "forms", multiple=True, type=click.Choice(["png", "svg", "pdf"]),
    help="Repeat for several.  [default: all three]",
)
@click.option("--algo", "algos", multiple=True, metavar="NAME…", help="Lines.  [default: all]")
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

    summaries = _summaries(datasets, algos, out)
    if stem is None:
        stem = (out / summaries[0].dataset if len(summaries) == 1 else out) / measure
    figure = draw([panel(summary, measure) for summary in summaries])
    for path in write(figure, stem, forms or FORMATS):
        click.echo(path)


def _summaries(
    datasets: tuple[str, ...], algos: tuple[str, ...], out: Path
) -> list[Summary]:
    from letorbench.analysis.aggregate import present, read_summary
    from letorbench.errors import DataError
    from letorbench.experiment.names import known, split

    names = split(datasets) or ["all"]
    if "all" in names:
        names = present(out)
        if not names:
            raise DataError(f"{out}: no results there; `letorbench run` makes them")
    summaries = [read_summary(out, name) for name in dict.fromkeys(names)]
    wanted = split(algos)
    if wanted and wanted != ["all"]:
        have = sorted({row.algo for summary in summaries for row in summary.rows})
        wanted = [known(algo, have, "algorithm") for algo in wanted]
        summaries = [summary.only(wanted) for summary in summaries]
    return [summary for summary in summaries if summary.rows]


def _columns(words: tuple[str, ...], summary: Summary) -> list[str]:
    from letorbench.experiment.names import known, split

    asked = split(words)
    if asked == ["all"]:
        return list(summary.measures)
    return [known(name.lower(), summary.measures, "measure") for name in asked]
