"""The trainings behind a fold, stored so that another measure can choose among them.

A training is a setting of the grid with its model, or with the models of all its rounds where
validation chooses the round. Their arrays are stacked; those that grow by a row or so each round,
as an ensemble's do, are stored once with their lengths.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.files import write_atomically
from letorbench.fit_warnings import FitWarning
from letorbench.models.base import Model, model_class
from letorbench.solvers.fit_result import FitResult, TrainingHistory

#: the rounds of a training that need more bytes are not stored; it is then trained again
MOST_BYTES = 1 << 25


@dataclass(frozen=True, eq=False)
class Training:
    """What training with one setting gave.

    Attributes
    ----------
    settings : str
        All hyper-parameters, as `setting_text` gives them.
    learned : FitResult
        The model, and history of its training.
    """

    settings: str
    learned: FitResult


def setting_text(settings: Mapping[str, object]) -> str:
    """Return hyper-parameters as a text that equal ones share."""
    return json.dumps(settings, sort_keys=True, default=str)


def write_trainings(path: Path, trainings: Sequence[Training]) -> None:
    """Write those trainings that another measure can choose among; no file where there is none."""
    facts: list[dict[str, object]] = []
    arrays: dict[str, np.ndarray] = {}
    for training in trainings:
        own = _arrays(training.learned)
        if own is not None:
            arrays |= {f"{len(facts)}.{name}": values for name, values in own.items()}
            facts.append(_facts(training))
    if not facts:
        path.unlink(missing_ok=True)
        return
    with write_atomically(path, binary=True) as file:
        np.savez_compressed(file, facts=np.array(json.dumps(facts)), **arrays)


def read_trainings(path: Path) -> dict[str, Training]:
    """Read what `write_trainings` wrote, by setting; nothing where it cannot be read."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = dict(file)
        own: dict[str, dict[str, np.ndarray]] = {}
        for name, values in arrays.items():
            number, _, part = name.partition(".")
            own.setdefault(number, {})[part] = values
        facts = json.loads(str(arrays["facts"]))
        read = [_training(each, own.get(str(n), {})) for n, each in enumerate(facts)]
    except Exception:
        return {}
    return {training.settings: training for training in read}


def _facts(training: Training) -> dict[str, Any]:
    learned, history = training.learned, training.learned.history
    rounds = history and [history.rounds, history.patience, history.complete]
    return {
        "settings": training.settings,
        "kind": learned.model.kind,
        "best": learned.best,
        "objective": learned.objective,
        "warnings": [warning.as_json() for warning in learned.warnings],
        "rounds": rounds,
    }


def _arrays(learned: FitResult) -> dict[str, np.ndarray] | None:
    """Return the arrays of a training; None where they cannot be stored, or not in few bytes."""
    if learned.cut_off or (learned.curve and learned.history is None):
        return None
    names = [field.name for field in fields(learned.model)]
    if learned.history is None:
        return {name: np.asarray(getattr(learned.model, name)) for name in names}
    found: dict[str, np.ndarray] = {}
    history, size = learned.history, 0
    models = [history.model(count) for count in range(history.rounds + 1)]
    for name in names:
        packed = _packed([np.asarray(getattr(model, name)) for model in models])
        if packed is None:
            return None
        found |= {f"{name}{ending}": values for ending, values in packed.items()}
        size += sum(values.nbytes for values in packed.values())
        if size > MOST_BYTES:
            return None
    return found


def _packed(arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray] | None:
    """Return the arrays of all rounds as one, None where they are neither alike nor growing."""
    last = arrays[-1]
    if all(array.shape == last.shape for array in arrays):
        return {"": np.stack(arrays)}
    lengths = [len(array) for array in arrays]
    growing = all(np.array_equal(last[:n], array) for n, array in zip(lengths, arrays))
    return {"": last, "#": np.array(lengths)} if growing else None


def _training(facts: Mapping[str, Any], own: Mapping[str, np.ndarray]) -> Training:
    kind = model_class(facts["kind"])
    names = [field.name for field in fields(kind)]

    def model(count: int) -> Model:
        values = {}
        for name in names:
            lengths = own.get(f"{name}#")
            values[name] = own[name][count] if lengths is None else own[name][: lengths[count]]
        return kind(**values)

    history, best = None, facts["best"]
    if facts["rounds"] is not None:
        history = TrainingHistory(model, *facts["rounds"])
        kept = model(best)
    else:
        kept = kind(**{name: own[name] for name in names})
    learned = FitResult(
        kept,
        best=best,
        objective=tuple(facts["objective"]),
        warnings=tuple(map(FitWarning.from_json, facts["warnings"])),
        history=history,
    )
    return Training(facts["settings"], learned)
