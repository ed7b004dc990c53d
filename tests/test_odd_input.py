"""Odd names, settings and sizes: one line each, and nothing is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import random_queries
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.errors import UsageError
from letorbench.rankers import names, ranker

PLUGIN = """
from dataclasses import dataclass
from letorbench.rankers.base import Ranker

@dataclass(eq=False)
class Climber(Ranker):
    \"\"\"A name that leads elsewhere.\"\"\"

    name = "../../x"
    title = paper = formula = "-"

    def learn(self, train, validation, rng):
        raise KeyError("never")
"""


def refused(*words: str) -> str:
    shown = CliRunner().invoke(cli, list(words))
    assert shown.exit_code in (1, 2), shown.output
    line = shown.stderr.removesuffix("\n")
    assert "\n" not in line and "Traceback" not in line
    return line


def test_no_data_set_is_a_mistake(tmp_path: Path) -> None:
    line = refused("run", "--dataset", "", "--algo", "regression", "--out", str(tmp_path))
    assert "found no name of a data set" in line


def test_a_plugin_cannot_lead_out_of_the_results(tmp_path: Path) -> None:
    (tmp_path / "climber.py").write_text(PLUGIN)
    words = ("run", "--dataset", "DEMO", "--algo", "../../x", "--out", str(tmp_path / "results"))
    line = refused(*words, "--plugin", str(tmp_path / "climber.py"))
    assert "expected letters, digits" in line
    # Python may keep the plug-in's byte code beside it
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {"climber.py"}


@pytest.mark.parametrize("name", names())
def test_no_setting_is_no_number(name: str) -> None:
    """NaN passes every comparison with a bound the wrong way."""
    made = ranker(name)
    if not made.available():
        pytest.skip(f"{name} is not installed")
    numbers = [key for key, value in made().get_params().items() if isinstance(value, float)]
    queries = random_queries(np.random.default_rng(0), [5, 5])
    for key in numbers:
        with pytest.raises(UsageError, match="nan"):
            made(**{key: float("nan")}).fit_sets(queries)


@pytest.mark.parametrize("value", ["nan", "-1"])
def test_a_setting_that_is_no_number_ends_a_run(value: str, tmp_path: Path) -> None:
    write_toy(tmp_path / "data")
    place = ("--data-dir", str(tmp_path / "data"), "--out", str(tmp_path / "results"))
    words = ("run", "--dataset", "TOY", "--algo", "recipe", "--set", f"l2={value}", *place)
    assert f"found l2={value}" in refused(*words).replace("-1.0", "-1")
