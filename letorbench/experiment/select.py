"""Model selection: every setting of a ranker's grid is trained, and validation chooses one.

If the chosen setting has the smallest or the largest number of its grid, the grid grows there: the
next number is trained as well, and validation chooses again. A protocol defines the measure and the
rule of the choice, whether grids grow, and whether settings come from a ranker's ranges instead.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.parameters import allows
from letorbench.rankers.base import Ranker
from letorbench.rankers.tuning import (
    Settings,
    Trial,
    best_of,
    drawn_settings,
    free_ranges,
    trial,
    trials,
)
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.stopping import Rule, Validation, best, latest

#: from a hyper-parameter to the values that are tried
Grid = Mapping[str, Sequence[Any]]
#: the most numbers by which a grid grows below its smallest and above its largest number
MOST_STEPS = 4
#: integers are not made smaller than this: a tree has at least two leaves
LEAST_WHOLE = 2


@dataclass(frozen=True)
class SelectionProtocol:
    """One way to choose on the validation part; `labels.SELECTED_BY` has its usual measure."""

    rule: Rule  # chooses among rounds and epochs; among the settings of a grid, the best mean wins
    grows: bool  # whether a grid whose edge is chosen is extended
    tunes: bool = False  # whether settings come from the ranges of a ranker that has some


#: the protocols by name: this package's, LETOR's for its baselines, that of the papers, and the
#: same number of settings for all
PROTOCOLS = {
    "default": SelectionProtocol(latest, grows=True),
    "letor": SelectionProtocol(best, grows=False),
    "published": SelectionProtocol(best, grows=False),
    "tuned": SelectionProtocol(latest, grows=True, tunes=True),
}


@dataclass(frozen=True, eq=False)
class Selected:
    """The choice of validation, and its alternatives."""

    chosen: Trial
    trials: tuple[Trial, ...]  # all, in the order of the grid, then those by which it grew
    warnings: tuple[FitWarning, ...]

    def as_json(self, measure: str) -> dict[str, object]:
        """Return the entry of validation in fit.json, with the measure that chose."""
        chosen = self.chosen.as_json()
        several = self.trials if len(self.trials) > 1 else ()
        return {
            "measure": measure,
            **{key: chosen[key] for key in ("value", "curve", "best")},
            "grid": [trial.as_json() for trial in several],
        }


def select(
    cls: type[Ranker],
    fixed: Settings,
    train: QuerySet,
    validation: Validation,
    seed: np.random.SeedSequence,
    time_limit: float | None = None,
    grows: bool = True,
    budget: int | None = None,
) -> Selected:
    """Train each setting of the grid; choose the first of those that are best on validation.

    A model with NaN among its scores loses to any other. `fixed` has the hyper-parameters that the
    user fixed. The training of each setting ends after `time_limit` seconds. For `grows` see
    `grown`. With a budget, this number of settings of the ranker's ranges replaces its grid.
    """
    free = {} if free_ranges(cls, fixed, budget) else grid(cls, fixed)
    tried: Grid = free
    given = cls, train, validation, seed, time_limit
    made = trials(cls, settings_tried(cls, fixed, budget), *given[1:])
    chosen = best_of(made)
    # if validation cannot separate the settings, an edge means nothing
    differ = len({each.value for each in made}) > 1
    while grows and differ:
        further = grown(cls, free, tried, chosen.settings)
        if further is None:
            break
        key, number = further
        tried = {**tried, key: (*tried[key], number)}
        made.append(trial(*given, {**chosen.settings, key: number}))
        chosen = best_of(made)
    warnings: list[FitWarning] = []
    if cut := sum(each.ranker.learned.cut_off for each in made):
        text = f"the time limit of {time_limit:g} s cut off {cut} of {len(made)} fits"
        warnings.append(FitWarning("cut off", text))
    warnings += chosen.ranker.learned.warnings
    for key, values in tried.items() if differ else ():
        if end := edge(values, chosen.settings[key]):
            bound = ", which grows no further" if grows else ""
            text = f"the best {key} = {chosen.settings[key]} is the {end} of its grid{bound}"
            warnings.append(FitWarning("grid edge", text))
    return Selected(chosen, tuple(made), tuple(warnings))


def grid(
    cls: type[Ranker], fixed: Settings, budget: int | None = None
) -> dict[str, tuple[object, ...]]:
    """Return the ranker's grid without the hyper-parameters that the user fixed.

    With a budget, return the values of each hyper-parameter with a range, setting by setting.
    """
    if ranges := free_ranges(cls, fixed, budget):
        tried = settings_tried(cls, fixed, budget)
        return {key: tuple(each.get(key) for each in tried) for key in ranges}
    return {key: tuple(values) for key, values in cls.grid.items() if key not in fixed}


def settings_tried(
    cls: type[Ranker], fixed: Settings, budget: int | None = None
) -> list[dict[str, Any]]:
    """Return the hyper-parameters of every setting, with those that the user fixed."""
    if budget is not None and free_ranges(cls, fixed, budget):
        return drawn_settings(cls, fixed, budget)
    free = grid(cls, fixed)
    return [{**fixed, **dict(zip(free, values))} for values in itertools.product(*free.values())]


def draws(cls: type[Ranker], fixed: Settings, budget: int | None = None) -> bool:
    """Return whether the ranker draws random numbers with any setting."""
    return any(cls(**chosen).draws for chosen in settings_tried(cls, fixed, budget))


def edge(values: Sequence[Any], chosen: object) -> str | None:
    """Return whether the chosen number is the "smallest" or the "largest" of a numeric grid.

    Fewer than three positive numbers are alternatives, no range.
    """
    numbers = (isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in values)
    if len(values) < 3 or not all(numbers):
        return None
    ends = {min(values): "smallest", max(values): "largest"}
    return ends.get(chosen)


def next_number(values: Sequence[float], end: str) -> float | None:
    """Return the number beyond the "smallest" or "largest" one, by the factor of the last step.

    None if the next number would be too small an integer.

    Examples
    --------
    >>> next_number((0.01, 0.1, 1.0), "largest"), next_number((4, 7, 15, 31), "largest")
    (10.0, 64)
    >>> next_number((2, 3, 4), "smallest") is None
    True
    """
    ordered = sorted(values, reverse=end == "smallest")
    number = ordered[-1] * ordered[-1] / ordered[-2]
    if all(isinstance(value, int) for value in values):
        return round(number) if round(number) >= LEAST_WHOLE else None
    return float(f"{number:.6g}")


def grown(cls: type[Ranker], free: Grid, tried: Grid, chosen: Settings) -> tuple[str, float] | None:
    """Return the hyper-parameter whose grid grows next, and the new number, or None.

    `free` is the ranker's grid, `tried` the grown one. None: the choice is not at an end, or only
    at ends that have grown `MOST_STEPS` times, or beyond which the ranker allows no number.
    """
    for key, values in tried.items():
        end = edge(values, chosen[key])
        if end is None:
            continue
        beyond = min(free[key]) if end == "smallest" else max(free[key])
        steps = sum(v < beyond if end == "smallest" else v > beyond for v in values)
        number = next_number(values, end) if steps < MOST_STEPS else None
        if number is not None and allows(cls, key, number):
            return key, number
    return None
