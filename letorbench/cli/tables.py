"""`letorbench table` and `letorbench plot`: stored results, shown again."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options, procedure, stored, theirs


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
@theirs.option
@click.option("--published", is_flag=True, help="Published figures beside ours, with sources.")
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
    from letorbench.analysis import published_comparison
    from letorbench.analysis.comparison import Procedure
    from letorbench.analysis.comparison import marks as find_marks
    from letorbench.analysis.results_table import USUAL, render
    from letorbench.errors import UsageError
    from letorbench.results.added_measures import extended, with_measures

    if published and baseline is not None:
        raise UsageError("--published has no queries to test; drop it or --baseline")
    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    for i, summary in enumerate(stored.summaries(datasets, algos, out, baseline)):
        columns = stored.columns(measures or (("all",) if form == "csv" else USUAL), summary)
        summary = extended(out, data_dir, summary, columns)
        if published:
            text = published_comparison.render(summary, columns, form)
        else:
            marks = None
            if baseline is not None:
                chosen = Procedure(test, correction, alpha, seed)
                systems = [
                    with_measures(out, data_dir, summary.dataset, row.algo, columns)
                    for row in summary.rows
                ]
                marks = find_marks(summary.dataset, systems, columns, baseline, chosen)
            text = render(summary, columns, form, marks)
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
@theirs.option
@click.option("--published", is_flag=True, help="Draw published figures in.")
@click.option(
    "--to", "stem", type=click.Path(path_type=Path), metavar="PATH",
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
    from letorbench.analysis.figures import FORMATS, draw, panel, write
    from letorbench.analysis.published_comparison import with_published

    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    summaries = stored.summaries(datasets, algos, out)
    if stem is None:
        stem = (out / summaries[0].dataset if len(summaries) == 1 else out) / measure
    panels = [panel(summary, measure) for summary in summaries]
    if published:
        panels = [
            with_published(each, summary.dataset, measure)
            for each, summary in zip(panels, summaries)
        ]
    figure = draw(panels)
    for path in write(figure, stem, forms or FORMATS):
        click.echo(path)
