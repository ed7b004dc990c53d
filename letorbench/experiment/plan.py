"""What is requested, as a list of jobs: data sets x algorithms x folds x seeds.

Names, settings, data and identities are resolved here, once. An identity is all that a fold's
scores depend on: equal identities need no second run.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from letorbench import __version__
from letorbench.choices import expanded, require_choice, split
from letorbench.conventions import convention as convention_named
from letorbench.datasets import catalog, layout
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.experiment.select import draws, grid, selection_protocol
from letorbench.experiment.settings import Settings
from letorbench.features import AUTO, features_name, resolved
from letorbench.measures import parse
from letorbench.parameters import check, number
from letorbench.rankers import names, plugins, ranker
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES, hyper_parameters
from letorbench.results.paths import FoldKey
from letorbench.source import scoring_digest

#: the seven algorithms that users can ask for as `baselines` or `card`
BASELINES = (
    "regression", "ranksvm", "ranknet", "lambdarank", "listnet", "adarank-ndcg", "ndcgboost",
)  # fmt: skip
#: seeds of a ranker that draws: docs/repeats.md shows what the number was chosen by
DEFAULT_REPEATS = 5
#: a larger number of seeds is taken for a mistake
MOST_REPEATS = 10_000


@dataclass(frozen=True)
class Protocol:
    """What all tasks of a run share."""

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

    def __post_init__(self) -> None:
        measure = parse(self.select or selection_protocol(self.name).measure)
        object.__setattr__(self, "select", str(measure))
        object.__setattr__(self, "features", features_name(self.features))
        check(self, "run")


@dataclass(frozen=True)
class Task:
    """One algorithm on one fold of one data set with one seed.

    `settings` are those fixed by the user. `repeat` counts the seeds from 1. `features` is the
    transformation that a ranker asks for itself, None for the protocol's.
    """

    dataset: str
    algo: str
    fold: int
    settings: Settings = field(default_factory=dict)
    repeat: int = 1
    features: str | None = None

    @property
    def key(self) -> FoldKey:
        """What its results are stored as."""
        return FoldKey(self.dataset, self.algo, self.repeat, self.fold)

    @property
    def fold_text(self) -> str:
        """The fold and, from the second on, the repeat: "3", "3 of repeat 2"."""
        return str(self.fold) if self.repeat == 1 else f"{self.fold} of repeat {self.repeat}"

    def __str__(self) -> str:
        return str(self.key)


@dataclass(frozen=True, eq=False)
class Job:
    """A task with all that is resolved for it."""

    task: Task
    #: all that its scores depend on; None if the ranker refuses its settings
    identity: Mapping[str, Any] | None
    #: how many seeds are requested; None if nothing is drawn at random
    repeats: int | None
    #: the data set, opened; None in another process, which opens it by its name
    benchmark: Benchmark | None
    #: the ranker; None in another process, which finds it by its name
    ranker: type[Ranker] | None
    #: whether another process can open the data set by its name
    on_disk: bool = True

    def sent(self) -> "Job":
        """Return the job for another process, without what that finds by name."""
        by_name = self.ranker is not None and plugins.found_by_name(self.ranker)
        return replace(
            self,
            benchmark=None if self.on_disk else self.benchmark,
            ranker=None if by_name else self.ranker,
        )


@dataclass(frozen=True)
class Entrant:
    """An algorithm that takes part, and the hyper-parameters that are fixed for it."""

    ranker: type[Ranker]
    settings: Settings
    features: str | None = None


#: how an algorithm is named from Python: by name, as a class, as an instance with its settings
Algorithm = str | Ranker | type[Ranker]


def entrants(algos: Mapping[str, Settings] | Sequence[Algorithm]) -> list[Entrant]:
    """Return the algorithms that take part.

    A mapping has the fixed settings of each name. In a sequence, a name or a class stands for the
    ranker with all settings that its grid has; an instance stands for the ranker with just its own
    settings. UsageError says that an algorithm or a package is missing, or that two have one name.
    """
    if isinstance(algos, Mapping):
        taking_part = [Entrant(ranker(name), fixed) for name, fixed in algos.items()]
    else:
        taking_part = [_entrant(algo) for algo in algos]
    taken: set[str] = set()
    for each in taking_part:
        each.ranker.require()
        if each.ranker.name in taken:
            name = each.ranker.name
            raise UsageError(f"two algorithms are named {name!r}, expected different ones")
        taken.add(each.ranker.name)
    return taking_part


def _entrant(algo: Algorithm) -> Entrant:
    if isinstance(algo, Ranker):
        params = algo.get_params()
        return Entrant(type(algo), params, params.pop(FEATURES))
    cls = ranker(algo) if isinstance(algo, str) else algo
    if isinstance(cls, type) and issubclass(cls, Ranker):
        return Entrant(cls, {})
    raise UsageError(f"found {algo!r}, expected an algorithm's name, a ranker or its class")


def algorithms(words: Iterable[str]) -> list[str]:
    """Return the algorithms of comma lists, `all` and `baselines`, each once, in their order.

    `all` leaves out those whose package is missing. UsageError says that there is no such
    algorithm, or that its package is missing.
    """
    words = tuple(words)
    # only `all` asks for every ranker's class, whose module takes time to import
    everything = map(ranker, names() if "all" in split(words) else [])
    usable = [cls.name for cls in everything if cls.published and cls.available()]
    groups = {"all": usable, "baselines": BASELINES, "card": BASELINES}
    chosen = [require_choice(name, names(), "algorithm") for name in expanded(words, groups)]
    for name in chosen:
        ranker(name).require()
    return chosen


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
    rules = convention_named(protocol.convention)
    return replace(dataset, convention=replace(rules, max_label=dataset.convention.max_label))


def plan_runs(
    benchmarks: Mapping[str, Benchmark],
    systems: Sequence[Entrant],
    numbers: Sequence[int] | None,
    protocol: Protocol,
    on_disk: Collection[str],
) -> list[Job]:
    """Return all jobs: a whole first repeat of everything before any second one.

    `numbers` are those of the folds, None for all that a data set has; UsageError names a missing
    one. `on_disk` has the names of the data sets that another process can open.
    """
    jobs: list[Job] = []
    for name, benchmark in benchmarks.items():
        present = [fold.number for fold in benchmark.folds]
        for fold in sorted(set(numbers or ()) - set(present)):
            raise UsageError(
                f"{benchmark.name} has no fold {fold}; expected {present[0]}-{present[-1]}"
            )
        of_dataset: list[Job] = []
        for system in systems:
            cls, settings = system.ranker, system.settings
            task = Task(name, cls.name, 0, settings, features=system.features)
            facts, repeats = None, None
            with suppress(*FAILURES):  # running the task says why a ranker refuses its settings
                facts = identity(task, protocol, benchmark, cls)
                repeats = protocol.repeats if draws(cls, settings) else None
            for repeat in range(1, (repeats or 1) + 1):
                for fold in present if numbers is None else sorted(set(numbers)):
                    own = {"fold": fold} | ({"repeat": repeat} if repeat > 1 else {})
                    of_dataset.append(
                        Job(
                            replace(task, fold=fold, repeat=repeat),
                            None if facts is None else {**facts, **own},
                            repeats, benchmark, cls, name in on_disk,
                        )
                    )  # fmt: skip
        jobs += sorted(of_dataset, key=lambda job: job.task.repeat)
    return jobs


def identity(
    task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]
) -> dict[str, Any]:
    """Return all that a first repeat's scores of a fold depend on, as JSON can hold it."""
    facts = {
        "dataset": task.dataset,
        "algo": task.algo,
        "fold": task.fold,
        **ranker_identity(cls, task.settings),
        "features": features_of(task, protocol, benchmark, cls),
        "protocol": protocol.name,
        "select": protocol.select,
        "convention": benchmark.convention.name,
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
    }
    return json.loads(json.dumps(facts))


def ranker_identity(cls: type[Ranker], settings: Settings) -> dict[str, Any]:
    """Return what is part of an identity because of the ranker, its fixed settings and its code."""
    chosen, default = cls(**settings), cls()
    fixed = [
        key for key in settings if key in cls.grid or getattr(chosen, key) != getattr(default, key)
    ]
    facts: dict[str, Any] = {
        "settings": {key: getattr(chosen, key) for key in hyper_parameters(cls)},
        "fixed": sorted(fixed),
        "grid": grid(cls, settings),
        "letorbench": __version__,
        "module": cls.__module__,
        "code": scoring_digest(cls.__module__),
    }
    plugin = plugins.file_digest(cls)
    return facts if plugin is None else {**facts, "plugin": plugin}


def features_of(task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]) -> str:
    """Return the name of the transformation that a task applies, never "auto".

    All folds of a data set have the same: if the catalog does not say whether it is published
    normalised, the features of the first fold's training part do. UsageError says that the
    ranker's own grid would choose the transformation, which only the protocol may.
    """
    if FEATURES in cls.grid:
        raise UsageError(f"{cls.name}: found {FEATURES!r} in its grid, expected hyper-parameters")
    return resolved(
        task.features or protocol.features,
        cls(**task.settings).auto_features,
        benchmark.folds[0].train.features,
        benchmark.provenance.get("normalised"),
    )
