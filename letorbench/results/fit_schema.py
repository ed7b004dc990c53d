"""What a fit.json must hold for its readers: a right check sum says only that nobody changed it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from letorbench.notices import Notice


def fault(fit: Mapping[str, Any]) -> str:
    """Return what is found in a fit.json in place of what its readers expect; "" where nothing is.

    Examples
    --------
    >>> fault({"identity": {}, "test": 3, "warnings": []})
    'found 3 as test, expected the means of the test queries, or null'
    """
    for name, (expected, fits) in _EXPECTED.items():
        found = fit.get(name)
        if not fits(found):
            return f"found {str(found)[:40]} as {name}, expected {expected}"
    return ""


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_test(test: object) -> bool:
    if test is None or test == {}:
        return True
    return (
        isinstance(test, Mapping)
        and isinstance(test.get("convention"), str)
        and _is_whole(test.get("n_folds"))
        and isinstance(test.get("means"), Mapping)
        and len(test["means"]) > 0
        and all(map(_is_number, test["means"].values()))
    )


def _are_notices(notices: object) -> bool:
    if not isinstance(notices, list):
        return False
    try:
        return all(Notice.from_json(each) is not None for each in notices)
    except ValueError:
        return False


#: a key -> what is expected, and whether a value is that
_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "identity": (
        "all that the scores depend on",
        lambda value: (
            isinstance(value, Mapping)
            and isinstance(value.get("features"), str | None)
            and isinstance(value.get("null", "error"), str | int | float)
        ),
    ),
    "test": ("the means of the test queries, or null", _is_test),
    "warnings": ("a list of kinds and texts", _are_notices),
    "cut_off": (
        "a time limit, or null",
        lambda value: (
            not value or (isinstance(value, Mapping) and _is_number(value.get("time_limit")))
        ),
    ),
    "repeats": ("a number of seeds, or null", lambda value: value is None or _is_whole(value)),
}
