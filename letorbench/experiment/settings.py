"""`key=value` texts as hyper-parameters of the type that a ranker declares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from letorbench.errors import UsageError
from letorbench.parameters import kinds, typed
from letorbench.rankers import ranker
from letorbench.rankers.base import Ranker
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
            chosen[algo][name] = typed(kind, text.strip(), f"{key} of {algo}")
    for algo, fixed in chosen.items():
        ranker(algo)(**fixed)  # values that it refuses are named before anything runs
    return dict(chosen)


def parameters(cls: type[Ranker]) -> dict[str, Any]:
    """Return a ranker's hyper-parameters and their types."""
    of_fields = kinds(cls)
    return {name: of_fields[name] for name in hyper_parameters(cls)}


def _field(cls: type[Ranker], key: str) -> str | None:
    """Return the hyper-parameter that a user's key means, None where the ranker has none."""
    meant = {spelling: name for name, spelling in cls.spelled.items()}.get(key, key)
    return meant if meant in parameters(cls) else None
