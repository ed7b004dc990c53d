"""`letorbench compare`: is the difference real, and who is ahead over all data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options, procedure, stored, theirs

if TYPE_CHECKING:
    from letorbench.analysis.comparison import Procedure
    from letorbench.results.summary import Summary


@click.command(short_help="Test whether differences between algorithms are real.")
@stored.datasets
@stored.algos
@theirs.option
@procedure.baseline
@click.option(
    "--measure", "measures", multiple=True, metavar="MEASURE…",
    help="Repeat, or comma lists.  [default: ndcg@10]",
)
@procedure.test
@procedure.correction
@procedure.alpha
@procedure.seed
@click.option(
    "--format", "form", default="text", show_default=True,
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
    """
    from letorbench.analysis.comparison import Procedure
    from letorbench.results.added_measures import extended

    chosen = Procedure(test, correction, alpha, seed)
    found = []
    algos = theirs.take_in(externals, datasets, algos, data_dir, out)
    for i, summary in enumerate(stored.summaries(datasets, algos, out, baseline)):
        columns = stored.columns(measures or ("ndcg@10",), summary)
        text = _pairs(summary, columns, baseline, chosen, form, data_dir, out)
        if form == "csv":
            text = text if i == 0 else text.partition("\n")[2]
        elif i > 0:
            click.echo()
        click.echo(text, nl=False)
        found.append(extended(out, data_dir, summary, columns))
    if len(found) > 1 and form != "csv":
        _overall(found, columns, out)


def _pairs(
    summary: Summary,
    measures: Sequence[str],
    baseline: str | None,
    procedure: Procedure,
    form: str,
    data_dir: Path,
    out: Path,
) -> str:
    from letorbench.analysis.comparison import compare as compare_systems
    from letorbench.analysis.comparison_table import render
    from letorbench.errors import DataError
    from letorbench.results.added_measures import with_measures

    if summary.mixed:
        each = ", ".join(f"{row.algo} {row.convention}" for row in summary.rows)
        raise DataError(
            f"{summary.dataset}: found results of several conventions ({each}), expected one: "
            "choose with --algo, or run again"
        )
    systems = [
        with_measures(out, data_dir, summary.dataset, row.algo, measures) for row in summary.rows
    ]
    texts = []
    for measure in measures:
        pairs = compare_systems(summary.dataset, systems, measure, baseline, procedure)
        texts.append(render(pairs, summary.conventions[0], procedure, form))
    if form == "csv":
        return texts[0] + "".join(text.partition("\n")[2] for text in texts[1:])
    return "\n".join(texts)


def _overall(summaries: Sequence[Summary], measures: Sequence[str], out: Path) -> None:
    """What all data sets together say, and the critical-difference diagram's files."""
    from letorbench.analysis.across_datasets import overall, text
    from letorbench.analysis.critical_difference import draw
    from letorbench.analysis.figures import write

    for measure in measures:
        found = overall(summaries, measure)
        click.echo("\n" + text(found), nl=False)
        if found.difference is not None:
            stem = out / f"critical-difference-{measure.replace('@', '-at-')}"
            paths = write(draw(found.ranked, found.ranks, found.difference), stem)
            click.echo(f"diagram: {', '.join(map(str, paths))}")
