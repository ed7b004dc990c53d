"""The plan of a run: its algorithms, and a list of jobs: data sets x algorithms x folds x seeds.

A job has an identity: all that the fold's scores depend on. Equal identities need no second run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from letorbench import aliases
from letorbench.choices import require_choice, resolve_name, split
from letorbench.datasets.catalog import Name
from letorbench.datasets.load import load, with_convention
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import FAILURES, UsageError
from letorbench.experiment.select import PROTOCOLS, Settings, draws, grid, settings_tried
from letorbench.features import AUTO, features_name, resolved, transformation
from letorbench.parameters import check, kinds, number, typed
from letorbench.rankers import names, plugins, ranker
from letorbench.rankers.any_model import AnyModel, is_model, ranker_of
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES, hyper_parameters
from letorbench.rankers.tuning import BUDGET, MOST
from letorbench.results import labels, paths
from letorbench.results.environment import library_version
from letorbench.results.labels import NAME, RUN_KEYS, SELECTED_BY, Label
from letorbench.results.paths import FoldKey
from letorbench.results.scores import parse
from letorbench.source import scoring_digest, users_digest

#: how an algorithm is named from Python: by label, as a class, as an instance with its settings, or
#: any model that has `fit` and `predict`
Algorithm = str | Ranker | type[Ranker] | Any
#: the seven algorithms that users can ask for as `baselines` or `card`
BASELINES = (
    "regression", "ranksvm", "ranknet", "lambdarank", "listnet", "adarank-ndcg", "ndcgboost",
)  # fmt: skip


@dataclass(frozen=True)
class System:
    """An algorithm of a run."""

    ranker: type[Ranker]
    #: the hyper-parameters that are fixed
    settings: Settings = field(default_factory=dict)
    #: the changes of the protocol, by the keys `labels.RUN_KEYS`
    run: Settings = field(default_factory=dict)
    #: the user's name of the row; "" for the label
    name: str = ""


def systems_of(
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm], fixed: Iterable[str] = ()
) -> list[System]:
    """Return the algorithms of a run.

    A name or a class stands for the ranker with every setting of its grid; an instance for the
    ranker with just its own settings. A mapping has the names of the rows.

    algos: labels in comma lists, classes, instances, or a mapping from names to such. fixed:
    `key=value` texts, for the algorithms of labels that have the key.
    """
    pairs = []
    for text in fixed:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and key):
            raise UsageError(f"setting {text!r}: expected the form key=value")
        pairs.append((key, value))
    if isinstance(algos, Mapping):
        named = [(name, each) for name, each in algos.items()]
    else:
        # an ensemble of models can be iterated over, too
        alone = isinstance(algos, (str, type)) or hasattr(algos, "fit")
        alone = alone or not isinstance(algos, Iterable)
        several: list[Algorithm] = [algos] if alone else [*algos]  # type: ignore[misc]
        named = [("", each) for each in several]
    made: list[System] = []
    for name, algo in named:
        if name and not NAME.fullmatch(name):
            raise UsageError(f"found the name {name!r}, expected letters, digits and . _ + @ -")
        if not isinstance(algo, str):
            if pairs:
                raise UsageError(
                    "found settings beside rankers, expected names: a ranker has its own"
                )
            made.append(_given(algo, name))
            continue
        every = labelled([algo])
        if name and len(every) != 1:
            raise UsageError(f"{name}: found {len(every)} algorithms, expected one")
        systems = [_labelled(label, pairs) for label in every]
        made += [replace(system, name=name or system.name) for system in systems]
    for key, value in pairs:
        if not any(_field(each.ranker, key) for each in made):
            offered = "; ".join(
                f"{each.ranker.name} has {', '.join(parameters(each.ranker)) or 'none'}"
                for each in made
            )
            raise UsageError(f"setting '{key}={value}': no parameter {key!r}; {offered}")
    for each in made:
        each.ranker.require()
    return made


def labelled(words: Iterable[str]) -> list[Label]:
    """Return the labels of comma lists, each once; `all` and `baselines` stand for algorithms.

    `all` leaves out those whose package is missing.
    """
    words = tuple(words)
    usable = [cls.name for cls in _every(words) if cls.published and cls.available()]
    expanded = labels.expanded(words, {"all": usable, "baselines": BASELINES, "card": BASELINES})
    every = names()
    return [replace(label, algo=resolve_name(label.algo, every, "algorithm")) for label in expanded]


def left_out(words: Iterable[str]) -> list[str]:
    """Return a line for each algorithm that `all` leaves out because its package is missing."""
    return [
        f"all leaves {cls.name} out: `python -m pip install '{cls.extra}'` brings {cls.needs}"
        for cls in _every(words)
        if not cls.available()
    ]


def _every(words: Iterable[str]) -> list[type[Ranker]]:
    """Return every ranker if `all` is among the labels; to import their modules takes time."""
    algos = {labels.parse(word).algo for word in split(words)}
    return [ranker(name) for name in names()] if "all" in algos else []


def _given(algo: Algorithm, name: str) -> System:
    if is_model(algo):
        algo = ranker_of(algo)
    if isinstance(algo, Ranker):
        params = algo.get_params()
        features = params.pop(FEATURES)
        return System(type(algo), params, {FEATURES: features} if features else {}, name)
    if isinstance(algo, type) and issubclass(algo, Ranker):
        return System(algo, name=name)
    partly = not isinstance(algo, type) and callable(getattr(algo, "fit", None))
    found = f"a {type(algo).__name__} without predict(X)" if partly else repr(algo)
    raise UsageError(
        f"found {found}, expected an algorithm's name, a ranker or its class, or a model with fit "
        "and predict"
    )


def _labelled(label: Label, pairs: Sequence[tuple[str, str]]) -> System:
    """Return the system of a label, with those settings of `--set` that its ranker has."""
    cls, given = ranker(label.algo), dict(label.settings)
    run = {key: given.pop(key) for key in RUN_KEYS if key in given}
    known = parameters(cls)
    meant = [name for key in given if (name := _field(cls, key))]
    if again := [name for name in meant if meant.count(name) > 1]:
        raise UsageError(f"{label}: found {again[0]} twice, expected it once")
    settings: dict[str, Any] = {}
    of_all = [(key, value) for key, value in pairs if _field(cls, key)]
    for key, value in [*of_all, *given.items()]:
        field_name = _field(cls, key)
        if field_name is None:
            theirs = [f"and those of {cls.needs}"] if hasattr(cls, "library_names") else []
            offered = ", ".join([*known, *RUN_KEYS, *theirs])
            if issubclass(cls, AnyModel) and not hasattr(cls.model, "get_params"):
                offered += f"; a get_params of {type(cls.model).__name__} would name its own"
            raise UsageError(f"{label}: {label.algo} has no parameter {key!r}; it has {offered}")
        kind = known.get(field_name, int | float | bool | str)  # of a library's own any
        settings[field_name] = typed(kind, value, f"{key} of {label.algo}")
    cls(**settings)  # values that it refuses are named before anything runs
    order = dict.fromkeys([*known, *sorted(settings)])
    return System(cls, {k: settings[k] for k in order if k in settings}, run, label.name)


def parameters(cls: type[Ranker]) -> dict[str, Any]:
    """Return a ranker's hyper-parameters and their types."""
    of_fields = kinds(cls)
    return {name: of_fields[name] for name in hyper_parameters(cls)}


def _field(cls: type[Ranker], key: str) -> str | None:
    """Return the hyper-parameter, or the library's parameter, that a user's key means, if any."""
    meant = {spelling: name for name, spelling in cls.spelled.items()}.get(key, key)
    if known := aliases.parameter(meant, parameters(cls)):
        return known
    return None if key in RUN_KEYS else cls.parameter(key)


#: seeds of a ranker that draws: docs/repeats.md shows why; a number above the most is a mistake
DEFAULT_REPEATS, MOST_REPEATS = 5, 10_000
#: the values of `null` that are no numbers
NULL_WORDS = ("keep", "error", "min")


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a run reads, transforms, chooses and measures."""

    #: the folders of the data sets and of the results
    data_dir: Path
    out: Path
    #: the name of a convention; "auto" for the data set's
    convention: str = "auto"
    #: the measure that validation chooses by; by default that of the protocol
    select: str = ""
    #: the one number that every random draw comes from
    seed: int = number(0, least=0)
    #: whether stored folds are run again
    force: bool = False
    #: the value of a NULL in the data: one of `NULL_WORDS` or a number
    null: str | float = "keep"
    #: the seconds that the training of one setting of an algorithm may take
    time_limit: float | None = number(None, above=0)
    #: the seeds of a ranker that draws random numbers; others run once
    repeats: int = number(DEFAULT_REPEATS, least=1, most=MOST_REPEATS)
    #: the transformation of the features, or "auto"
    features: str = AUTO
    #: how validation chooses: a name of `letorbench.experiment.select.PROTOCOLS`
    name: str = "default"
    #: the settings that the protocol "tuned" tries
    budget: int = number(BUDGET, least=1, most=MOST)
    #: the texts of measures that are stored in addition to the usual ones
    measures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", tuple(str(parse(each)) for each in self.measures))
        require_choice(self.name, list(PROTOCOLS), "protocol")
        object.__setattr__(self, "select", str(parse(self.select or SELECTED_BY[self.name])))
        object.__setattr__(self, "features", features_name(self.features))
        check(self, "run")

    @property
    def tuning(self) -> int | None:
        """The number of settings of a ranker's ranges, None where its grid is searched."""
        return self.budget if PROTOCOLS[self.name].tunes else None

    @property
    def differing(self) -> dict[str, Any]:
        """The settings that differ from the defaults, by the keys `labels.RUN_KEYS`."""
        default = {
            "features": AUTO, "protocol": "default", "select": SELECTED_BY[self.name],
            "convention": "auto", "null": "keep", "seed": 0, "budget": BUDGET,
        }  # fmt: skip
        given = {**vars(self), "protocol": self.name, "budget": self.tuning or BUDGET}
        return {key: given[key] for key, value in default.items() if given[key] != value}

    def changed(self, run: Settings) -> Protocol:
        """Return the protocol with the settings of a label, by the keys `labels.RUN_KEYS`."""
        new: dict[str, Any] = {}
        for key, value in run.items():
            if key in ("seed", "budget"):
                new[key] = typed(int, str(value), key)
            elif key == "null" and value not in NULL_WORDS:
                new[key] = typed(float, str(value), key)
            else:
                new["name" if key == "protocol" else key] = str(value).replace(";", ",")
        if "name" in new and self.select == SELECTED_BY[self.name]:
            new.setdefault("select", "")
        changed = replace(self, **new)
        if "budget" in new and changed.tuning is None:
            raise UsageError(f"found budget={new['budget']}, expected it with protocol=tuned")
        return changed


@dataclass(frozen=True, eq=False)
class Job:
    """An algorithm on one fold with one seed; another process finds data and ranker by name."""

    #: the key of its results; its `algo` is the label's row
    key: FoldKey
    label: Label
    #: the hyper-parameters that are fixed
    settings: Settings
    #: the run's protocol with the changes of the label
    protocol: Protocol
    #: the folder of the algorithm's results
    folder: Path
    #: all that the scores depend on; None if the ranker refuses its settings
    identity: Mapping[str, Any] | None = None
    #: the number of seeds; None if nothing is drawn at random
    repeats: int | None = None
    benchmark: Benchmark | None = None
    ranker: type[Ranker] | None = None
    #: the name by which another process can open the data set; None for data in memory
    source: Name | None = None
    #: the number of folds of the data set where `benchmark` has the job's alone
    n_folds: int = 0

    @property
    def place(self) -> Path:
        """The folder of the fold's files."""
        return paths.fold_folder(self.folder, self.key.fold, self.key.repeat)

    def sent(self) -> Job:
        """Return the job for another process, without the data and the ranker that it finds."""
        by_name = self.ranker is not None and plugins.is_known_to_workers(self.ranker)
        job = replace(self, benchmark=None) if self.source else self.with_data()
        return replace(job, ranker=None) if by_name else job

    def with_data(self) -> Job:
        """Return the job with the data of its fold alone."""
        assert self.benchmark is not None
        folds = tuple(fold for fold in self.benchmark.folds if fold.number == self.key.fold)
        n_folds = len(self.benchmark.folds)
        return replace(self, benchmark=replace(self.benchmark, folds=folds), n_folds=n_folds)


def benchmark_of(dataset: str | Name | Benchmark, protocol: Protocol) -> Benchmark:
    """Return a data set as the protocol reads it; opening a cached one takes milliseconds."""
    if not isinstance(dataset, Benchmark):
        return load(dataset, protocol.data_dir, protocol.convention, protocol.null)
    auto = protocol.convention == "auto"
    return dataset if auto else with_convention(dataset, protocol.convention)


def plan_runs(
    benchmarks: Mapping[str, Benchmark],
    systems: Sequence[System],
    numbers: Sequence[int] | None,
    protocol: Protocol,
    sources: Mapping[str, Name] = {},
) -> list[Job]:
    """Return all jobs: a whole first repeat of everything before any second one."""
    jobs: list[Job] = []
    for name, benchmark in benchmarks.items():
        present = [fold.number for fold in benchmark.folds]
        folds = present if numbers is None else sorted(set(numbers))
        for fold in sorted(set(folds) - set(present)):
            raise UsageError(
                f"{benchmark.name} has no fold {fold}; expected {present[0]}-{present[-1]}"
            )
        of_dataset: list[Job] = []
        rows: set[str] = set()
        for system in systems:
            first = _first_job(system, benchmark, protocol, name, sources.get(name))
            if first.key.algo in rows:
                raise UsageError(
                    f"two algorithms are called {first.key.algo!r}, expected different labels; "
                    "a name of yours may stand before one, as in mine=listnet"
                )
            rows.add(first.key.algo)
            for repeat, fold in product(range(1, (first.repeats or 1) + 1), folds):
                key, facts = first.key._replace(fold=fold, repeat=repeat), first.identity
                if facts is not None:
                    facts = {**facts, "fold": fold, **({"repeat": repeat} if repeat > 1 else {})}
                of_dataset.append(replace(first, key=key, identity=facts))
        jobs += sorted(of_dataset, key=lambda job: job.key.repeat)
    return jobs


def _first_job(
    system: System, benchmark: Benchmark, protocol: Protocol, name: str, source: Name | None
) -> Job:
    """Return the job of an algorithm on a data set without a fold."""
    cls, changed = system.ranker, protocol.changed(system.run)
    given = system.settings
    settings = {**cls.as_published, **given} if changed.name == "published" else given
    measured = benchmark
    if changed.convention != protocol.convention:
        measured = benchmark_of(benchmark, changed)
    if changed.null != protocol.null:
        measured = benchmark_of(source or name, changed)
    facts, repeats, fixed = None, None, dict(given)
    with suppress(*FAILURES):  # running the job says why a ranker refuses its settings
        default = cls().get_params()
        fixed = {key: v for key, v in given.items() if v != default.get(key)}
        repeats = changed.repeats if draws(cls, settings, changed.tuning) else None
        if repeats is None and benchmark.train_fraction == 1.0:
            changed = replace(changed, seed=0)  # no other seed would change anything
        facts = identity(name, cls, settings, changed, measured)
        fixed = {key: given[key] for key in given if key in facts["fixed"]}
    label = labels.of(cls.name, fixed, changed.differing, system.name)
    return Job(
        key=FoldKey(name, label.row, 1, 0), label=label, settings=settings, protocol=changed,
        folder=changed.out / name / label.folders[0], identity=facts,
        repeats=repeats, benchmark=measured, ranker=cls, source=source,
    )  # fmt: skip


def identity(
    dataset: str, cls: type[Ranker], settings: Settings, protocol: Protocol, benchmark: Benchmark
) -> dict[str, Any]:
    """Return all that a first repeat's scores of a fold depend on, as JSON can hold it."""
    select = parse(protocol.select)
    rules = asdict(benchmark.convention)
    if FEATURES in cls.grid:  # which only the protocol may choose
        raise UsageError(f"{cls.name}: found {FEATURES!r} in its grid, expected hyper-parameters")
    # of all folds; where the catalog does not say whether they are normalised, the first tells
    train, normalised = benchmark.folds[0].train, benchmark.provenance.get("normalised")
    auto_features = cls(**settings).auto_features
    features = resolved(protocol.features, auto_features, train.features, normalised)
    facts = {
        "dataset": dataset,
        "algo": cls.name,
        "fold": 0,
        **ranker_identity(
            cls, settings, select.function, transformation(features), budget=protocol.tuning
        ),
        "features": features,
        "protocol": protocol.name,
        "select": protocol.select,
        "convention": rules.pop("name"),
        "rules": {key: v for key, v in rules.items() if key not in ("description", "source")},
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
        **({"budget": protocol.budget} if protocol.tuning else {}),
        **({"select code": select.source} if select.source else {}),
    }
    return json.loads(json.dumps(facts))


def ranker_identity(
    cls: type[Ranker], settings: Settings, *parts: Any, budget: int | None = None
) -> dict[str, Any]:
    """Return the part of an identity that the ranker, its settings and its code determine."""
    chosen, default = cls(**settings), cls().get_params()
    values = chosen.get_params()
    every = settings_tried(cls, settings, budget)
    used = (*parts, *(part for each in every for part in cls(**each).parts))
    modules = sorted({each.__module__ for each in used})
    searched = grid(cls, {}, budget)
    fixed = [key for key in settings if key in searched or values[key] != default.get(key)]
    facts: dict[str, Any] = {
        "settings": {key: value for key, value in values.items() if key != FEATURES},
        "fixed": sorted(fixed),
        "grid": grid(cls, settings, budget),
        "module": cls.__module__,
        "parts": modules,
        "code": scoring_digest(cls.__module__, *modules),
    }
    if chosen.own_code:
        facts["own code"] = chosen.own_code
    package = cls.needs
    if issubclass(cls, AnyModel):
        facts["model"], package = cls.described(), type(cls.model).__module__
    packages = {package, *(getattr(each, "needs", None) for each in used)} - {None}
    versions = {each.partition(".")[0]: library_version(each) for each in map(str, packages)}
    if known := [f"{each} {version}" for each, version in sorted(versions.items()) if version]:
        facts["library"] = ", ".join(known)
    if plugin := users_digest(cls):
        facts["plugin"] = plugin
    return facts
