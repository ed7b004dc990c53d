"""The leaderboard: packed results read back, and a user's rows have their place among them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import call, printed, refused
from toy_data import write_toy, write_uneven

import letorbench as lb
from benchmarks.leaderboard import SUBMISSIONS, faults
from benchmarks.leaderboard import main as packed_by
from letorbench.analysis import leaderboard
from letorbench.analysis.comparison import Procedure
from letorbench.analysis.leaderboard import (
    MEASURES,
    board,
    board_table,
    files,
    never_beaten,
    recommended,
    shipped,
    tuning_table,
    verdict,
)
from letorbench.analysis.report import page as report
from letorbench.analysis.results_table import summary_table
from letorbench.analysis.tables import render, to_frame
from letorbench.errors import DataError
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.packed import pack, read_packed, unpack


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A set whose folds differ in size, run with two seeds, and packed."""
    folder = tmp_path_factory.mktemp("board")
    write_uneven(folder / "data")
    where = {"data_dir": folder / "data", "out": folder / "results"}
    lb.run("UNEVEN", ["regression", "random", lb.RankNet(epochs=2)], repeats=2, **where)
    frame = DatasetResults.read(folder / "results", "UNEVEN", folder / "data")
    pack(frame, MEASURES, folder / "UNEVEN.zip")
    return folder


def test_ranks_of_long_lists_take_four_bytes(made, tmp_path, monkeypatch):
    monkeypatch.setattr("letorbench.results.packed.TWO_BYTES", 1)
    frame = DatasetResults.read(made / "results", "UNEVEN", made / "data")
    pack(frame, MEASURES, tmp_path / "UNEVEN.zip")
    assert len(np.load(tmp_path / "UNEVEN.zip")["places"]) == 4
    for name in (made / "UNEVEN.zip", tmp_path / "UNEVEN.zip"):
        unpack(name, tmp_path / name.parent.name)
    two, four = ([*(tmp_path / n).rglob("scores.txt")] for n in (made.name, tmp_path.name))
    assert [sorted(p.read_text() for p in two)] == [sorted(p.read_text() for p in four)] and two


def test_packed_results_read_back_and_are_measured_again(made, tmp_path):
    unpack(made / "UNEVEN.zip", tmp_path / "out")
    kept, found, again = (
        DatasetResults.read(made / "results", "UNEVEN"), read_packed(made / "UNEVEN.zip"),
        DatasetResults.read(tmp_path / "out", "UNEVEN", made / "data"),
    )  # fmt: skip
    for one, *others in zip(kept.rows, found.rows, again.rows, strict=True):
        for other in others:
            for fact in ("algo", "label", "repeats", "folds", "seconds"):
                assert getattr(other, fact) == getattr(one, fact)
            for name in MEASURES:
                np.testing.assert_array_equal(other.queries.tables[name], one.queries.tables[name])
                assert other.values[name] == one.values[name]
    assert "0 problems" in printed("verify", str(tmp_path / "out"), "--data-dir", f"{made}/data")
    pack(again, MEASURES, tmp_path / "again.zip")
    for name in ("values", "places"):
        files = made / "UNEVEN.zip", tmp_path / "again.zip"
        np.testing.assert_array_equal(*(np.load(file, allow_pickle=False)[name] for file in files))
    (tmp_path / "broken.zip").write_bytes((made / "UNEVEN.zip").read_bytes()[:500])
    with pytest.raises(DataError, match="found no packed results"):
        read_packed(tmp_path / "broken.zip")


def test_own_rows_have_their_place_and_are_paired_by_query(made, tmp_path):
    ours = read_packed(made / "UNEVEN.zip")
    base = ours.only(["regression"]).rows[0]

    def shifted(name: str, by: float):
        stored = []
        for fold in base.stored:
            fit = {**fold.fit, "label": f"{name}=regression"}
            tables = {k: v + by for k, v in fold.queries.values.items()}
            stored.append(replace(fold, fit=fit).extended(tables))
        return replace(base, algo=name, stored=tuple(stored))

    other = replace(base, stored=tuple(
        replace(f, fit={**f.fit, "test": f.fit["test"] | {"convention": "trec_eval"}})
        for f in base.stored
    ))  # fmt: skip
    gap = shifted("gap", 0.0)
    gap = replace(gap, stored=tuple(f.without(["map"]) for f in gap.stored)).with_blanks(["map"])
    less = replace(base, algo="less", stored=tuple(
        replace(f, queries=f.queries.at(np.arange(len(f.queries.qids)) > 0)) for f in base.stored
    ))  # fmt: skip
    part = shifted("part", 1.0)
    part = replace(part, stored=part.stored[:2])
    rows = shifted("good", 0.25), shifted("same", 0.0), other, gap, less, part
    theirs = replace(ours, rows=rows)
    each = board(ours, replace(theirs, data_dir=made / "data"))
    assert each.users == ("good (yours)", "same (yours)", "part (yours)")
    nouns = (("regression:", "trec_eval"), ("gap:", "without a value"), ("less:", "other queries"))
    for note, (name, noun) in zip(each.notes, nouns, strict=True):
        assert note.startswith(name) and noun in note
    rows = to_frame(board_table(each, "ndcg@10")).set_index("algo")
    assert rows["place"]["good (yours)"] == 1
    values = rows["ndcg@10"]
    assert values["good (yours)"] == pytest.approx(values["regression"] + 0.25)
    assert values["same (yours)"] == values["regression"]
    assert "place 1 of 5" in verdict(each, "good (yours)", "ndcg@10")
    assert "better than 4 of the 4 others and worse than 0" in verdict(each, "good (yours)", "map")


@pytest.mark.parametrize("mark", ["cut off", "not converged"])
def test_a_row_whose_fits_a_limit_ended_is_marked_everywhere(made, mark):
    ours = read_packed(made / "UNEVEN.zip")
    facts = {"cut_off": {"time_limit": 1.0, "fits": 1, "of": 1}} if mark == "cut off" else {
        "warnings": [{"kind": mark, "text": "stopped"}]}  # fmt: skip
    one = ours.only(["regression"]).rows[0]
    first, *rest = one.stored
    early = replace(one, stored=(replace(first, fit={**first.fit, **facts}), *rest))
    frame = replace(ours, rows=tuple(early if row is one else row for row in ours.rows))
    for text in (
        render(board_table(board(frame, None), "ndcg@10"), "text"),
        render(board_table(board(frame, None), "ndcg@10", every=True), "html"),
        render(summary_table(frame, ["map"]), "text"),
        report([frame], "random", Procedure("t"), "map", ""),
    ):
        assert f"regression ({mark})" in text and f"ranknet ({mark})" not in text
        assert "regression (1 of 5 folds)" in text
    rows = to_frame(summary_table(frame, ["map"])).set_index("algo")
    assert rows[mark.replace(" ", "_")]["regression"] == 1


def test_what_is_shipped_is_small_and_whole_and_recommends_what_is_stored():
    assert sorted(files()) == ["MQ2008", "OHSUMED"]
    assert sum(path.stat().st_size for path in files().values()) <= 3_000_000
    frames = [shipped(name) for name in files()]
    for frame, queries in zip(frames, (784, 106)):
        assert not frame.partial and not frame.mixed
        assert {"ndcgboost", "listnet", "lambdamart", "ranksvm"} <= {r.algo for r in frame.rows}
        for row in frame.rows:
            assert len(row.queries.qids) == queries and row.repeats == (5 if row.drawn else 1)
    assert recommended() == never_beaten(frames)
    stars = {line.split()[0] for line in printed("algos").splitlines() if " * " in line}
    assert stars == {*recommended()}


def test_the_command_shows_them_and_writes_a_page(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(leaderboard, "files", lambda: {"UNEVEN": made / "UNEVEN.zip"})
    monkeypatch.setattr("letorbench.api.leaderboard.files", leaderboard.files)
    mine = f"{made}/results", "--data-dir", f"{made}/data"
    text = printed("leaderboard", *mine, "--measure", "MAP")
    assert "regression (yours): place" in text and "page  leaderboard.html" in text
    assert "by MAP" in text
    page = Path("leaderboard.html").read_text()
    assert page.count("regression (yours)") > 2 and 'data-choice="family"' in page
    assert "found p@3" in refused(2, "leaderboard", "--measure", "p@3")
    assert "nowhere: no results there" in refused(1, "leaderboard", "nowhere")
    write_toy(tmp_path / "data")
    call("run", "--dataset", "TOY", "--algo", "regression", "--folds", "1")
    assert "found results of TOY" in refused(2, "leaderboard", "results")


def test_protocols_stand_in_a_table_of_their_own(tmp_path, monkeypatch):
    for place in ("letorbench.api", "letorbench.analysis", "benchmarks"):
        monkeypatch.setattr(
            f"{place}.leaderboard.files", lambda: {"UNEVEN": tmp_path / "UNEVEN.zip"}
        )
    monkeypatch.chdir(tmp_path)
    write_uneven(tmp_path / "data")
    algos = ["--algo", "regression,ranksvm,random", "--budget", "3"]
    packed_by([*algos, "--protocols", "published,tuned"])
    everything, kept = shipped("UNEVEN", every=True), {"regression", "ranksvm", "random", "ideal"}
    each, of = board(everything, None), {row.algo: row for row in everything.rows}
    assert len(of) == 10 and {row.algo for row in shipped("UNEVEN").rows} == kept
    assert {row.algo for row in each.frame.rows} == kept
    found = to_frame(tuning_table(each, "ndcg@10")).set_index("algo")
    rows = {"tuned": of["ranksvm[protocol=tuned,budget=3]"], "default": of["ranksvm"],
            "published": of["ranksvm[protocol=published]"]}  # fmt: skip
    tuned, default = (rows[name].queries.values["ndcg@10"] for name in ("tuned", "default"))
    row = found.loc["ranksvm"]
    assert row["gain"] == pytest.approx((tuned - default).mean())
    assert row["low"] < row["gain"] < row["high"]
    for name, one in rows.items():
        assert row[name] == one.values["ndcg@10"] and row[f"{name} seconds"] == one.seconds
    assert list(found["gain"]) == sorted(found["gain"], reverse=True)
    unfinished = replace(rows["tuned"], stored=rows["tuned"].stored[:2])
    theirs = replace(everything, rows=(rows["default"], unfinished), data_dir=tmp_path / "data")
    assert len(to_frame(tuning_table(board(everything, theirs), "ndcg@10"))) == len(found)
    assert "under three protocols" in printed("leaderboard")
    assert "Who was under-tuned?" in Path("leaderboard.html").read_text()
    assert "under three protocols" not in printed("leaderboard", "--format", "csv")
    packed_by(algos)  # without the others, these are not packed
    assert {row.algo for row in shipped("UNEVEN", every=True).rows} == kept
    assert tuning_table(board(shipped("UNEVEN"), None), "ndcg@10") is None


def test_a_submission_is_whole_and_of_the_leaderboards_queries(made, tmp_path, monkeypatch):
    assert [line for each in SUBMISSIONS.glob("*/") for line in faults(each)] == []
    monkeypatch.setattr("letorbench.api.leaderboard.files", lambda: {"UNEVEN": made / "UNEVEN.zip"})
    monkeypatch.setattr(leaderboard, "files", lambda: {"UNEVEN": made / "UNEVEN.zip"})
    where = {"data_dir": made / "data"}

    def sent(name: str, **more) -> list[str]:
        lb.run("UNEVEN", {name: lb.Regression()}, out=tmp_path / name, **where, **more)
        return faults(tmp_path / name)

    assert sent("mine") == []
    assert "1 of 5 folds" in " ".join(sent("some", folds=[1]))
    assert any("regression" in line and "name" in line for line in faults(made / "results"))
    scores = next((tmp_path / "mine").rglob("scores.txt"))
    scores.write_text(scores.read_text()[:-9])
    assert "scores.txt" in " ".join(faults(tmp_path / "mine"))
