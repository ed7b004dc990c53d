"""What every room uses: conventions, names, parameters, warnings; one table of what they refuse."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numba
import numpy as np
import pytest
from conftest import call

import letorbench as lb
from letorbench import escaping, registry
from letorbench.api.running import closing_lines, exit_status, failures, fold_numbers
from letorbench.choices import expanded, require_choice, split
from letorbench.compiled.jit import longest_query
from letorbench.conventions import CONVENTIONS, INTEGERS, RULES, convention, with_rules
from letorbench.errors import DataError, LetorError, UsageError, WriteError
from letorbench.experiment.backends import Shard, shard_of
from letorbench.experiment.plan import Protocol, systems_of
from letorbench.experiment.run import JobResult, RunReport
from letorbench.experiment.select import edge, next_number
from letorbench.features import TRANSFORMATIONS, resolved, stored, transformation
from letorbench.files import checked, digest, with_checksum
from letorbench.measures import MEASURES, default_measures, nDCG, parse, query_metrics, sign
from letorbench.parameters import check, choices, describe, kinds, number, one_of, text, typed
from letorbench.results.paths import FoldKey
from letorbench.results.store import StoredFold
from letorbench.solvers.fit_warnings import KINDS, FitWarning


def test_a_convention_says_its_rules():
    letor3, catboost = CONVENTIONS["letor3"].rules, CONVENTIONS["catboost"].rules
    apart = "p@k has mean=plain. recall@k has mean=plain. auc has ties=mean,empty=0,mean=plain. "
    assert apart in catboost and "counts 1, in P and the like 0" in catboost
    assert letor3.endswith(" rank in file order. The largest label of ERR is 2.")  # nothing usual
    for rule, values in RULES.items():
        for value, words in values.items():
            named = with_rules(CONVENTIONS["trec_eval"], **{rule: value})
            usual = rule in ("mean", "scores", "missing", "unjudged", "map_cut", "ideal")
            assert (words in named.rules) or (
                usual and value == getattr(CONVENTIONS["letor4"], rule)
            )
    rules = convention("ptranking, short_p=length,gain=0/1/3, relevant=3 ,depth=7").rules
    for words in ("Gains 0/1/3 of the labels 0, 1, ...", "is r >= 3", "Rankings end at rank 7"):
        assert words in rules


def test_a_convention_has_one_normal_form_and_its_own_gains():
    changed = convention("mslr, ties=last,relevant=1, gain=exp2,empty=1")
    assert (changed.name, changed.relevant) == ("mslr,empty=1,relevant=1,ties=last", 1)
    assert changed.description.endswith("is 0), but empty=1, relevant=1, ties=last")
    assert convention(changed.name) == changed and changed.max_label is None
    assert convention("letor4,gain=0/1/3").gains(3).tolist() == [0.0, 1.0, 3.0]
    assert convention("standard,gain=linear").gains(4).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert convention("letor4").gains(4).tolist() == [0.0, 1.0, 3.0, 7.0]


def test_lists_of_names():
    words = ["a(b, c(d, e)),f", " g ,, h", ")i,j", "k(l, m", "n,o"]
    assert split(words) == ["a(b, c(d, e))", "f", "g", "h", ")i,j", "k(l, m", "n", "o"]
    assert expanded(["b,all", "c,a"], {"all": ["a", "b"]}) == ["b", "a", "c"]
    given = {"1-5": (1, 2, 3, 4, 5), "1,3": (1, 3), "2-3,5": (2, 3, 5), "3,1,3": (1, 3), " 2": (2,)}
    assert {each: fold_numbers(each) for each in given} == given
    assert [shard_of(each) for each in ("2/3", "3/3")] == [Shard(2, 3), Shard(3, 3)]
    assert [str(parse(each)) for each in ("map@10", "P@1000000000", " map ", "Ndcg@010")] == [
        "map@10", "p@1000000000", "map", "ndcg@10",
    ]  # fmt: skip
    measures = " ".join(map(str, default_measures(replace(convention("letor4"), cutoffs=2))))
    assert measures == "ndcg@1 ndcg@2 p@1 p@2 map mrr err@10 mean-ndcg wta pairwise bpref"
    assert type((nDCG @ np.int64(3)).cutoff) is int and nDCG @ 3 == parse("ndcg@3")
    assert [sign(name) for name in ("ndcg@10", "map", "rmse", "seconds")] == [1, 1, -1, 1]


def settings(algos: list[str], *pairs: str) -> dict[str, dict]:
    return {each.ranker.name: dict(each.settings) for each in systems_of(algos, list(pairs))}


def test_settings_reach_the_rankers_that_have_them():
    found = settings(["regression", "random", "ndcgboost"], "rounds=7", " l2 = 0.5 ", "rounds=8")
    assert found == {"regression": {"l2": 0.5}, "random": {}, "ndcgboost": {"rounds": 8}}
    loss = "smooth(measure=err, alpha=2)"
    assert settings(["recipe"], f"loss={loss}", "model=mlp")["recipe"] == {
        "model": "mlp", "loss": loss,
    }  # fmt: skip
    for name in ("lambda", "function"):
        assert settings(["lambdarank"], f"{name}=step") == {"lambdarank": {"function": "step"}}


@dataclass
class Settings:
    """One parameter of each kind."""

    rounds: int = number(5, least=1, most=9)
    share: float = number(0.5, above=0.0, below=1.0)
    depth: int | None = number(None, least=2)
    size: float = number(1.0)
    form: object = one_of(("a", 2, True), "a")
    word: str | None = None
    free: float = 0.0


def test_values_of_parameters():
    check(Settings(rounds=1, share=1e-9, depth=2, size=-1e9, form=2, word="nan"), "owner")
    check(Settings(rounds=9, share=0.999, form=True), "owner")
    types = kinds(Settings)
    assert choices(Settings) == {"form": ("a", 2, True)} and list(types)[::3] == [
        "rounds", "size", "free",
    ]  # fmt: skip
    assert [describe(kind) for kind in types.values()] == [
        "an integer", "a number", "an integer or none", "a number", "one of a, 2, true",
        "none or text", "a number",
    ]  # fmt: skip
    for kind, given, value in (
        (int, "7", 7), (float, "1e3", 1000.0), (str, "7", "7"), (bool, "Yes", True),
        (bool, "0", False), (str | int, "7", 7), (str | None, "None", None),
        (str | float, "0.5", 0.5), (str | float, "min", "min"), (types["form"], "true", True),
    ):  # fmt: skip
        found = typed(kind, given, "x")
        assert found == value and type(found) is type(value)
    assert (text(False), text(2.0)) == ("false", "2.0")


def checking(**values: object) -> None:
    check(Settings(**values), "owner")


def protocol(**options: object) -> Protocol:
    return Protocol(data_dir=Path(), out=Path(), **options)


def evaluated(**given: object) -> dict:
    return lb.evaluate(**{"y": [0, 1], "scores": [1.0, 2.0], "qid": [1, 1], **given}).to_dict()


def unfitted(facts: object) -> object:
    return stored(facts, 2)


CUT, FORM = "has no valid cut-off", "expected a form like"
NAN, DAMAGED = float("nan"), "found a damaged feature transformation…expected one of raw"
ZSCORE = {"name": "zscore", "mean": [0.0] * 2, "scale": [1.0] * 2}
#: a call, the class of its error (usage unless "data"), and the nouns that the line names
REFUSED: list[tuple[Callable[[], object], str, str]] = [
    (lambda: convention("leter4"), "", "unknown convention 'leter4'…letor4 or letor3?"),
    (lambda: convention("letor4,tie=last"), "", "rule of a convention 'tie'…did you mean ties?"),
    (lambda: convention("letor4,ties=random"), "", "value of ties 'random'…file, docid, last"),
    (lambda: convention("letor4,relevant=0"), "", "relevant=0…an integer from 1: the smallest"),
    (lambda: convention("letor4,depth=x"), "", f"depth=x…an integer from 1: {INTEGERS['depth']}"),
    *((lambda gain=gain: convention(f"letor4,gain={gain}"), "", f"gain={gain}…such as 0/1/3")
      for gain in ("1/0", "-1/0", "0/inf", "exp")),
    (lambda: convention("letor4,gain=0/1/3").gains(4), "data", "found 3…expected 0 to 2 for gain"),
    (lambda: require_choice("ListNet", ["ranknet", "listnet", "ranknet"], "loss"), "",
     "unknown loss 'ListNet'; did you mean listnet? expected one of ranknet, listnet"),
    (lambda: require_choice("nothing", ["ranknet", "listnet"], "loss"), "",
     "unknown loss 'nothing'; expected one of ranknet, listnet"),
    *((lambda folds=folds: fold_numbers(folds), "", f"folds '{folds}'…{said}")
      for folds, said in {"": FORM, "a": FORM, "1-": FORM, "-1": FORM, "1..5": FORM,
                          "1,,2": "found ''", "0": "from 1 on", "3-1": "from 1 on",
                          "2,1-1001": "'1-1001'…up to 1000", "10000": "up to 1000"}.items()),
    *((lambda shard=shard: shard_of(shard), "", f"shard '{shard}'…{FORM} 2/3")
      for shard in ("", "1", "0/3", "4/3", "1/3/5", "-1/3", "a/b", "١/٣", "1/3 ")),
    *((lambda n=n: protocol(repeats=n), "", f"run: found repeats={n}…{said}")
      for n, said in {0: "1 or more", 10_001: "at most 10000", 2.5: "an integer"}.items()),
    (lambda: protocol(seed=-1), "", "run: found seed=-1…0 or more"),
    (lambda: protocol(time_limit=0.0), "", "run: found time_limit=0.0…more than 0"),
    *((lambda pair=pair: settings(["regression", "random"], pair), "", said)
      for pair, said in {"l3=1": "'l3'…regression has gain, l2, target; random has none",
                         "l2": "'l2'…key=value", " =3": "' =3'…key=value",
                         "l2=x": "l2 of regression: found 'x'…a number",
                         "l2=-1": "regression: found l2=-1.0…0 or more",
                         "target=odd": "target of regression 'odd'…label, gain"}.items()),
    (lambda: parse(""), "", "unknown measure ''…tau, rho"),
    (lambda: parse("ndgc@10"), "", "unknown measure 'ndgc'…did you mean ndcg?"),
    *((lambda name=name: parse(name), "", f"measure '{name}' {CUT}…{FORM} p@10")
      for name in ("p", "p@", "p@0", "p@-1", "p@x", "p@1.0", "p@1000000001")),
    *((lambda name=name: parse(name), "", f"measure '{name}' {CUT}…{FORM} ndcg or ndcg@10")
      for name in ("ndcg@", "ndcg@" + "9" * 20)),
    *((lambda k=k: nDCG @ k, "", f"measure 'ndcg@{k}' {CUT}")
      for k in (True, 0, 2.0, "3", None, 1_000_000_001)),
    (lambda: query_metrics(np.array([40]), np.zeros(1), np.array([0, 1]), [nDCG],
                           convention("standard")), "data", "labels: found 40…0 to 31…gain=linear"),
    *((lambda n=n: checking(rounds=n), "", f"owner: found rounds={n}…{said}")
      for n, said in ((0, "1 or more and at most 9"), (10, "at most 9"), (2.5, "an integer"),
                      (True, "an integer"), (None, "an integer"))),
    *((lambda n=n: checking(share=n), "", f"owner: found share={n!r}…{said}")
      for n, said in {0.0: "more than 0 and less than 1", 1: "less than 1", "x": "number"}.items()),
    (lambda: checking(depth=1), "", "owner: found depth=1…2 or more"),
    (lambda: checking(size=float("inf")), "", "owner: found size=inf…a finite number"),
    (lambda: checking(size=NAN), "", "owner: found size=nan…a finite number"),
    (lambda: checking(form="b"), "", "unknown form of owner 'b'…a, 2, true"),
    (lambda: checking(form="2"), "", "owner: found form='2'…a, 2, true"),
    (lambda: checking(form=1), "", "unknown form of owner '1'…a, 2, true"),
    (lambda: checking(free=NAN), "", "owner: found free=nan…a number"),
    (lambda: typed(int | None, "2.5", "owner.depth"), "", "owner.depth: found '2.5'…or none"),
    (lambda: typed(kinds(Settings)["form"], "c", "owner.form"), "", "owner.form 'c'…a, 2, true"),
    (lambda: typed(list, "x", "owner.depth"), "", "owner.depth: found 'x'…<class 'list'>"),
    (lambda: typed(bool, "maybe", "x"), "", "x: found 'maybe'…true or false"),
    (lambda: transformation("zscore").fit(np.zeros((1, 5))).transform(np.zeros((1, 3))), "data",
     "zscore: found 3 features…expected 5"),
    (lambda: transformation("rank")().transform(np.zeros((1, 3), np.float32)), "",
     "rank: found no queries"),
    (lambda: transformation("z-score"), "", "transformation 'z-score'…did you mean zscore"),
    (lambda: unfitted(ZSCORE | {"scale": [-1.0, 1.0]}), "data", "zscore: scale: found -1…0 or"),
    *((lambda facts=facts: unfitted(facts), "data", DAMAGED) for facts in (
        None, {"name": "minmax"}, {"name": "raw", "mean": [0.0]}, ZSCORE | {"mean": [0.0] * 3},
        ZSCORE | {"scale": [1.0, "x"]}, ZSCORE | {"mean": [NAN] * 2},
        {"name": "zscore", "mean": [0.0] * 2})),
    *((lambda given=given: evaluated(**given), kind, said) for given, kind, said in (
        ({"scores": [1.0]}, "data", "scores: found 1 values…expected 2"),
        ({"scores": [1.0, NAN]}, "data", "scores: found NaN for document 2"),
        ({"y": [0, 32]}, "data", "labels: found 32…0 to 31"),
        ({"measures": []}, "", "measures: found none…such as 'ndcg@10'"),
        ({"measures": ["map", "p"]}, "", f"measure 'p' {CUT}"))),
]  # fmt: skip


@pytest.mark.parametrize(("act", "kind", "said"), REFUSED, ids=[each[2] for each in REFUSED])
def test_what_is_wrong_is_named(act, kind, said):
    with pytest.raises(DataError if kind else UsageError) as caught:
        act()
    assert all(each in str(caught.value) for each in said.split("…"))


def test_what_is_measured():
    files = {"y": [0, 1, 1, 0], "scores": [1e9, 1e9 + 3, 1e9 + 1, 1e9 + 2], "qid": list("baba")}
    assert evaluated(**files, measures="mrr") == {"mrr": 1.0}
    assert evaluated() == {"ndcg@10": 1.0} and evaluated(qid=None, group=[1, 1])["ndcg@10"] == 0.5
    assert evaluated(measures="p@1, MAP") == {"p@1": 1.0, "map": 1.0}
    assert evaluated(y=[0, -1]) == {"ndcg@10": 0.0}
    assert all(each.form and each.description for each in MEASURES.values())


def test_errors_and_warnings():
    for kind, status in ((LetorError, 1), (DataError, 1), (UsageError, 2)):
        assert (str(kind("a\nb")), kind.exit_status) == ("a\\nb", status)
    full = WriteError("a\x1b", OSError(28, "No space left on device"))
    assert str(full) == "a\\x1b: cannot be written: No space left on device"
    assert (full.errno, full.filename, full.exit_status) == (28, "a\x1b", 1)
    assert str(WriteError("a", OSError("odd"))) == "a: cannot be written: odd"
    assert [FitWarning(kind, "").rank for kind in KINDS] == list(range(len(KINDS)))
    with pytest.raises(ValueError, match="kind of warning 'odd', expected one of no numbers"):
        FitWarning("odd", "")


def done(where: str, *warnings: FitWarning, error: str = "", status: int = 0) -> JobResult:
    *names, fold, repeat = where.split()
    key = FoldKey(*names, int(repeat), int(fold))
    test = {"convention": "letor3", "n_folds": 5}
    fit = {"identity": {"algo": names[1]}, "test": test, "warnings": list(map(vars, warnings))}
    return JobResult(key, StoredFold(key, Path(), fit, 0, None), error=error, exit_status=status)


def test_failures_are_grouped_by_what_they_say():
    places = {"A x 1 1": "a", "A x 2 1": "b", "A y 1 1": "a", "A x 3 2": "a", "B x 1 1": "a"}
    failed = [done(where, error=error, status=1) for where, error in places.items()]
    assert list(failures(RunReport((), [*failed, done("A x 4 1")], ()))) == [
        "A, x, fold 1, 3 of repeat 2: a", "A, x, fold 2: b", "A, y, fold 1: a", "B, x, fold 1: a",
    ]  # fmt: skip
    runs = [], [done("A x 1 1", status=2)], failed, [*failed, done("A x 1 1", error="c", status=2)]
    assert [exit_status(RunReport((), each, ())) for each in runs] == [0, 0, 1, 2]


def test_a_few_warnings_are_said_in_full_and_many_are_counted():
    edge = FitWarning("grid edge", "the best C = 1 is the largest of its grid")
    slow = FitWarning("not converged", "stopped after 5 iterations")
    again = FitWarning("not converged", "stopped after 7 iterations")
    assert list(closing_lines([done("A x 1 1"), done("A x 2 1")])) == []
    runs = [done("A x 1 1", edge), done("A x 3 1", edge, edge), done("A x 3 2", edge)]
    assert list(closing_lines(runs)) == [f"A, x, fold 1, 3, 3 of repeat 2: {edge.text}"]
    runs = [done("A x 2 1", slow), done("A x 1 1", slow), done("A y 1 1", edge)]
    assert list(closing_lines(runs)) == [
        f"A, x, fold 2, 1: {slow.text}", f"A, y, fold 1: {edge.text}",
    ]  # fmt: skip
    runs = [
        done("B z 1 1", edge, slow), done("B z 2 1", slow, again), done("B z 2 2", slow),
        done("B y 1 1", edge), done("A z 3 1", edge), done("A y 1 1", slow), done("A x 1 1"),
    ]  # fmt: skip
    assert [re.sub(r" \(.*?\)", "", line) for line in closing_lines(runs)] == [
        "not converged: B z in 3 fits; A y in 1 fit", "grid edge: B y in 1 fit; A z in 1 fit",
        "8 warnings in all; their texts are in each fold's fit.json and in the page of "
        "`letorbench report`",
    ]  # fmt: skip
    assert len(list(closing_lines([done("A x 1 1", slow), done("A x 2 1", again)]))) == 2


def test_foreign_characters_in_each_format():
    given = "=\\~^<>±_%&#${}*|`'\"](\x1b"
    assert {name: getattr(escaping, name)(given) for name in ("markdown", "figure", "csv")} == {
        "markdown": "=\\\\\\~^&lt;>±\\_%&#${}\\*\\|`'\"]\\(\\\\x1b",
        "figure": "=\\~^<>±_%&#\\${}*|`'\"](\\x1b", "csv": "'=\\~^<>±_%&#${}*|`'\"](\\x1b",
    }  # fmt: skip
    assert escaping.latex(given) == (
        r"=\textbackslash{}\textasciitilde{}\textasciicircum{}$<$$>$$\pm$\_\%\&\#\$\{\}"
        r"*\textbar{}`'""\"](" r"\textbackslash{}x1b"
    )  # fmt: skip
    cells = "-0.5", "1e3", "+x", " =1", "@a", "nan", "-inf", "a,b"
    assert [escaping.csv(cell)[:1] == "'" for cell in cells] == [0, 0, 1, 1, 1, 0, 0, 0]
    rows = [["a,b", "=1", 0.1, None, 1, np.nan], ['"', "-2", 1e-7, True, "x y", 2]]
    assert escaping.csv_table(rows) == '"a,b",\'=1,0.1,,1,\n"""",-2,1e-07,True,x y,2\n'


def test_a_checksum_shows_every_change():
    sealed = with_checksum({"a": [1, 2.5], "b": None})
    assert sealed.endswith(' "b": null,\n "seal": "563f287d484d4f84ec88385ab65a219c"\n}\n')
    assert checked(sealed.encode()) == {"a": [1, 2.5], "b": None}
    assert digest(b'{\n "a": [\n  1,\n  2.5\n ],\n "b": null\n}') in sealed
    odd = b"", b"1", b"[]", b"{}", b'{"seal": 1}', b"[" * 100_000, sealed.encode() + b" "
    assert not any(map(checked, (*odd, sealed.replace("2.5", "2.6").encode())))


def test_what_is_fitted_is_stored_and_what_is_asked_for_is_resolved():
    fitted = transformation("zscore").fit(np.array([[1.0, 2.0], [3.0, 2.0]], np.float32))
    assert fitted.as_json() == {"name": "zscore", "mean": [2.0, 2.0], "scale": [1.0, 0.0]}
    constant = transformation("zscore").fit(np.full((2, 1), 0.1, np.float32)).as_json()
    assert constant == {"name": "zscore", "mean": [float(np.float32(0.1))], "scale": [0.0]}
    again = stored(fitted.as_json(), 2).transform(np.array([[0.0, 3.0]], np.float32))
    assert again.tolist() == [[-2.0, 0.0]] and again.dtype == np.float32
    assert transformation("rank")().as_json() == {"name": "rank"}
    nine, none, kinds_of = np.array([[9.0]], np.float32), np.zeros((0, 2)), TRANSFORMATIONS.values()
    edges = (-1.0, NAN, 1.0), (-1.1, 1.0, NAN), (NAN, -1.0, 1.1)
    assert [resolved("auto", "rank", np.array([each])) for each in edges] == ["raw", "rank", "rank"]
    assert all(each.by_query or each.fit(nine).transform(nine).shape == (1, 1) for each in kinds_of)
    assert resolved("rank", "raw", nine) == "rank" and resolved("auto", "raw", nine) == "raw"
    assert resolved("auto", "rank", none) == "raw"
    assert resolved("auto", "rank", np.zeros((1, 2)), False) == "rank"
    assert [resolved(each, "rank", nine, True) for each in ("auto", "zscore")] == ["raw", "zscore"]
    assert [next_number((0.001, 0.01, 0.1), end) for end in ("smallest", "largest")] == [1e-4, 1.0]
    grids = (1, 2), (1, 1, 2), (0, 1, 2), (2, 3, 4), (1, 2, 3)
    assert [edge(values, 2) for values in grids] == [None, "largest", None, "smallest", None]
    bounds = (1, 3), (1, 4), (0, 2), (2, 2)
    offsets = np.array([0, 9, 11, 14, 15])
    assert [longest_query(offsets, *each) for each in bounds] == [3, 3, 9, 0]


def test_names_that_are_registered(tmp_path, monkeypatch):
    names = registry.places("rankers", "name")
    assert list(names) == sorted(names) and names["listnet"] == "letorbench.rankers.listnet:ListNet"
    assert registry.by_class("rankers", "name")["NDCGBoost"] == names["ndcgboost"]
    assert registry.load("letorbench.rankers:NDCGBoost").name == "ndcgboost"
    assert registry.load("letorbench.choices").__name__ == "letorbench.choices"
    with pytest.raises(AttributeError, match="module 'letorbench' has no attribute 'nothing'"):
        lb.nothing  # noqa: B018
    monkeypatch.setattr(registry, "PACKAGE", tmp_path)
    (tmp_path / "things").mkdir()
    for file, name in {"b": "y", "a": "x", "c": "x"}.items():
        registry.places.cache_clear()
        if file == "c":
            made = f"{tmp_path.name}.things"
            assert registry.places("things", "name") == {"x": f"{made}.a:Ca", "y": f"{made}.b:Cb"}
            registry.places.cache_clear()
        code = f'class C{file}:\n    def f(self): ...\n\n    name = "{name}"\n'
        (tmp_path / f"things/{file}.py").write_text(code)
    with pytest.raises(ValueError, match=r"a:Ca and .*/c\.py both define 'x'; rename one"):
        registry.places("things", "name")
    registry.places.cache_clear()


def test_doctor_says_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "machine/code")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    for place, size in (("machine/code/a/b.nbi", 0), ("data/.cache/a/b", 1_260_000)):
        Path(place).parent.mkdir(parents=True)
        Path(place).write_bytes(bytes(size))

    def doctor(*words: str, lacking: tuple[str, ...] = ()) -> tuple[dict[str, str], int]:
        place = "letorbench.cli.doctor._installed"
        monkeypatch.setattr(place, lambda name: None if name in lacking else "1.0")
        result = call("doctor", *words)
        lines = (re.split(r" {2,}|: ", line, maxsplit=1) for line in result.output.splitlines())
        return {name: "".join(rest) for name, *rest in lines}, result.exit_code

    monkeypatch.setenv("LETORBENCH_THREADS", "3")
    found, status = doctor(lacking=("tqdm", "xgboost", "xgboost-cpu"))
    assert status == 1 and found["letorbench"].startswith("error: missing: tqdm; `python -m pip")
    assert found["numpy"] == "1.0" and found["tqdm"].startswith("MISSING, expected >=4.66")
    assert found["xgboost"] == "not installed (optional: --algo xgboost)"
    assert found["threads"] == "3 (LETORBENCH_THREADS=3)" and found["cores"] == "4"
    assert found["kernels"] == "1 compiled in machine/code (may be deleted)"
    assert found["cache"] == "1.3 MB in data/.cache (may be deleted)"
    monkeypatch.delenv("LETORBENCH_THREADS")
    found, status = doctor("--data-dir", "none", "--out", "new/results")
    assert status == 0 and found["threads"] == "2 (as many as there are cores)"
    assert found["data folder"] == "none (not there yet)" and "DEMO" in found["data sets"]
    assert found["results"].startswith("none yet")
    found, status = doctor(lacking=("numba",))
    assert status == 1 and "cores" not in found and found["data folder"] == "data"
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    found, _ = doctor()
    assert found["threads"] == "4 (as many as there are cores)"
    assert found["results folder"].endswith("(NOT WRITABLE)")
