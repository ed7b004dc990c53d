"""What is asked for, as a list of tasks: data sets x algorithms x folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from letorbench.choices import expanded, require_choice, split
from letorbench.conventions import convention as convention_named
from letorbench.datasets import catalog, layout
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError, UsageError
from letorbench.experiment.settings import Settings
from letorbench.features import AUTO
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES

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
    """What all tasks of a run share.

    Attributes
    ----------
    data_dir, out : Path
        The folders of the data sets and of the results.
    convention : str
        The name of a convention, or "auto" for that of each data set.
    select : str
        The measure that validation chooses by.
    seed : int
        The one number that every random draw comes from.
    force : bool
        Whether to run again what is stored already.
    null : str or float
        What a NULL in the data reads as: "error", "min" or a number.
    time_limit : float, optional
        How many seconds the training of one setting of an algorithm may take.
    repeats : int
        How many seeds a ranker that draws random numbers is run with. Others run once.
    features : str
        The transformation of the features, or "auto".
    name : str
        How validation chooses: a name of `letorbench.experiment.protocols`.
    """

    data_dir: Path
    out: Path
    convention: str = "auto"
    select: str = "ndcg@10"
    seed: int = 0
    force: bool = False
    null: str | float = "error"
    time_limit: float | None = None
    repeats: int = DEFAULT_REPEATS
    features: str = AUTO
    name: str = "default"


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
    def cell(self) -> str:
        """The fold and, from the second on, the repeat: "3", "3 of repeat 2"."""
        return str(self.fold) if self.repeat == 1 else f"{self.fold} of repeat {self.repeat}"

    def __str__(self) -> str:
        return f"{self.dataset}, {self.algo}, fold {self.cell}"


@dataclass(frozen=True)
class Entrant:
    """An algorithm that takes part, and the hyper-parameters that are fixed for it."""

    ranker: type[Ranker]
    settings: Settings
    features: str | None = None

    @property
    def name(self) -> str:
        """The name that its results have."""
        return self.ranker.name


#: how an algorithm is named from Python: by name, as a class, as an instance with its settings
Algorithm = str | Ranker | type[Ranker]


def entrants(algos: Mapping[str, Settings] | Sequence[Algorithm]) -> list[Entrant]:
    """Return the algorithms that take part.

    Parameters
    ----------
    algos : mapping or sequence
        A mapping has the fixed settings of each name. In a sequence, a name or a class stands
        for the ranker with all settings that its grid has; an instance stands for the ranker
        with just its own settings.

    Raises
    ------
    UsageError
        There is no such algorithm, a package that it needs is missing, or two have one name.
    """
    if isinstance(algos, Mapping):
        found = [Entrant(ranker(name), fixed) for name, fixed in algos.items()]
    else:
        found = [_contender(algo) for algo in algos]
    taken: set[str] = set()
    for each in found:
        each.ranker.require()
        if each.name in taken:
            raise UsageError(f"two algorithms are named {each.name!r}, expected different ones")
        taken.add(each.name)
    return found


def _contender(algo: Algorithm) -> Entrant:
    if isinstance(algo, str):
        return Entrant(ranker(algo), {})
    if isinstance(algo, type) and issubclass(algo, Ranker):
        return Entrant(algo, {})
    if isinstance(algo, Ranker):
        params = algo.get_params()
        return Entrant(type(algo), params, params.pop(FEATURES))
    raise UsageError(f"found {algo!r}, expected an algorithm's name, a ranker or its class")


def algorithms(words: Iterable[str]) -> list[str]:
    """Return the algorithms of comma lists, `all` and `baselines`, each once, in their order.

    `all` leaves out what `missing` lists.

    Raises
    ------
    UsageError
        There is no such algorithm, or one asked for by name needs a missing package.
    """
    words = tuple(words)
    # only `all` asks for every ranker's class, whose module takes time to import
    everything = names() if "all" in split(words) else []
    published = [name for name in everything if ranker(name).published]
    usable = [name for name in published if ranker(name).available()]
    groups = {"all": usable, "baselines": BASELINES, "card": BASELINES}
    chosen = [require_choice(name, names(), "algorithm") for name in expanded(words, groups)]
    for name in chosen:
        ranker(name).require()
    return chosen


def missing(words: Iterable[str]) -> list[str]:
    """Return the algorithms that an `all` among the words leaves out: their package is missing."""
    if "all" not in split(words):
        return []
    return [name for name in names() if not ranker(name).available()]


def folds(text: str) -> tuple[int, ...]:
    """Read fold numbers; UsageError for what is no list of them.

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

    Raises
    ------
    UsageError
        A name is neither in the catalog nor a folder under the data folder. The error suggests
        the nearest name.
    DataError
        `all` is asked for, and there is none.
    """
    chosen: dict[str, None] = {}
    for word in split(words):
        found = layout.installed(data_dir) if word == "all" else (word,)
        if not found:
            raise DataError(f"{data_dir}: no data set there; `letorbench datasets list` says more")
        for name in found:
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


def fold_numbers(benchmark: Benchmark, asked: Sequence[int] | None) -> list[int]:
    """Return the numbers of the folds asked for, all by default; UsageError for one not there."""
    present = [fold.number for fold in benchmark.folds]
    absent = sorted(set(asked or ()) - set(present))
    if absent:
        raise UsageError(
            f"{benchmark.name} has no fold {absent[0]}; expected {present[0]}-{present[-1]}"
        )
    return [number for number in present if asked is None or number in asked]
