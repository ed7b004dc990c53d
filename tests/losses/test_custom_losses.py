"""Losses of users: functions and classes, in plug-in files and from Python."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import call, forget_user_code, printed, random_queries, refused
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError
from letorbench.losses import Loss, ValueAndGradient
from letorbench.losses.custom_losses import loss_of, require_gradient
from letorbench.parameters import number

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
def toy(tmp_path, monkeypatch, no_figures):
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    (tmp_path / "mine.py").write_text(PLUGIN)
    return tmp_path


def test_a_plugins_function_trains_every_kind_of_model(toy):
    words = ["--dataset", "TOY", "--folds", "1", "--repeats", "1", "--plugin", "mine.py"]
    for model in ("linear,l2=0", "mlp,hidden=3", "trees"):
        algo = f"{model[:3]}=recipe[loss=squares,features=raw,model={model}]"
        printed("run", *words, "--algo", algo)
    table, fold = lb.load_results().scores(), lb.load("TOY").folds[0]
    found = table["lin"].to_numpy()  # least squares on standardised features
    wide = fold.train.X.astype(float)
    train, test = ((X - wide.mean(axis=0)) / wide.std(axis=0) for X in (wide, fold.test.X))
    expected = (test - test.mean(axis=0)) @ np.linalg.lstsq(train, fold.train.y)[0]
    np.testing.assert_allclose(found - found.mean(), expected, atol=1e-3)
    for name in ("lin", "mlp", "tre"):
        values = table[name].to_numpy()
        measured, chance = (lb.evaluate(fold.test, e)["ndcg@10"] for e in (values, 0 * values))
        assert measured > chance + 0.1, name


def changed_squares(change):
    def changed(scores, labels):
        value, gradient = squares(scores, labels)
        return value, change(gradient, labels)

    return changed


WRONG = [
    lambda g, r: -g, lambda g, r: 1.001 * g, lambda g, r: g[::-1], lambda g, r: g + 0.01,
    lambda g, r: np.where(r > 0, g, 0.0), lambda g, r: g * np.nan,
]  # fmt: skip


def test_gradients_are_checked(rng):
    queries = random_queries(rng, [3, 5, 20, 2], levels=3)
    require_gradient(loss_of(changed_squares(lambda g, r: g)), queries)
    for change in WRONG:
        with pytest.raises(UsageError, match="loss changed: .*gradient of .* finite differences"):
            require_gradient(loss_of(changed_squares(change)), queries)


def fails(scores, labels):
    return scores[99], scores


def alone(scores):
    return 0.0


def listnet(scores, labels):
    return 0.0, 0.0 * scores


@pytest.mark.parametrize("function, error, nouns", [
    (fails, DataError, "loss fails: IndexError"),
    (changed_squares(lambda g, r: g[1:]), DataError, r"gradient of shape \(6,\).*\(7,"),
    (alone, UsageError, r"alone: found a function of \(scores\).*\(scores, labels\)"),
    (listnet, UsageError, "a loss of letorbench is named 'listnet'"),
    (lambda scores, labels: 0.0, UsageError, "as a loss.*a name"), (5, UsageError, "5 as a loss"),
])  # fmt: skip
def test_a_wrong_loss_is_one_line(rng, function, error, nouns):
    with pytest.raises(error, match=nouns) as raised:
        lb.Recipe(loss=function).fit(random_queries(rng, [7, 7]))
    assert "\n" not in str(raised.value)


def test_its_code_is_part_of_the_identity(toy, monkeypatch):
    words = ["run", "--dataset", "TOY", "--folds", "1", "--plugin", "mine.py", "--algo"]
    printed(*words, "recipe[loss=squares],recipe")
    assert "2 of 2 folds were stored" in printed(*words, "recipe[loss=squares],recipe")
    folder = toy / "results/TOY"
    fits = [json.loads((folder / name / "fold1/fit.json").read_text())["identity"]
            for name in ("recipe[loss=squares]", "recipe")]  # fmt: skip
    assert len(fits[0]["own code"]) == 32 and "own code" not in fits[1]
    forget_user_code(monkeypatch)
    (toy / "mine.py").write_text(PLUGIN.replace("2 *", "2.0 *"))
    assert "1 of 2 folds were stored" in printed(*words, "recipe[loss=squares],recipe")
    forget_user_code(monkeypatch)
    printed("table")  # without the plug-in
    assert "unknown loss 'squares'" in refused(2, *words[:-3], "--algo", "recipe[loss=squares]")
    done = call(*words, "recipe[loss=unlike]")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert "by finite differences of its value" in done.stderr


def test_functions_and_classes_come_from_python(toy):
    asked = {
        "own": lb.Recipe(loss=squares),
        "wide": lb.Recipe(loss=Stretched(width=2.0)),
        "plain": lb.Recipe(loss=Stretched),
    }
    results = lb.run("TOY", asked, folds=[1])
    scores = results.scores()
    np.testing.assert_allclose(scores["own"], scores["plain"], rtol=1e-5, atol=1e-7)
    assert not np.allclose(scores["own"], scores["wide"])
    labels = {str(row.label) for row in results.frames[0].rows}
    assert labels == {
        "own=recipe[loss=squares]", "wide=recipe[loss=stretched(width=2.0)]",
        "plain=recipe[loss=stretched]",
    }  # fmt: skip
