"""The rules for choosing rounds and settings that `benchmarks.selection` compares.

A rule sees the values (n_models, n_queries) of models by one measure, and returns the number of
the model that it chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.solvers.stopping import Rule, best, latest


def coarse(values: np.ndarray) -> int:
    """The best of the rounds 1, 2, 3, 5, 8, 11, 17, ..."""
    rounds = np.unique(np.round(1.5 ** np.arange(40)).astype(int))
    rounds = rounds[rounds <= len(values)] - 1
    return int(rounds[best(values[rounds])])


def moving_average(values: np.ndarray, reach: int) -> int:
    """The best of the means over the rounds up to `reach` before and behind."""
    last = len(values) - 1
    rounds = np.arange(len(values))
    return int(np.argmax(_window(values, np.maximum(rounds - reach, 0), rounds + reach, last)))


def wide_average(values: np.ndarray, factor: float) -> int:
    """The best of the means over the rounds from t / factor to t factor."""
    rounds = np.arange(1, len(values) + 1)
    low, high = np.ceil(rounds / factor).astype(int) - 1, (rounds * factor).astype(int) - 1
    return int(np.argmax(_window(values, low, high, len(values) - 1)))


def _window(values: np.ndarray, low: np.ndarray, high: np.ndarray, last: int) -> np.ndarray:
    sums = np.concatenate([[0.0], np.cumsum(values.mean(axis=1))])
    high = np.minimum(high, last) + 1
    return (sums[high] - sums[low]) / (high - low)


def as_good(values: np.ndarray, share: float) -> np.ndarray:
    """The numbers of the models within a share of a standard error of the best."""
    behind = values[best(values)] - values
    error = behind.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    return np.flatnonzero(behind.mean(axis=1) <= share * error)


def middle(values: np.ndarray, share: float) -> int:
    """The median of the models within a share of a standard error of the best."""
    found = as_good(values, share)
    return int(found[len(found) // 2])


ROUND_RULES: dict[str, Rule] = {
    "plain best": best,
    "coarse grid of rounds": coarse,
    "moving average, 5 rounds either way": partial(moving_average, reach=5),
    "moving average, t/1.25 to 1.25 t": partial(wide_average, factor=1.25),
    "moving average, t/2 to 2 t": partial(wide_average, factor=2.0),
    "first within 1 SE (Breiman)": lambda values: int(as_good(values, 1.0)[0]),
    "median within 1/2 SE": partial(middle, share=0.5),
    "median within 1 SE": partial(middle, share=1.0),
    "last within 1/4 SE": partial(latest, tolerance=0.25),
    "last within 1/2 SE": partial(latest, tolerance=0.5),
    "last within 1 SE": partial(latest, tolerance=1.0),
    "last round": lambda values: len(values) - 1,
}


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a grid that grew, and which of them a rule looks at.

    Attributes
    ----------
    places : ndarray of shape (n_settings, n_keys)
        Each setting's place in the sorted values of each key.
    numeric : tuple of bool
        Whether the key is numeric.
    own : ndarray of shape (n_settings,)
        Whether the grid has the setting before it grows.
    default : ndarray of shape (n_keys,)
        The place of the ranker's default.
    prior : ndarray of shape (n_settings,)
        The strength of the prior: l2 or 1/C; 0 where there is none.
    """

    places: np.ndarray
    numeric: tuple[bool, ...]
    own: np.ndarray
    default: np.ndarray
    prior: np.ndarray

    def far(self) -> np.ndarray:
        """How many steps each setting is away from the default."""
        return np.abs(self.places - self.default).sum(axis=1)

    def smoothed(self, values: np.ndarray) -> np.ndarray:
        """The mean of each setting's values and those of its neighbours along numeric keys."""
        apart = np.abs(self.places[:, None] - self.places)
        number = np.array(self.numeric)
        near = (apart[:, :, ~number].sum(axis=2) == 0) & (apart[:, :, number].sum(axis=2) <= 1)
        return near @ values / near.sum(axis=1, keepdims=True)


def grown_best(values: np.ndarray, settings: Settings) -> int:
    """The plain best where an end of the grid that wins is followed by the next number."""
    shown = settings.own.copy()
    while True:
        rows = np.flatnonzero(shown)
        chosen = rows[best(values[rows])]
        others = np.arange(len(settings.places))[~shown]
        apart = np.abs(settings.places[others] - settings.places[chosen]).sum(axis=1)
        following = others[apart == 1]
        if not len(following):
            return int(chosen)
        shown[following[0]] = True


def within(values: np.ndarray, settings: Settings, share: float, cost: np.ndarray) -> int:
    """The cheapest of the settings within a share of a standard error of the grown grid's best."""
    rows = np.flatnonzero(settings.own)
    chosen = grown_best(values, settings)
    rows = np.unique(np.append(rows, chosen))
    behind = values[chosen] - values[rows]
    error = behind.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
    good = rows[behind.mean(axis=1) <= share * error]
    return int(good[np.argmin(cost[good])])


SettingRule = Callable[[np.ndarray, Settings], int]
SETTING_RULES: dict[str, SettingRule] = {
    "plain best": lambda v, s: int(np.flatnonzero(s.own)[best(v[s.own])]),
    "plain best, the grid grows": grown_best,
    "best mean with neighbours": lambda v, s: int(
        np.flatnonzero(s.own)[best(s.smoothed(v)[s.own])]
    ),
    "nearest the default within 1/2 SE": lambda v, s: within(v, s, 0.5, s.far()),
    "nearest the default within 1 SE": lambda v, s: within(v, s, 1.0, s.far()),
    "strongest prior within 1/2 SE": lambda v, s: within(v, s, 0.5, -s.prior),
    "strongest prior within 1 SE": lambda v, s: within(v, s, 1.0, -s.prior),
    "the default": lambda v, s: int(np.argmin(s.far())),
}
