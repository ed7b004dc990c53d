"""Who runs a run: processes, and shares of it."""

import shutil

import pytest
from stored_results import content
from toy_data import write_toy

import letorbench as lb
from letorbench.errors import UsageError
from letorbench.experiment import backends
from letorbench.experiment.backends import Processes, Shard, shard_of
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.runner import run


def test_what_is_stored_starts_no_process(tmp_path, monkeypatch):
    write_toy(tmp_path)
    protocol = Protocol(tmp_path, tmp_path / "out", repeats=1)
    first = run(["TOY"], ["regression"], [1, 2], protocol)
    assert not any(outcome.error or outcome.reused for outcome in first.outcomes)

    def start(*_: object) -> None:
        raise AssertionError("a process is started")

    monkeypatch.setattr(backends, "in_processes", start)
    again = run(["TOY"], ["regression"], [1, 2], protocol, Processes(2))
    assert all(outcome.reused for outcome in again.outcomes)
    with pytest.raises(AssertionError, match="is started"):
        run(["TOY"], ["regression"], None, protocol, Processes(2))


TASKS = [
    Task(dataset, algo, fold, repeat=repeat)
    for dataset in ("A", "B")
    for algo in ("regression", "ranknet", "rankboost")
    for fold in range(1, 6)
    for repeat in range(1, 4)
]


def test_every_task_is_in_one_share():
    for of in (1, 2, 3, 7, 200):
        shares = [Shard(number, of) for number in range(1, of + 1)]
        assert all(sum(share.has(task) for share in shares) == 1 for task in TASKS)
    folds = [Task("A", "ranknet", fold) for fold in range(1, 6)]  # they go round the shares
    assert sorted(sum(Shard(n, 3).has(task) for task in folds) for n in (1, 2, 3)) == [1, 2, 2]


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/3/5", "-1/3", "a/b", "١/٣", "1/3 "])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(UsageError, match="expected a form like 2/3"):
        shard_of(text)


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
