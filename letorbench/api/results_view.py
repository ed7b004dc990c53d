"""What a results folder holds, as an object for notebooks: DataFrames, figures, a report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.comparison_table import comparison_frame
from letorbench.analysis.figures import draw, panel
from letorbench.analysis.published_comparison import with_published
from letorbench.analysis.results_table import USUAL, label
from letorbench.api.selection import measure_names, stored_summaries, words
from letorbench.errors import DataError, UsageError
from letorbench.escaping import html as escape
from letorbench.measures import Measure
from letorbench.results.dataframes import fits_frame, folds_frame, frame_of, scores_frame
from letorbench.results.measuring import competes, extended, relative_summary, with_measures
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Summary, deviation_column

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


#: measures as users write them: names, comma lists, values
Measures = str | Measure | Sequence[str | Measure]


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """Stored results of data sets and algorithms; nothing is trained anew.

    It is read from the files of every finished fold, also of a run that goes on or was
    interrupted. A measure that is not stored is computed from the stored scores and the data.

    Parameters
    ----------
    out : Path
        The results folder.
    data_dir : Path
        The folder of the data sets.
    summaries : tuple of Summary
        The algorithms and their means, one summary a data set.
    warnings : tuple of str
        What the run that gave the results had to say, or which damaged folds are left out.
    """

    out: Path
    data_dir: Path
    summaries: tuple[Summary, ...]
    warnings: tuple[str, ...] = ()

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets."""
        return [summary.dataset for summary in self.summaries]

    @property
    def algorithms(self) -> list[str]:
        """The names of the algorithms that any of the data sets has."""
        return sorted({row.algo for summary in self.summaries for row in summary.rows})

    def summary(self, measures: Measures | None = None, relative: bool = False) -> DataFrame:
        """Return a row for each data set and algorithm.

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns of measures; all that are stored by default.
        relative : bool
            Give each number as its share of the way from a random order (0) to the ideal one (1).

        Returns
        -------
        DataFrame
            dataset, algo, convention, features, folds (finished ones), n_folds, repeats, partial,
            cut_off (in how many of the folds the time limit ended a training), and the mean of
            the folds' means for each measure, with its standard deviation over seeds,
            `<measure>-sd`, where an algorithm has repeats.
        """
        if measures is None and not relative:
            return frame_of(list(self.summaries))
        measures = "all" if measures is None else measures
        shown = [self._extended(summary, measures) for summary in self.summaries]
        if relative:
            shown = [self.relative(summary, measures) for summary in shown]
        frame = frame_of(shown)
        names = measure_names(measures, self.summaries[0]) if shown else []
        head = frame.columns[: frame.columns.get_loc("cut_off") + 1]
        spread = [column for name in names if (column := deviation_column(name)) in frame]
        return frame.reindex(columns=[*head, *names, *spread])

    def folds(self) -> DataFrame:
        """Return a row for each finished fold of each repeat, with the mean of each measure."""
        return self._joined(folds_frame)

    def fits(self) -> DataFrame:
        """Return a row for each finished fold of each repeat: how its model came to be."""
        return self._joined(fits_frame)

    def per_query(self, measures: Measures | None = None, repeats: bool = False) -> DataFrame:
        """Return a row for each test query of each algorithm.

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns of measures; all that are stored by default.
        repeats : bool
            A row for each repeat, with a column `repeat`, instead of the repeats' means.

        Returns
        -------
        DataFrame
            dataset, algo, fold, qid, and the value of each measure.
        """
        import pandas as pd

        parts = []
        for summary in self.summaries:
            names = measure_names("all" if measures is None else measures, summary)
            for system in self.systems(summary, names):
                head = {
                    "dataset": summary.dataset,
                    "algo": system.algo,
                    "fold": system.folds,
                    "qid": system.qids,
                }
                if not repeats:
                    parts.append(pd.DataFrame({**head, **{n: system.values[n] for n in names}}))
                    continue
                tables = [system.by_repeat(name) for name in names]
                parts += [
                    pd.DataFrame({**head, "repeat": number, **dict(zip(names, rows))})
                    for number, rows in enumerate(zip(*tables, strict=True), 1)
                ]
        return pd.concat(parts, ignore_index=True)

    def scores(self, part: str = "test") -> DataFrame:
        """Return the stored scores of every document of a part of the folds.

        Parameters
        ----------
        part : {"test", "validation"}
            Validation scores are what settings, and the weights of ensembles, are chosen by.

        Returns
        -------
        DataFrame
            dataset, fold, qid, label, then a column of scores for each algorithm, the mean over
            seeds where there are several.
        """
        import pandas as pd

        parts = []
        for summary in self.summaries:
            algos = [row.algo for row in summary.rows]
            parts.append(scores_frame(self.out, self.data_dir, summary.dataset, algos, part))
        return pd.concat(parts, ignore_index=True)

    def compare(
        self,
        baseline: str | None = None,
        measures: Measures = "ndcg@10",
        test: str = "randomization",
        correction: str = "holm",
        alpha: float = 0.05,
        seed: int = 0,
    ) -> DataFrame:
        """Test whether the differences between algorithms are real.

        Parameters
        ----------
        baseline : str, optional
            The algorithm that the others are compared with; every pair by default.
        measures : str, Measure or sequence of them
            What they are compared by.
        test : {"randomization", "t", "wilcoxon"}
            The paired test of the per-query values.
        correction : {"holm", "bh", "none"}
            For the several pairs of a data set and measure.
        alpha : float
            The level of significance.
        seed : int
            Where the random draws of tests and intervals come from.

        Returns
        -------
        DataFrame
            A row for each data set, measure and pair: means, difference with its 95 % bootstrap
            interval, p, adjusted p, effect size, wins, ties and losses, significant.
        """
        import pandas as pd

        procedure = Procedure(test, correction, alpha, seed)
        self.require_algorithm(baseline)
        parts = []
        for summary in self.summaries:
            names = measure_names(measures, summary)
            systems = self.comparable(summary, names)
            for name in names:
                pairs = compare(summary.dataset, systems, name, baseline, procedure)
                parts.append(comparison_frame(pairs, procedure))
        frame = pd.concat(parts, ignore_index=True)
        return frame.assign(significant=frame["p_adjusted"] < alpha)

    def plot(self, measure: str = "ndcg", published: bool = False) -> Figure:
        """Draw a measure at n = 1..10: a panel a data set, a line an algorithm.

        Parameters
        ----------
        measure : str
            A measure with cut-offs, by its name alone.
        published : bool
            Draw published figures in.

        Returns
        -------
        matplotlib.figure.Figure
        """
        panels = [panel(summary, measure) for summary in self.summaries]
        if published:
            panels = [
                with_published(each, summary.dataset, measure)
                for each, summary in zip(panels, self.summaries)
            ]
        return draw(panels)

    def report(self, path: str | Path = "report.html", baseline: str | None = None) -> Path:
        """Write everything about the results as one HTML file that any browser opens.

        Parameters
        ----------
        path : path-like
            The file to write.
        baseline : str, optional
            What differences are taken from; the best algorithm of each data set by default.

        Returns
        -------
        Path
            The file written.
        """
        from letorbench.api.reporting import write_report

        return write_report(self, path, baseline)

    def systems(self, summary: Summary, measures: Sequence[str]) -> list[PerQuery]:
        """Return the per-query values of a summary's algorithms, with these measures."""
        return [
            with_measures(self.out, self.data_dir, summary.dataset, row.algo, measures)
            for row in summary.rows
        ]

    def comparable(self, summary: Summary, measures: Sequence[str]) -> list[PerQuery]:
        """Return `systems`; DataError where they were measured by several conventions."""
        if summary.mixed:
            each = ", ".join(f"{row.algo} {row.convention}" for row in summary.rows)
            raise DataError(
                f"{summary.dataset}: found results of several conventions ({each}), expected "
                "one: choose the algorithms, or run again"
            )
        return self.systems(summary, measures)

    def require_algorithm(self, name: str | None) -> None:
        """Raise UsageError where no data set has the algorithm."""
        if name is not None and name not in self.algorithms:
            raise UsageError(
                f"unknown algorithm {name!r}; expected one of {', '.join(self.algorithms)}"
            )

    def only(
        self,
        datasets: str | Iterable[str] | None = None,
        algos: str | Iterable[str] | None = None,
    ) -> Results:
        """Return the results of some data sets and algorithms alone."""
        names, chosen = words(datasets) or self.datasets, words(algos) or self.algorithms
        kept = (summary.only(chosen) for summary in self.summaries if summary.dataset in names)
        return replace(self, summaries=tuple(summary for summary in kept if summary.rows))

    def relative(self, summary: Summary, measures: Measures) -> Summary:
        """Return a summary with these measures as shares of the way from random to ideal."""
        names = measure_names(measures, summary)
        return relative_summary(self.out, self.data_dir, summary, names)

    def _extended(self, summary: Summary, measures: Measures) -> Summary:
        names = measure_names(measures, summary)
        return extended(self.out, self.data_dir, summary, names)

    def _joined(self, frame: Any) -> DataFrame:
        import pandas as pd

        parts = [
            frame(self.out, summary.dataset, row.algo)
            for summary in self.summaries
            for row in summary.rows
        ]
        return pd.concat(parts, ignore_index=True)

    def __repr__(self) -> str:
        what = f"{', '.join(self.datasets)}: {', '.join(self.algorithms)}"
        partial = ", ".join(line for summary in self.summaries for line in summary.partial)
        return f"Results({str(self.out)!r}, {what}{f'; partial: {partial}' if partial else ''})"

    def _repr_html_(self) -> str:
        """Show the summary, the best algorithm of each data set in bold."""
        frame = self.summary(list(USUAL)).drop(columns=["n_folds", "partial", "cut_off"])
        ranked = frame[list(USUAL)].where(frame["algo"].map(competes))
        best = ranked.groupby(frame["dataset"]).transform("max")
        shown = frame.astype(str).map(escape)
        for name in USUAL:
            bold = ranked[name] == best[name]
            texts = frame[name].map("{:.4f}".format)
            shown[name] = texts.where(~bold, "<b>" + texts + "</b>")
        labels = {name: label(name) for name in USUAL}
        return shown.rename(columns=labels).to_html(index=False, escape=False)


def results(
    out: str | Path = "results",
    datasets: str | Iterable[str] | None = None,
    algos: str | Iterable[str] | None = None,
    data_dir: str | Path = "data",
    baseline: str | None = None,
) -> Results:
    """Return what a results folder holds, also of an interrupted run.

    Parameters
    ----------
    out : path-like
        The results folder.
    datasets, algos : str or iterable of str, optional
        Names and comma lists; everything by default.
    data_dir : path-like
        The folder of the data sets, from which measures that are not stored are computed.
    baseline : str, optional
        An algorithm that is shown also where `algos` does not name it.

    Raises
    ------
    DataError
        There are no results.
    UsageError
        A name is unknown.
    """
    out = Path(out)
    summaries = stored_summaries(out, datasets, algos, baseline)
    damaged = tuple(line for summary in summaries for line in summary.damaged)
    return Results(out, Path(data_dir), summaries, damaged)
