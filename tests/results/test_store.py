"""The store of results: what a fold leaves, when it holds, and what damage costs."""

import os
import re
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import call
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.errors import DataError, UsageError
from letorbench.experiment.job import _reused, reused
from letorbench.experiment.plan import Job, Protocol
from letorbench.files import digest, one_writer, with_checksum
from letorbench.results.dataset_results import write_tables
from letorbench.results.external import import_external
from letorbench.results.labels import Label
from letorbench.results.paths import CHECKED, FIT, QUERIES, SCORES, FoldKey
from letorbench.results.per_query import PerQuery
from letorbench.results.scores import read_scores
from letorbench.results.store import (
    Store,
    current_folds,
    experiment_of,
    matches,
    read_folds,
    stored_fit,
    write_fold,
)
from letorbench.solvers.fit_warnings import FitWarning

#: what a fold's test part has, in a convention, of so many folds
MEASURED = PerQuery("theirs", np.array([2]), np.array(["7"]), {"map": np.array([0.5])}), "letor3", 5


def test_a_fold_of_another_system_is_scores_and_a_fit(tmp_path):
    facts, odd = {"algo": "theirs", "fold": 2}, FitWarning("other", "odd")
    assert stored_fit(tmp_path) == {} and not matches({}, facts, None)
    curve = (np.float64(0.5), np.nan, np.True_)
    validation = {"value": -np.inf, "curve": curve, "best": np.int64(1)}
    told = {"warnings": (odd,), "validation": validation}
    made = tmp_path, facts, Label("theirs"), np.array([0.1, -1e300]), *MEASURED
    assert write_fold(*made, **told) == stored_fit(tmp_path)
    left = ["fit.json", "per_query.csv", "scores.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left
    assert read_scores(tmp_path / SCORES, 2).tolist() == [0.1, -1e300]
    fit = stored_fit(tmp_path)
    assert (fit["chosen"], fit["warnings"]) == ({}, [vars(odd)])
    # JSON has no infinity
    assert fit["validation"] == {"value": None, "curve": [0.5, None, True], "best": 1}
    assert matches(fit, facts, None) and not matches(fit, {**facts, "fold": 3}, None)
    write_fold(*made, validation_scores=np.array([0.25, 1.0]))
    assert (tmp_path / "validation.txt").read_text() == "0.25\n1.0\n"
    write_fold(*made)
    assert not (tmp_path / "validation.txt").exists()


def test_any_other_byte_is_damage_that_names_the_file(tmp_path):
    odd = {"validation_scores": np.arange(3.0)}
    folder = store_fold(tmp_path, "S", "a", 1, {"map": [0.5, 0.25]}, **odd)
    store_fold(tmp_path, "S", "a", 2, {"map": 0.5})
    for name in (FIT, *(name for name in CHECKED if (folder / name).exists())):
        path = folder / name
        content = path.read_bytes()
        for place in range(0, len(content), max(1, len(content) // 40)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            store = Store(tmp_path, "S").look()
            assert [fold.number for fold in store.folds.values()] == [2]
            [line] = store.damaged.values()
            assert line.startswith(f"{path}: damaged: ") and line.endswith("makes it again")
        path.unlink()
        assert [fold.number for fold in read_folds(tmp_path, "S", "a")] == [2]
        path.write_bytes(content)
    assert [fold.number for fold in read_folds(tmp_path, "S", "a")] == [1, 2]


def test_a_later_format_is_named_left_out_and_never_replaced(tmp_path):
    for fold in (1, 2, 3):
        folder = store_fold(tmp_path, "D", "a", fold, {"map": 0.5})
        fit = stored_fit(folder)
        assert fit.pop("format") == 1
        if fold == 1:  # as before 1.0, when each version trained everything again
            fit["identity"]["letorbench"] = "0.1.0"
        if fold == 3:
            fit |= {"format": 2, "versions": {"letorbench": "1.3.0"}}
        (folder / FIT).write_text(with_checksum(fit))
    later, before = folder / FIT, (folder / FIT).read_bytes()
    store = Store(tmp_path, "D").look()
    assert [fold.number for fold in store.rows()["a"]] == [1, 2]
    first, second = store.rows()["a"]
    assert first.experiment == second.experiment
    assert matches(first.fit, {**second.identity, "fold": 1}, None)
    said = (
        f"{later}: found format 2, which letorbench 1.3.0 wrote, expected 1 at most: letorbench "
        f"{lb.__version__} is too old to read it"
    )
    assert store.damaged == {folder: said}
    protocol = Protocol(data_dir=tmp_path, out=tmp_path)
    job = Job(FoldKey("D", "a", 1, 3), Label("a"), {}, protocol, folder.parent, {})
    with pytest.raises(UsageError, match="too old"):
        _reused(job, None)
    assert later.read_bytes() == before


def test_a_store_reads_a_fold_once_and_again_when_it_changed(tmp_path, monkeypatch):
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5})
    store_fold(tmp_path, "S", "b", 1, {"map": 0.5})
    store = Store(tmp_path, "S").look()
    read: list[str] = []

    def counted(place: Path) -> dict:
        read.append(place.parent.name)
        return stored_fit(place)

    monkeypatch.setattr("letorbench.results.store.stored_fit", counted)
    store.look()
    assert read == []
    store_fold(tmp_path, "S", "a", 1, {"map": 0.75})
    os.utime(folder / FIT, ns=(1, 1))
    store_fold(tmp_path, "S", "c", 1, {"map": 0.25})
    assert [fold.means["map"] for fold in store.look().rows()["a"]] == [0.75]
    assert read == ["a", "c"] and [*store.rows()] == ["a", "b", "c"]
    (folder / FIT).unlink()
    assert [*store.look().rows()] == ["b", "c"]


def job(out: Path, folder: Path, identity: dict, benchmark: object = True) -> Job:
    key = FoldKey("S", "a", 1, 1)
    protocol = Protocol(data_dir=out / "data", out=out)
    facts = {"identity": identity, "benchmark": benchmark}
    return Job(key, Label("a"), {}, protocol, folder.parent, **facts)


def test_reuse_marks_the_fold_as_asked_for_last(tmp_path):
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5}, repeats=2)
    store = Store(tmp_path, "S").look()
    facts = store.folds[folder].identity
    known = store.folds[folder]
    assert reused(job(tmp_path, folder, {**facts, "fold": 2}), known) is None
    os.utime(folder / FIT, ns=(1, 1))
    assert reused(job(tmp_path, folder, facts), known) is None  # another run has written it
    fold = reused(job(tmp_path, folder, facts), store.look().folds[folder]).fold
    assert fold.written == (folder / FIT).stat().st_mtime_ns > 1


def test_every_writer_waits_for_who_has_the_folder(tmp_path):
    toy, out = lb.load(write_toy(tmp_path / "data").name, data_dir=tmp_path / "data"), tmp_path
    store_fold(out, "TOY", "a", 1, {"map": 0.5})
    store, file = Store(out, "TOY").look(), tmp_path / "scores"
    [(key, fold)] = store.folds.items()
    file.write_text("1\n" * toy.folds[0].test.n_docs)
    writers = {
        "": lambda: write_tables(store, ["a"]),
        "a/fold1": lambda: reused(job(out, key, fold.identity, toy), fold),
        "b/fold1": lambda: import_external("b", str(file), toy, out, folds=[1]),
    }
    for place, write in writers.items():
        thread = threading.Thread(target=write)
        with one_writer(out / "TOY" / place, out):
            thread.start()
            thread.join(0.2)
            assert thread.is_alive(), place
        thread.join(10.0)
        assert not thread.is_alive(), place


def test_folds_of_one_experiment_differ_in_their_number_and_their_external_file():
    one = {"algo": "a", "fold": 1, "external": {"file": "1.txt", "digest": "x", "format": "trec"}}
    two = {"algo": "a", "fold": 2, "external": {"file": "2.txt", "digest": "y", "format": "trec"}}
    assert experiment_of(one) == experiment_of(two)
    for change in ({"format": "scores"}, {"pattern": "{fold}.run"}):
        assert experiment_of(one) != experiment_of({**one, "external": one["external"] | change})
    assert experiment_of(one) != experiment_of({**one, "algo": "b"})


def test_a_cut_off_fold_is_done_for_its_limit_or_a_shorter_one(tmp_path):
    facts = {"dataset": "SET", "algo": "a", "fold": 1}
    cut = {"time_limit": 60.0, "fits": 2, "of": 6}
    write_fold(tmp_path, facts, Label("theirs"), np.zeros(3), *MEASURED, cut_off=cut)
    assert stored_fit(tmp_path)["cut_off"] == cut
    limits = (None, 10.0, 60.0, 61.0)
    fit = stored_fit(tmp_path)
    assert [matches(fit, facts, limit) for limit in limits] == [False, True, True, False]
    write_fold(tmp_path, facts, Label("theirs"), np.zeros(3), *MEASURED)
    assert all(matches(stored_fit(tmp_path), facts, limit) for limit in limits)


#: what stands in a fold's per_query.csv with the right checksum
QUERIES_BROKEN = (
    "", "qid,map\n2,.5\n3\n", "qid,map\n2,inf\n", "qid,map\n2,x\n", "qid,map,mrr\n2,.5\n",
    "qid,mrr\n2,.5\n", "qid,map,mrr\n2,.5,.5\n", "\xff\x00",
)  # fmt: skip


def test_no_fold_hides_the_others(tmp_path):
    """A fold whose checksums are right and whose values are not is named once, and left out."""
    out = tmp_path / "results"
    for algo, number in (("a", 1), ("a", 2), ("b", 1), ("b", 2)):
        store_fold(out, "S", algo, number, {"map": [0.5, number / 8]})
    store_fold(out, "T", "a", 1, {"map": 0.5})
    folder = out / "S" / "a" / "fold1"
    fit = stored_fit(folder)
    for content in QUERIES_BROKEN:
        (folder / QUERIES).write_bytes(content.encode("latin-1"))
        digests = {name: digest((folder / name).read_bytes()) for name in fit["files"]}
        (folder / FIT).write_text(with_checksum({**fit, "files": digests}))
        store = Store(out, "S").look()
        assert len(store.damaged) == 1 and len(store.folds) == 3, content
    for words in ("table --measure all", "compare --measure map", "export S --to {}/texts"):
        done = call(*words.format(tmp_path).split(), "--out", str(out), "--data-dir", str(tmp_path))
        if "export" not in words:
            assert done.exit_code == 0 and "b" in done.stdout
        assert len(re.findall(f"{folder}/.*damaged|{folder}/{QUERIES}", done.stderr)) == 1
    shown = lb.load_results(out)
    values = shown.summary().set_index(["dataset", "algo"])["map"].to_dict()
    assert values == {("S", "a"): 0.375, ("S", "b"): 0.34375, ("T", "a"): 0.5}
    for other in out.glob("T/**/fit.json"):  # nor does a data set without a sound fold
        other.write_text("{}")
    shown = lb.load_results(out)
    assert len(shown.warnings) == 2 and shown.datasets == ["S"]


def test_a_pair_is_compared_on_the_queries_that_have_values_of_both(tmp_path):
    store_fold(tmp_path, "S", "a", 1, {"auc": [0.5, np.nan, 1.0, np.nan]})
    store_fold(tmp_path, "S", "b", 1, {"auc": [0.25, 0.5, np.nan, np.nan]})
    store_fold(tmp_path, "S", "c", 1, {"auc": [np.nan] * 4})
    pairs = lb.load_results(tmp_path).compare(measures="auc").set_index(["algo", "against"])
    assert pairs["queries"].tolist() == [1, 0, 0] and pairs["difference"].tolist()[0] == 0.25
    report = lb.load_results(tmp_path).report(tmp_path / "page.html", "b", "auc")
    assert "better on 1 queries" in report.read_text()


def test_folds_that_do_not_go_together_are_not_averaged(tmp_path):
    """The last that was written counts, of those that have its measures and convention."""
    for number, (measure, convention) in enumerate((("mrr", "letor3"), ("map", "letor4")), 1):
        folder = store_fold(tmp_path, "S", "a", number, {measure: 0.25}, convention)
        os.utime(folder / FIT, ns=(number, number))
    store_fold(tmp_path, "S", "a", 3, {"map": 0.5}, "letor3")
    assert lb.load_results(tmp_path).summary()[["folds", "map"]].values.tolist() == [[1, 0.5]]
    store_fold(tmp_path, "S", "b", 1, {"map": [0.5, 0.25]}, repeats=2)
    store_fold(tmp_path, "S", "b", 1, {"map": [0.5]}, repeats=2, repeat=2)
    for repeat, numbers in ((1, (1, 2)), (2, (1,)), (3, (1, 3)), (4, (1, 2))):
        for number in numbers:
            value = {"map": [repeat / 8, number / 4]}
            store_fold(tmp_path, "S", "c", number, value, repeats=4, repeat=repeat)
    [_, b, c] = lb.load_results(tmp_path).frames[0].rows
    assert (b.repeats, b.values) == (1, {"map": 0.375})
    # the repeats 2 and 3 have other folds than 1 and 4, whose means are 1/4 and 7/16
    assert (c.repeats, c.folds, c.values) == (2, 2, {"map": 0.34375})
    assert c.repeated == {"map": (0.25, 0.4375)} and c.partial == "2 of 5 folds"
    assert c.deviation("map") == pytest.approx(0.1875 / 2**0.5)
    # a data set of five folds and one of three of the same name
    first, last = c.by_repeat[0]
    test = {**last.fit["test"], "n_folds": 3}
    last = replace(last, fit={**last.fit, "test": test}, written=first.written + 1)
    assert [fold.number for fold in current_folds([first, last])] == [last.number]
    one, other = (
        PerQuery("a", np.ones(2, int), np.array(list(qids)), {"map": np.array([0.0, 1.0])})
        for qids in ("xy", "yx")
    )
    with pytest.raises(DataError, match="expected the same queries"):
        PerQuery.joined([[one], [other]])


def test_means_are_of_the_folds_and_queries_that_have_a_value(tmp_path):
    """Fold 2 has no query, fold 3 no value of auc: both stay in the tables, as blanks."""
    none: list[float] = []
    for algo, less in (("a", 0.0), ("b", 0.25)):
        store_fold(tmp_path, "S", algo, 1, {"map": [0.5 - less, 0.75], "auc": [np.nan, 0.5 - less]})
        store_fold(tmp_path, "S", algo, 2, {"map": none, "auc": none})
        store_fold(tmp_path, "S", algo, 3, {"map": [1.0 - less, 0.5], "auc": [np.nan, np.nan]})
        store_fold(tmp_path, "E", algo, 1, {"map": none, "auc": none})
    for name in ("S", "E"):
        write_tables(Store(tmp_path, name), "ab")
    results = lb.load_results(tmp_path)
    frame = results.summary()
    expected = [[np.nan, np.nan], [np.nan, np.nan], [0.6875, 0.5], [0.5625, 0.25]]
    np.testing.assert_array_equal(frame[["map", "auc"]], expected)
    rows = (tmp_path / "S/a/folds.csv").read_text().splitlines()
    assert rows == ["fold,map,auc", "1,0.625,0.5", "2,,", "3,0.75,", "mean,0.6875,0.5"]
    assert (tmp_path / "S/a/per_query.csv").read_text().splitlines()[1] == "1,100,0.5,"
    assert (tmp_path / "E/summary.csv").read_text().splitlines()[1] == "a,letor3,1,1,0,0,,"
    pairs = results.compare(measures="map,auc").set_index(["dataset", "measure"])
    assert pairs.loc["S", "map"]["difference"] == 0.125 and pairs.loc["S", "map"]["wins"] == 2
    assert pairs.loc["S", "auc"]["difference"] == 0.25 and pairs.loc["S", "auc"]["queries"] == 1
    assert pairs.loc["E", ["p", "p_adjusted", "difference"]].isna().all(axis=None)
    assert not pairs["significant"].any()
    table = call("table", "--measure", "all", "--out", str(tmp_path)).stdout
    assert "nan" not in table and "–" in table and "no value of any measure in fold 2" in table
    for words in ("compare --measure map", "compare --power --measure auc", "plot --measure auc",
                  "report --measure auc --out-file {}/page.html"):  # fmt: skip
        done = call(*words.format(tmp_path).split(), "--out", str(tmp_path))
        assert done.exit_code == 0 and "nan" not in done.stdout, done.stderr
    assert not re.search(r"\bnan\b", (tmp_path / "page.html").read_text())
