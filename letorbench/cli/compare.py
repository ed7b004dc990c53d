"""`letorbench compare`: is the difference real, and who is ahead over all data sets?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options
from letorbench.cli.group import complain, say, show
from letorbench.errors import DataError, UsageError

if TYPE_CHECKING:
    from letorbench.analysis.comparison import Pair, Procedure
    from letorbench.api.results import Results


@click.command(short_help="Test whether differences between algorithms are real.")
@options.baseline
@options.measures("Repeat, or comma lists.  [default: ndcg@10]")
@click.option("--power", is_flag=True, help="How many queries would settle each difference.")
@click.option(
    "--by", metavar="length|relevant|difficulty|FILE.csv[:COLUMN]",
    help="In slices of the queries: by documents, relevant documents or the algorithms' mean, or "
    "by a table of queries and your segments of them.",
)  # fmt: skip
@click.option(
    "--queries", type=click.IntRange(1), metavar="N",
    help="The N queries that gain most, and the N that lose most, of each pair.",
)  # fmt: skip
@click.option(
    "--why", is_flag=True,
    help="Where each difference comes from: training, selection, and the queries.",
)  # fmt: skip
@options.runs
@click.option("--qrels", type=options.FILE, help="The judgements of the runs.")
@options.convention_of("trec_eval", help="Whose measuring rules the runs follow.")
@options.format_of("text", "csv", "markdown")
@options.procedure
@options.stored
def compare(
    results: Results | None, baseline: str | None, measures: tuple[str, ...], power: bool,
    by: str | None, queries: int | None, why: bool, runs: tuple[Path, ...], qrels: Path | None,
    convention: str, form: str, procedure: Procedure,
) -> None:  # fmt: skip
    """Compare algorithms on the per-query values of all folds of each data set.

    Each row is one algorithm against another: mean difference, 95 % interval,
    p-value, the same corrected for all comparisons of the data set and measure, effect size
    (Cohen's d_z), the smallest true difference that a test finds on such data in 80 % of cases
    (detectable), and on how many queries it is better, equal, worse. Several data sets also give
    winning numbers, average ranks, Friedman's and Nemenyi's tests and a diagram.
    With --by each row is of a slice of the queries, and the correction is for all slices.
    With --queries the rows are the queries that differ most.
    With --why the rows are what both have in training, validation and test, with reasons below:
    whether the lower one under- or overfits, how sure its selection was, and on which queries.
    With --run the systems are TREC runs, by --qrels, on the queries that count in all of them.
    With --power the rows say how often a test finds each difference on other numbers of queries.
    """
    from letorbench.analysis.comparison import comparison_table, power_table

    measures = measures or ("ndcg@10",)
    if queries is not None:
        options.refuse("--queries", "by", "power", "why", *options.PROCEDURE)
        if results is None:
            raise UsageError("--queries does not go with --run; drop one of them")
        show(list(results.query_tables(queries, measures, baseline)), form)
        return
    if why:
        options.refuse("--why", "by", "power")
        if results is None:
            raise UsageError("--why does not go with --run; drop one of them")
        show(list(results.why_tables(measures, baseline, procedure)), form)
        return
    if results is None:
        options.refuse("--run", "by")
        pairs = _of_runs(qrels, runs, measures, baseline, procedure, convention)
    else:
        for name in filter(options.given, ("qrels", "convention")):
            raise UsageError(f"--{name} goes with --run, found none")
        stored = results.pairs(measures, baseline, procedure, by)
        pairs = ((frame.conventions[0], each) for frame, each in stored)
    if power:
        options.refuse("--power", "by", "alpha", "correction")
        show([power_table(each, rules) for rules, each in pairs], form)
        return
    show([comparison_table(each, procedure, rules) for rules, each in pairs], form)
    if results is not None and form != "csv" and by is None:
        _show_overall(results, measures)


def _of_runs(
    qrels: Path | None, runs: Sequence[Path], measures: Sequence[str], baseline: str | None,
    procedure: Procedure, convention: str,
) -> Iterator[tuple[str, tuple[Pair, ...]]]:  # fmt: skip
    """Yield the compared runs by each measure, with the name of the convention."""
    import numpy as np

    from letorbench.analysis.comparison import compare as compared
    from letorbench.api.measuring import measures_of
    from letorbench.conventions import convention as convention_named
    from letorbench.results.external import measure_runs

    if qrels is None:
        raise UsageError("--run: found no --qrels, expected the judgements of the runs")
    rules, asked = convention_named(convention), measures_of(measures)
    systems, notes = measure_runs(qrels, runs, asked, rules)
    complain(notes, "warning")
    names = {str(run): system.algo for run, system in zip(runs, systems)}
    baseline = names.get(baseline, baseline) if baseline else None
    tables = np.array([[*system.values.values()] for system in systems])
    counts = ~np.isnan(tables).any(axis=(0, 1))
    if not counts.any():
        raise DataError(f"{qrels}: found no query that counts in all runs, expected one")
    for measure in map(str, asked):
        both = [system.at(counts) for system in systems]
        yield rules.name, compared(qrels.name, both, measure, baseline, procedure)


def _show_overall(results: Results, measures: tuple[str, ...]) -> None:
    """Print what several data sets together say; draw the critical-difference diagrams."""
    from letorbench.analysis.figures import draw_ranks, write
    from letorbench.analysis.ranks import overall, overall_table
    from letorbench.datasets.catalog import parse

    # shares of the training queries are no data sets of their own
    whole = [frame for frame in results.frames if parse(frame.dataset).share == 1.0]
    if len(whole) < 2:
        return
    frames = [frame.measured(measures) for frame in whole]
    for name in results.frames[-1].names(measures):
        across = overall(frames, name)
        say("")
        show(overall_table(across))
        if across.difference is not None:
            stem = results.out / f"critical-difference-{name.replace('@', '-at-')}"
            figure = draw_ranks(across.ranked, across.ranks, across.difference)
            say(f"diagram: {', '.join(map(str, write(figure, stem)))}")
