"""The store of results: what a fold leaves, when it holds, and what damage costs."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from toy_data import store_fold, write_toy

import letorbench as lb
from letorbench.checksum import checked, with_checksum
from letorbench.errors import DataError
from letorbench.files import one_writer
from letorbench.fit_warnings import FitWarning
from letorbench.results.external import import_external
from letorbench.results.labels import Label
from letorbench.results.paths import CHECKED, FIT, SCORES
from letorbench.results.per_query import PerQuery
from letorbench.results.scores import read_scores
from letorbench.results.store import (
    FoldResult,
    Store,
    experiment_of,
    matches,
    read_folds,
    stored_fit,
    write_fold,
)
from letorbench.results.summary import write_tables

#: what a fold's test part has, in a convention, of so many folds
MEASURED = PerQuery("theirs", np.array([2]), np.array(["7"]), {"map": np.array([0.5])}), "letor3", 5


def test_a_fold_of_another_system_is_scores_and_a_fit(tmp_path: Path) -> None:
    facts, odd = {"algo": "theirs", "fold": 2}, FitWarning("other", "odd")
    assert stored_fit(tmp_path) == {} and not matches({}, facts, None)
    curve = (np.float64(0.5), np.nan, np.True_)
    validation = {"value": -np.inf, "curve": curve, "best": np.int64(1)}
    told = {"warnings": (odd,), "validation": validation}
    result = FoldResult(facts, Label("theirs"), np.array([0.1, -1e300]), *MEASURED, **told)
    assert write_fold(tmp_path, result) == stored_fit(tmp_path)
    left = ["fit.json", "per_query.csv", "scores.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left
    assert read_scores(tmp_path / SCORES, 2).tolist() == [0.1, -1e300]
    fit = stored_fit(tmp_path)
    assert (fit["chosen"], fit["warnings"]) == ({}, [vars(odd)])
    # JSON has no infinity
    assert fit["validation"] == {"value": None, "curve": [0.5, None, True], "best": 1}
    assert matches(fit, facts, None) and not matches(fit, {**facts, "fold": 3}, None)
    validated = FoldResult(
        facts, Label("theirs"), np.zeros(1), *MEASURED, validation_scores=np.array([0.25, 1.0])
    )
    write_fold(tmp_path, validated)
    assert (tmp_path / "validation.txt").read_text() == "0.25\n1.0\n"
    write_fold(tmp_path, result)
    assert not (tmp_path / "validation.txt").exists()


def test_any_other_byte_is_damage_that_names_the_file(tmp_path: Path) -> None:
    odd = {"validation_scores": np.arange(3.0)}
    folder = store_fold(tmp_path, "S", "a", 1, {"map": [0.5, 0.25]}, **odd)
    store_fold(tmp_path, "S", "a", 2, {"map": 0.5})
    for name in (FIT, *(name for name in CHECKED if (folder / name).exists())):
        path = folder / name
        content = path.read_bytes()
        for place in range(0, len(content), max(1, len(content) // 40)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            store = Store(tmp_path).look("S")
            assert [fold.number for fold in store.folds.values()] == [2]
            [line] = store.damaged.values()
            assert line.startswith(f"{path}: damaged: ") and line.endswith("makes it again")
        path.unlink()
        assert [fold.number for fold in read_folds(tmp_path, "S", "a")] == [2]
        path.write_bytes(content)
    assert [fold.number for fold in read_folds(tmp_path, "S", "a")] == [1, 2]


@pytest.mark.parametrize("changes, said", [
    ({"means": {"map": 10**400}}, "int too large"),
    ({"means": {"map": np.inf}}, "not finite"),
    ({"means": "map"}, "'str' object has no attribute"),
    ({"convention": "../x"}, "unknown convention '../x'"),
])  # fmt: skip
def test_a_forged_fold_stops_no_other(tmp_path: Path, changes: dict, said: str) -> None:
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5})
    store_fold(tmp_path, "S", "a", 2, {"map": 0.5})
    fit = stored_fit(folder)
    files = {"/dev/zero": "0", "../fold2/scores.txt": "0", **fit["files"]}  # no others are opened
    forged = {**fit, "files": files, "test": fit["test"] | changes}
    (folder / FIT).write_text(with_checksum(forged))
    store = Store(tmp_path).look("S")
    [line] = store.damaged.values()
    assert line.startswith(f"{folder / FIT}: damaged: ") and said in line
    assert [fold.number for fold in store.folds.values()] == [2]


def test_a_store_reads_a_fold_once_and_again_when_it_changed(tmp_path: Path, monkeypatch) -> None:
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5})
    store_fold(tmp_path, "S", "b", 1, {"map": 0.5})
    store = Store(tmp_path).look("S")
    read: list[str] = []

    def counted(place: Path) -> dict:
        read.append(place.parent.name)
        return stored_fit(place)

    monkeypatch.setattr("letorbench.results.store.stored_fit", counted)
    store.look("S")
    assert read == []
    store_fold(tmp_path, "S", "a", 1, {"map": 0.75})
    os.utime(folder / FIT, ns=(1, 1))
    store_fold(tmp_path, "S", "c", 1, {"map": 0.25})
    assert [fold.means["map"] for fold in store.look("S").of("S", "a")] == [0.75]
    assert read == ["a", "c"] and store.algorithms("S") == ["a", "b", "c"]
    (folder / FIT).unlink()
    assert store.look("S").algorithms("S") == ["b", "c"]


def test_reuse_marks_the_fold_as_asked_for_last(tmp_path: Path) -> None:
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5}, repeats=2)
    store = Store(tmp_path).look()
    facts = store.folds[folder].identity
    assert store.reuse(folder, {**facts, "fold": 2}, None) is None
    os.utime(folder / FIT, ns=(1, 1))
    assert store.reuse(folder, facts, None) is None  # another run has written it meanwhile
    fold = store.look().reuse(folder, facts, None)
    assert fold.written == (folder / FIT).stat().st_mtime_ns > 1


def test_every_writer_waits_for_who_has_the_folder(tmp_path: Path) -> None:
    toy, out = lb.load(write_toy(tmp_path / "data").name, data_dir=tmp_path / "data"), tmp_path
    store_fold(out, "TOY", "a", 1, {"map": 0.5})
    store, file = Store(out).look(), tmp_path / "scores"
    [(key, fold)] = store.folds.items()
    file.write_text("1\n" * toy.folds[0].test.n_docs)
    writers = {
        "": lambda: write_tables(store, "TOY", ["a"]),
        "a/fold1": lambda: store.reuse(key, fold.identity, None),
        "b/fold1": lambda: import_external("b", str(file), toy, out, folds=[1]),
    }
    for place, write in writers.items():
        thread = threading.Thread(target=write)
        with one_writer(out / "TOY" / place):
            thread.start()
            thread.join(0.2)
            assert thread.is_alive(), place
        thread.join(10.0)
        assert not thread.is_alive(), place


def test_folds_of_one_experiment_differ_in_their_number_and_their_external_file() -> None:
    one = {"algo": "a", "fold": 1, "external": {"file": "1.txt", "digest": "x", "format": "trec"}}
    two = {"algo": "a", "fold": 2, "external": {"file": "2.txt", "digest": "y", "format": "trec"}}
    assert experiment_of(one) == experiment_of(two)
    for change in ({"format": "scores"}, {"pattern": "{fold}.run"}):
        assert experiment_of(one) != experiment_of({**one, "external": one["external"] | change})
    assert experiment_of(one) != experiment_of({**one, "algo": "b"})


def test_a_cut_off_fold_is_done_for_its_limit_or_a_shorter_one(tmp_path: Path) -> None:
    facts = {"dataset": "SET", "algo": "a", "fold": 1}
    cut = {"time_limit": 60.0, "fits": 2, "of": 6}
    write_fold(tmp_path, FoldResult(facts, Label("theirs"), np.zeros(3), *MEASURED, cut_off=cut))
    assert stored_fit(tmp_path)["cut_off"] == cut
    limits = (None, 10.0, 60.0, 61.0)
    fit = stored_fit(tmp_path)
    assert [matches(fit, facts, limit) for limit in limits] == [False, True, True, False]
    write_fold(tmp_path, FoldResult(facts, Label("theirs"), np.zeros(3), *MEASURED))
    assert all(matches(stored_fit(tmp_path), facts, limit) for limit in limits)


def test_a_checksum_knows_its_own_text_alone() -> None:
    text = with_checksum({"a": [1, "x"]})
    assert checked(text.encode()) == {"a": [1, "x"]}
    for other in (text + " ", text.replace("1", "2"), "{", "[]", "{}", json.dumps({"seal": 3})):
        assert checked(other.encode()) is None


def test_a_file_that_holds_something_else_is_one_line(tmp_path: Path) -> None:
    folder = store_fold(tmp_path, "S", "a", 1, {"map": 0.5})
    [fold] = read_folds(tmp_path, "S", "a")
    for text in ("", "qid,map\n2,.5\n3\n", "qid,map\n2,x\n", "qid,map,mrr\n2,.5\n"):
        (folder / "per_query.csv").write_text(text)
        with pytest.raises(DataError, match="per_query.csv: "):
            fold.queries
