"""What is asked for: names, folds, settings, protocols, and the identities of what is run."""

import ast
import io
import shutil
import tokenize
from collections.abc import Container
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from conftest import forget_user_code
from toy_data import write_toy

from letorbench import source
from letorbench.api.running import dataset_names
from letorbench.datasets.load import load
from letorbench.errors import UsageError
from letorbench.experiment.job import seed_of
from letorbench.experiment.plan import (
    BASELINES,
    Protocol,
    labelled,
    left_out,
    plan_runs,
    ranker_identity,
    systems_of,
)
from letorbench.experiment.run import run_systems
from letorbench.experiment.select import draws
from letorbench.measures import measure_names
from letorbench.rankers import names, ranker
from letorbench.results.paths import FoldKey


def test_all_leaves_out_what_lacks_its_package(monkeypatch):
    monkeypatch.setattr(ranker("xgboost"), "needs", "no_such_package")
    for there in ("lightgbm", "catboost"):
        monkeypatch.setattr(ranker(there), "needs", "numpy")
    assert "xgboost" not in map(str, labelled(["all"]))
    assert left_out(["regression"]) == []
    [note] = left_out(["regression, all"])
    assert all(noun in note for noun in ("xgboost", "'letorbench[trees]'", "no_such_package"))
    with pytest.raises(UsageError, match="^xgboost: needs the package no_such_package; "):
        systems_of(["xgboost"])


def listed(*words: str) -> list[str]:
    return [str(label) for label in labelled(words)]


def test_algorithms_are_comma_lists_repeats_and_groups():
    assert listed("ndcgboost, regression", "ndcgboost") == ["ndcgboost", "regression"]
    published = [name for name in names() if ranker(name).published]
    usable = [name for name in published if ranker(name).available()]
    assert listed("all") == usable
    assert listed("card") == listed("baselines") == list(BASELINES)
    with pytest.raises(UsageError, match="did you mean ndcgboost"):
        labelled(["ndcgbost"])


def test_datasets(tmp_path):
    write_toy(tmp_path)
    assert [*dataset_names(["all"], tmp_path)] == ["TOY"]
    assert [*dataset_names(["ohsumed,TOY", "OHSUMED"], tmp_path)] == ["OHSUMED", "TOY"]


def test_systems():
    cls = ranker("regression")
    assert [each.settings for each in systems_of(["regression"])] == [{}]
    assert [each.settings for each in systems_of([cls])] == [{}]
    [given] = systems_of([cls(l2=2.0, features="rank")])
    assert (given.settings, given.run) == (
        {"gain": "exp2", "l2": 2.0, "target": "label"},
        {"features": "rank"},
    )
    assert systems_of([cls(), "frank"])[0].run == {}
    named = systems_of({"small": cls(l2=2.0), "plain": "regression", "best": "frank[rounds=3]"})
    assert [(each.name, dict(each.settings)) for each in named] == [
        ("small", {"gain": "exp2", "l2": 2.0, "target": "label"}),
        ("plain", {}), ("best", {"rounds": 3}),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="found 3, expected an algorithm's name, a ranker"):
        systems_of([3])
    with pytest.raises(UsageError, match="did you mean regression"):
        systems_of(["regresion"])


def test_a_ranker_draws_if_a_point_of_its_grid_does():
    assert draws(ranker("ranknet"), {}) and not draws(ranker("regression"), {})
    assert not draws(ranker("ndcgboost"), {}) and draws(ranker("ndcgboost"), {"stumps": "sample"})

    class Searched(ranker("ndcgboost")):
        grid = {"stumps": ("exact", "sample")}

    assert draws(Searched, {}) and not draws(Searched, {"stumps": "exact"})


def test_seeds_differ_by_everything_but_settings():
    def state(dataset, algo, fold, repeat, seed, row="row"):
        return tuple(seed_of(FoldKey(dataset, row, repeat, fold), algo, seed).generate_state(4))

    cells = product("Ax", "yxA", (1, 2), (1, 2), (0, 1))
    assert len({state(*cell) for cell in cells}) == 48
    assert state("A", "x", 1, 1, 0) == state("A", "x", 1, 1, 0, row="x[k=2]")


def test_a_setting_at_its_default_is_not_a_fixed_one_and_their_order_is_nothing():
    cls = ranker("rankboost")
    one, two = {"bins": 7, "rounds": 7}, {"rounds": 7, "bins": 7}
    assert ranker_identity(cls, one) == ranker_identity(cls, two)
    assert ranker_identity(cls, cls().get_params()) == ranker_identity(cls, {})


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the source, whose digest stands in the identities."""
    folder = tmp_path / "letorbench"
    shutil.copytree(source.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "PACKAGE", folder)
    forget()
    yield folder
    forget()


def forget() -> None:
    """Read the source again, as a new process would."""
    for each in vars(source).values():
        getattr(each, "cache_clear", lambda: None)()


def edit(file: Path) -> None:
    with file.open("a") as source_file:
        source_file.write("\n_CHANGED = True\n")
    forget()


def reword(file: Path) -> None:
    """Change the prose of a file: its first docstring, a comment, a blank line."""
    text = file.read_text().replace('"""', '"""Other words. ', 1)
    file.write_text(f"# a comment\n{text}\n\n# the end\n")
    forget()


def test_an_edit_runs_again_what_depends_on_it(copy, tmp_path):
    write_toy(tmp_path / "data")
    protocol = Protocol(data_dir=tmp_path / "data", out=tmp_path / "out")

    def reused() -> bool:
        (outcome,) = run_systems(["TOY"], systems_of("regression"), [1], protocol).runs
        assert not outcome.error
        return outcome.reused

    assert [reused(), reused()] == [False, True]
    for file in ("measures", "features", "losses", "rankers"):
        (copy / file / "new.py").write_text("NEW = 1\n")
        forget()
        assert reused(), file
    for edited, again in {"rankers/regression.py": True, "cli/run.py": False}.items():
        edit(copy / edited)
        assert reused() is not again, edited
        assert reused()


def tokens(text: str, docstrings: Container[int] = ()) -> list[str]:
    """The tokens of a module but for comments, line ends and strings that end in these lines."""
    left_out = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    }  # fmt: skip
    return [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in left_out
        and not (token.type == tokenize.STRING and token.end[0] in docstrings)
    ]


def test_the_code_of_a_module_is_all_that_its_syntax_tree_has_without_docstrings():
    places = [path.name for path in source.PACKAGE.iterdir() if path.name[0] != "_"]
    for file in sorted(source.reached(places) - source.PLUMBING)[::4]:
        text = source.text(file)
        docstrings = {
            node.end_lineno
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        assert tokens(source.code(file)) == tokens(text, docstrings), file


#: what no score depends on
OTHERS = (
    "results/store.py", "escaping.py", "registry.py", "experiment/plan.py", "experiment/run.py",
    "cli/run.py", "rankers/frank.py",
)  # fmt: skip
#: what a score depends on, and whose: a ranker with a net, one without, one of a plug-in, and a
#: recipe that names its loss and model
DEPENDS = {
    "datasets/reader.py": "net least plug-in recipe",
    "features/__init__.py": "net least plug-in recipe",
    "experiment/select.py": "net least plug-in recipe",
    "experiment/job.py": "net least plug-in recipe",
    "results/measuring.py": "net least plug-in recipe",
    "models/linear.py": "net least plug-in recipe", "models/functionals.py": "plug-in recipe",
    "rankers/base.py": "net least plug-in recipe", "rankers/ranknet.py": "net",
    "rankers/regression.py": "least",
    "solvers/sgd.py": "net plug-in", "solvers/tree_growing.py": "plug-in recipe",
    "losses/lambdas.py": "plug-in", "losses/logistic.py": "net least plug-in recipe",
    "losses/smoothed.py": "plug-in recipe",
}  # fmt: skip


def test_the_digest_of_a_ranker_is_of_what_its_scores_depend_on(copy):
    named = {
        "net": (ranker("ranknet"), {}),
        "least": (ranker("regression"), {}),
        "plug-in": (type("Mine", (ranker("regression"),), {"__module__": "mine"}), {}),
        "recipe": (ranker("recipe"), {"model": "quadratic", "loss": "neural-ndcg"}),
    }

    def digests() -> dict[str, str]:
        return {name: ranker_identity(*each)["code"] for name, each in named.items()}

    found, before = {}, digests()
    for file in DEPENDS:
        reword(copy / file)
    for file in OTHERS:
        edit(copy / file)
    assert digests() == before
    for file in DEPENDS:
        edit(copy / file)
        after = digests()
        found[file] = " ".join(name for name in named if after[name] != before[name])
        before = after
    assert found == DEPENDS


def test_a_measure_that_selects_counts_and_another_does_not(copy):
    new = copy / "measures" / "new.py"
    new.write_text("VALUE = 1\n")
    for function, module in {"selects": "letorbench.measures.new", "does not": "mine"}.items():
        part = type("Function", (), {"__module__": module})
        before = ranker_identity(ranker("regression"), {}, part)
        assert source.is_current(before)
        edit(new)
        after = ranker_identity(ranker("regression"), {}, part)
        assert (before["code"] != after["code"]) is (function == "selects")
        assert source.is_current(before) is (function != "selects")
        added = source.added_digest(module) if function == "selects" else ""
        assert bool(added) is (function == "selects")


@pytest.mark.parametrize("facts", [
    {}, {"module": None}, {"module": "letorbench./etc/passwd"}, {"module": "letorbench.gone"},
    {"module": ["letorbench"]}, {"module": "letorbench.rankers.frank", "parts": {"a": 1}},
    {"module": "letorbench.rankers.frank", "parts": [["letorbench.x"]], "code": ["a"]},
])  # fmt: skip
def test_an_identity_that_says_anything_is_of_other_code(facts):
    assert not source.is_current({"code": "a", **facts})


def test_an_instance_and_its_label_are_one_row(tmp_path):
    write_toy(tmp_path / "data")
    bench = load("TOY", tmp_path / "data")
    base = Protocol(data_dir=tmp_path / "data", out=tmp_path / "results")
    for given, *spelled in (
        (ranker("ndcgboost")(rounds=50), "ndcgboost[rounds=50,stumps=exact]",
         "ndcgboost[stumps=exact,rounds=50]"),
        (ranker("cosine")(), "cosine"),
        (ranker("mart")(leaves=4, depth=2), "mart[leaves=4,depth=2]",
         "mart[depth=2,leaves=4]"),
    ):  # fmt: skip
        jobs = [plan_runs({"TOY": bench}, systems_of([each]), [1], base)[0]
                for each in (given, *spelled)]  # fmt: skip
        assert len({(str(job.label), job.folder) for job in jobs}) == 1, [j.label for j in jobs]
        assert all(job.identity == jobs[0].identity for job in jobs)


def test_a_protocol_as_published_chooses_nothing_that_a_paper_does_not(tmp_path):
    """NDCG Boost's has no validation; a setting that is asked for stands."""
    write_toy(tmp_path / "data")
    bench = load("TOY", tmp_path / "data")
    base = Protocol(data_dir=tmp_path / "data", out=tmp_path / "results")
    told = {}
    for name, label in (("default", "ndcgboost"), ("published", "ndcgboost"),
                        ("published", "ndcgboost[stumps=average]")):  # fmt: skip
        job, *_ = plan_runs({"TOY": bench}, systems_of([label]), [1], replace(base, name=name))
        told[name, label] = job.settings, job.identity["grid"]
        assert job.key.algo == label if name == "default" else job.key.algo.startswith("ndcgboost[")
    assert told["default", "ndcgboost"] == ({}, {"stumps": ["average", "exact"]})
    assert told["published", "ndcgboost"] == ({"stumps": "sample"}, {})
    assert told["published", "ndcgboost[stumps=average]"] == ({"stumps": "average"}, {})


def test_what_a_measure_of_ones_own_chose_is_of_its_code(tmp_path, monkeypatch):
    """A result that another form of the measure chose is not taken for one of this form."""

    def returning(value):
        def mine(y_true, y_score):
            return value

        return mine

    write_toy(tmp_path)
    benchmarks, found = {"TOY": load("TOY", tmp_path)}, []
    for value in (0.25, 0.75, 0.25):
        forget_user_code(monkeypatch)
        [select] = measure_names(returning(value))
        protocol = Protocol(data_dir=tmp_path, out=tmp_path / "out", select=select)
        (job,) = plan_runs(benchmarks, systems_of(["regression"]), [1], protocol)
        assert protocol.select == job.identity["select"] == "mine"
        found.append(job.identity)
    assert found[0] == found[2] != found[1]
