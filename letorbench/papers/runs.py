"""What a paper's experiments run on: data, folders, and ranker runs with their stored results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets import layout
from letorbench.datasets.catalog import parse as parse_name
from letorbench.datasets.queryset import Benchmark
from letorbench.experiment.backends import Processes
from letorbench.experiment.grids import draws
from letorbench.experiment.plan import Protocol, Task, benchmark_of, identity
from letorbench.experiment.runner import run as run_all
from letorbench.measures import parse, query_metrics
from letorbench.rankers import ranker
from letorbench.results.paths import fold_folder
from letorbench.results.per_query import mean_of_folds
from letorbench.results.store import fold_scores, is_done

#: whose setting an experiment has: ours, or the paper's
Setting = Literal["default", "published"]

#: NDCG@1..10, the curve of the papers' figures
CUTOFFS = tuple(f"ndcg@{k}" for k in range(1, 11))


@dataclass(frozen=True)
class Variant:
    """A ranker with fixed settings under the name that a table or a figure gives it.

    published: the settings that the paper prints or tells of, for `--setting published`.
    """

    label: str
    algo: str
    settings: Mapping[str, object] = field(default_factory=dict)
    published: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A number with what chance leaves of it; without any, low and high equal the value."""

    value: float
    low: float
    high: float
    note: str = ""


def exactly(value: float, note: str = "") -> Measured:
    """A number without chance in it."""
    return Measured(value, value, value, note)


def sampled(values: np.ndarray) -> Measured:
    """The mean of a sample (n,), with Student's 95 % interval."""
    from scipy.special import stdtrit

    n, mean = len(values), float(values.mean())
    half = float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))
    return Measured(mean, mean - half, mean + half)


def log_slope(sizes: Sequence[float], costs: Sequence[float]) -> Measured:
    """The slope of log costs on log sizes by least squares, with its 95 % interval.

    Three sizes or more are needed.
    """
    from scipy.stats import linregress, t

    fit = linregress(np.log(sizes), np.log(costs))
    half = float(t.ppf(0.975, len(sizes) - 2) * fit.stderr)
    return Measured(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


@dataclass(frozen=True, eq=False)
class Values:
    """One variant's per-query values on the test parts.

    values: (n_repeats, n_queries, n_measures) float64; folds: (n_queries,) int64. draws: whether a
    fold is an independent draw of generated data, with its own training.
    """

    measures: tuple[str, ...]
    values: np.ndarray
    folds: np.ndarray
    draws: bool = False

    @classmethod
    def of_draws(cls, draws: Sequence[Values]) -> Values:
        """The values on several draws of generated data as one; a draw is a fold."""
        sizes = [len(each.folds) for each in draws]
        folds = np.repeat(np.arange(1, len(draws) + 1), sizes)
        return cls(draws[0].measures, np.concatenate([d.values for d in draws], 1), folds, True)

    def table(self, measure: str) -> np.ndarray:
        """(n_repeats, n_queries) of one measure."""
        return self.values[:, :, self.measures.index(measure)]

    def __getitem__(self, measure: str) -> np.ndarray:
        """(n_queries,) of one measure, the mean of the repeats."""
        return self.table(measure).mean(axis=0)

    def mean(self, measure: str) -> float:
        """The mean of the folds' means."""
        return mean_of_folds(self[measure], self.folds)

    def measured(self, measure: str) -> Measured:
        """The mean, with the interval that the seeds leave of it.

        The test queries are the paper's own: they are not drawn again.
        """
        from scipy.special import stdtrit

        mean, seeds = self.mean(measure), len(self.values)
        if seeds == 1:
            return exactly(mean)
        means = [mean_of_folds(each, self.folds) for each in self.table(measure)]
        half = float(stdtrit(seeds - 1, 0.975)) * float(np.std(means, ddof=1)) / seeds**0.5
        return Measured(mean, mean - half, mean + half, f"{seeds} seeds")


@dataclass(frozen=True)
class Study:
    """Where the data and the results are, and how large and how parallel the runs are.

    Parameters
    ----------
    data_dir, out : Path
        The data folder and the results folder.
    jobs : int
        Processes. The results do not depend on it.
    seed : int
        Where every random draw comes from.
    full : bool
        Whether the runs have the papers' own sizes, which may take hours.
    setting : {"default", "published"}
        Ours, or the paper's own as far as it is told: what validation chooses by, the settings
        of the variants, the data that are generated.
    say : callable
        Is called with a line for each thing that is run.
    repeats : int
        Trainings of what draws.
    idle : list
        Processes that wait for the next run.
    """

    data_dir: Path
    out: Path
    jobs: int = 1
    seed: int = 0
    full: bool = False
    setting: Setting = "default"
    say: Callable[[str], None] = lambda line: None
    repeats: int = 1
    idle: list[Any] = field(default_factory=list)

    def folder(self, paper: str, setting: str = "") -> Path:
        """Where a paper's files are; those of the paper's own setting have a folder there."""
        own = self.out / "papers" / paper
        return own / "published" if (setting or self.setting) == "published" else own

    def has(self, dataset: str) -> bool:
        """Whether the data set is at hand."""
        return layout.present(dataset, self.data_dir)

    def benchmark(self, dataset: str) -> Benchmark:
        """The folds of a data set at hand."""
        return benchmark_of(dataset, Protocol(self.data_dir, self.out, seed=self.seed))

    def runs(
        self,
        dataset: str,
        variants: Sequence[Variant],
        measures: Sequence[str],
        convention: str = "auto",
        folds: Sequence[int] | None = None,
        select: str = "ndcg@10",
        protocol_name: str = "published",
    ) -> dict[str, Values]:
        """Run the variants on a data set and return their values by label.

        A variant that failed is left out, and stored folds are not run again. Each way to choose,
        and each setting that is not the ranker's own, has a folder that all papers share:
        results/papers/runs/<select>,<settings>/<DATASET>/<algo>.

        Parameters
        ----------
        dataset : str
            The data set.
        variants : sequence of Variant
            The rankers with their settings.
        measures : sequence of str
            The columns of the values.
        convention : str
            What the values are measured by; `auto` for the data set's own.
        folds : sequence of int, optional
            Only these folds.
        select : str
            The measure that validation chooses by.
        protocol_name : str
            The protocol that it chooses by.
        """
        if self.setting == "published":
            variants = [replace(v, settings={**v.settings, **v.published}) for v in variants]
        way = select if protocol_name == "published" else f"{select}-{protocol_name}"
        groups: dict[str, list[Variant]] = {}
        for variant in variants:
            groups.setdefault(",".join([way, *_own_settings(variant)]), []).append(variant)
        found: dict[str, Values] = {}
        for name, group in groups.items():
            protocol = Protocol(
                self.data_dir, self.out / "papers" / "runs" / safe_name(name), select=select,
                seed=self.seed, repeats=self.repeats, name=protocol_name,
            )  # fmt: skip
            self.say(f"{dataset}: {', '.join(variant.label for variant in group)}")
            settings = {variant.algo: variant.settings for variant in group}
            backend = Processes(self.jobs, self.idle)
            for outcome in run_all([dataset], settings, folds, protocol, backend).outcomes:
                if outcome.error:
                    self.say(f"{outcome.task}: {outcome.error}")
            for variant in group:
                read = _read(dataset, variant, measures, protocol, convention, folds)
                if read is not None:
                    found[variant.label] = read
        return {v.label: found[v.label] for v in variants if v.label in found}


def _own_settings(variant: Variant) -> list[str]:
    """The settings that are not the ranker's own, or that its grid would vary, as texts."""
    plain = ranker(variant.algo)()
    return [
        f"{key}={value}"
        for key, value in sorted(variant.settings.items())
        if key in plain.grid or value != getattr(plain, key)
    ]


def safe_name(label: str) -> str:
    """A label as the name of a folder."""
    return "".join(c if c.isalnum() or c in "-.=@," else "_" for c in label)


def generated(dataset: str) -> bool:
    """Whether a data set is made up: DEMO and twins. Such data are evidence of nothing."""
    entry = parse_name(dataset).entry
    return entry is not None and entry.synthetic


def _read(
    dataset: str,
    variant: Variant,
    measures: Sequence[str],
    protocol: Protocol,
    convention: str,
    folds: Sequence[int] | None,
) -> Values | None:
    """The values of the stored scores; None unless every fold is there."""
    benchmark = benchmark_of(dataset, protocol)
    rules = benchmark.convention
    if convention != "auto":
        rules = replace(CONVENTIONS[convention], max_label=rules.max_label)
    cls = ranker(variant.algo)
    trainings = protocol.repeats if draws(cls, variant.settings) else 1
    rows, numbers = [], []
    for fold in benchmark.folds:
        if folds is not None and fold.number not in folds:
            continue
        test, found = fold.test, []
        for repeat in range(1, trainings + 1):
            task = Task(dataset, variant.algo, fold.number, variant.settings, repeat)
            folder = fold_folder(protocol.out, dataset, variant.algo, fold.number, repeat)
            if not is_done(folder, identity(task, protocol, benchmark, cls)):
                return None
            scores = fold_scores(folder, test.n_docs)
            asked = [parse(name) for name in measures]
            found.append(query_metrics(test.labels, scores, test.offsets, asked, rules))
        rows.append(np.stack(found))
        numbers.append(np.full(test.n_queries, fold.number))
    return Values(tuple(measures), np.concatenate(rows, axis=1), np.concatenate(numbers))
