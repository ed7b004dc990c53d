"""The data and folders of a paper's experiments, and ranker runs with their stored results."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.paired import MeanDifference
from letorbench.datasets import layout
from letorbench.datasets.catalog import parse as parse_name
from letorbench.datasets.queryset import Benchmark
from letorbench.experiment.backends import Processes
from letorbench.experiment.plan import Protocol, System, benchmark_of, ranker_identity
from letorbench.experiment.run import run_systems
from letorbench.files import checked, read_file, refuse_links, with_checksum, write_atomically
from letorbench.measures import parse, query_metrics
from letorbench.rankers import ranker
from letorbench.results.per_query import PerQuery
from letorbench.results.store import StoredFold, by_repeat
from letorbench.source import reached, source_digest

#: the rooms whose code kept results depend on, with the module that makes them
CODE = ("losses", "measures", "rankers", "solvers")
#: NDCG@1..10, the curve of the papers' figures
CUTOFFS = tuple(f"ndcg@{k}" for k in range(1, 11))


@dataclass(frozen=True)
class Method:
    """A ranker with fixed settings under the name that a table or a figure gives it."""

    label: str
    algo: str
    settings: Mapping[str, object] = field(default_factory=dict)
    #: the paper's settings, for `--setting published`
    published: Mapping[str, object] = field(default_factory=dict)
    #: its place in the paper's table `table`; in a figure its panel and its line
    row: str = ""
    column: str = ""
    table: str = ""

    def under(self, setting: str, label: str = "", **more: object) -> Method:
        """The same in our or the `published` setting, and with more settings."""
        published = self.published if setting == "published" else {}
        settings = {**self.settings, **published, **more}
        return replace(self, label=label or self.label, settings=settings)

    def where_known(self, settings: Mapping[str, object]) -> Method:
        """The same with those of the settings that its ranker has."""
        known = {key: value for key, value in settings.items() if key in self.known}
        return replace(self, settings={**self.settings, **known})

    @property
    def known(self) -> Collection[str]:
        """The names of its ranker's settings."""
        return ranker(self.algo).__dataclass_fields__


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; both ends equal the value if there is no chance in it."""

    value: float
    low: float
    high: float
    note: str = ""


def exactly(value: float, note: str = "") -> Estimate:
    """A number without chance in it."""
    return Estimate(value, value, value, note)


def estimated(value: float, error: float, degrees: int, note: str = "") -> Estimate:
    """A number with Student's 95 % interval by its standard error."""
    low, high = MeanDifference(value, error, degrees, degrees + 1).interval()
    return Estimate(value, low, high, note)


def sampled(values: np.ndarray, note: str = "") -> Estimate:
    """The mean of a sample (n,), with Student's 95 % interval."""
    n = len(values)
    return estimated(float(values.mean()), values.std(ddof=1) / np.sqrt(n), n - 1, note)


def least_seconds(work: Callable[[], object], enough: float = 0.5) -> float:
    """The least processor time of this thread in a call, of calls that take `enough` together."""
    least, total = math.inf, 0.0
    while total < enough:
        start = time.thread_time()
        work()
        taken = time.thread_time() - start
        least, total = min(least, taken), total + taken
    return max(least, 1e-9)


def log_slope(sizes: Sequence[float], costs: Sequence[float]) -> Estimate:
    """The slope of log costs on log sizes."""
    return median_slope([(sizes, costs)])


def median_slope(rounds: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Estimate:
    """The median slope of log costs on log sizes, of rounds that measure the same.

    Its error is the median of the fits' errors and the deviation of the slopes: a round that is
    disturbed at one size is no more than an outlier of either.
    """
    from scipy.stats import linregress, median_abs_deviation

    fits = [linregress(np.log(sizes), np.log(costs)) for sizes, costs in rounds]
    slopes, errors = ([getattr(fit, name) for fit in fits] for name in ("slope", "stderr"))
    error = np.hypot(np.median(errors), median_abs_deviation(slopes, scale="normal"))
    degrees = min(len(sizes) for sizes, _ in rounds) - 2
    return estimated(float(np.median(slopes)), float(error), degrees)


def kept(
    path: Path, settings: Mapping[str, Any], make: Callable[[], Any], *files: str,
    code: Sequence[str] = CODE,
) -> Any:  # fmt: skip
    """The result of `make` as JSON (of dataclasses their fields), kept in a file.

    It is made anew if the settings differ or the code: of the modules `files`, and of the rooms
    `code` with all that they import.
    """
    settings = json.loads(json.dumps({**settings, "code": source_digest({*reached(code), *files})}))
    stored = None
    with suppress(OSError):
        stored = checked(read_file(path))
    if stored is None or stored.get("settings") != settings:
        stored = {"settings": settings, "result": json.loads(json.dumps(make(), default=vars))}
        with write_atomically(path) as file:
            file.write(with_checksum(stored))
    return stored["result"]


#: data set -> method -> its values on the test queries
ByMethod = Mapping[str, Mapping[str, PerQuery]]


def seeds_mean(values: PerQuery, measure: str) -> Estimate:
    """The mean of a measure with its interval over seeds; the test queries are the paper's."""
    means = values.means(measure)
    several = len(means) > 1
    return sampled(np.array(means), f"{len(means)} seeds") if several else exactly(means[0])


def are_draws(values: PerQuery) -> bool:
    """Whether each fold is a draw of generated data, of which the mean alone is kept."""
    return len(np.unique(values.folds)) == len(values.folds)


@dataclass(frozen=True)
class Context:
    """Where the data and the results are, and how a paper's experiments are run."""

    data_dir: Path
    out: Path
    #: processes; the results do not depend on it
    jobs: int = 1
    seed: int = 0
    #: whether the runs have the papers' own sizes, which may take hours
    full: bool = False
    #: "default", or "published" for the paper's settings, validation and data, as far as known
    setting: str = "default"
    #: is called with a line for each thing that is run
    say: Callable[[str], None] = lambda line: None
    #: processes that wait for the next run
    idle: list[Any] = field(default_factory=list)

    def folder(self, paper: str, setting: str = "") -> Path:
        """Where a paper's files are; those of the published setting are in a folder there."""
        folder = self.out / "papers" / paper
        folder /= "published" if (setting or self.setting) == "published" else ""
        refuse_links(self.out, folder)
        return folder

    def has(self, dataset: str) -> bool:
        """Whether the data set is at hand."""
        return layout.present(dataset, self.data_dir)

    def benchmark(self, dataset: str, convention: str = "auto") -> Benchmark:
        """The folds of a data set, with its own convention or the named one."""
        protocol = Protocol(data_dir=self.data_dir, out=self.out, convention=convention)
        return benchmark_of(dataset, protocol)

    def rotates(self, dataset: str) -> bool:
        """Whether the folds can be drawn anew: the parts of each are tested once."""
        return bool(self.benchmark(dataset).provenance.get("rotation"))

    def settled(self, method: Method, dataset: str) -> Method:
        """The method on one data set: `keep` becomes the `rho` that keeps this fraction.

        It is the folds' mean of the least correlation with the label of that fraction of products.
        """
        settings: dict[str, Any] = dict(method.settings)
        fraction = settings.pop("keep", None)
        if fraction is not None:
            every = correlations(self.benchmark(dataset)) if fraction < 1.0 else ()
            least = [np.quantile(np.nan_to_num(each, nan=-1.0), 1.0 - fraction) for each in every]
            settings["rho"] = round(float(np.mean(least or 0.0)), 4)
        return replace(method, settings=settings)

    def runs(
        self, dataset: str, methods: Sequence[Method], measures: Sequence[str],
        convention: str = "auto", repeats: int = 1, select: str = "ndcg@10",
        protocol_name: str = "published",
    ) -> dict[str, PerQuery]:  # fmt: skip
        """Run methods on a data set; return their values by label, without those that fail.

        All papers share results/papers/runs/<select>,<settings>/<DATASET>/<algo>.
        """
        methods = [self.settled(method.under(self.setting), dataset) for method in methods]
        way = select if protocol_name == "published" else f"{select}-{protocol_name}"
        groups: dict[str, list[Method]] = {}
        for method in methods:
            fixed = ranker_identity(ranker(method.algo), method.settings)["fixed"]
            name = ",".join([way, *(f"{key}={method.settings[key]}" for key in fixed)])
            groups.setdefault(name, []).append(method)
        values: dict[str, PerQuery] = {}
        for name, group in groups.items():
            folder = "".join(c if c.isalnum() or c in "-.=@," else "_" for c in name)
            place = self.out / "papers" / "runs" / folder
            refuse_links(self.out, place)
            protocol = Protocol(
                data_dir=self.data_dir, out=place, select=select,
                seed=self.seed, repeats=repeats, name=protocol_name,
            )  # fmt: skip
            self.say(f"{dataset}: {', '.join(method.label for method in group)}")
            systems = {m.algo: System(ranker(m.algo), m.settings, name=m.algo) for m in group}
            backend = Processes(self.jobs, self.idle)
            runs = run_systems([dataset], list(systems.values()), None, protocol, backend).runs
            for run in (run for run in runs if run.error):
                self.say(f"{run.key}: {run.error}")
            benchmark = self.benchmark(dataset, convention)
            for method in group:
                folds = [run.fold for run in runs if run.key.algo == method.algo]
                stored = [fold for fold in folds if fold is not None]
                if len(stored) == len(folds):
                    values[method.label] = _values(stored, benchmark, measures)
        return {m.label: values[m.label] for m in methods if m.label in values}


def correlations(benchmark: Benchmark) -> Iterator[np.ndarray]:
    """Of each fold (n_products,) abs(correlation) of products with the label; NaN if constant."""
    from letorbench.models.functionals import product_correlations
    from letorbench.models.linear import LinearFamily

    for fold in benchmark.folds:
        linear = LinearFamily.standardised(fold.train.features)
        table = product_correlations(fold.train, linear.mean, linear.scale)
        yield np.abs(table[np.triu_indices(len(table))])


def generated(dataset: str) -> bool:
    """Whether a data set is generated (DEMO, twins), and so no evidence."""
    entry = parse_name(dataset).entry
    return entry is not None and entry.synthetic


def _values(folds: Sequence[StoredFold], benchmark: Benchmark, measures: Sequence[str]) -> PerQuery:
    """The values of a method's stored scores on the test queries."""
    tests = {fold.number: fold.test for fold in benchmark.folds}
    parsed, rules = [parse(name) for name in measures], benchmark.convention

    def of(fold: StoredFold) -> PerQuery:
        test, number = tests[fold.number], fold.number
        table = query_metrics(test.labels, fold.scores(test.n_docs), test.offsets, parsed, rules)
        tables = dict(zip(measures, table.T))
        return PerQuery(fold.key.algo, np.full(test.n_queries, number), test.qids, tables)

    return PerQuery.joined([[of(fold) for fold in repeat] for repeat in by_repeat(folds)])
