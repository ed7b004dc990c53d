"""Parameters of rankers and losses: fields of dataclasses that declare their valid values."""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import field, fields
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from letorbench.choices import require_choice
from letorbench.errors import UsageError


class Range(NamedTuple):
    """The valid numbers of a parameter; None for a missing bound."""

    least: float | None
    above: float | None
    most: float | None
    below: float | None

    def has(self, value: float) -> bool:
        """Return whether a number is finite and within the bounds."""
        return (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    def __str__(self) -> str:
        bounds = zip(("{:g} or more", "more than {:g}", "at most {:g}", "less than {:g}"), self)
        bounds_in_words = (words.format(bound) for words, bound in bounds if bound is not None)
        return " and ".join(bounds_in_words) or "a finite number"


def one_of(values: Iterable[object], default: object) -> Any:
    return field(default=default, metadata={"values": tuple(values)})


def number(
    default: float | None,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> Any:
    """Declare a parameter that is a finite number within bounds, or None if its type allows it."""
    return field(default=default, metadata={"range": Range(least, above, most, below)})


def choices(cls: Any) -> dict[str, tuple]:
    """Return the parameters that are one of a few values, with these values."""
    return {each.name: each.metadata["values"] for each in fields(cls) if "values" in each.metadata}


def allows(cls: Any, name: str, value: float) -> bool:
    """Return whether a number is within the declared bounds of a parameter, where it has some."""
    bounds = {each.name: each.metadata.get("range") for each in fields(cls)}.get(name)
    return bounds is None or bounds.has(value)


def kinds(cls: Any) -> dict[str, Any]:
    """Return the types of all fields of a dataclass; those with a few values are a `Literal`."""
    hints = get_type_hints(cls) | {name: Literal[each] for name, each in choices(cls).items()}
    return {each.name: hints[each.name] for each in fields(cls)}


def check(owner: Any, name: str) -> None:
    """Raise UsageError, with the name of the owner, for the first parameter with an invalid value.

    A declared number must have its annotated type: a loop that ends after 2.5 rounds never ends. No
    other parameter may be NaN.
    """
    hints = kinds(type(owner))
    for each in fields(owner):
        value, kind = getattr(owner, each.name), hints[each.name]
        allowed, expected = each.metadata.get("range"), ""
        if "values" in each.metadata:
            texts = [text(choice) for choice in each.metadata["values"]]
            require_choice(text(value), texts, f"{each.name} of {name}")
            expected = "" if value in each.metadata["values"] else describe(kind)
        elif allowed is not None and not (value is None and type(None) in _options(kind)):
            wanted = Real if float in _options(kind) else Integral
            if not isinstance(value, wanted) or isinstance(value, bool):
                expected = describe(kind)
            elif not allowed.has(value):
                expected = str(allowed)
        elif "require" in each.metadata:
            each.metadata["require"](value)
        elif all(option in (str, type(None)) for option in _options(kind)):
            expected = "" if isinstance(value, _options(kind)) else describe(kind)
        elif isinstance(value, float) and math.isnan(value):
            expected = "a number"
        if expected:
            raise UsageError(f"{name}: found {each.name}={value!r}, expected {expected}")


def typed(kind: object, given: str, where: str) -> object:
    """Read a text as a value of an annotated type; else UsageError, which names `where`."""
    if get_origin(kind) is Literal:
        values = {text(value): value for value in get_args(kind)}
        return values[require_choice(given, list(values), where)]
    for option in _options(kind):
        with suppress(ValueError, KeyError):
            return _value(option, given)
    raise UsageError(f"{where}: found {given!r}, expected {describe(kind)}")


def describe(kind: object) -> str:
    """Return a type in a user's words."""
    words: dict[object, str] = {int: "an integer", float: "a number", bool: "true or false"}
    words |= {str: "text", type(None): "none"}
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(text, get_args(kind)))}"
    return " or ".join(words.get(option, str(option)) for option in _options(kind))


def text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _options(kind: object) -> tuple[Any, ...]:
    """Return the alternatives of a union, text last, or the one type."""
    return tuple(sorted(get_args(kind), key=lambda option: option is str)) or (kind,)


def _value(option: object, given: str) -> object:
    """Return the text as a value of one plain type; ValueError or KeyError for another text."""
    if option is type(None):
        return {"none": None}[given.lower()]
    if option is bool:
        return _TRUTH[given.lower()]
    if option in (int, float, str):
        return option(given)
    raise ValueError(option)
