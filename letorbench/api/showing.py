"""Results as text and files: tables, comparisons, figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from letorbench.analysis import published_comparison
from letorbench.analysis.across_datasets import overall
from letorbench.analysis.across_datasets import text as overall_text
from letorbench.analysis.comparison import Procedure, compare, marks
from letorbench.analysis.comparison_table import render as render_comparison
from letorbench.analysis.critical_difference import draw as draw_difference
from letorbench.analysis.figures import FORMATS, write
from letorbench.analysis.results_table import USUAL, render
from letorbench.api.results_view import Results
from letorbench.api.selection import measure_names
from letorbench.errors import UsageError
from letorbench.results.measuring import extended
from letorbench.results.paths import figure_stem
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Summary
from letorbench.results.user_files import check_output

__all__ = [
    "Procedure", "comparison_text", "overall_lines", "table_text", "write_figure",
    "write_figures",
]  # fmt: skip


def table_text(
    found: Results,
    form: str = "text",
    measures: Sequence[str] = (),
    baseline: str | None = None,
    published: bool = False,
    procedure: Procedure = Procedure(),
    relative: bool = False,
) -> str:
    """Return the tables of all data sets as text, CSV, Markdown or LaTeX.

    Parameters
    ----------
    found : Results
    form : {"text", "csv", "markdown", "latex"}
    measures : sequence of str
        The columns; by default the usual five, in CSV all that are stored.
    baseline : str, optional
        The algorithm that significant differences from are marked.
    published : bool
        Show published figures beside ours, with their sources.
    procedure : Procedure
        How differences are tested.
    relative : bool
        Show each number as its share of the way from a random order to the ideal one.
    """
    _refuse_baseline(published, baseline)
    if published and relative:
        raise UsageError("--relative needs the data of each number; drop it or --published")

    def one(summary: Summary) -> str:
        names = measure_names(measures or ("all" if form == "csv" else USUAL), summary)
        summary = extended(found.out, found.data_dir, summary, names)
        if published:
            return published_comparison.render(
                summary, names, form, _published_by_fold(found, summary, names)
            )
        if relative:
            summary = found.relative(summary, names)
        if baseline is None:
            return render(summary, names, form)
        systems = found.systems(summary, names)
        return render(
            summary, names, form, marks(summary.dataset, systems, names, baseline, procedure)
        )

    return _joined(found, one, form)


def comparison_text(
    found: Results,
    form: str = "text",
    measures: Sequence[str] = ("ndcg@10",),
    baseline: str | None = None,
    procedure: Procedure = Procedure(),
    published: bool = False,
) -> str:
    """Return the comparisons of all data sets as text, CSV or Markdown; see `Results.compare`.

    With `published` each algorithm is compared with what is published of it by fold.
    """
    _refuse_baseline(published, baseline)

    def one(summary: Summary) -> str:
        names = measure_names(measures, summary)
        if published:
            texts = [
                published_comparison.render_folds(
                    summary, name, form, _published_by_fold(found, summary, [name])
                )
                for name in names
            ]
            return _headed_once(texts) if form == "csv" else "\n".join(texts)
        systems = found.comparable(summary, names)
        texts = [
            render_comparison(
                compare(summary.dataset, systems, name, baseline, procedure),
                summary.conventions[0], procedure, form,
            )
            for name in names
        ]  # fmt: skip
        return _headed_once(texts) if form == "csv" else "\n".join(texts)

    return _joined(found, one, form)


def overall_lines(found: Results, measures: Sequence[str]) -> list[str]:
    """Say what several data sets together say; write the critical-difference diagrams.

    Returns
    -------
    list of str
        A table for each measure, with its diagram's files where there is one; empty for a
        single data set.
    """
    if len(found.summaries) < 2:
        return []
    texts = []
    names = measure_names(measures, found.summaries[-1])
    summaries = [extended(found.out, found.data_dir, summary, names) for summary in found.summaries]
    for name in names:
        across = overall(summaries, name)
        lines = overall_text(across)
        if across.difference is not None:
            stem = found.out / f"critical-difference-{name.replace('@', '-at-')}"
            figure = draw_difference(across.ranked, across.ranks, across.difference, across.spans)
            lines += f"diagram: {', '.join(map(str, write(figure, stem)))}\n"
        texts.append(lines)
    return texts


def write_figure(
    found: Results,
    measure: str = "ndcg",
    formats: Sequence[str] = (),
    stem: Path | None = None,
    published: bool = False,
) -> list[Path]:
    """Write the figure of `Results.plot`; return its files.

    Parameters
    ----------
    found : Results
    measure : str
    formats : sequence of {"png", "svg", "pdf"}
        All three by default.
    stem : Path, optional
        Where to, without the ending; by default in the data set's results, or beside several.
    published : bool
        Draw published figures in.

    Raises
    ------
    UsageError
        The files would be in the folder of a data set or of a stored fold.
    """
    only = found.datasets[0] if len(found.datasets) == 1 else None
    if stem is not None:
        check_output(stem, data_dir=found.data_dir)
    return write(
        found.plot(measure, published),
        stem or figure_stem(found.out, only, measure),
        formats or FORMATS,
    )


def write_figures(found: Results) -> None:
    """Write the NDCG@n figure of each data set, and one of them all where there are several."""
    for dataset in found.datasets:
        write_figure(found.only(dataset))
    if len(found.datasets) > 1:
        write_figure(found)


def _refuse_baseline(published: bool, baseline: str | None) -> None:
    if published and baseline is not None:
        raise UsageError("--published has no queries to test; drop it or --baseline")


def _published_by_fold(found: Results, summary: Summary, measures: Sequence[str]) -> list[PerQuery]:
    """Return the per-query values of the algorithms that have figures published by fold."""
    algos = published_comparison.published_by_fold(summary, measures)
    return found.systems(summary.only(algos), measures)


def _joined(found: Results, one: Callable[[Summary], str], form: str) -> str:
    """Return a text for each data set: CSV under one header, others with a line between."""
    texts = [one(summary) for summary in found.summaries]
    return _headed_once(texts) if form == "csv" else "\n".join(texts)


def _headed_once(texts: Iterable[str]) -> str:
    first, *others = texts
    return first + "".join(text.partition("\n")[2] for text in others)
