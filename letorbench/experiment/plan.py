"""What is requested, as a list of jobs: data sets x algorithms x folds x seeds.

Names, settings, data and identities are resolved here, once. An identity is all that a fold's
scores depend on: equal identities need no second run.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from letorbench.choices import require_choice, split
from letorbench.conventions import convention as convention_named
from letorbench.datasets import catalog, layout
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.experiment.entrants import Entrant, Settings
from letorbench.experiment.select import draws, grid, selection_protocol, settings_tried
from letorbench.features import AUTO, features_name, resolved, transformation
from letorbench.measures import parse
from letorbench.parameters import check, number, typed
from letorbench.rankers import plugins
from letorbench.rankers.any_model import AnyModel
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES, hyper_parameters
from letorbench.results import labels, paths
from letorbench.results.labels import SELECTED_BY, Label
from letorbench.results.paths import FoldKey
from letorbench.source import scoring_digest
from letorbench.version import __version__

#: seeds of a ranker that draws: docs/repeats.md shows what the number was chosen by
DEFAULT_REPEATS = 5
#: what `null` may be beside a number
NULL_WORDS = ("keep", "error", "min")
#: a larger number of seeds is taken for a mistake
MOST_REPEATS = 10_000


@dataclass(frozen=True)
class Protocol:
    """How a run reads, transforms, chooses and measures."""

    #: the folders of the data sets and of the results
    data_dir: Path
    out: Path
    #: the name of a convention, or "auto" for that of each data set
    convention: str = "auto"
    #: the measure that validation chooses by; by default that of the protocol
    select: str = ""
    #: the one number that every random draw comes from
    seed: int = number(0, least=0)
    #: whether to run again what is stored already
    force: bool = False
    #: what a NULL in the data reads as: "keep", "error", "min" or a number
    null: str | float = "keep"
    #: how many seconds the training of one setting of an algorithm may take
    time_limit: float | None = number(None, above=0)
    #: how many seeds a ranker that draws random numbers is run with; others run once
    repeats: int = number(DEFAULT_REPEATS, least=1, most=MOST_REPEATS)
    #: the transformation of the features, or "auto"
    features: str = AUTO
    #: how validation chooses: a name of `letorbench.experiment.select.PROTOCOLS`
    name: str = "default"
    #: the measures that are stored beside the usual ones, as texts
    measures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", tuple(str(parse(each)) for each in self.measures))
        selection_protocol(self.name)
        object.__setattr__(self, "select", str(parse(self.select or SELECTED_BY[self.name])))
        object.__setattr__(self, "features", features_name(self.features))
        check(self, "run")

    @property
    def asked(self) -> dict[str, Any]:
        """What is not as it is by default, by the keys `labels.RUN_KEYS`."""
        usual = {
            "features": AUTO, "protocol": "default", "select": SELECTED_BY[self.name],
            "convention": "auto", "null": "keep", "seed": 0,
        }  # fmt: skip
        own = {key: getattr(self, "name" if key == "protocol" else key) for key in usual}
        return {key: value for key, value in own.items() if value != usual[key]}

    def changed(self, run: Settings) -> "Protocol":
        """Return the protocol with what a label says of a run, by the keys `labels.RUN_KEYS`.

        UsageError for a value that is none of its key.
        """
        new: dict[str, Any] = {}
        for key, value in run.items():
            if key == "seed":
                new[key] = typed(int, str(value), key)
            elif key == "null" and value not in NULL_WORDS:
                new[key] = typed(float, str(value), key)
            else:
                new["name" if key == "protocol" else key] = str(value).replace(";", ",")
        if "name" in new and self.select == SELECTED_BY[self.name]:
            new.setdefault("select", "")
        return replace(self, **new)


@dataclass(frozen=True, eq=False)
class Job:
    """What is asked for: an algorithm on one fold of one data set with one seed.

    `benchmark` and `ranker` are None in another process, which finds both by their names.
    """

    #: what its results are stored as; its `algo` is the label's row
    key: FoldKey
    label: Label
    #: the hyper-parameters that are fixed
    settings: Settings
    #: how it is run: the run's protocol with what its label changes
    protocol: Protocol
    #: the folder of the algorithm's results
    folder: Path
    #: all that its scores depend on; None if the ranker refuses its settings
    identity: Mapping[str, Any] | None = None
    #: how many seeds are requested; None if nothing is drawn at random
    repeats: int | None = None
    benchmark: Benchmark | None = None
    ranker: type[Ranker] | None = None
    #: whether another process can open the data set by its name
    on_disk: bool = True
    #: how many folds the data set has, where `benchmark` has the job's alone
    n_folds: int = 0

    def sent(self) -> "Job":
        """Return the job for another process, without what that finds by name."""
        by_name = self.ranker is not None and plugins.found_by_name(self.ranker)
        own = self if self.on_disk else self.with_data()
        return replace(
            own,
            benchmark=None if self.on_disk else own.benchmark,
            ranker=None if by_name else self.ranker,
        )

    def with_data(self) -> "Job":
        """Return the job with the data of its fold alone."""
        assert self.benchmark is not None
        folds = tuple(fold for fold in self.benchmark.folds if fold.number == self.key.fold)
        n_folds = len(self.benchmark.folds)
        return replace(self, benchmark=replace(self.benchmark, folds=folds), n_folds=n_folds)


def folds(text: str) -> tuple[int, ...]:
    """Read fold numbers; UsageError for other texts.

    Examples
    --------
    >>> folds("1-3,5")
    (1, 2, 3, 5)
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise UsageError(f"folds {text!r}: found {part!r}, expected a form like 1-5 or 1,3")
        if max(len(first), len(last)) > len(str(MOST_FOLDS)) or int(last or first) > MOST_FOLDS:
            raise UsageError(f"folds {text!r}: found {part!r}, expected folds up to {MOST_FOLDS}")
        numbers.update(range(int(first), int(last or first) + 1))
    if not numbers or min(numbers) < 1:
        raise UsageError(f"folds {text!r}: expected folds from 1 on, in a form like 1-5 or 1,3")
    return tuple(sorted(numbers))


def datasets(words: Iterable[str], data_dir: Path) -> list[str]:
    """Return the data sets of comma lists and `all` (those in the data folder), each once.

    UsageError suggests the nearest name for one that is neither in the catalog nor a folder under
    the data folder. DataError says that there are none.
    """
    chosen: dict[str, None] = {}
    for word in split(words):
        meant = layout.installed(data_dir) if word == "all" else (word,)
        if not meant:
            raise DataError(f"{data_dir}: no data set there; `letorbench datasets list` says more")
        for name in meant:
            named = catalog.parse(name)
            if named.entry is None and layout.resolve(data_dir, named.text) is None:
                known = [*catalog.CATALOG, *layout.installed(data_dir)]
                require_choice(name, known, "data set")
            chosen[named.label] = None
    if not chosen:
        raise UsageError("found no name of a data set, expected one or more, or all")
    return list(chosen)


def benchmark_of(dataset: str | Benchmark, protocol: Protocol) -> Benchmark:
    """Return a data set as the protocol reads it; opening a cached one takes milliseconds."""
    if isinstance(dataset, str):
        return load(dataset, protocol.data_dir, protocol.convention, protocol.null)
    if protocol.convention == "auto":
        return dataset
    largest = max(int(part.labels.max(initial=0)) for part in dataset.parts)
    return replace(dataset, convention=convention_named(protocol.convention).of_data(largest))


def plan_runs(
    benchmarks: Mapping[str, Benchmark],
    systems: Sequence[Entrant],
    numbers: Sequence[int] | None,
    protocol: Protocol,
    on_disk: Collection[str],
) -> list[Job]:
    """Return all jobs: a whole first repeat of everything before any second one.

    `numbers` are those of the folds, None for all that a data set has; UsageError names a missing
    one, and two algorithms of one label. `on_disk` has the names of the data sets that another
    process can open.
    """
    jobs: list[Job] = []
    for name, benchmark in benchmarks.items():
        present = [fold.number for fold in benchmark.folds]
        for fold in sorted(set(numbers or ()) - set(present)):
            raise UsageError(
                f"{benchmark.name} has no fold {fold}; expected {present[0]}-{present[-1]}"
            )
        of_dataset: list[Job] = []
        rows: set[str] = set()
        for system in systems:
            first = _first_job(system, benchmark, protocol, name)
            if first.key.algo in rows:
                raise UsageError(
                    f"two algorithms are called {first.key.algo!r}, expected different labels; "
                    "a name of yours may stand before one, as in mine=listnet"
                )
            rows.add(first.key.algo)
            for repeat in range(1, (first.repeats or 1) + 1):
                for fold in present if numbers is None else sorted(set(numbers)):
                    own = {"fold": fold} | ({"repeat": repeat} if repeat > 1 else {})
                    facts = None if first.identity is None else {**first.identity, **own}
                    key = first.key._replace(fold=fold, repeat=repeat)
                    of_dataset.append(
                        replace(first, key=key, identity=facts, on_disk=name in on_disk)
                    )
        jobs += sorted(of_dataset, key=lambda job: job.key.repeat)
    return jobs


def _first_job(system: Entrant, benchmark: Benchmark, protocol: Protocol, name: str) -> Job:
    """Return the job of an algorithm on a data set without a fold."""
    cls, own = system.ranker, protocol.changed(system.run)
    asked = system.settings
    settings = {**cls.as_published, **asked} if own.name == "published" else asked
    measured = benchmark
    if own.convention != protocol.convention:
        measured = benchmark_of(benchmark, own)
    if own.null != protocol.null:
        measured = benchmark_of(name, own)
    facts, repeats, fixed = None, None, dict(asked)
    with suppress(*FAILURES):  # running the job says why a ranker refuses its settings
        default = cls()
        fixed = {key: v for key, v in asked.items() if v != getattr(default, key)}
        repeats = own.repeats if draws(cls, settings) else None
        if repeats is None and benchmark.share == 1.0:
            own = replace(own, seed=0)  # no other seed would change anything
        facts = identity(name, cls, settings, own, measured)
        fixed = {key: asked[key] for key in asked if key in facts["fixed"]}
    label = labels.of(cls.name, fixed, own.asked, system.name)
    key, folder = FoldKey(name, label.row, 1, 0), paths.algo_folder(own.out, name, label.folders[0])
    return Job(key, label, settings, own, folder, facts, repeats, measured, cls)


def identity(
    dataset: str, cls: type[Ranker], settings: Settings, protocol: Protocol, benchmark: Benchmark
) -> dict[str, Any]:
    """Return all that a first repeat's scores of a fold depend on, as JSON can hold it."""
    select = parse(protocol.select)
    rules = asdict(benchmark.convention)
    features = features_of(cls, settings, protocol, benchmark)
    facts = {
        "dataset": dataset,
        "algo": cls.name,
        "fold": 0,
        **ranker_identity(cls, settings, select.function, transformation(features)),
        "features": features,
        "protocol": protocol.name,
        "select": protocol.select,
        "convention": rules.pop("name"),
        "rules": {key: v for key, v in rules.items() if key not in ("description", "source")},
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
        **({"select code": select.source} if select.source else {}),
    }
    return json.loads(json.dumps(facts))


def ranker_identity(cls: type[Ranker], settings: Settings, *parts: Any) -> dict[str, Any]:
    """Return what is part of an identity because of the ranker, its fixed settings and its code.

    `parts` are what the run names: values whose modules count as the ranker's own.
    """
    chosen, default = cls(**settings), cls()
    tried = (part for each in settings_tried(cls, settings) for part in cls(**each).parts)
    modules = sorted({each.__module__ for each in (*parts, *tried)})
    fixed = [
        key for key in settings if key in cls.grid or getattr(chosen, key) != getattr(default, key)
    ]
    facts: dict[str, Any] = {
        "settings": {key: getattr(chosen, key) for key in hyper_parameters(cls)},
        "fixed": sorted(fixed),
        "grid": grid(cls, settings),
        "letorbench": __version__,
        "module": cls.__module__,
        "parts": modules,
        "code": scoring_digest(cls.__module__, *modules),
    }
    if chosen.own_code:
        facts["own code"] = chosen.own_code
    if issubclass(cls, AnyModel):
        facts["model"] = cls.described()
    plugin = plugins.file_digest(cls)
    return facts if plugin is None else {**facts, "plugin": plugin}


def features_of(
    cls: type[Ranker], settings: Settings, protocol: Protocol, benchmark: Benchmark
) -> str:
    """Return the name of the transformation that is applied, never "auto".

    All folds of a data set have the same: if the catalog does not say whether it is published
    normalised, the features of the first fold's training part do. UsageError says that the
    ranker's own grid would choose the transformation, which only the protocol may.
    """
    if FEATURES in cls.grid:
        raise UsageError(f"{cls.name}: found {FEATURES!r} in its grid, expected hyper-parameters")
    return resolved(
        protocol.features,
        cls(**settings).auto_features,
        benchmark.folds[0].train.features,
        benchmark.provenance.get("normalised"),
    )
