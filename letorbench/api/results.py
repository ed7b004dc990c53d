"""What a results folder holds, as an object for notebooks: DataFrames, figures, a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from letorbench.analysis.comparison import Pair, Procedure, compare_slices, comparison_table
from letorbench.analysis.comparison import compare as compare_systems
from letorbench.analysis.figures import draw, panel
from letorbench.analysis.learning import Point, learning_panel, learning_table, points
from letorbench.analysis.published import with_published
from letorbench.analysis.report.gather import gather
from letorbench.analysis.report.page import page
from letorbench.analysis.results_table import USUAL, best_first, comparable, summary_table
from letorbench.analysis.slices import sliced
from letorbench.analysis.tables import Table, render, to_frame
from letorbench.choices import expanded, require_choice, split
from letorbench.datasets.catalog import parse as parse_name
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import BASELINES
from letorbench.files import write_atomically
from letorbench.measures import Measure, parse
from letorbench.results.dataframes import fit_of, frame_of, means_of, scores_frame
from letorbench.results.measuring import data_of, extended, with_measures
from letorbench.results.paths import present
from letorbench.results.per_query import PerQuery
from letorbench.results.store import StoredFold
from letorbench.results.summary import (
    Summary,
    deviation_column,
    read_summary,
    require_folds,
)
from letorbench.results.user_files import check_output

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

    def summary(self, measures: Measures | None = None) -> DataFrame:
        """Return a row for each data set and algorithm.

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns of measures; all that are stored by default.

        Returns
        -------
        DataFrame
            dataset, algo, convention, features, folds (finished ones), n_folds, repeats, partial,
            cut_off (in how many of the folds the time limit ended a training), and the mean of
            the folds' means for each measure, with its standard deviation over seeds,
            `<measure>-sd`, where an algorithm has repeats.
        """
        if measures is None:
            return frame_of(list(self.summaries))
        shown = [self.measured(summary, measures) for summary in self.summaries]
        frame = frame_of(shown)
        names = measure_names(measures, self.summaries[0]) if shown else []
        head = frame.columns[: frame.columns.get_loc("cut_off") + 1]
        spread = [column for name in names if (column := deviation_column(name)) in frame]
        return frame.reindex(columns=[*head, *names, *spread])

    def folds(self) -> DataFrame:
        """Return a row for each finished fold of each repeat, with the mean of each measure.

        The columns are dataset, algo, repeat, fold, and the measures.
        """
        return self._frame(means_of)

    def fits(self) -> DataFrame:
        """Return a row for each finished fold of each repeat: how its model came to be.

        Returns
        -------
        DataFrame
            dataset, algo, repeat, fold, features (the transformation), chosen (a dict of the
            settings), select (the measure that validation chose by), validation (its value), best
            (the round or epoch kept), curve, objective, seconds, seed and warnings (a list of
            `FitWarning`).
        """
        return self._frame(fit_of)

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
                place = {"dataset": summary.dataset, "algo": system.algo}
                head = {**place, "fold": system.folds, "qid": system.qids}
                if not repeats:
                    parts.append(pd.DataFrame({**head, **{n: system.values[n] for n in names}}))
                    continue
                tables = [system.tables[name] for name in names]
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
        by: str | None = None,
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
        by : {"length", "relevant", "difficulty"}, optional
            Compare in slices of the queries: by their numbers of documents or of relevant
            documents, or by the mean value of all compared algorithms.

        Returns
        -------
        DataFrame
            A row for each data set, measure, pair and slice: means, difference with its 95 %
            interval, p, adjusted p, effect size, wins, ties and losses, significant.
        """
        import pandas as pd

        procedure = Procedure(test, correction, alpha, seed)
        pairs = self.pairs(measures, baseline, procedure, by)
        tables = [comparison_table(each, procedure) for _, each in pairs]
        frame = pd.concat(map(to_frame, tables), ignore_index=True)
        return frame.assign(significant=frame["p_adjusted"] < alpha)

    def learning_curves(self, measure: str = "ndcg@10") -> DataFrame:
        """Return how good algorithms are that trained on shares of the training queries.

        Parameters
        ----------
        measure : str

        Returns
        -------
        DataFrame
            A row for each data set, algorithm and share: dataset, algo, share, the mean over the
            queries of all folds, and the ends `low` and `high` of its 95 % interval over queries
            and seeds.

        Raises
        ------
        UsageError
            No data set has several shares: ``lb.run(..., share=[0.1, 0.3, 1])`` makes them.
        """
        import pandas as pd

        return pd.concat(map(to_frame, self.learning_tables(measure)), ignore_index=True)

    def learning_tables(self, measure: str = "ndcg@10") -> list[Table]:
        """Return `learning_curves` as tables to print, one a data set."""
        return [learning_table(*each) for each in self._learning(measure)]

    def plot(self, measure: str = "ndcg", published: bool = False, shares: bool = False) -> Figure:
        """Draw a measure at n = 1..10: a panel a data set, a line an algorithm.

        Parameters
        ----------
        measure : str
            A measure with cut-offs, by its name alone; with shares any measure.
        published : bool
            Draw published figures in.
        shares : bool
            Draw learning curves instead: the measure against the share of the training queries.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if shares:
            return draw([learning_panel(*each) for each in self._learning(measure)])
        panels = [panel(summary, measure) for summary in self.summaries]
        if published:
            panels = [
                with_published(each, summary.dataset, measure)
                for each, summary in zip(panels, self.summaries)
            ]
        return draw(panels)

    def report(
        self,
        path: str | Path = "report.html",
        baseline: str | None = None,
        measure: str = "ndcg@10",
        procedure: Procedure = Procedure(),
        words: Sequence[str] = (),
    ) -> Path:
        """Write everything about the results as one HTML file that any browser opens.

        Parameters
        ----------
        path : path-like
            The file to write.
        baseline : str, optional
            What differences are taken from; the best algorithm of each data set by default.
        measure : str
            What algorithms are compared by.
        procedure : Procedure
            How differences are tested.
        words : sequence of str
            The command line that the page names, without `letorbench`.

        Returns
        -------
        Path
            The file written.

        Raises
        ------
        UsageError
            The file is one of data or of a stored fold, or no data set has the baseline.
        """
        check_output(Path(path), data_dir=self.data_dir)
        self._require_algorithm(baseline)
        reports = []
        for summary in self.summaries:
            (name,) = measure_names(measure, summary)[:1]
            summary = self.measured(summary, name)
            rows = comparable(summary) or summary.rows
            best = best_first(rows, name)[0].algo
            reports.append(gather(self.out, self.data_dir, summary, baseline or best))
        command = shlex.join(["letorbench", *(words or ["report", *self.datasets])])
        with write_atomically(Path(path)) as file:
            file.write(page(reports, procedure, name, command))
        return Path(path)

    def only(
        self,
        datasets: str | Iterable[str] | None = None,
        algos: str | Iterable[str] | None = None,
    ) -> Results:
        """Return the results of some data sets and algorithms alone."""
        names, chosen = words(datasets) or self.datasets, words(algos) or self.algorithms
        rest = (summary.only(chosen) for summary in self.summaries if summary.dataset in names)
        return replace(self, summaries=tuple(summary for summary in rest if summary.rows))

    def pairs(
        self, measures: Measures, baseline: str | None, procedure: Procedure, by: str | None = None
    ) -> Iterator[tuple[Summary, tuple[Pair, ...]]]:
        """Yield the compared algorithms of each data set and measure, perhaps in slices."""
        self._require_algorithm(baseline)
        for summary in self.summaries:
            if summary.mixed:
                each = ", ".join(f"{row.algo} {row.convention}" for row in summary.rows)
                raise DataError(
                    f"{summary.dataset}: found results of several conventions ({each}), expected "
                    "one: choose the algorithms, or run again"
                )
            names = measure_names(measures, summary)
            systems = self.systems(summary, names)
            for name in names:
                dataset = summary.dataset
                if by is None:
                    yield summary, compare_systems(dataset, systems, name, baseline, procedure)
                    continue
                folds = require_folds(self.out, dataset, summary.rows[0].algo)
                slices = sliced(by, systems, name, data_of(self.data_dir, dataset, folds))
                yield summary, compare_slices(dataset, slices, name, baseline, procedure)

    def systems(self, summary: Summary, measures: Sequence[str]) -> list[PerQuery]:
        """Return the per-query values of a summary's algorithms, with these measures."""
        return [
            with_measures(self.out, self.data_dir, summary.dataset, row.algo, measures)
            for row in summary.rows
        ]

    def measured(self, summary: Summary, measures: Measures) -> Summary:
        """Return a summary that has these measures."""
        return extended(self.out, self.data_dir, summary, measure_names(measures, summary))

    def _learning(self, measure: str) -> list[tuple[list[Point], str, str]]:
        """Return the points of each data set with several shares, the measure, the conventions."""
        (name,) = measure_names(measure, self.summaries[0])
        of = {summary.dataset: self.systems(summary, [name]) for summary in self.summaries}
        rules: dict[str, dict[str, None]] = {}
        for summary in self.summaries:
            whole = parse_name(summary.dataset).whole
            rules.setdefault(whole, {}).update(dict.fromkeys(summary.conventions))
        return [(found, name, ", ".join(rules[found[0].dataset])) for found in points(of, name)]

    def _require_algorithm(self, name: str | None) -> None:
        if name is not None:
            require_choice(name, self.algorithms, "algorithm")

    def _frame(self, row_of: Callable[[StoredFold], dict[str, object]]) -> DataFrame:
        import pandas as pd

        return pd.DataFrame(
            row_of(fold)
            for summary in self.summaries
            for row in summary.rows
            for fold in require_folds(self.out, summary.dataset, row.algo)
        )

    def __repr__(self) -> str:
        what = f"{', '.join(self.datasets)}: {', '.join(self.algorithms)}"
        partial = ", ".join(line for summary in self.summaries for line in summary.partial)
        return f"Results({str(self.out)!r}, {what}{f'; partial: {partial}' if partial else ''})"

    def _repr_markdown_(self) -> str:
        """Show the table of each data set, the best numbers in bold."""
        tables = (summary_table(self.measured(each, USUAL), USUAL) for each in self.summaries)
        return render(tables, "markdown")


def load_results(
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
        Names and comma lists; everything by default. Of algorithms "baselines" are those of the
        seven that have results.
    data_dir : path-like
        The folder of the data sets, from which measures that are not stored are computed.
    baseline : str, optional
        An algorithm that is shown also where `algos` does not name it.

    Raises
    ------
    DataError
        There are no results.
    UsageError
        A name is unknown; the message suggests the nearest.
    """
    out, names = Path(out), words(datasets) or ["all"]
    if "all" in names:
        names = present(out)
        if not names:
            raise DataError(f"{out}: no results there; `letorbench run` makes them")
    summaries = [read_summary(out, name) for name in dict.fromkeys(names)]
    have = sorted({row.algo for summary in summaries for row in summary.rows})
    seven = [algo for algo in BASELINES if algo in have] or BASELINES
    chosen = expanded(words(algos), {"all": have, "baselines": seven, "card": seven})
    wanted = [] if baseline is None else [baseline]
    for algo in wanted + chosen:
        require_choice(algo, have, "algorithm")
    if chosen:
        summaries = [summary.only(chosen + wanted) for summary in summaries]
    shown = tuple(summary for summary in summaries if summary.rows)
    damaged = tuple(line for summary in shown for line in summary.damaged)
    return Results(out, Path(data_dir), shown, damaged)


def words(names: str | Iterable[str] | None) -> list[str]:
    """Return names as a list: of one text, of several, of comma lists.

    Examples
    --------
    >>> words("MQ2007, MQ2008"), words(["map", "p@5"]), words(None)
    (['MQ2007', 'MQ2008'], ['map', 'p@5'], [])
    """
    return split([names] if isinstance(names, str) else names or ())


def measure_names(measures: Measures, summary: Summary) -> list[str]:
    """Return measures as text; also those that are not stored, where scores can be measured.

    "all" is every stored measure. UsageError for what is no measure suggests the nearest stored
    one.
    """
    several = [measures] if isinstance(measures, (str, Measure)) else measures
    names = [name.lower() for name in split(map(str, several))]
    if names == ["all"]:
        return list(summary.measures)
    families = {name.partition("@")[0] for name in summary.measures}
    for name in names:
        if name not in summary.measures:
            try:
                parse(name)
            except UsageError:
                if "@" in name and name.partition("@")[0] in families:
                    raise
                require_choice(name, summary.measures, "measure")
    return names
