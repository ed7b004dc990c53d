"""Who runs a run, and on what: processes, shares of the tasks, shares of the training queries."""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import printed
from toy_data import content, write_toy

import letorbench as lb
from letorbench.experiment import backends
from letorbench.experiment import run as running
from letorbench.experiment.backends import Processes, Shard
from letorbench.experiment.entrants import entrants
from letorbench.experiment.plan import Job, Protocol
from letorbench.experiment.run import Run
from letorbench.experiment.runner import run
from letorbench.results.labels import Label
from letorbench.results.paths import FoldKey


def test_what_is_stored_starts_no_process(tmp_path, monkeypatch):
    write_toy(tmp_path)
    protocol = Protocol(tmp_path, tmp_path / "out", repeats=1)
    first = run(["TOY"], entrants("regression"), [1, 2], protocol)
    assert not any(each.error or each.reused for each in first.runs)

    def start(work: partial, *_: object) -> None:
        raise AssertionError(f"a process of {work.keywords['threads']} threads is started")

    monkeypatch.setattr(backends, "in_processes", start)
    monkeypatch.setenv("LETORBENCH_THREADS", "5")
    again = run(["TOY"], entrants("regression"), [1, 2], protocol, Processes(2))
    assert all(each.reused for each in again.runs)
    with pytest.raises(AssertionError, match="of 2 threads is started"):
        lb.run("TOY", "regression", jobs=2, data_dir=tmp_path, out=protocol.out)


def job_of(dataset: str, algo: str, fold: int, repeat: int = 1) -> Job:
    key = FoldKey(dataset, algo, repeat, fold)
    return Job(key, Label(algo), {}, Protocol(Path(), Path()), Path())


JOBS = [
    job_of(dataset, algo, fold, repeat)
    for dataset in ("A", "B")
    for algo in ("regression", "ranknet", "rankboost")
    for fold in range(1, 6)
    for repeat in range(1, 4)
]


def test_every_job_is_in_one_share():
    for of in (1, 2, 3, 7, 200):
        shares = [Shard(number, of) for number in range(1, of + 1)]
        assert all(sum(share.has(job) for share in shares) == 1 for job in JOBS)
    folds = [job_of("A", "ranknet", fold) for fold in range(1, 6)]  # they go round the shares
    assert sorted(sum(Shard(n, 3).has(job) for job in folds) for n in (1, 2, 3)) == [1, 2, 2]


def test_a_lost_process_is_told_with_what_may_have_ended_it():
    job = JOBS[0]
    for how, guess in (("was ended by SIGKILL", " (too little memory?)"), ("ended", "")):
        lost = Run(job.key, error=f"its process {how}{guess}", exit_status=1)
        assert backends._lost(job, how) == lost


def test_copied_shares_are_the_run(tmp_path):
    write_toy(tmp_path / "data")
    options = {"data_dir": tmp_path / "data", "repeats": 2, "fixed": ["epochs=2"]}
    algos = ["regression", "ranknet"]
    whole = lb.run("TOY", algos, out=tmp_path / "whole", **options)
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        lb.run("TOY", algos, out=part, shard=f"{number}/3", **options)
        shutil.copytree(part, tmp_path / "copied", dirs_exist_ok=True)
    copied = lb.load_results(tmp_path / "copied")
    assert content(copied.out) == content(tmp_path / "whole")
    assert copied.summary().equals(whole.summary())


@pytest.fixture
def seen(tmp_path, monkeypatch) -> dict[tuple, list[list[str]]]:
    """The queries of each part that each trial is given, by algorithm and run."""
    found: dict[tuple, list[list[str]]] = {}
    choose = running.select

    def select(cls, fixed, train, validation, *others):
        parts = [part.qids.tolist() for part in (train, validation.queries)]
        found.setdefault((cls.name, len(parts[0])), []).append(parts)
        return choose(cls, fixed, train, validation, *others)

    monkeypatch.setattr(running, "select", select)
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    return found


def test_shares_are_nested_and_the_same_for_every_algorithm(seen):
    results = lb.run("TOY", ["regression", "best-feature"], share=[0.25, 0.5, 1], folds=[2])
    fold = lb.load("TOY").folds[1]
    assert results.datasets == ["TOY@0.25", "TOY@0.5", "TOY"]
    few, half, whole = (seen["regression", n][0] for n in (6, 12, 24))
    assert set(few[0]) < set(half[0]) < set(whole[0]) and whole[0] == fold.train.qids.tolist()
    assert half[0] == [qid for qid in whole[0] if qid in half[0]]
    assert few[1] == half[1] == whole[1] == fold.validation.qids.tolist()
    assert [seen["best-feature", n][0] for n in (6, 12, 24)] == [few, half, whole]
    lb.run(lb.load("TOY"), "regression", share=0.5, folds=[2], out="held")
    lb.run(lb.load("TOY@0.5"), "regression", folds=[2, 3], out="held", seed=1)
    again, other_seed, other_fold = seen["regression", 12][1:]
    assert again == half and other_seed[0] != half[0]
    last = lb.load("TOY").folds[2]
    drawn = [np.isin(f.train.qids, own[0]) for f, own in ((fold, other_seed), (last, other_fold))]
    assert drawn[0].sum() == drawn[1].sum() == 12 and (drawn[0] != drawn[1]).any()
    # each share is scored by the model of its own queries
    scores = {n: results.only(n).scores()["regression"].to_numpy() for n in results.datasets}
    assert len({tuple(own) for own in scores.values()}) == 3
    lb.run("TOY", ["regression", "best-feature"], folds=[2], out="plain")
    assert content(results.out / "TOY") == content(results.out.parent / "plain" / "TOY")


def test_learning_curves_are_means_over_the_same_queries(seen):
    lb.run("TOY", "regression", share=[0.25, 1], folds=[1, 2])
    lb.run("TOY", "best-feature", folds=[2, 3])
    results = lb.load_results()
    frame = results.learning_curves("map")
    assert frame[["dataset", "algo", "share"]].to_numpy().tolist() == [
        ["TOY", "best-feature", 1.0], ["TOY", "regression", 0.25], ["TOY", "regression", 1.0],
    ]  # fmt: skip
    values = results.per_query("map").query("fold == 2")
    of = values.groupby(["algo", "dataset"])["map"].mean()
    means = [of["best-feature", "TOY"], of["regression", "TOY@0.25"], of["regression", "TOY"]]
    np.testing.assert_allclose(frame["map"], means)
    assert ((frame["low"] < frame["map"]) & (frame["map"] < frame["high"])).all()
    assert "shares-map.svg" in printed(*"plot --shares --measure map --format svg".split())
    axes = results.plot("map", shares=True).axes[0]
    assert [line.get_xdata().tolist() for line in axes.lines] == [[1.0], [0.25, 1.0]]
    kept = results.only("TOY").scores().groupby("fold")[["best-feature", "regression"]].count()
    assert kept.to_numpy().tolist() == [[0, 56], [56, 56], [56, 0]]
