"""A weighted mean of models, each of its own features, with scores standardised by query."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from letorbench.errors import DataError
from letorbench.features import Transformation, stored
from letorbench.models.base import Model, array, load, to_bytes


class Part(NamedTuple):
    """A model of an average, and the transformation of the features that it learned from."""

    name: str  # of its ranker
    model: Model
    transformation: Transformation


@dataclass(frozen=True, eq=False)
class Average(Model):
    """The sum over parts of weight times (score - mean) / standard deviation, over the query.

    The parts stand one after the other as the files that models are saved in.
    """

    kind = "average"
    by_query = True

    weights: np.ndarray = array("n_parts")
    ends: np.ndarray = array("n_parts", dtype=np.int64)  # where each file ends
    content: np.ndarray = array("n_bytes", dtype=np.uint8)
    n_features: int = array(dtype=np.int64)

    @staticmethod
    def of(parts: Sequence[Part], weights: np.ndarray) -> Average:
        """Return the average of parts, which all take the same features."""
        contents = [
            to_bytes(each.model, {"name": each.name, "features": each.transformation.as_json()})
            for each in parts
        ]
        content = np.frombuffer(b"".join(contents), dtype=np.uint8)
        ends = np.cumsum([len(each) for each in contents])
        return Average(weights, ends, content, parts[0].model.n_features)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        bounds = zip([0, *self.ends.tolist()], self.ends.tolist())
        return tuple(self._part(self.content[begin:end].tobytes()) for begin, end in bounds)

    def _part(self, content: bytes) -> Part:
        model, facts = load(io.BytesIO(content), f"part of an {self.kind} model")
        if isinstance(model, Average) or model.n_features != self.n_features:
            raise DataError(
                f"{self.kind} model: found a part of kind {model.kind} and {model.n_features} "
                f"features, expected another kind and {self.n_features} features"
            )
        return Part(str(facts.get("name")), model, stored(facts.get("features"), self.n_features))

    def _check(self) -> None:
        last = int(self.ends[-1]) if len(self.ends) else 0
        if (np.diff(self.ends, prepend=0) <= 0).any() or last != len(self.content):
            raise DataError(
                f"{self.kind} model: ends: found {self.ends.tolist()}, expected rising numbers up "
                f"to {len(self.content)}"
            )
        self.parts  # noqa: B018 (a damaged part is refused when the model is made)

    def predict_queries(self, features: np.ndarray, offsets: np.ndarray | None) -> np.ndarray:
        offsets = np.array([0, len(features)]) if offsets is None else offsets
        total = np.zeros(len(features))
        for weight, part in zip(self.weights.tolist(), self.parts):
            scores = part.model.predict(part.transformation.transform(features, offsets))
            total += weight * standardised(scores, offsets)
        return total

    def _score(self, features: np.ndarray) -> np.ndarray:
        return self.predict_queries(features, None)


def standardised(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return scores (n_docs,) with mean 0 and variance 1 in each query; 0 where all are equal."""
    new = np.zeros(len(scores))
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        part = scores[begin:end]
        if begin < end and part.max() > part.min():
            centred = part - part.mean()
            new[begin:end] = centred / np.sqrt(np.square(centred).mean())
    return new
