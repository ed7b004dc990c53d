"""Grids of hyper-parameters, and how one goes on beyond its smallest or its largest number."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from letorbench.experiment.settings import Settings
from letorbench.fit_warnings import FitWarning
from letorbench.rankers.base import Ranker

#: from a hyper-parameter to the values that are tried
Grid = Mapping[str, Sequence[Any]]

#: a grid grows by so many numbers at most, below its smallest and above its largest
MOST_STEPS = 4
#: a whole number is not made smaller than this: a tree has two leaves at least
LEAST_WHOLE = 2


def grid(cls: type[Ranker], fixed: Settings) -> dict[str, tuple[object, ...]]:
    """Return the ranker's grid without the hyper-parameters that the user fixed."""
    return {key: tuple(values) for key, values in cls.grid.items() if key not in fixed}


def settings_tried(cls: type[Ranker], fixed: Settings) -> list[dict[str, Any]]:
    """Return the hyper-parameters of every point of the grid, with those that the user fixed."""
    free = grid(cls, fixed)
    return [{**fixed, **dict(zip(free, values))} for values in itertools.product(*free.values())]


def draws(cls: type[Ranker], fixed: Settings) -> bool:
    """Return whether the ranker draws random numbers at any point of its grid."""
    return any(cls(**chosen).draws for chosen in settings_tried(cls, fixed))


def is_numeric(values: Sequence[object]) -> bool:
    """Whether these are three or more positive numbers: fewer are alternatives, not a range."""
    numbers = (isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in values)
    return len(values) >= 3 and all(numbers)


def edge(values: Sequence[Any], chosen: object) -> str | None:
    """Return whether the chosen number is the "smallest" or the "largest" of a numeric grid."""
    if not is_numeric(values):
        return None
    ends = {min(values): "smallest", max(values): "largest"}
    return ends.get(chosen)


def next_number(values: Sequence[float], end: str) -> float | None:
    """Return the number beyond the "smallest" or "largest" one, by the factor of the last step.

    It is None if whole numbers go no further.

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


def grown(free: Grid, tried: Grid, chosen: Settings) -> tuple[str, float] | None:
    """Return the hyper-parameter whose grid grows next, and by which number.

    `free` is the grid as the ranker has it, `tried` what it has grown to. None where validation has
    chosen no end, or only ends that have grown `MOST_STEPS` times.
    """
    for key, values in tried.items():
        end = edge(values, chosen[key])
        if end is None:
            continue
        beyond = min(free[key]) if end == "smallest" else max(free[key])
        steps = sum(v < beyond if end == "smallest" else v > beyond for v in values)
        number = next_number(values, end) if steps < MOST_STEPS else None
        if number is not None:
            return key, number
    return None


def edge_warnings(tried: Grid, chosen: Settings, grows: bool) -> list[FitWarning]:
    """Return a warning for each numeric grid whose end is chosen, grown or not."""
    warnings = []
    for key, values in tried.items():
        end = edge(values, chosen[key])
        if end is not None:
            bound = ", which grows no further" if grows else ""
            text = f"the best {key} = {chosen[key]} is the {end} of its grid{bound}"
            warnings.append(FitWarning("grid edge", text))
    return warnings
