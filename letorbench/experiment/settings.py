"""`key=value` texts as hyper-parameters of the type that a ranker declares."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from letorbench.errors import UsageError
from letorbench.rankers import ranker
from letorbench.rankers.base import Ranker, choices
from letorbench.rankers.estimator import hyper_parameters

Settings = Mapping[str, Any]


def settings(algos: Sequence[str], pairs: Iterable[str]) -> dict[str, Settings]:
    """Read `key=value` texts as settings of each algorithm that has the key.

    UsageError says that no algorithm has the key, or that a value does not have the type of its
    parameter.

    Examples
    --------
    >>> settings(["regression", "ndcgboost"], ["rounds=7"])
    {'regression': {}, 'ndcgboost': {'rounds': 7}}
    """
    chosen: dict[str, dict[str, Any]] = {algo: {} for algo in algos}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"setting {pair!r}: expected the form key=value")
        having = {algo: name for algo in algos if (name := _field(ranker(algo), key))}
        if not having:
            offered = "; ".join(
                f"{algo} has {', '.join(parameters(ranker(algo))) or 'none'}" for algo in algos
            )
            raise UsageError(f"setting {pair!r}: no parameter {key!r}; {offered}")
        for algo, name in having.items():
            kind = parameters(ranker(algo))[name]
            chosen[algo][name] = typed(kind, text.strip(), f"{algo}: {key}")
    for algo, fixed in chosen.items():
        ranker(algo)(**fixed)  # a ranker that checks its values does it before anything runs
    return dict(chosen)


def parameters(cls: type[Ranker]) -> dict[str, Any]:
    """Return a ranker's hyper-parameters and their types."""
    named = {name: Literal[names] for name, names in choices(cls).items()}
    hints = get_type_hints(cls) | named
    return {name: hints[name] for name in hyper_parameters(cls)}


def _field(cls: type[Ranker], key: str) -> str | None:
    """Return the hyper-parameter that a user's key means, None where the ranker has none."""
    meant = {spelling: name for name, spelling in cls.spelled.items()}.get(key, key)
    return meant if meant in parameters(cls) else None


def typed(kind: object, text: str, where: str) -> object:
    """Read a text as a value of an annotated type; UsageError, which begins with `where`, else.

    Examples
    --------
    >>> typed(tuple[int, ...], "1,2", "layers")
    (1, 2)
    >>> typed(float | None, "none", "top") is None
    True
    """
    for option in _options(kind):
        with suppress(ValueError, KeyError):
            return _value(option, text)
    raise UsageError(f"{where}: found {text!r}, expected {describe(kind)}")


def describe(kind: object) -> str:
    """Return a type in a user's words."""
    words: dict[object, str] = {int: "an integer", float: "a number", bool: "true or false"}
    words |= {str: "text", type(None): "none"}
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return " or ".join(words.get(option, str(option)) for option in _options(kind))


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _options(kind: object) -> tuple[object, ...]:
    """Return the alternatives of a union, `none` first and text last."""
    if get_origin(kind) in (Union, types.UnionType):
        rank = {type(None): 0, str: 2}
        return tuple(sorted(get_args(kind), key=lambda option: rank.get(option, 1)))
    return (kind,)


def _value(option: object, text: str) -> object:
    """Return the text as a value of one plain type; ValueError or KeyError for another text."""
    if option is type(None):
        return {"none": None}[text.lower()]
    if option is bool:
        return _TRUTH[text.lower()]
    if get_origin(option) is Literal:
        return {str(value): value for value in get_args(option)}[text]
    if get_origin(option) is tuple:
        kind = get_args(option)[0]
        return tuple(_value(kind, part.strip()) for part in text.split(",") if part.strip())
    if option in (int, float, str):
        return option(text)
    raise ValueError(option)
