"""A stored transformation is read back, and refused where it does not fit the features."""

from __future__ import annotations

import json

import numpy as np
import pytest

from letorbench.errors import DataError
from letorbench.features import TRANSFORMATIONS, stored


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_it_is_read_back_and_belongs_to_a_number_of_features(name: str, rng) -> None:
    fitted = TRANSFORMATIONS[name].fit(rng.normal(size=(30, 4)).astype(np.float32))
    facts = json.loads(json.dumps(fitted.as_json()))
    again = stored(facts, 4)
    assert type(again) is type(fitted)
    for what, values in vars(fitted).items():
        assert np.array_equal(getattr(again, what), values)
    if vars(fitted):
        with pytest.raises(DataError, match="found 4 numbers, expected 5"):
            stored(facts, 5)


@pytest.mark.parametrize("facts", [None, {}, {"name": "odd"}, {"name": ["x"]}, "x"])
def test_what_is_none_is_refused(facts: object) -> None:
    with pytest.raises(DataError, match="found the feature transformation .* expected one of"):
        stored(facts, 4)
