"""Labels: what they say is what is run, and nothing stored is replaced by another one."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import printed
from toy_data import content, write_toy

import letorbench as lb
from letorbench.errors import UsageError
from letorbench.experiment.plan import parameters, ranker_identity, systems_of
from letorbench.rankers import names, ranker
from letorbench.results import labels
from letorbench.results.labels import Label
from letorbench.results.store import Store


@pytest.mark.parametrize("text", [
    "listnet", "listnet[select=map]", "mine=listnet[select=map,learning_rate=0.1]",
    "recipe[loss=pairwise(phi=hinge, weight=1/m),model=mlp]", "x=frank",
    *(f"{name}={name}[protocol=published]" for name in names()),
    "listnet[convention=letor4;empty=drop;gain=0/1/3.5,null=-1.5,seed=7]",
])  # fmt: skip
def test_a_label_prints_as_it_was_read(text):
    label = labels.parse(text)
    assert str(label) == text and labels.parse(str(label)) == label


@pytest.mark.parametrize("text", ["", "[a=1]", "a[", "a]b", "a[b]", "a[b=]", "a[b=1,b=2]",
                                  "x/y=a", " =a", "a=b=c"])  # fmt: skip
def test_what_is_no_label_is_refused(text):
    with pytest.raises(UsageError):
        labels.parse(text)


@pytest.mark.parametrize("value", ["0,1,3", ""])
def test_a_value_that_no_label_can_hold_is_refused_before_it_is_trained(value):
    """Its fold was stored and could not be read again."""
    with pytest.raises(UsageError, match=f"label_gain='{value}'"):
        labels.of("lightgbm", {"label_gain": value}, {})


def test_a_list_is_a_row_for_each_value():
    words = ["a[x=[1,2],y=[u,v]]", "n=a[x=[1,2]],g[s=1]", "a[x=1,y=u]"]
    assert [str(each) for each in labels.expanded(words, {"g": ["p", "q"]})] == [
        "a[x=1,y=u]", "a[x=1,y=v]", "a[x=2,y=u]", "a[x=2,y=v]", "n-1=a[x=1]", "n-2=a[x=2]",
        "p[s=1]", "q[s=1]",
    ]  # fmt: skip


def test_folders_are_short_and_no_two_labels_share_one():
    texts = ["a", *(f"a[x={x}]" for x in ("1", "2", "1/2", "1 2", "9" * 80, "9" * 81))]
    every = [labels.parse(text).folders for text in texts]
    assert len({name for folders in every for name in folders}) == sum(map(len, every))
    for folders in every:
        assert all(len(name) <= 80 and not set(name) & set("/ *?\\:") for name in folders)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    return tmp_path


def rows() -> dict[str, float]:
    return lb.load_results().summary("map").set_index("algo")["map"].to_dict()


@pytest.mark.usefixtures("no_figures")
def test_what_is_asked_by_options_is_what_the_label_says(folder):
    """The same bytes of scores, and each has a row of its own."""
    options = {
        "--select map": "select=map", "--features zscore": "features=zscore",
        "--protocol letor": "protocol=letor", "--convention letor4": "convention=letor4",
        "--set l2=3.0": "l2=3.0", "--null 0": "null=0.0",
    }  # fmt: skip
    for option, inside in options.items():
        run = "run --dataset TOY --folds 1 --algo"
        printed(*f"{run} regression {option} --out by-option".split())
        printed(*f"{run} regression[{inside}] --out by-label".split())
        assert Path("by-option/TOY", f"regression[{inside}]").is_dir()
    assert content(Path("by-option")) == content(Path("by-label"))
    assert len(list(Path("by-label/TOY").glob("*/fold1/scores.txt"))) == len(options)


@pytest.mark.usefixtures("no_figures")
def test_nothing_stored_is_replaced(folder):
    first = lb.run("TOY", {"mine": lb.NDCGBoost(rounds=3), "other": "listnet"}, folds=[1])
    before = {path: path.read_bytes() for path in Path("results").rglob("fold1/*")}
    with pytest.raises(
        UsageError, match=r"mine: found results of mine=ndcgboost\[rounds=3,stumps=exact\]"
    ):
        lb.run("TOY", {"mine": lb.NDCGBoost(rounds=4)}, folds=[1], force=True)
    lb.run("TOY", ["listnet", "listnet[select=map]", lb.NDCGBoost(rounds=4)], folds=[1])
    assert {path: path.read_bytes() for path in before} == before
    boosted = "ndcgboost[rounds=4,stumps=exact]"
    assert set(rows()) == {"mine", "other", "listnet", "listnet[select=map]", boosted}
    assert rows()["other"] == rows()["listnet"] and first.algorithms == ["mine", "other"]
    again = lb.run("TOY", {"mine": "ndcgboost[rounds=3,stumps=exact]"}, folds=[1])
    assert again.summary().shape[0] == 1
    assert {path: path.read_bytes() for path in before} == before  # it was found again
    text = printed("table", "TOY", "--algo", "mine,listnet[select=map]")
    assert "names: mine=ndcgboost[rounds=3,stumps=exact]" in text and "other" not in text
    found = lb.load_results().compare("mine", "map")["algo"]
    assert sorted(found) == ["listnet", "listnet[select=map]", boosted, "other"]


@pytest.mark.usefixtures("no_figures")
def test_a_label_names_its_row_in_any_order_of_the_settings(folder):
    typed, stored = "mart[rounds=2,leaves=3]", "mart[leaves=3,rounds=2]"
    lb.run("TOY", [typed, "mart[rounds=3,leaves=3]"], folds=[1])
    assert lb.load_results("results", "TOY", typed).algorithms == [stored]
    assert lb.load_results().compare(typed, "map")["against"].unique().tolist() == [stored]
    verified = printed("verify", "results", "--against", "results", "--algo", typed)
    assert "the same system" in verified


@pytest.mark.usefixtures("no_figures")
def test_a_copied_folder_is_called_by_its_name(folder):
    lb.run("TOY", "regression[l2=0.5]", folds=[1])
    shutil.copytree("results/TOY/regression[l2=0.5]", "results/TOY/before")
    assert list(rows()) == ["before", "regression[l2=0.5]"]
    fold = Store(Path("results"), "TOY").look().rows()["before"][0]
    assert fold.label == Label("regression", (("l2", "0.5"),), "before")


@pytest.mark.usefixtures("no_figures")
def test_a_row_may_be_called_like_the_folder_of_a_repeat(folder):
    algos = {"repeat2": "regression", "repeated": "regression", "mine": "ndcgboost[rounds=2]"}
    lb.run("TOY", algos, folds=[1], repeats=2, fixed=["stumps=sample"])
    assert sorted(rows()) == sorted(algos) == lb.load_results().algorithms
    assert {path.parent.name for path in Path("results/TOY").glob("*/folds.csv")} == {*algos}
    Path("results/TOY/repeat2/fold1/scores.txt").write_text("")
    assert Store(Path("results"), "TOY").look().look().damaged.keys() == {
        Path("results/TOY/repeat2/fold1")
    }


@pytest.mark.parametrize("name", names())
def test_what_a_label_or_set_says_of_a_ranker_is_what_the_instance_has(name):
    """Of every ranker: with its defaults and with its grid's first values."""
    cls = ranker(name)
    if not cls.available():
        pytest.skip(f"no {cls.needs}")
    defaults = {key: getattr(cls(), key) for key in parameters(cls)}
    pairs = [f"{key}={value}" for key, value in defaults.items()]
    assert systems_of(name, pairs)[0].settings == defaults
    inside = f"mine={name}[{','.join(pairs)}]" if pairs else name
    assert systems_of(inside)[0].settings == defaults and set(cls.grid) <= set(defaults)
    [system] = systems_of(cls(**{key: values[0] for key, values in cls.grid.items()}))
    facts = ranker_identity(cls, system.settings)
    label = labels.of(name, {key: system.settings[key] for key in facts["fixed"]}, {})
    [again] = systems_of(str(label))
    assert ranker_identity(cls, again.settings) == facts
    assert json.loads(json.dumps(facts)) == facts and np.all(label.folders)
