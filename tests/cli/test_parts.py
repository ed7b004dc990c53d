"""`letorbench algos --parts`: every model, loss and solver of a recipe, and what fits it."""

from __future__ import annotations

from click.testing import CliRunner

from letorbench.cli import cli
from letorbench.losses import LOSSES
from letorbench.models.parametric import families
from letorbench.rankers.recipe import SOLVERS


def lines(*words: str) -> list[str]:
    found = CliRunner().invoke(cli, ["algos", *words])
    assert found.exit_code == 0, found.output
    return found.stdout.splitlines()


def test_parts_has_one_line_for_each():
    rows = {line.split()[0]: line for line in lines("--parts") if line.startswith("  ")}
    assert set(rows) == {*families(), *LOSSES, *SOLVERS}
    assert "every loss; every solver but sgd" in rows["quadratic"]
    assert "every model; every solver " in rows["ranknet"]
    assert "model linear, mlp; loss ranknet" in rows["sgd"]
    assert LOSSES["wpl"].formula in rows["wpl"]


def test_parts_are_of_no_one_algorithm():
    found = CliRunner().invoke(cli, ["algos", "listnet", "--parts"])
    assert found.exit_code == 2


def test_shared_parameters_are_described_with_each_algorithm():
    text = "\n".join(lines("wpl"))
    assert "Equation 11" in text and "Table 8's W" in text and "query_features : int" in text
    assert "iterations : int" in "\n".join(lines("cosine-ndcg@10"))
