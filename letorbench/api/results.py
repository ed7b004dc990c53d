"""What a results folder holds, as an object for notebooks: DataFrames, figures, a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench import aliases
from letorbench.analysis.comparison import (
    Pair,
    Procedure,
    comparison_frame,
    comparison_table,
    marks,
    query_tables,
)
from letorbench.analysis.comparison import compare as compare_systems
from letorbench.analysis.conclusions import WHY_QUERIES, diagnose, learning_table
from letorbench.analysis.curves import LearningCurves, draw_validation, learning_curves
from letorbench.analysis.figures import differences_panel, draw, drawn_measures, panel
from letorbench.analysis.published import with_published
from letorbench.analysis.report import page
from letorbench.analysis.resplits import resplit_comparison, resplit_table
from letorbench.analysis.results_table import (
    asked_for,
    best_first,
    comparable,
    summary_table,
    usual,
)
from letorbench.analysis.slices import property_or_segments, query_names, sliced
from letorbench.analysis.tables import Table, render, to_frame
from letorbench.choices import expanded, require_choice, split
from letorbench.datasets import catalog
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import BASELINES
from letorbench.measures import Measure
from letorbench.named_files import open_output
from letorbench.results.dataset_results import DatasetResults, Measures, deviation_column, resplits
from letorbench.results.paths import SCORES, VALIDATION, present
from letorbench.results.scores import read_scores
from letorbench.results.store import StoredFold
from letorbench.results.user_files import check_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: the columns of a summary before the measures, where none are named
MORE_FACTS = frozenset(("convention", "features", "n_folds", "cut_off", "not_converged"))
#: the file of each part's scores
SCORE_FILES = {"validation": VALIDATION, "test": SCORES}


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """Stored results of data sets and algorithms; nothing is trained anew.

    It is read from the files of every finished fold, also of a run that goes on or was
    interrupted. A measure that is not stored is computed from the stored scores and the data.

    Parameters
    ----------
    out : Path
        The results folder.
    frames : tuple of DatasetResults
        The results of each data set.
    warnings : tuple of str
        What the run that gave the results had to say, or which folds are left out
        as damaged or of other data, and which rows are of other data than those now there.
    """

    out: Path
    frames: tuple[DatasetResults, ...]
    warnings: tuple[str, ...] = ()

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets."""
        return [frame.dataset for frame in self.frames]

    @property
    def data_dir(self) -> Path:
        """The folder of the data sets; "data" where no data set is left."""
        return next((frame.data_dir for frame in self.frames), Path("data"))

    @property
    def algorithms(self) -> list[str]:
        """The names of the algorithms that any of the data sets has."""
        return sorted({row.algo for frame in self.frames for row in frame.rows})

    @property
    def _finished(self) -> tuple[DatasetResults, ...]:
        """The results of each data set; DataError where a run has finished no fold."""
        if not self.frames:
            raise DataError(f"{self.out}: found no results, expected those of a finished fold")
        return self.frames

    def __len__(self) -> int:
        """The number of algorithms."""
        return len(self.algorithms)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the algorithms, whose results ``results[name]`` are."""
        return iter(self.algorithms)

    def __getitem__(self, name: str) -> Results:
        """Return the results of one data set, or of one algorithm, alone."""
        if not isinstance(name, str):
            raise TypeError(f"found {name!r}, expected the name of a data set or an algorithm")
        same = [each for each in self.datasets if each.lower() == name.lower()]
        return self.only(same) if same else self.only(algos=self.row(name))

    def best(self, measure: str | Measure = "ndcg@10") -> str:
        """Return the name of the algorithm with the best mean.

        `ideal`, and algorithms with fewer folds than others, are not compared. UsageError if there
        are several data sets: choose one, as ``results["OHSUMED"].best()``. DataError if they are
        measured by several conventions.
        """
        if len(self._finished) != 1:
            raise UsageError(f"found the data sets {', '.join(self.datasets)}, expected one")
        name, (frame,) = self._one_measure(str(measure)), self._compared()
        frame = frame.measured(name)
        return best_first(comparable(frame) or frame.rows, name)[0].algo

    def tables(
        self,
        measures: Measures | None = None,
        baseline: str | None = None,
        procedure: Procedure = Procedure(),
    ) -> list[Table]:
        """Return the table of each data set, with signs against a baseline if one is named."""
        baseline, summaries = self.row(baseline), []
        for frame in self.frames:
            names = frame.names(measures or usual(frame))
            frame = frame.measured(names)
            against = marks(frame, names, baseline, procedure) if baseline else None
            summaries.append(summary_table(frame, names, against))
        return summaries

    def to_latex(self, measures: Measures | None = None, baseline: str | None = None) -> str:
        """Return the tables for a paper, the best numbers in bold (the package booktabs sets them).

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns; by default NDCG@1, 3, 5, 10 and MAP, "all": all that are stored.
        baseline : str, optional
            Arrows mark what is significantly better or worse than this algorithm.
        """
        return render(self.tables(measures, baseline), "latex")

    def to_markdown(self, measures: Measures | None = None, baseline: str | None = None) -> str:
        """Return the tables as Markdown; the parameters are those of `to_latex`."""
        return render(self.tables(measures, baseline), "markdown")

    def to_frame(self) -> DataFrame:
        """Return `summary`, by the name that other libraries have for it."""
        return self.summary()

    def summary(self, measures: Measures | None = None, per: str = "algorithm") -> DataFrame:
        """Return a row for each data set and algorithm, or for each fold or query of them.

        `summary` is the documented name; `table` is another name of it.

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns of measures, by default NDCG@1, 3, 5, 10, MAP and those that a run was asked
            for; "all": all stored ones.
        per : {"algorithm", "fold", "query"}
            What a row is of: "fold" gives `folds`, and "query" gives `per_query`.

        Returns
        -------
        DataFrame
            dataset, algo, folds (finished ones), repeats, partial, and the mean of the folds' means
            for each measure. If measures are named, also convention, features, n_folds, cut_off and
            not_converged (in how many of the folds the time limit ended a training, and in how many
            the fit ended away from its optimum), and the standard deviation over seeds of each
            measure, `<measure>-sd`, where an algorithm has repeats.
        """
        import pandas as pd

        if require_choice(per, ["algorithm", "fold", "query"], "per") != "algorithm":
            return self.per_query(measures) if per == "query" else self.folds(measures)
        records = []
        for frame in self._finished:
            names = usual(frame) + asked_for(frame) if measures is None else frame.names(measures)
            records += (frame if measures is None else frame.measured(names)).records(names)
        table = pd.DataFrame(records)
        spreads = [name for name in table if name.endswith(deviation_column(""))]
        columns = [name for name in table if name not in spreads]
        if measures is None:
            columns, spreads = [name for name in columns if name not in MORE_FACTS], []
        return table[columns + spreads]

    table = summary

    def folds(self, measures: Measures | None = None) -> DataFrame:
        """Return a row for each finished fold of each repeat, with the mean of each measure.

        The columns are dataset, algo, repeat, fold, and the measures, by default all stored ones.
        """
        if measures is None:
            return self._frame(lambda fold: fold.means)
        names = [name for frame in self.frames for name in frame.names(measures)]
        shown = replace(self, frames=tuple(frame.measured(names) for frame in self.frames))
        return shown._frame(lambda fold: {name: fold.means[name] for name in names})

    def fits(self) -> DataFrame:
        """Return a row for each finished fold of each repeat: how its model came to be.

        Returns
        -------
        DataFrame
            dataset, algo, repeat, fold, features (the transformation), chosen (a dict of the
            settings), select (the measure that validation chose by), validation and training (its
            values on these parts; nothing is chosen on the training part), best (the round or epoch
            kept), curve, objective, seconds, seed and warnings (a list of `FitWarning`).
        """

        def facts(fold: StoredFold) -> dict[str, object]:
            validation = fold.fit["validation"]
            return {
                "features": fold.identity.get("features"),
                "chosen": fold.fit["chosen"],
                "select": validation.get("measure"),
                "validation": validation.get("value"),
                "training": validation.get("training"),
                "best": validation.get("best"),
                "curve": validation.get("curve", []),
                "objective": fold.fit["objective"],
                "seconds": fold.fit["seconds"],
                "seed": fold.identity.get("seed"),
                "warnings": fold.warnings,
            }

        return self._frame(facts)

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
        for frame in self._finished:
            names = frame.names("all" if measures is None else measures)
            for row in frame.measured(names).rows:
                queries = row.queries
                place = {"dataset": frame.dataset, "algo": row.algo}
                head = {**place, "fold": queries.folds, "qid": queries.qids}
                if not repeats:
                    parts.append(pd.DataFrame({**head, **{n: queries.values[n] for n in names}}))
                    continue
                tables = [queries.tables[name] for name in names]
                parts += [
                    pd.DataFrame({**head, "repeat": folds[0].key.repeat, **dict(zip(names, rows))})
                    for folds, rows in zip(row.by_repeat, zip(*tables, strict=True), strict=True)
                ]
        return pd.concat(parts, ignore_index=True)

    def scores(self, part: str = "test") -> DataFrame:
        """Return the stored scores of every document of a part of the folds.

        Documents are in the order of the data files. A fold that an algorithm has not finished is
        NaN in its column.

        Parameters
        ----------
        part : {"test", "validation"}
            Validation scores are what settings, and the weights of ensembles, are chosen by.

        Returns
        -------
        DataFrame
            dataset, fold, qid, label, then a column of scores for each algorithm, the mean over
            seeds where there are several.

        Raises
        ------
        UsageError
            There is no such part.
        DataError
            The scores are of other data than those at hand, or were not stored.
        """
        import pandas as pd

        if part not in SCORE_FILES:
            raise UsageError(f"found part={part!r}, expected one of {', '.join(SCORE_FILES)}")
        parts = []
        for frame in self._finished:
            there = {fold.number for row in frame.rows for fold in row.stored}
            for fold in frame.data().folds:
                if fold.number not in there:
                    continue
                queries = fold.test if part == "test" else fold.validation
                columns: dict[str, object] = {
                    "dataset": frame.dataset,
                    "fold": fold.number,
                    "qid": np.repeat(queries.qids, queries.lengths),
                    "label": queries.labels,
                }
                for row in frame.rows:
                    of_fold = [each for each in row.stored if each.number == fold.number]
                    files = [each.folder / SCORE_FILES[part] for each in of_fold]
                    if lost := [file for file in files if not file.is_file()]:
                        none = "another system has none of its validation part"
                        raise DataError(f"{lost[0]}: found no scores; {none}")
                    scores = [read_scores(file, queries.n_docs) for file in files]
                    columns[row.algo] = np.mean(scores, axis=0) if scores else np.nan
                parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def compare(
        self,
        baseline: str | Sequence[str] | None = None,
        measures: Measures = "ndcg@10",
        test: str = "randomization",
        correction: str = "holm",
        alpha: float = 0.05,
        seed: int = 0,
        by: str | Path | None = None,
        resplits: bool = False,
    ) -> DataFrame:
        """Test whether the differences between algorithms are real.

        Parameters
        ----------
        baseline : str or sequence of str, optional
            The algorithms that the others are compared with, one or several, also as a comma list;
            every pair by default.
        measures : str, Measure or sequence of them
            What they are compared by.
        test : {"randomization", "t", "wilcoxon"}
            The paired test of the per-query values.
        correction : {"holm", "bonferroni", "bh", "none", "tukey"}
            For the several pairs of a data set and measure. "tukey" is Tukey's HSD, randomised: it
            tests all pairs of the algorithms together, also those that are not shown.
        alpha : float
            The level of significance.
        seed : int
            Where the random draws of tests and intervals come from.
        by : {"length", "relevant", "difficulty"} or path-like, optional
            Compare in slices of the queries: by their numbers of documents or of relevant
            documents, by the mean value of all compared algorithms, or by your own slices, a CSV
            file of queries and slices (``"file.csv:column"`` if it has several columns).
        resplits : bool
            Compare over new draws of the folds, see `resplit` of `run`, by the corrected resampled
            t-test of Nadeau and Bengio instead of `test`.

        Returns
        -------
        DataFrame
            A row for each data set, measure, pair and slice: who, the difference and whether it
            is significant; then means, the 95 % interval, p, effect size, wins, ties and losses. Of
            draws: the official difference, that over the draws, and in how many the sign is the
            official one.
        """
        procedure = Procedure(test, correction, alpha, seed)
        if resplits:
            if by is not None:
                raise UsageError("found by= and resplits=True, expected one of them")
            tables = list(self.resplit_comparisons(measures, baseline, procedure))
            if not tables:
                raise UsageError("found no draws of the folds; lb.run(..., resplit=10) makes them")
        else:
            pairs = self.pairs(measures, baseline, procedure, by)
            tables = [comparison_table(each, procedure) for _, each in pairs]
        return comparison_frame(tables, alpha)

    def resplits(self, measures: Measures | None = None) -> DataFrame:
        """Return a row for each new draw of the folds, see `resplit` of `run`.

        Parameters
        ----------
        measures : str, Measure or sequence of them, optional
            The columns of measures; all that are stored by default.

        Returns
        -------
        DataFrame
            dataset, algo, draw, and the mean of the folds' means for each measure. Draws in which
            an algorithm lacks folds are left out.
        """
        import pandas as pd

        records = []
        for frame in self._finished:
            names = frame.names("all" if measures is None else measures)
            for number, drawn in resplits(frame, self.out).items():
                for row in drawn.measured(names).rows:
                    head = {"dataset": frame.dataset, "algo": row.algo, "draw": number}
                    records.append({**head, **{name: row.values.get(name) for name in names}})
        return pd.DataFrame(records)

    def resplit_tables(self, frame: DatasetResults, names: Sequence[str]) -> list[Table]:
        """Return the table of the draws of a data set's folds, or none where there are none."""
        draws = {k: each.measured(names) for k, each in resplits(frame, self.out).items()}
        return [resplit_table(frame, draws, names)] if draws else []

    def resplit_comparisons(
        self, measures: Measures, baseline: str | Sequence[str] | None, procedure: Procedure
    ) -> Iterator[Table]:
        """Yield the comparison over the draws of each data set that has some, by each measure."""
        drawn: dict[str, dict[int, DatasetResults]] = {}
        for frame, pairs in self.pairs(measures, baseline, procedure):
            name = pairs[0].measure
            if frame.dataset not in drawn:
                drawn[frame.dataset] = resplits(frame, self.out)
            draws = {k: each.measured([name]) for k, each in drawn[frame.dataset].items()}
            if draws:
                both, official = [(pair.a, pair.b) for pair in pairs], frame.measured([name])
                comparison = resplit_comparison(official, draws, both, name, procedure)
                if comparison.rows or comparison.notes:
                    yield comparison

    def queries(
        self, n: int = 5, baseline: str | Sequence[str] | None = None, measure: str = "ndcg@10"
    ) -> DataFrame:
        """Return the queries on which algorithms differ most from each other.

        Parameters
        ----------
        n : int
            The number of queries that gain most, and of those that lose most, for each pair.
        baseline : str or sequence of str, optional
            The algorithms that the others are compared with; every pair by default.
        measure : str
            What they are compared by.

        Returns
        -------
        DataFrame
            A row a query: dataset, measure, algo, against, fold, qid, query (what the user calls
            it, if the data set says so), value, value_against and their difference, the
            largest gain first.
        """
        import pandas as pd

        tables = [to_frame(table) for table in self.query_tables(n, [measure], baseline)]
        return pd.concat(tables, ignore_index=True)

    def query_tables(
        self, n: int, measures: Measures, baseline: str | Sequence[str] | None = None
    ) -> Iterator[Table]:
        """Yield what `queries` returns as a table of each data set, measure and pair."""
        against = self._baselines(baseline)
        for frame in self._compared():
            for name in frame.names(measures):
                systems = [row.queries for row in frame.measured([name]).rows]
                called = query_names(frame.data)
                yield from query_tables(frame.dataset, systems, name, against, n, called)

    def why_tables(
        self, measures: Measures, baseline: str | Sequence[str] | None, procedure: Procedure
    ) -> Iterator[Table]:
        """Yield two tables a pair: what both learned, with reasons, and where they differ most."""
        for frame, pairs in self.pairs(measures, baseline, procedure):
            for pair in pairs:
                both = frame.only([pair.a, pair.b])
                yield learning_table(both, diagnose(both.measured(pair.measure), pair, procedure))
                pair_results = replace(self, frames=(both,))
                yield from pair_results.query_tables(WHY_QUERIES, pair.measure, pair.b)

    def learning_curves(self, measure: str = "ndcg@10") -> DataFrame:
        """Return how good algorithms are that trained on fractions of the training queries.

        Parameters
        ----------
        measure : str

        Returns
        -------
        DataFrame
            A row for each data set, algorithm and fraction: dataset, algo, share (the fraction),
            the mean over the queries of all folds, and the ends `low` and `high` of its 95 %
            interval over queries and seeds.

        Raises
        ------
        UsageError
            No data set has several fractions: ``lb.run(..., share=[0.1, 0.3, 1])`` makes them.
        """
        import pandas as pd

        frames = [to_frame(curves.table) for curves in self.learning(measure)]
        return pd.concat(frames, ignore_index=True)

    def learning(self, measure: str = "ndcg@10") -> list[LearningCurves]:
        """Return `learning_curves` as values with a table and a panel, one a data set."""
        name, frames = self._one_measure(measure), list(self.frames)
        names = {catalog.parse(each).whole for each in self.datasets}
        if len(names) == len(frames):  # the fractions are stored as data sets that were not named
            others = [each for each in present(self.out) if each not in self.datasets]
            fractions = [each for each in others if catalog.parse(each).whole in names]
            read = [DatasetResults.read(self.out, each, self.data_dir) for each in fractions]
            frames += [frame for each in read if (frame := each.only(self.algorithms)).rows]
        return learning_curves([frame.measured(name) for frame in frames], name)

    def plot(
        self,
        measure: str = "ndcg",
        published: bool = False,
        shares: bool = False,
        baseline: str | None = None,
        validation: bool = False,
        width: float | None = None,
        title: str | None = None,
    ) -> Figure:
        """Draw a measure: one panel for each data set, one line or point for each algorithm.

        Parameters
        ----------
        measure : str
            A measure with cut-offs by its name alone is drawn at n = 1..10, ``"ndcg@1,5,20"`` at
            those n, and any other as points with 95 % intervals over queries, the best on top.
        published : bool
            Also draw published figures.
        shares : bool
            Draw learning curves instead: the measure by the fraction of the training queries.
        baseline : str, optional
            Draw how far each algorithm is above this one instead, with 95 % intervals, as
            `compare` finds it, by NDCG@10 unless another measure is named.
        validation : bool
            Draw validation curves instead: one panel for each algorithm, one line for each fold,
            and a dot at the round, the epoch or the setting that was kept.
        width : float, optional
            Inches: 3.5 fills a column of a paper, 7.2 a page; by default what the panels need.
        title : str, optional
            A title instead of the data set's name, or above several panels; "" for none.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if validation:
            return draw_validation(self._finished, width, title)
        if baseline is not None:
            procedure = Procedure()
            measure = f"{measure}@10" if measure == "ndcg" else measure
            panels = []
            for frame, pairs in self.pairs(measure, baseline, procedure):
                references = [row.algo for row in frame.rows if row.reference]
                if tested := [pair for pair in pairs if pair.difference.n_values]:
                    panels.append(differences_panel(tested, procedure, references))
            if not panels:
                raise DataError(f"found no query with a value of {measure}, expected one to draw")
            return draw(panels, width=width, title=title)
        if shares:
            return draw([each.panel for each in self.learning(measure)], width=width, title=title)
        panels = []
        for frame in self._finished:
            names = drawn_measures(measure, frame)
            drawn = panel(frame.measured(names), names)
            panels.append(with_published(drawn, frame.dataset, names) if published else drawn)
        return draw(panels, width=width, title=title)

    def report(
        self,
        path: str | Path = "report.html",
        baseline: str | None = None,
        measure: str = "ndcg@10",
        procedure: Procedure = Procedure(),
        words: Sequence[str] = (),
        by: str | Path | None = None,
        importance: bool = False,
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
        by : {"length", "relevant", "difficulty"} or path-like, optional
            Also compare in slices of the queries, see `compare`.
        importance : bool
            Also show which features the best algorithm needs, which takes a while.

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
        baseline = self.row(baseline)
        name = self._one_measure(measure)
        frames = [frame.measured(name) for frame in self.frames]
        command = shlex.join(["letorbench", *(words or ["report", *self.datasets])])
        with open_output(path) as file:
            file.write(page(frames, baseline, procedure, name, command, by, importance))
        return Path(path)

    def only(
        self, datasets: str | Iterable[str] | None = None, algos: str | Iterable[str] | None = None
    ) -> Results:
        """Return the results of some data sets and algorithms alone.

        UsageError if there is no such data set or algorithm, or none of them has results.
        """
        words, algorithms = split_names(datasets) or self.datasets, self.algorithms
        names = [require_choice(each, self.datasets, "data set") for each in words]
        chosen = [require_choice(each, algorithms, "algorithm") for each in split_names(algos)]
        frames = [frame for frame in self.frames if frame.dataset in names]
        if chosen:
            frames = [frame.only(chosen) for frame in frames]
        shown = tuple(frame for frame in frames if frame.rows)
        if chosen and not shown:
            raise UsageError(
                f"found no results of {', '.join(chosen)} on {', '.join(names)}, expected some"
            )
        return replace(self, frames=shown)

    def pairs(
        self,
        measures: Measures,
        baseline: str | Sequence[str] | None,
        procedure: Procedure,
        by: str | Path | None = None,
    ) -> Iterator[tuple[DatasetResults, tuple[Pair, ...]]]:
        """Yield the compared algorithms of each data set and measure, perhaps in slices."""
        against = self._baselines(baseline)
        chosen = None if by is None else property_or_segments(by)
        for frame in self._compared():
            names = frame.names(measures)
            systems = [row.queries for row in frame.measured(names).rows]
            for name in names:
                slices = None if chosen is None else sliced(chosen, systems, name, frame.data)
                comparisons = compare_systems(
                    frame.dataset, systems, name, against, procedure, slices
                )
                yield frame, comparisons

    def _compared(self) -> Iterator[DatasetResults]:
        """Yield the data sets with several algorithms, or all; refuse mixed conventions."""
        for frame in [each for each in self._finished if len(each.rows) > 1] or self._finished:
            if frame.mixed:
                each = ", ".join(f"{row.algo} {row.convention}" for row in frame.rows)
                raise DataError(
                    f"{frame.dataset}: found results of several conventions ({each}), expected "
                    "one: choose the algorithms, or run again"
                )
            yield frame

    def row(self, name: str | None) -> str | None:
        """Return the row that a name means: its own, or that of the algorithm if there is one."""
        if name is None:
            return None
        meant = _systems_named(self.frames, name)
        return meant[0] if len(meant) == 1 else require_choice(name, self.algorithms, "algorithm")

    def _baselines(self, names: str | Sequence[str] | None) -> list[str] | None:
        """Return the rows that a comma list of baselines or several names mean; None for none."""
        named = [] if names is None else split_names(names) or [""]
        return [row for each in named if (row := self.row(each))] or None

    def _one_measure(self, text: str) -> str:
        if len(names := self._finished[0].names(text)) != 1:
            raise UsageError(f"found the measures {text}, expected one")
        return names[0]

    def _frame(self, facts: Callable[[StoredFold], Mapping[str, object]]) -> DataFrame:
        """Return a row of these facts for each stored fold, after what it is of."""
        import pandas as pd

        return pd.DataFrame(
            {**fold.key._asdict(), **facts(fold)}
            for frame in self._finished
            for row in frame.rows
            for fold in row.stored
        )

    def __repr__(self) -> str:
        what = f"{', '.join(self.datasets)}: {', '.join(self.algorithms)}"
        partial = ", ".join(line for frame in self.frames for line in frame.partial)
        return f"Results({str(self.out)!r}, {what}{f'; partial: {partial}' if partial else ''})"

    def _repr_html_(self) -> str:
        """Show the table of each data set in a notebook, the best numbers in bold."""
        return render(self.tables(), "html")


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
        Names and comma lists; everything by default. The algorithms "baselines" are those of the
        seven that have results.
    data_dir : path-like
        The folder of the data sets, from which measures that are not stored are computed.
    baseline : str, optional
        An algorithm that is shown even if `algos` does not name it.

    Raises
    ------
    DataError
        There are no results.
    UsageError
        A name is unknown; the message suggests the nearest.
    """
    out, names = Path(out), split_names(datasets) or ["all"]
    if "all" in names:
        names = catalog.without_resplits(present(out))
        if not names:
            raise DataError(f"{out}: no results there; `letorbench run` makes them")
    read = [DatasetResults.read(out, name, Path(data_dir)) for name in dict.fromkeys(names)]
    damaged = tuple(line for frame in read for line in frame.damaged)
    frames = [frame for frame in read if frame.rows]
    if not frames:
        raise DataError(damaged[0])
    have = sorted({row.algo for frame in frames for row in frame.rows})
    seven = [algo for algo in BASELINES if algo in have] or BASELINES
    named = {word: _systems_named(frames, word) or [word] for word in split_names(algos)}
    groups = {**named, "all": have, "baselines": seven, "card": seven}
    chosen = expanded(split_names(algos), groups)
    wanted = [
        each for word in split_names(baseline) for each in _systems_named(frames, word) or [word]
    ]
    for algo in wanted + chosen:
        require_choice(algo, have, "algorithm")
    if chosen:
        frames = [frame.only(chosen + wanted) for frame in frames]
    shown = tuple(frame for frame in frames if frame.rows)
    other = (line for frame in shown for line in frame.of_other_data())
    return Results(out, shown, (*damaged, *other))


def _systems_named(frames: Iterable[DatasetResults], word: str) -> list[str]:
    """Return the rows of any data set that a name means."""
    every = {row.algo: row for frame in frames for row in frame.rows}
    merged = DatasetResults("", tuple(every.values()))
    algos = {row.label.algo for row in every.values()}
    return merged.systems_named(word) or merged.systems_named(
        aliases.named(word, algos, "algorithm") or word
    )


def split_names(names: str | Iterable[str] | None) -> list[str]:
    """Return names as a list: of one text, of several, of comma lists.

    Examples
    --------
    >>> split_names("MQ2007, MQ2008"), split_names(["map", "p@5"]), split_names(None)
    (['MQ2007', 'MQ2008'], ['map', 'p@5'], [])
    """
    return split([names] if isinstance(names, str) else names or ())
