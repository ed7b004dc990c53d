"""Models of other libraries and of the user's own as rankers."""

from pathlib import Path

import numpy as np
import pytest
from conftest import printed
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from toy_data import content, write_toy

import letorbench as lb
from letorbench.experiment.plan import systems_of
from letorbench.rankers import plugins
from letorbench.rankers.any_model import OWN_FILE, ranker_of


class Mean:
    """Scores by the training mean, and notes what of the queries it was given."""

    def fit(self, X, y, qid=None, group=None):
        self.weights, self.seen = (X * y[:, None]).mean(axis=0), (qid, group)
        return self

    def predict(self, X):
        return X @ self.weights

    def save(self, path):
        Path(path).write_text(repr(self.weights.tolist()))


class Grouped(Mean):
    def fit(self, X, y, group):
        return super().fit(X, y, None, group)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    return tmp_path


def test_a_model_without_get_params_is_said_to_lack_it(folder):
    models = "from sklearn.linear_model import Ridge\n\nridge = Ridge()\n\n\n"
    models += "class Own:\n    fit = predict = print\n\n\nown = Own()\n"
    Path("mine.py").write_text(models)
    plugins.load_file(Path("mine.py"))
    for name, lacking in (("own", True), ("ridge", False)):
        with pytest.raises(lb.UsageError, match="no parameter 'hidden'") as refused:
            systems_of(f"{name}[hidden=8]")
        assert ("get_params" in str(refused.value)) == lacking


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("no_figures")
def test_scores_are_those_of_the_model_trained_by_hand(folder):
    models = [
        RandomForestRegressor(n_estimators=3, random_state=1), Ridge(2.0), Mean(),
        make_pipeline(StandardScaler(), Ridge()),
    ]  # fmt: skip
    drawing = RandomForestRegressor(n_estimators=2)
    results = lb.run("TOY", ["regression", *models, drawing], folds=[2], repeats=2)
    folder_of_it = folder / "results/TOY/random-forest-regressor[n_estimators=2]"
    drawn = [path.read_text() for path in sorted(folder_of_it.rglob("scores.txt"))]
    assert len(set(drawn)) == 2
    lb.run("TOY", drawing, folds=[2], repeats=2, force=True)  # the seed is the run's
    assert [path.read_text() for path in sorted(folder_of_it.rglob("scores.txt"))] == drawn
    fold = lb.load("TOY").folds[1]
    names = ["random-forest-regressor[n_estimators=3,random_state=1]", "ridge[alpha=2.0]", "mean"]
    for name, model in zip([*names, "pipeline"], models):
        model.fit(fold.train.features, fold.train.labels)
        stored = np.loadtxt(folder / "results/TOY" / name / "fold2/scores.txt")
        np.testing.assert_allclose(stored, model.predict(fold.test.features), rtol=1e-6)
    kept = [path.parts[-3] for path in (folder / "results").rglob(OWN_FILE)]
    assert kept == ["mean"] and results.fits().query("algo == 'mean'")["warnings"].item() == []
    [lost] = results.fits().query("algo == 'pipeline'")["warnings"].item()
    assert "model not kept" in lost.text
    before = content(folder / "results")
    again = lb.run("TOY", models, folds=[2], repeats=2)  # found again, whatever was fitted since
    assert content(folder / "results") == before and len(again.algorithms) == 4
    other = lb.run("TOY", [make_pipeline(StandardScaler(), Ridge(9.0))], folds=[2])
    assert other.summary().shape[0] == 1  # the same label, but made anew
    assert (folder / "results/TOY/pipeline/fold2/fit.json").read_bytes() not in before.values()


def test_queries_go_where_fit_takes_them():
    queries = lb.QuerySet.from_arrays(np.eye(5), [0, 1, 0, 1, 2], qid=["b", "b", "a", "a", "a"])
    fitted = [ranker_of(each).fit_sets(queries).learned.model.model for each in (Mean(), Grouped())]
    assert fitted[0].seen[0].tolist() == [0, 0, 1, 1, 1] and fitted[0].seen[1] is None
    assert fitted[1].seen[1].tolist() == [2, 3]


def test_what_draws_nothing_is_trained_once():
    """And a seed that is not set is the run's wherever it is, also in a part of a pipeline."""
    forest = RandomForestRegressor(n_estimators=2)
    within = make_pipeline(StandardScaler(), forest)
    models = {
        Ridge(): False, Ridge(solver="sag"): True, forest: True, within: True, Mean(): False,
        make_pipeline(StandardScaler(), Ridge()): False, DecisionTreeRegressor(): True,
        RandomForestRegressor(n_estimators=2, random_state=3): False,
    }  # fmt: skip
    assert [ranker_of(model).draws for model in models] == [*models.values()]
    assert not type(ranker_of(forest))(n_estimators=2, random_state=3).draws
    X, y = np.random.default_rng(0).random((40, 3)), np.arange(40) % 4
    for model in (forest, within):
        one, two, again = (
            ranker_of(model).fit(X, y, group=[20, 20], rng=seed).predict(X) for seed in (1, 2, 1)
        )
        assert np.array_equal(one, again) and not np.array_equal(one, two)


@pytest.mark.usefixtures("no_figures")
def test_a_plug_in_file_names_a_model(folder):
    text = "from sklearn.linear_model import Ridge\n_hidden = Ridge()\nmy_ridge = Ridge(3.0)\n"
    Path("ridges.py").write_text(text)
    words = "run --plugin ridges.py --dataset TOY --algo my-ridge,my-ridge[alpha=1.0] --folds 1"
    printed(*words.split())
    fold = lb.load("TOY").folds[0]
    for name, alpha in (("my-ridge", 3.0), ("my-ridge[alpha=1.0]", 1.0)):
        model = Ridge(alpha).fit(fold.train.features, fold.train.labels)
        stored = np.loadtxt(f"results/TOY/{name}/fold1/scores.txt")
        np.testing.assert_allclose(stored, model.predict(fold.test.features), rtol=1e-6)
