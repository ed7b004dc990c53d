"""Losses of the user's own: functions and classes, in plug-in files and from Python."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import call, every_loss, printed, random_queries, refused
from toy_data import content, write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError
from letorbench.losses import Loss, ValueAndGradient, loss
from letorbench.losses.own import loss_of, require_gradient
from letorbench.parameters import number
from letorbench.rankers import plugins

PLUGIN = """
import numpy as np

def squares(scores, labels):
    return ((scores - labels) ** 2).sum(), 2 * (scores - labels)

def unlike(scores, labels):
    return ((scores - labels) ** 2).sum(), scores - labels
"""


def squares(scores, labels):
    """sum (s - r)^2"""
    return ((scores - labels) ** 2).sum(), 2.0 * (scores - labels)


@dataclass(frozen=True)
class Stretched(Loss):
    """Squares of the differences from stretched labels."""

    name = "stretched"
    formula = "sum (s - width r)^2"
    width: float = number(1.0, above=0)

    def __call__(self, scores, queries):
        d = scores - self.width * queries.labels
        return ValueAndGradient(np.add.reduceat(d * d, queries.offsets[:-1]), 2.0 * d)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    (tmp_path / "mine.py").write_text(PLUGIN)
    yield tmp_path
    sys.modules.pop("letorbench_plugin_mine", None)


def forget() -> None:
    """Let the plug-in be loaded anew."""
    sys.modules.pop("letorbench_plugin_mine")
    plugins._load_file.cache_clear()
    lb.registry.USER_DEFINED.clear()


@pytest.mark.parametrize("model", ["model=linear,l2=0", "model=mlp,hidden=3", "model=trees"])
def test_a_plugins_function_trains_every_kind_of_model(toy: Path, model: str) -> None:
    words = ["--dataset", "TOY", "--folds", "1", "--repeats", "1", "--plugin", "mine.py"]
    printed("run", *words, "--algo", f"own=recipe[loss=squares,features=raw,{model}]")
    found, fold = lb.load_results().scores()["own"].to_numpy(), lb.load("TOY").folds[0]
    if "linear" in model:  # least squares on standardised features
        centre, scale = (
            fold.train.X.mean(axis=0, dtype=float),
            fold.train.X.std(axis=0, dtype=float),
        )
        train, test = ((part.X - centre) / scale for part in (fold.train, fold.test))
        weights = np.linalg.lstsq(train, fold.train.y)[0]
        np.testing.assert_allclose(found - found.mean(), (test - test.mean(axis=0)) @ weights,
                                   atol=1e-3)  # fmt: skip
    measured, chance = (lb.evaluate(fold.test, each)["ndcg@10"] for each in (found, 0 * found))
    assert measured > chance + 0.1


def test_a_function_is_what_the_package_has(rng) -> None:
    """One of ours, called query by query, learns the same model to the bit or nearly so."""
    queries = random_queries(rng, [7] * 20, levels=3)
    ours = loss("least-squares")

    def theirs(scores, labels):
        part = random_queries(rng, [len(labels)])
        vars(part)["labels"] = labels
        value, gradient = ours(scores, part)
        return value[0], gradient

    for model in ("linear", "trees"):
        own = lb.Recipe(loss=theirs, model=model).fit(queries).predict(queries)
        np.testing.assert_allclose(
            own, lb.Recipe(loss="least-squares", model=model).fit(queries).predict(queries), 0, 1e-6
        )


@pytest.mark.parametrize("given", every_loss(), ids=str)
def test_the_gradients_of_our_own_losses_pass_the_check(rng, given: Loss) -> None:
    require_gradient(given, random_queries(rng, [1, 5, 12, 7, 30, 2], levels=3))


def off(change):
    """The squares with a changed gradient."""

    def changed(scores, labels):
        value, gradient = squares(scores, labels)
        return value, change(gradient, labels)

    return changed


@pytest.mark.parametrize(
    "change",
    [
        lambda g, r: -g,
        lambda g, r: 1.001 * g,
        lambda g, r: g[::-1],
        lambda g, r: np.where(r > 0, g, 0.0),
        lambda g, r: g + 0.01,
        lambda g, r: g * np.nan,
    ],
)
def test_a_wrong_gradient_is_found(rng, change) -> None:
    queries = random_queries(rng, [3, 5, 20, 2], levels=3)
    require_gradient(loss_of(off(lambda g, r: g)), queries)
    with pytest.raises(UsageError, match="loss changed: found a gradient of .* expected .* by fin"):
        require_gradient(loss_of(off(change)), queries)


def fails(scores, labels):
    return scores[99], scores


def alone(scores):
    return 0.0


def listnet(scores, labels):
    return 0.0, 0.0 * scores


@pytest.mark.parametrize(
    "function, said",
    [
        (fails, "loss fails: IndexError: index 99 is out of bounds"),
        (off(lambda g, r: g[1:]), r"loss changed: found a gradient of shape \(6,\), expected \(7,"),
        (alone, r"loss alone: found a function of \(scores\), expected one of \(scores, labels\)"),
        (listnet, "a loss of letorbench is named 'listnet', too; rename yours"),
        (lambda scores, labels: 0.0, "as a loss, expected a function that has a name"),
        (5, "found 5 as a loss"),
    ],
)
def test_a_wrong_loss_is_one_line(rng, function, said: str) -> None:
    with pytest.raises((DataError, UsageError), match=said):
        lb.Recipe(loss=function).fit(random_queries(rng, [7, 7]))


def test_its_code_is_part_of_the_identity(toy: Path) -> None:
    words = ["run", "--dataset", "TOY", "--folds", "1", "--plugin", "mine.py", "--algo"]
    printed(*words, "recipe[loss=squares],recipe")
    assert "2 of 2 folds were stored" in printed(*words, "recipe[loss=squares],recipe")
    folder = toy / "results/TOY"
    fits = [json.loads((folder / name / "fold1/fit.json").read_text())["identity"]
            for name in ("recipe[loss=squares]", "recipe")]  # fmt: skip
    assert len(fits[0]["own code"]) == 32 and "own code" not in fits[1]
    forget()
    (toy / "mine.py").write_text(PLUGIN.replace("2 *", "2.0 *"))
    assert "1 of 2 folds were stored" in printed(*words, "recipe[loss=squares],recipe")
    forget()
    for command in ("table", "compare", "report"):  # without the plug-in
        printed(command)
    assert "unknown loss 'squares'" in refused(2, *words[:-3], "--algo", "recipe[loss=squares]")
    done = call(*words, "recipe[loss=unlike]")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "by finite differences of its value" in done.stderr


def test_functions_and_classes_from_python_run_in_processes(toy: Path) -> None:
    asked = {
        "own": lb.Recipe(loss=squares),
        "wide": lb.Recipe(loss=Stretched(width=2.0)),
        "plain": lb.Recipe(loss=Stretched),
    }
    results = lb.run("TOY", asked, folds=[1, 2], jobs=2)
    scores = results.scores()
    np.testing.assert_allclose(scores["own"], scores["plain"], rtol=1e-5, atol=1e-7)
    assert not np.allclose(scores["own"], scores["wide"])
    one = lb.run("TOY", asked, folds=[1, 2], out="alone")
    assert content(results.out) == content(one.out)
    labels = {str(row.label) for row in results.frames[0].rows}
    assert labels == {
        "own=recipe[loss=squares]", "wide=recipe[loss=stretched(width=2.0)]",
        "plain=recipe[loss=stretched]",
    }  # fmt: skip
