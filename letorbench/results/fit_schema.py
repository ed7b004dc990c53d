"""What a fit.json must hold for its readers: a right check sum says only that nobody changed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from letorbench.conventions import CONVENTIONS
from letorbench.fit_warnings import FitWarning

#: no number in a fit.json is larger, so that each can be a float
LARGEST = 1e300
#: no count is larger: of folds, of repeats, of rounds
MOST = 1_000_000


def fault(fit: Mapping[str, Any]) -> str:
    """Return what is found in a fit.json in place of what its readers expect; "" where nothing is.

    Examples
    --------
    >>> fault({"identity": {}, "test": 3, "warnings": []})
    'found 3 as test, expected a known convention and the means of the test queries, or null'
    """
    for name, (expected, fits) in _EXPECTED.items():
        found = fit.get(name)
        if not fits(found):
            return f"found {_shown(found)} as {name}, expected {expected}"
    values: list[object] = [fit]
    while values:
        value = values.pop()
        if isinstance(value, (Mapping, list)):
            values += value.values() if isinstance(value, Mapping) else value
        elif type(value) in (int, float) and not _is_number(value):
            return f"found the number {_shown(value)}, expected none beyond {LARGEST:g}"
    return ""


def _shown(value: object) -> str:
    try:
        return str(value)[:40]
    except ValueError:  # an integer of thousands of digits
        return "an integer of thousands of digits"


def _is_whole(value: object, least: int = 1) -> bool:
    return type(value) is int and least <= value <= MOST


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def _is_test(test: object) -> bool:
    if test is None or test == {}:
        return True
    return (
        isinstance(test, Mapping)
        and test.get("convention") in list(CONVENTIONS)
        and _is_whole(test.get("n_folds"))
        and isinstance(test.get("means"), Mapping)
        and len(test["means"]) > 0
        and all(map(_is_number, test["means"].values()))
    )


def _is_identity(facts: object) -> bool:
    return (
        isinstance(facts, Mapping)
        and isinstance(facts.get("features"), str | None)
        and (isinstance(null := facts.get("null", "error"), str) or _is_number(null))
        and all(isinstance(facts.get(name, {}), Mapping) for name in ("settings", "grid"))
        and isinstance(facts.get("external", {}), Mapping)
        and isinstance(facts.get("fixed", []), list)
    )


def _is_validation(facts: object) -> bool:
    return facts is None or (
        isinstance(facts, Mapping)
        and _is_value(facts.get("value"))
        and (facts.get("best") is None or _is_whole(facts["best"], 0))
        and _are_values(facts.get("curve"))
        and isinstance(trials := facts.get("grid") or [], list)
        and all(map(_is_trial, trials))
    )


def _is_trial(facts: object) -> bool:
    return (
        isinstance(facts, Mapping)
        and _is_value(facts.get("value", ""))
        and isinstance(facts.get("settings"), Mapping)
    )


def _is_value(value: object) -> bool:
    return value is None or _is_number(value)


def _are_values(values: object) -> bool:
    return values is None or (isinstance(values, list) and all(map(_is_value, values)))


def _are_warnings(notices: object) -> bool:
    if not isinstance(notices, list):
        return False
    try:
        return all(FitWarning.from_json(each) is not None for each in notices)
    except ValueError:
        return False


def _is_mapping(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


#: a key -> what is expected, and whether a value is that
_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "identity": ("all that the scores depend on", _is_identity),
    "test": ("a known convention and the means of the test queries, or null", _is_test),
    "validation": ("a value, a curve and trials, or null", _is_validation),
    "chosen": ("the settings, or null", _is_mapping),
    "objective": ("a list of numbers, or null", _are_values),
    "warnings": ("a list of kinds and texts", _are_warnings),
    "cut_off": (
        "a time limit, or null",
        lambda value: (
            not value or (isinstance(value, Mapping) and _is_number(value.get("time_limit")))
        ),
    ),
    "seconds": ("a number, or null", _is_value),
    "repeats": ("a number of seeds, or null", lambda value: value is None or _is_whole(value)),
    "versions": ("versions by package, or null", _is_mapping),
}
