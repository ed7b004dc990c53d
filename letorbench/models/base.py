"""The scorer's interface, and its file: arrays and JSON, never a pickle."""

from __future__ import annotations

import json
import zipfile
from abc import ABC, abstractmethod
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

import numpy as np

from letorbench.errors import DataError
from letorbench.files import write_atomically

KINDS: dict[str, type[Model]] = {}


class Model(ABC):
    """An immutable scoring function; subclasses are frozen dataclasses of arrays.

    A subclass names itself once, `class Linear(Model, kind="linear")`.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str, **rest: object) -> None:
        super().__init_subclass__(**rest)
        cls.kind = kind
        KINDS[kind] = cls

    @abstractmethod
    def predict(self, features: np.ndarray) -> np.ndarray:
        """(n_docs, n_features) float32 -> (n_docs,) float64 scores, larger ranks higher."""


def save(scorer: Model, path: Path, facts: dict[str, object] | None = None) -> None:
    """Write a scorer, and JSON facts of its making, as one .npz file of plain arrays."""
    arrays = {f.name: np.asarray(getattr(scorer, f.name)) for f in fields(scorer)}
    header = json.dumps({"kind": scorer.kind, "facts": facts or {}})
    with write_atomically(path, binary=True) as file:
        np.savez(file, header=np.array(header), **arrays)


def load(path: Path) -> tuple[Model, dict[str, object]]:
    """Read what `save` wrote; DataError when the file is anything else."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(str(stored["header"]))
            arrays = {name: stored[name] for name in stored.files if name != "header"}
            if header["kind"] not in KINDS:
                raise DataError(
                    f"{path}: found a scorer of kind {header['kind']!r}, expected one of "
                    f"{', '.join(KINDS)}; a plug-in's model needs its --plugin"
                )
            return KINDS[header["kind"]](**arrays), header["facts"]
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: found no saved model, expected a model.npz of a run") from error
