"""The commands that show stored results: `table`, `plot` and `compare`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.cli import options
from letorbench.cli.group import echo, print_error, print_table
from letorbench.errors import DataError, UsageError
from letorbench.files import refuse_links, write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from letorbench.analysis.comparison import Pair, Procedure
    from letorbench.analysis.tables import Table
    from letorbench.api.results import Results
    from letorbench.datasets.queryset import Benchmark
    from letorbench.results.per_query import PerQuery


@click.command(short_help="Print stored results as text, CSV, Markdown or LaTeX.")
@options.table_format
@options.measures(
    "Columns, also as comma lists; `all`.  [default: ndcg@1,3,5,10 and map; csv: all]"
)
@options.flag("--published", "Show published figures beside ours, with their sources.")
@options.flag("--shares", "Learning curves, by the fraction of the training queries.")
@options.baseline
@options.procedure
@options.stored
def table(
    results: Results, form: str, measures: tuple[str, ...], published: bool, shares: bool,
    baseline: str | None, procedure: Procedure,
) -> None:  # fmt: skip
    """Print the stored results of data sets (by default all that have results).

    A measure or cut-off that was not stored is computed from the stored scores and the data.
    After `run --resplit` a second table shows how far other draws of the folds move the means.
    """
    from letorbench.analysis.published import published_table
    from letorbench.analysis.results_table import usual
    from letorbench.measures import measure_names

    if published:
        options.refuse("--published", "baseline", *options.PROCEDURE)
    if shares:
        options.refuse("--shares", "baseline", "published", *options.PROCEDURE)
    for name in filter(options.given, options.PROCEDURE if baseline is None else ()):
        raise UsageError(f"--{name} goes with --baseline, found none")
    if shares:
        several = measure_names(measures or ("ndcg@10",))
        print_table([each.table for name in several for each in results.learning(name)], form)
        return
    tables = []
    for frame in results.frames:
        names = frame.names(measures or ("all" if form == "csv" else usual(frame)))
        frame = frame.measured(names)
        if published:
            tables.append(published_table(frame, names))
        else:
            tables += results.only(frame.dataset).tables(names, baseline, procedure)
            tables += [] if form == "csv" else results.resplit_tables(frame, names)
    print_table(tables, form)


@click.command(short_help="Draw stored results, one panel for each data set.")
@options.measure("A measure with cut-offs is drawn at n = 1..10, any other by itself.", "ndcg")
@options.flag(
    "--shares", "Draw a measure, by default ndcg@10, against the fraction of the training queries."
)
@options.baseline
@options.flag("--validation", "Draw validation curves, with a dot at the choice.")
@options.several(
    "--format", "forms", metavar=None, type=click.Choice(["png", "svg", "pdf"]),
    help="Format of the files; repeat for several.  [default: all three]",
)  # fmt: skip
@options.flag("--published", "Also draw published figures.")
@click.option(
    "--to", "stem", type=click.Path(path_type=Path), metavar="PATH",
    help="Path of the files without the ending.  [default: in the folder of the data set, or of "
    "the results for several]",
)  # fmt: skip
@click.option(
    "--width", type=click.FloatRange(1.0, 40.0), metavar="INCHES",
    help="Width of the figure: 3.5 fills a column of a paper, 7.2 a page.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Title instead of the data set's name; '' for none.")
@options.stored
def plot(
    results: Results, measure: str, shares: bool, baseline: str | None, validation: bool,
    forms: tuple[str, ...], published: bool, stem: Path | None, width: float | None,
    title: str | None,
) -> None:  # fmt: skip
    """Draw the stored results of data sets, one panel each, and print the files' paths.

    With --shares these are learning curves of data sets that ran with several --share.
    With --baseline these are differences from it with 95 % intervals, by default of ndcg@10.
    With --validation these are validation curves: one panel for each algorithm, one line for each
    fold.
    """
    from letorbench.named_files import is_stream, open_output
    from letorbench.results.user_files import check_output

    to = write_atomically if stem is None else open_output
    if stem is not None:
        if stem.name in ("", ".."):
            raise UsageError(f"--to {stem}: found a folder, expected a file's path, as {stem}/ndcg")
        check_output(stem, data_dir=results.data_dir)
    if shares:
        options.refuse("--shares", "published")
        measure = measure if options.given("measure") else "ndcg@10"
        stem = stem or results.out / f"shares-{measure.replace('@', '-at-')}"
    if validation:
        options.refuse("--validation", "measure", "published", "shares", "baseline")
    if baseline is not None:
        options.refuse("--baseline", "published", "shares")
    kind: dict[str, Any] = {"shares": shares, "baseline": baseline, "validation": validation}
    kind |= {"width": width, "title": title}
    for path in write_figure(results, measure, forms, stem, to, published=published, **kind):
        echo(path, err=is_stream(path))


def write_figure(
    results: Results,
    measure: str = "ndcg",
    forms: Sequence[str] = (),
    stem: Path | None = None,
    to: Callable = write_atomically,
    **kind: Any,
) -> list[Path]:
    """Write the figure of `Results.plot`, by default in its usual place."""
    from letorbench.analysis.figures import FORMATS, save, write
    from letorbench.named_files import is_stream
    from letorbench.results.paths import figure_stem

    name = re.sub("[, ]+", "-", measure.replace("@", "-at-"))
    if kind.get("baseline"):  # a label may have signs that a file's name may not
        row = results.row(kind["baseline"])
        rows = (each for frame in results.frames for each in frame.rows if each.algo == row)
        name += f"-from-{next(rows).label.folders[0]}"
    name = "validation" if kind.get("validation") else name
    drawn, forms = results.plot(measure, **kind), forms or FORMATS
    if stem is None:
        only = results.datasets[0] if len(results.datasets) == 1 else None
        stem = figure_stem(results.out, only, name)
        refuse_links(results.out, stem.parent)
    if not is_stream(stem):
        return write(drawn, stem, forms, to)
    if len(forms) > 1:
        raise UsageError(f"{stem}: found {len(forms)} formats of a figure, expected one --format")
    with to(stem, binary=True) as file:
        save(drawn, file, forms[0])
    return [stem]


@click.command(short_help="Test whether differences between algorithms are real.")
@options.baseline
@options.measures("Measures, also as comma lists.  [default: ndcg@10]")
@options.flag("--power", "Print how many queries would settle each difference.")
@options.by
@click.option(
    "--queries", type=click.IntRange(1), metavar="N",
    help="Print the N queries that gain most, and the N that lose most, of each pair.",
)  # fmt: skip
@options.flag("--why", "Print where each difference comes from: training, selection and queries.")
@options.runs
@click.option("--qrels", type=options.FILE, help="Judgements of the runs.")
@options.convention_of("trec_eval", help="Measuring rules for the runs.")
@options.table_format
@options.procedure
@options.stored
def compare(
    results: Results | None, baseline: str | None, measures: tuple[str, ...], power: bool,
    by: str | None, queries: int | None, why: bool, runs: tuple[Path, ...], qrels: Path | None,
    convention: str, form: str, procedure: Procedure,
) -> None:  # fmt: skip
    """Compare algorithms on the per-query values of all folds of each data set.

    A row compares one algorithm with another: mean difference, 95 % interval, p-value, p-value
    corrected for all comparisons of the data set and measure, effect size (Cohen's d_z), the
    smallest true difference that a test finds on such data in 80 % of cases (detectable), and the
    numbers of queries on which it is better, equal and worse. --baseline takes a comma list;
    --correction tukey tests all pairs together. Several data sets add winning numbers, average
    ranks, Friedman's and Nemenyi's tests and a diagram. After `run --resplit` a second table has
    the differences over the new draws of the folds, by the corrected resampled t-test.
    --by compares within slices of the queries, corrected for all slices. --queries lists the
    queries that differ most. --why shows training, validation and test means, and whether the
    weaker algorithm under- or overfits, how certain its selection was, and on which queries it
    loses. --run compares TREC runs, by --qrels, on the queries that count in all of them. --power
    says how often a test finds each difference on other numbers of queries.
    """
    from letorbench.analysis.comparison import (
        against_the_best,
        comparison_table,
        power_table,
        query_tables,
    )
    from letorbench.analysis.comparison import compare as compared
    from letorbench.analysis.slices import property_or_segments, sliced

    measures = measures or ("ndcg@10",)
    if queries is not None:
        options.refuse("--queries", "by", "power", "why", *options.PROCEDURE)
    if why:
        options.refuse("--why", "by", "power")
    if results is None:
        options.refuse("--run", "why")
        judged, systems, against = _of_runs(qrels, runs, measures, baseline, convention)
        source, names = (judged.name, systems), list(systems[0].values)
        chosen = None if by is None else property_or_segments(by)

        def cut(name: str) -> Mapping[str, pd.MultiIndex] | None:
            return None if chosen is None else sliced(chosen, systems, name, lambda: judged)

        rules = judged.convention.name
        pairs = ((rules, compared(*source, n, against, procedure, cut(n))) for n in names)
        differing: Iterator[Table] = (
            table for n in names for table in query_tables(*source, n, against, queries or 0, {})
        )
    else:
        for name in filter(options.given, ("qrels", "convention")):
            raise UsageError(f"--{name} goes with --run, found none")
        if why:
            print_table(list(results.why_tables(measures, baseline, procedure)), form)
            return
        stored = results.pairs(measures, baseline, procedure, by)
        pairs = ((frame.conventions[0], each) for frame, each in stored)
        differing = results.query_tables(queries or 0, measures, baseline)
    if queries is not None:
        print_table(list(differing), form)
        return
    if power:
        options.refuse("--power", "by", *options.PROCEDURE)
    every: list[tuple[str, Sequence[Pair]]] = [*pairs]
    shown = every
    if baseline is None and form != "csv":
        shown = [(rules, against_the_best(each)) for rules, each in every]
        numbers = [sum(len(each) for _, each in some) for some in (shown, every)]
        if numbers[0] < numbers[1]:
            which = "the best algorithm with the next ones; --format csv has all"
            print_error([f"{numbers[0]} of {numbers[1]:,} pairs: {which}"], "note")
    if power:
        print_table([power_table(each, rules) for rules, each in shown], form)
        return
    tables = [comparison_table(each, procedure, rules) for rules, each in shown]
    whole = results is not None and form != "csv" and by is None
    if results is not None and whole:
        tables += results.resplit_comparisons(measures, baseline, procedure)
    print_table(tables, form)
    if results is not None and whole:
        _show_overall(results, measures, form)


def _of_runs(
    qrels: Path | None, runs: Sequence[Path], measures: Sequence[str], baseline: str | None,
    convention: str,
) -> tuple[Benchmark, list[PerQuery], list[str] | None]:  # fmt: skip
    """Return the judgements, the runs on the queries that count in all, and the baselines."""
    import numpy as np

    from letorbench.api.measuring import measures_of
    from letorbench.api.results import split_names
    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.queryset import Benchmark, Fold
    from letorbench.results.external import measure_runs, read_qrels

    if qrels is None:
        raise UsageError("--run: found no --qrels, expected the judgements of the runs")
    rules, chosen = convention_named(convention), measures_of(measures)
    systems, notes = measure_runs(qrels, runs, chosen, rules)
    print_error(notes, "warning")
    names = {str(run): system.algo for run, system in zip(runs, systems)}
    against = [names.get(each, each) for each in split_names(baseline)] or None
    tables = np.array([[*system.values.values()] for system in systems])
    counts = ~np.isnan(tables).any(axis=(0, 1))
    if not counts.any():
        raise DataError(f"{qrels}: found no query that counts in all runs, expected one")
    judged = read_qrels(qrels)
    benchmark = Benchmark(qrels.name, (Fold(1, judged, judged, judged),), rules, {})
    return benchmark, [system.at(counts) for system in systems], against


def _show_overall(results: Results, measures: tuple[str, ...], form: str) -> None:
    """Print the comparison over several data sets; draw the critical-difference diagrams."""
    from letorbench.analysis.figures import write
    from letorbench.analysis.ranks import draw_ranks, overall, overall_table
    from letorbench.datasets.catalog import parse

    # shares of the training queries and draws of the folds are no data sets of their own
    whole = [frame for frame in results.frames if parse(frame.dataset).files == frame.dataset]
    if len(whole) < 2:
        return
    frames = [frame.measured(measures) for frame in whole]
    for name in results.frames[-1].names(measures):
        across = overall(frames, name)
        echo("")
        print_table(overall_table(across), form)
        if across.difference is not None:
            stem = results.out / f"critical-difference-{name.replace('@', '-at-')}"
            figure = draw_ranks(across.ranked, across.ranks, across.difference)
            written = ", ".join(map(str, write(figure, stem)))
            echo(f"diagram: {written}", err=form != "text")
