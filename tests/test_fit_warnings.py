"""Warnings of fits: their order, and the last lines of a run that are made of them."""

import re
from pathlib import Path

import pytest

from letorbench.api.running import closing_lines
from letorbench.experiment.plan import Task
from letorbench.experiment.task import Outcome
from letorbench.fit_warnings import KINDS, FitWarning
from letorbench.models import Linear
from letorbench.results.store import StoredFold
from letorbench.solvers.fit_result import FitResult


def test_the_most_serious_kind_is_the_first() -> None:
    order = ["no numbers", "nothing learned", "not converged", "cut off", "grid edge", "ties"]
    warnings = [FitWarning(kind, "60% of ...") for kind in order]
    assert sorted(warnings, key=lambda each: each.rank) == warnings and order == list(KINDS)[:-1]
    with pytest.raises(ValueError, match="found the kind of warning 'odd'"):
        FitWarning("odd", "")
    with pytest.raises(TypeError, match="found the warning 'slow'"):
        FitResult(Linear([1.0]), warnings=("slow",))


def outcome(dataset: str, algo: str, fold: int, *warnings: FitWarning) -> Outcome:
    task = Task(dataset, algo, fold)
    fit = {"warnings": [vars(each) for each in warnings]}
    return Outcome(task, StoredFold(task.key, Path(), fit, 0))


SLOW = FitWarning("not converged", "stopped after 5 iterations")
EDGE = FitWarning("grid edge", "the best C = 1 is the largest of its grid")


def test_one_text_of_one_algorithm_is_said_in_full() -> None:
    assert closing_lines([outcome("A", "x", 1), outcome("A", "x", 2)]) == []
    lines = closing_lines([outcome("A", "x", 1, EDGE), outcome("A", "x", 3, EDGE)])
    assert lines == [f"A, x, fold 1, 3: {EDGE.text}"]


def test_an_algorithm_is_in_the_line_of_its_most_serious_warning() -> None:
    lines = closing_lines(
        [
            outcome("A", "x", 1, EDGE, SLOW),
            outcome("A", "x", 2, SLOW),
            outcome("B", "x", 1, EDGE),
            outcome("B", "y", 1, EDGE),
            outcome("B", "z", 1, SLOW),
        ]
    )
    assert len(lines) == 3
    assert lines[0].startswith("not converged (") and "A x 2; B z 1" in lines[0]
    assert lines[1].startswith("grid edge (") and "B x 1, y 1" in lines[1]
    assert "6 warnings in all" in lines[2] and "fit.json" in lines[2]


def test_all_algorithms_with_all_warnings_take_few_lines() -> None:
    every = [FitWarning(kind, f"{kind} {n}") for kind in KINDS for n in range(9)]
    outcomes = [
        outcome(dataset, f"algo{n}", fold, *every[n::7])
        for dataset in ("OHSUMED", "MQ2008")
        for n in range(63)
        for fold in range(1, 6)
    ]
    lines = closing_lines(outcomes)
    assert len(lines) == len(KINDS) + 1 <= 15
    for n in range(63):
        assert sum(len(re.findall(rf"\balgo{n} ", line)) for line in lines) == 2  # a data set each
