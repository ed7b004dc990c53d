"""The calls that compile the kernels: each works for everything in the registries."""

from __future__ import annotations

import pytest

from letorbench.compile import fit, read_and_measure
from letorbench.rankers import names, ranker


@pytest.mark.parametrize("name", names())
def test_every_ranker_can_be_compiled(name: str) -> None:
    if not ranker(name).available():
        pytest.skip(f"{name} needs {ranker(name).needs}")
    fit(name)


def test_reading_and_measuring_can_be_compiled() -> None:
    read_and_measure()
