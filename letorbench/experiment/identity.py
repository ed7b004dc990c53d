"""What a fold's scores depend on, as a record: equal records need no second run."""

from __future__ import annotations

import json
from collections.abc import Mapping

from letorbench import __version__
from letorbench.datasets.queryset import Benchmark
from letorbench.experiment.grids import grid
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.settings import Settings
from letorbench.experiment.transforming import features_of
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import hyper_parameters
from letorbench.rankers.plugins import digest as plugin_digest
from letorbench.source import scoring_digest


def identity(
    task: Task, protocol: Protocol, benchmark: Benchmark, cls: type[Ranker]
) -> dict[str, object]:
    """Return all that a fold's scores depend on, as JSON can hold it."""
    facts = {
        "dataset": task.dataset,
        "algo": task.algo,
        "fold": task.fold,
        **ranker_identity(cls, task.settings),
        "features": features_of(task, protocol, benchmark, cls),
        "protocol": protocol.name,
        "select": protocol.select,
        "convention": benchmark.convention.name,
        "seed": protocol.seed,
        "data": benchmark.provenance["digest"],
        "null": benchmark.provenance.get("null", "error"),
    }
    if task.repeat > 1:
        facts["repeat"] = task.repeat
    return json.loads(json.dumps(facts))


def training_identity(facts: Mapping[str, object]) -> dict[str, object] | None:
    """Return what of an identity the trained models depend on, whatever chooses among them.

    None for a plug-in, which may do anything with the validation set, and for other systems.
    """
    if "plugin" in facts or "external" in facts:
        return None
    choices = ("settings", "fixed", "grid", "protocol", "select")
    return {key: value for key, value in facts.items() if key not in choices}


def ranker_identity(cls: type[Ranker], settings: Settings) -> dict[str, object]:
    """Return what is part of an identity because of the ranker and of its code.

    Parameters
    ----------
    cls : type of Ranker
        The ranker.
    settings : mapping
        The hyper-parameters that the user fixed.
    """
    chosen, default = cls(**settings), cls()
    fixed = [
        key for key in settings if key in cls.grid or getattr(chosen, key) != getattr(default, key)
    ]
    facts: dict[str, object] = {
        "settings": {key: getattr(chosen, key) for key in hyper_parameters(cls)},
        "fixed": sorted(fixed),
        "grid": grid(cls, settings),
        "letorbench": __version__,
        "module": cls.__module__,
        "code": scoring_digest(cls.__module__),
    }
    plugin = plugin_digest(cls)
    return facts if plugin is None else {**facts, "plugin": plugin}
