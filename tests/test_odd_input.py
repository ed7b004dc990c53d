"""Odd names and settings: one line each, and nothing is done."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import random_queries

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


def test_a_plugin_cannot_lead_out_of_the_results(tmp_path: Path) -> None:
    (tmp_path / "climber.py").write_text(PLUGIN)
    words = ["run", "--dataset", "DEMO", "--algo", "../../x", "--out", str(tmp_path / "results")]
    shown = CliRunner().invoke(cli, [*words, "--plugin", str(tmp_path / "climber.py")])
    assert shown.exit_code and shown.stderr.count("\n") == 1
    assert "expected letters, digits" in shown.stderr
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
