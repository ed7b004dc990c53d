"""The trainings behind a fold, stored so that another measure can choose among them.

What is stored of a training is its model, or the models of all its rounds where validation
chooses the round. Their arrays are stacked; those that grow by a row or so each round, as an
ensemble's do, are stored once with their lengths.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.files import write_atomically
from letorbench.fit_warnings import FitWarning
from letorbench.models.base import Model, model_class
from letorbench.solvers.fit_result import FitResult, TrainingHistory

#: a training whose rounds need more bytes is not stored, but trained again
MOST_BYTES = 1 << 25


def setting_text(settings: Mapping[str, object]) -> str:
    """Return hyper-parameters as a text that equal ones share."""
    return json.dumps(settings, sort_keys=True, default=str)


def write_trainings(path: Path, trainings: Mapping[str, FitResult]) -> None:
    """Write the trainings, by `setting_text`, that another measure can choose among."""
    facts: dict[str, object] = {}
    arrays: dict[str, np.ndarray] = {}
    for settings, fit in trainings.items():
        own = _arrays(fit)
        if own is not None:
            arrays |= {f"{len(facts)}.{name}": values for name, values in own.items()}
            facts[settings] = {
                "kind": fit.model.kind,
                "best": fit.best,
                "objective": fit.objective,
                "warnings": [asdict(warning) for warning in fit.warnings],
                "rounds": fit.history
                and [fit.history.rounds, fit.history.patience, fit.history.complete],
            }
    if not facts:
        path.unlink(missing_ok=True)
        return
    with write_atomically(path, binary=True) as file:
        np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)


def read_trainings(path: Path) -> dict[str, FitResult]:
    """Read what `write_trainings` wrote; nothing if it cannot be read."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = dict(file)
        facts = json.loads(str(arrays["facts"]))
        return {
            settings: _training(each, arrays, f"{number}.")
            for number, (settings, each) in enumerate(facts.items())
        }
    except Exception:
        return {}


def _arrays(fit: FitResult) -> dict[str, np.ndarray] | None:
    """Return the arrays of a training; None if they cannot be stored, or not in few bytes."""
    if fit.cut_off or (fit.curve and fit.history is None):
        return None
    models = [fit.model]
    if fit.history is not None:
        models = [fit.history.model(count) for count in range(fit.history.rounds + 1)]
    arrays: dict[str, np.ndarray] = {}
    for name in (field.name for field in fields(fit.model)):
        each = [np.asarray(getattr(model, name)) for model in models]
        last, lengths = each[-1], [array.shape[:1] for array in each]
        if all(array.shape == last.shape for array in each):
            arrays[name] = np.stack(each)
        elif all(np.array_equal(last[: len(array)], array) for array in each):
            arrays |= {name: last, f"{name}#": np.array(lengths).ravel()}
        else:
            return None
        if sum(values.nbytes for values in arrays.values()) > MOST_BYTES:
            return None
    return arrays


def _training(facts: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> FitResult:
    kind = model_class(facts["kind"])

    def model(count: int) -> Model:
        values = {}
        for name in (field.name for field in fields(kind)):
            array, lengths = arrays[prefix + name], arrays.get(f"{prefix}{name}#")
            values[name] = array[count] if lengths is None else array[: lengths[count]]
        return kind(**values)

    rounds = facts["rounds"]
    return FitResult(
        model(facts["best"] if rounds else 0),
        best=facts["best"],
        objective=tuple(facts["objective"]),
        warnings=tuple(FitWarning(**warning) for warning in facts["warnings"]),
        history=TrainingHistory(model, *rounds) if rounds else None,
    )
