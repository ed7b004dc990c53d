"""The algorithms of a run with their fixed settings, from labels and from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from letorbench.choices import meant, split
from letorbench.errors import UsageError
from letorbench.parameters import kinds, typed
from letorbench.rankers import names, ranker
from letorbench.rankers.any_model import is_model, ranker_of
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES, hyper_parameters
from letorbench.results import labels
from letorbench.results.labels import NAME, RUN_KEYS, Label

Settings = Mapping[str, Any]
#: how an algorithm is named from Python: by label, as a class, as an instance with its settings, or
#: any model that has `fit` and `predict`
Algorithm = str | Ranker | type[Ranker] | Any
#: the seven algorithms that users can ask for as `baselines` or `card`
BASELINES = (
    "regression", "ranksvm", "ranknet", "lambdarank", "listnet", "adarank-ndcg", "ndcgboost",
)  # fmt: skip


@dataclass(frozen=True)
class Entrant:
    """An algorithm of a run."""

    ranker: type[Ranker]
    #: the hyper-parameters that are fixed
    settings: Settings = field(default_factory=dict)
    #: the changes of the protocol, by the keys `labels.RUN_KEYS`
    run: Settings = field(default_factory=dict)
    #: the user's name of the row; "" for the label
    name: str = ""


def entrants(
    algos: Algorithm | Sequence[Algorithm] | Mapping[str, Algorithm], fixed: Iterable[str] = ()
) -> list[Entrant]:
    """Return the algorithms of a run.

    A name or a class stands for the ranker with every setting of its grid; an instance for the
    ranker with just its own settings. A mapping has the names of the rows.

    algos: labels in comma lists, classes, instances, or a mapping from names to such. fixed:
    `key=value` texts, for the algorithms of labels that have the key.
    """
    pairs = [_pair(text) for text in fixed]
    if isinstance(algos, Mapping):
        named = [(name, each) for name, each in algos.items()]
    else:
        alone = isinstance(algos, (str, Ranker, type)) or is_model(algos)
        several: list[Algorithm] = [algos] if alone else [*algos]  # type: ignore[misc]
        named = [("", each) for each in several]
    made: list[Entrant] = []
    used: set[str] = set()
    for name, algo in named:
        if name and not NAME.fullmatch(name):
            raise UsageError(f"found the name {name!r}, expected letters, digits and . _ + -")
        if not isinstance(algo, str):
            if pairs:
                raise UsageError(
                    "found settings beside rankers, expected names: a ranker has its own"
                )
            made.append(_given(algo, name))
            continue
        every = labelled([algo])
        if name and len(every) != 1:
            raise UsageError(f"{name}: found {len(every)} algorithms, expected one")
        for label in every:
            entrant, keys = _labelled(label, pairs)
            used |= keys
            made.append(replace(entrant, name=name or entrant.name))
    for key, value in pairs:
        if key not in used:
            offered = "; ".join(
                f"{each.ranker.name} has {', '.join(parameters(each.ranker)) or 'none'}"
                for each in made
            )
            raise UsageError(f"setting '{key}={value}': no parameter {key!r}; {offered}")
    for each in made:
        each.ranker.require()
    return made


def labelled(words: Iterable[str]) -> list[Label]:
    """Return the labels of comma lists, each once; `all` and `baselines` stand for algorithms.

    `all` leaves out those whose package is missing.
    """
    words = tuple(words)
    usable = [cls.name for cls in _every(words) if cls.published and cls.available()]
    found = labels.expanded(words, {"all": usable, "baselines": BASELINES, "card": BASELINES})
    every = names()
    return [replace(label, algo=meant(label.algo, every, "algorithm")) for label in found]


def left_out(words: Iterable[str]) -> list[str]:
    """Return a line for each algorithm that `all` leaves out because its package is missing."""
    return [
        f"all leaves {cls.name} out: `python -m pip install '{cls.extra}'` brings {cls.needs}"
        for cls in _every(words)
        if not cls.available()
    ]


def _every(words: Iterable[str]) -> list[type[Ranker]]:
    """Return every ranker if `all` is among the labels; to import their modules takes time."""
    asked = {labels.parse(word).algo for word in split(words)}
    return [ranker(name) for name in names()] if "all" in asked else []


def _given(algo: Algorithm, name: str) -> Entrant:
    if is_model(algo):
        algo = ranker_of(algo)
    if isinstance(algo, Ranker):
        params = algo.get_params()
        features = params.pop(FEATURES)
        return Entrant(type(algo), params, {FEATURES: features} if features else {}, name)
    if isinstance(algo, type) and issubclass(algo, Ranker):
        return Entrant(algo, name=name)
    raise UsageError(
        f"found {algo!r}, expected an algorithm's name, a ranker or its class, or a model with fit "
        "and predict"
    )


def _labelled(label: Label, pairs: Sequence[tuple[str, str]]) -> tuple[Entrant, set[str]]:
    """Return the entrant of a label and of `--set`, and the keys of the latter that it has."""
    cls, own = ranker(label.algo), dict(label.settings)
    run = {key: own.pop(key) for key in RUN_KEYS if key in own}
    known = parameters(cls)
    settings: dict[str, Any] = {}
    used = {key for key, _ in pairs if _field(cls, key) is not None}
    for key, value in [*((key, value) for key, value in pairs if key in used), *own.items()]:
        field_name = _field(cls, key)
        if field_name is None:
            offered = ", ".join([*known, *RUN_KEYS])
            raise UsageError(f"{label}: {label.algo} has no parameter {key!r}; it has {offered}")
        settings[field_name] = typed(known[field_name], value, f"{key} of {label.algo}")
    cls(**settings)  # values that it refuses are named before anything runs
    return Entrant(cls, {k: settings[k] for k in known if k in settings}, run, label.name), used


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and key):
        raise UsageError(f"setting {text!r}: expected the form key=value")
    return key, value


def parameters(cls: type[Ranker]) -> dict[str, Any]:
    """Return a ranker's hyper-parameters and their types."""
    of_fields = kinds(cls)
    return {name: of_fields[name] for name in hyper_parameters(cls)}


def _field(cls: type[Ranker], key: str) -> str | None:
    """Return the hyper-parameter that a user's key means, None where the ranker has none."""
    meant = {spelling: name for name, spelling in cls.spelled.items()}.get(key, key)
    return meant if meant in parameters(cls) else None
