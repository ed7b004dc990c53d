"""What a paper's experiments run on: data, folders, and ranker runs with their stored results."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.checksum import checked, with_checksum
from letorbench.datasets import layout
from letorbench.datasets.catalog import parse as parse_name
from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.experiment.backends import Processes
from letorbench.experiment.entrants import Entrant
from letorbench.experiment.plan import Protocol, benchmark_of, ranker_identity
from letorbench.experiment.runner import run as run_all
from letorbench.files import read_file, refuse_links, write_atomically
from letorbench.measures import parse, query_metrics
from letorbench.rankers import ranker
from letorbench.results.per_query import PerQuery
from letorbench.results.store import StoredFold, by_repeat
from letorbench.source import reached, source_digest

#: where the code is that kept facts depend on, beside the module that makes them
CODE = ("losses", "measures", "rankers", "solvers")
#: NDCG@1..10, the curve of the papers' figures
CUTOFFS = tuple(f"ndcg@{k}" for k in range(1, 11))


@dataclass(frozen=True)
class Variant:
    """A ranker with fixed settings under the name that a table or a figure gives it.

    published: the settings that the paper prints or tells of, for `--setting published`. row,
    column: its place in the paper's table, where that is not a row of its own label; in a figure
    the panel and its line. table: the number of the table that it is in.
    """

    label: str
    algo: str
    settings: Mapping[str, object] = field(default_factory=dict)
    published: Mapping[str, object] = field(default_factory=dict)
    row: str = ""
    column: str = ""
    table: str = ""

    def under(self, setting: str, label: str = "", **more: object) -> Variant:
        """The same in our or the `published` setting, and with more settings."""
        told = self.published if setting == "published" else {}
        return replace(self, label=label or self.label, settings={**self.settings, **told, **more})


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


def estimated(value: float, error: float, degrees: int, note: str = "") -> Measured:
    """A number with Student's 95 % interval by its standard error."""
    from scipy.special import stdtrit

    half = float(stdtrit(degrees, 0.975) * error)
    return Measured(value, value - half, value + half, note)


def sampled(values: np.ndarray, note: str = "") -> Measured:
    """The mean of a sample (n,), with Student's 95 % interval."""
    n = len(values)
    return estimated(float(values.mean()), values.std(ddof=1) / np.sqrt(n), n - 1, note)


def least_seconds(work: Callable[[], object], enough: float = 0.5) -> float:
    """The least processor time of this thread in a call, of calls that take `enough` in all."""
    least, total = math.inf, 0.0
    while total < enough:
        start = time.thread_time()
        work()
        taken = time.thread_time() - start
        least, total = min(least, taken), total + taken
    return max(least, 1e-9)


def log_slope(sizes: Sequence[float], costs: Sequence[float]) -> Measured:
    """The slope of log costs on log sizes by least squares, with its 95 % interval.

    Three sizes or more are needed.
    """
    from scipy.stats import linregress

    fit = linregress(np.log(sizes), np.log(costs))
    return estimated(float(fit.slope), fit.stderr, len(sizes) - 2)


def kept(
    path: Path, asked: Mapping[str, Any], make: Callable[[], Any], *own: str,
    code: Sequence[str] = CODE,
) -> Any:  # fmt: skip
    """What `make` gives, as JSON holds it (of a dataclass its fields), kept in a file.

    It is made anew where what is `asked` or the code changed, and where the file is damaged. The
    code is that of the files `own`, without what these import, and of the rooms `code`.
    """
    asked = json.loads(json.dumps({**asked, "code": source_digest({*reached(code), *own})}))
    stored = None
    with suppress(OSError):
        stored = checked(read_file(path))
    if stored is None or stored.get("asked") != asked:
        stored = {"asked": asked, "found": json.loads(json.dumps(make(), default=vars))}
        with write_atomically(path) as file:
            file.write(with_checksum(stored))
    return stored["found"]


#: data set -> method -> its values on the test queries
ByMethod = Mapping[str, Mapping[str, PerQuery]]


def seeds_mean(values: PerQuery, measure: str) -> Measured:
    """The mean of a measure, with the interval that the seeds leave of it.

    The test queries are the paper's own: they are not drawn again.
    """
    means = values.means(measure)
    if len(means) == 1:
        return exactly(means[0])
    return sampled(np.array(means), f"{len(means)} seeds")


def are_draws(values: PerQuery) -> bool:
    """Whether a fold is an independent draw of generated data, of which the mean alone is kept."""
    return len(np.unique(values.folds)) == len(values.folds)


@dataclass(frozen=True)
class Study:
    """Where the data and the results are, and how large and how parallel the runs are.

    jobs: processes; the results do not depend on it. seed: where every random draw comes from.
    full: whether the runs have the papers' own sizes, which may take hours. setting: ours
    ("default"), or the paper's own ("published") as far as it is told: what validation chooses by,
    the settings of the variants, the data that are generated. say: is called with a line for each
    thing that is run. idle: processes that wait for the next run.
    """

    data_dir: Path
    out: Path
    jobs: int = 1
    seed: int = 0
    full: bool = False
    setting: str = "default"
    say: Callable[[str], None] = lambda line: None
    idle: list[Any] = field(default_factory=list)

    def folder(self, paper: str, setting: str = "") -> Path:
        """Where a paper's files are; those of the paper's own setting have a folder there."""
        own = self.out / "papers" / paper
        own /= "published" if (setting or self.setting) == "published" else ""
        refuse_links(self.out, own)
        return own

    def has(self, dataset: str) -> bool:
        """Whether the data set is at hand."""
        return layout.present(dataset, self.data_dir)

    def benchmark(self, dataset: str, convention: str = "auto") -> Benchmark:
        """The folds of a data set at hand, with its own convention or the named one."""
        protocol = Protocol(data_dir=self.data_dir, out=self.out, convention=convention)
        return benchmark_of(dataset, protocol)

    def settled(self, variant: Variant, dataset: str) -> Variant:
        """The variant with its settings of one data set: `keep` becomes the `rho` that keeps it."""
        own = dict(variant.settings)
        share = own.pop("keep", None)
        if share is not None:
            own["rho"] = rho_of(self.benchmark(dataset), float(str(share)))
        return replace(variant, settings=own)

    def runs(
        self, dataset: str, variants: Sequence[Variant], measures: Sequence[str],
        convention: str = "auto", repeats: int = 1, select: str = "ndcg@10",
        protocol_name: str = "published",
    ) -> dict[str, PerQuery]:  # fmt: skip
        """Run the variants on a data set and return their values by label, without those that fail.

        Stored folds are not run again. Each way to choose (the measure `select` by a protocol), and
        each setting that is not the ranker's own, has a folder that all papers share:
        results/papers/runs/<select>,<settings>/<DATASET>/<algo>.
        """
        variants = [self.settled(variant.under(self.setting), dataset) for variant in variants]
        way = select if protocol_name == "published" else f"{select}-{protocol_name}"
        groups: dict[str, list[Variant]] = {}
        for variant in variants:
            fixed = ranker_identity(ranker(variant.algo), variant.settings)["fixed"]
            name = ",".join([way, *(f"{key}={variant.settings[key]}" for key in fixed)])
            groups.setdefault(name, []).append(variant)
        found: dict[str, PerQuery] = {}
        for name, group in groups.items():
            folder = "".join(c if c.isalnum() or c in "-.=@," else "_" for c in name)
            place = self.out / "papers" / "runs" / folder
            refuse_links(self.out, place)
            protocol = Protocol(
                data_dir=self.data_dir, out=place, select=select,
                seed=self.seed, repeats=repeats, name=protocol_name,
            )  # fmt: skip
            self.say(f"{dataset}: {', '.join(variant.label for variant in group)}")
            systems = {v.algo: Entrant(ranker(v.algo), v.settings, name=v.algo) for v in group}
            backend = Processes(self.jobs, self.idle)
            runs = run_all([dataset], list(systems.values()), None, protocol, backend).runs
            for run in runs:
                if run.error:
                    self.say(f"{run.key}: {run.error}")
            benchmark = self.benchmark(dataset, convention)
            for variant in group:
                own = [run.fold for run in runs if run.key.algo == variant.algo]
                stored = [fold for fold in own if fold is not None]
                if len(stored) == len(own):
                    found[variant.label] = _values(stored, benchmark, measures)
        return {v.label: found[v.label] for v in variants if v.label in found}


def products_kept(benchmark: Benchmark, rho: float) -> list[int]:
    """How many products of two features each fold's quadratic model keeps."""
    return [int((each >= rho).sum()) for each in map(_correlations, benchmark.folds)]


def rho_of(benchmark: Benchmark, share: float) -> float:
    """The least correlation with the label of that share of all products: the folds' mean."""
    if share >= 1.0:
        return 0.0
    found = [np.nan_to_num(each, nan=-1.0) for each in map(_correlations, benchmark.folds)]
    return round(float(np.mean([np.quantile(each, 1.0 - share) for each in found])), 4)


def _correlations(fold: Fold) -> np.ndarray:
    """(n_products,) abs(correlation) with the label; NaN of those that do not vary."""
    from letorbench.models.linear import LinearFamily
    from letorbench.models.quadratic import product_correlations

    of = LinearFamily.standardised(fold.train.features)
    every = product_correlations(fold.train, of.mean, of.scale)
    return np.abs(every[np.triu_indices(len(every))])


def generated(dataset: str) -> bool:
    """Whether a data set is made up: DEMO and twins. Such data are evidence of nothing."""
    entry = parse_name(dataset).entry
    return entry is not None and entry.synthetic


def _values(folds: Sequence[StoredFold], benchmark: Benchmark, measures: Sequence[str]) -> PerQuery:
    """The values of a variant's stored scores on the test queries."""
    tests = {fold.number: fold.test for fold in benchmark.folds}
    asked, rules = [parse(name) for name in measures], benchmark.convention

    def of(fold: StoredFold) -> PerQuery:
        test, number = tests[fold.number], fold.number
        table = query_metrics(test.labels, fold.scores(test.n_docs), test.offsets, asked, rules)
        tables = dict(zip(measures, table.T))
        return PerQuery(fold.key.algo, np.full(test.n_queries, number), test.qids, tables)

    return PerQuery.joined([[of(fold) for fold in repeat] for repeat in by_repeat(folds)])
