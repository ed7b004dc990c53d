"""What a command line asks for, as a list of tasks: data sets x algorithms x folds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from letorbench.choices import expanded, require_choice, split
from letorbench.datasets import catalog, layout
from letorbench.errors import DataError, UsageError
from letorbench.experiment.settings import Settings
from letorbench.rankers import names, ranker

#: the seven algorithms of the project's card
CARD = (
    "regression", "ranksvm", "ranknet", "lambdarank", "listnet", "adarank-ndcg", "ndcgboost",
)  # fmt: skip


@dataclass(frozen=True)
class Protocol:
    """What all tasks of a run share.

    convention: a convention's name, or "auto" for each data set's own.
    select:     the measure, as text, that validation chooses by.
    seed:       the one number that every random draw comes from.
    force:      run also what is stored already.
    null:       what a NULL in the data reads as: "error", "min" or a number.
    """

    data_dir: Path
    out: Path
    convention: str = "auto"
    select: str = "ndcg@10"
    seed: int = 0
    force: bool = False
    null: str | float = "error"


@dataclass(frozen=True)
class Task:
    """One algorithm on one fold of one data set; `settings` are those fixed by the user."""

    dataset: str
    algo: str
    fold: int
    settings: Settings

    def __str__(self) -> str:
        return f"{self.dataset}, {self.algo}, fold {self.fold}"


def algorithms(words: Iterable[str]) -> list[str]:
    """The algorithms of comma lists, `all` and `card`, each once, in the order given.

    `all` leaves out what `missing` lists; UsageError where such a one is asked for by name.
    """
    usable = [name for name in names() if ranker(name).available()]
    groups = {"all": usable, "card": list(CARD)}
    chosen = [require_choice(name, names(), "algorithm") for name in expanded(words, groups)]
    for name in chosen:
        ranker(name).require()
    return chosen


def missing(words: Iterable[str]) -> list[str]:
    """The algorithms that an `all` among the words leaves out, their package not installed."""
    if "all" not in split(words):
        return []
    return [name for name in names() if not ranker(name).available()]


def folds(text: str) -> tuple[int, ...]:
    """Read `1-5`, `1,3`, `2-4,5`; UsageError for anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise UsageError(f"folds {text!r}: found {part!r}, expected a form like 1-5 or 1,3")
        numbers.update(range(int(first), int(last or first) + 1))
    if not numbers or min(numbers) < 1:
        raise UsageError(f"folds {text!r}: expected folds from 1 on, in a form like 1-5 or 1,3")
    return tuple(sorted(numbers))


def datasets(words: Iterable[str], data_dir: Path) -> list[str]:
    """The data sets of comma lists and `all` (those in the data folder), each once.

    A name must be in the catalog or be a folder under the data folder; UsageError suggests
    the nearest, DataError where `all` is asked for and there is none.
    """
    chosen: dict[str, None] = {}
    for word in split(words):
        found = layout.installed(data_dir) if word == "all" else (word,)
        if not found:
            raise DataError(f"{data_dir}: no data set there; `letorbench datasets list` says more")
        for name in found:
            named = catalog.parse(name)
            if named.entry is None and layout.resolve(data_dir, named.text) is None:
                require_choice(name, [*catalog.CATALOG, *layout.installed(data_dir)], "data set")
            chosen[named.label] = None
    return list(chosen)
