"""Names, folds and settings as users write them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from toy_data import write_toy

from letorbench.choices import require_choice, split
from letorbench.errors import DataError, UsageError
from letorbench.experiment import plan
from letorbench.experiment.settings import parameters, settings, typed
from letorbench.rankers import names, ranker


@pytest.mark.parametrize(
    "text, numbers",
    [("1-5", (1, 2, 3, 4, 5)), ("1,3", (1, 3)), ("2-3,5", (2, 3, 5)), ("3,1,3", (1, 3))],
)
def test_folds(text, numbers):
    assert plan.folds(text) == numbers


@pytest.mark.parametrize("text", ["", "0", "a", "1-", "-1", "3-1", "1..5", "1,,2"])
def test_folds_that_are_none(text):
    with pytest.raises(UsageError, match="form like 1-5"):
        plan.folds(text)


def test_algorithms_are_comma_lists_repeats_and_groups():
    assert plan.algorithms(["ndcgboost, regression", "ndcgboost"]) == ["ndcgboost", "regression"]
    published = [name for name in names() if ranker(name).published]
    usable = [name for name in published if ranker(name).available()]
    assert plan.algorithms(["all"]) == usable
    with pytest.raises(UsageError, match="did you mean ndcgboost"):
        plan.algorithms(["ndcg-boost"])


def test_there_are_seven_baselines():
    assert len(set(plan.BASELINES)) == 7 and {"regression", "ndcgboost"} <= set(plan.BASELINES)
    assert plan.algorithms(["card"]) == plan.algorithms(["baselines"]) == list(plan.BASELINES)


def test_the_nearest_name_is_suggested_once():
    assert require_choice("b", ["a", "b"], "thing") == "b"
    with pytest.raises(UsageError, match="did you mean OHSUMED") as error:
        require_choice("ohsumd", ["OHSUMED", "DEMO", "OHSUMED"], "data set")
    assert str(error.value).count("OHSUMED") == 2
    assert split(["a, b", "", "c"]) == ["a", "b", "c"]


def test_datasets(tmp_path: Path):
    with pytest.raises(DataError, match="no data set there"):
        plan.datasets(["all"], tmp_path)
    write_toy(tmp_path)
    assert plan.datasets(["all"], tmp_path) == ["TOY"]
    assert plan.datasets(["ohsumed,TOY", "OHSUMED"], tmp_path) == ["OHSUMED", "TOY"]
    with pytest.raises(UsageError, match="did you mean TOY"):
        plan.datasets(["TOYS"], tmp_path)


@pytest.mark.parametrize(
    "kind, text, value",
    [
        (int, "3", 3),
        (float, "1e-3", 1e-3),
        (float, "2", 2.0),
        (bool, "false", False),
        (bool, "Yes", True),
        (bool, "no", False),
        (bool, "TRUE", True),
        (bool, "1", True),
        (bool, "0", False),
        (str, "x", "x"),
        (int | None, "none", None),
        (int | None, "7", 7),
        (str | float, "0.5", 0.5),
        (str | float, "min", "min"),
        (Literal["a", 2], "2", 2),
        (tuple[int, ...], "1,2", (1, 2)),
    ],
)
def test_typed(kind, text, value):
    found = typed(kind, text, "here")
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "kind, text", [(int, "1.5"), (float, "x"), (bool, "2"), (int | None, "x"), (Literal["a"], "b")]
)
def test_typed_refuses(kind, text):
    with pytest.raises(UsageError, match="here: found"):
        typed(kind, text, "here")


def test_settings_go_to_the_algorithms_that_have_the_key():
    chosen = settings(["regression", "ndcgboost"], ["rounds=7", "l2=0.5"])
    assert chosen == {"regression": {"l2": 0.5}, "ndcgboost": {"rounds": 7}}


@pytest.mark.parametrize(
    "pair, words",
    [("l3=1", "regression has l2, target"), ("l2", "form key=value"), ("l2=x", "a number")],
)
def test_settings_that_are_none(pair, words):
    with pytest.raises(UsageError, match=words):
        settings(["regression"], [pair])


@pytest.mark.parametrize("name", names())
def test_every_parameter_of_every_ranker_can_be_set_to_its_default(name):
    cls = ranker(name)
    defaults = {key: getattr(cls(), key) for key in parameters(cls)}
    pairs = [f"{key}={value}" for key, value in defaults.items()]
    assert settings([name], pairs)[name] == defaults
    assert set(cls.grid) <= set(parameters(cls))


def test_parameters_are_read_from_the_annotations():
    @dataclass
    class Any:
        a: int = 1
        b: float | None = None

    assert parameters(Any) == {"a": int, "b": float | None}


def test_a_word_of_python_names_a_setting() -> None:
    """`lambda` cannot be a field's name; the field's own name is taken too."""
    for key in ("lambda", "function"):
        assert settings(["lambdarank"], [f"{key}=step"]) == {"lambdarank": {"function": "step"}}
    with pytest.raises(UsageError, match="lambdarank: lambda: found 'x', expected one of ranknet"):
        settings(["lambdarank"], ["lambda=x"])
