"""`algos` says of every ranker what can be set, to what it is set, and what validation tries."""

from __future__ import annotations

import pytest

from letorbench.api.algorithms import description
from letorbench.rankers import names, ranker


@pytest.mark.parametrize("name", names())
def test_every_setting_has_a_line_with_its_default_and_its_grid(name: str) -> None:
    cls = ranker(name)
    text = description(name)
    lines = [line for line in text.splitlines() if line.startswith("--set ")]
    # which features it takes is an option of a run, no setting
    settings = {key: value for key, value in cls().get_params().items() if key != "features"}
    assert len(lines) == len(settings)
    for line, (key, default) in zip(lines, settings.items(), strict=True):
        assert line.startswith(f"--set {cls.spelled.get(key, key)}={default} ")
        said = f"; validation chooses from {', '.join(map(str, cls.grid.get(key, ())))}"
        assert (said in line) == (key in cls.grid)
    assert ("no parameters" in text) == (not settings)
    assert text.startswith(f"{name}: {cls.title}\n") and cls.paper in text and cls.formula in text
