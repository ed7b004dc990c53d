"""Shares of a run: together they are the run, and merging them gives its bytes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from stored_results import content
from toy_data import write_toy

import letorbench as lb
from letorbench.cli import cli
from letorbench.errors import UsageError
from letorbench.experiment.backends import Shard, shard
from letorbench.experiment.plan import Task

TASKS = [
    Task(dataset, algo, fold, repeat=repeat)
    for dataset in ("A", "B")
    for algo in ("regression", "ranknet", "rankboost")
    for fold in range(1, 6)
    for repeat in range(1, 4)
]


@pytest.mark.parametrize("of", [1, 2, 3, 7, 200])
def test_every_cell_is_in_one_share(of):
    shares = [Shard(number, of) for number in range(1, of + 1)]
    assert all(sum(share.has(task) for share in shares) == 1 for task in TASKS)


def test_an_algorithms_folds_go_round_the_shares():
    for algo in ("regression", "ranknet", "rankboost"):
        folds = [Task("A", algo, fold) for fold in range(1, 6)]
        counts = [sum(Shard(number, 3).has(task) for task in folds) for number in (1, 2, 3)]
        assert sorted(counts) == [1, 2, 2]


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/3/5", "-1/3", "a/b", "١/٣", "1/3 "])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(UsageError, match="expected a form like 2/3"):
        shard(text)


def test_merged_shares_are_the_run(tmp_path):
    write_toy(tmp_path / "data")
    options = {"data_dir": tmp_path / "data", "repeats": 2, "fixed": ["epochs=2"]}
    algos = ["regression", "ranknet"]
    lb.run("TOY", algos, out=tmp_path / "whole", **options)
    parts = [tmp_path / f"part{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        lb.run("TOY", algos, out=part, shard=f"{number}/3", **options)
    merged = lb.merge(parts, tmp_path / "merged")
    assert content(tmp_path / "merged") == content(tmp_path / "whole")
    assert merged.summary().equals(lb.results(tmp_path / "whole").summary())


def test_merged_shares_of_the_command_line_are_the_run_with_its_figures(tmp_path):
    write_toy(tmp_path / "data")

    def call(*words: str) -> None:
        ended = CliRunner().invoke(cli, [*words])
        assert ended.exit_code == 0, ended.output

    run = ("run", "--dataset", "TOY", "--algo", "regression", "--data-dir", str(tmp_path / "data"))
    call(*run, "--out", str(tmp_path / "whole"))
    for share in ("1/2", "2/2"):
        call(*run, "--shard", share, "--out", str(tmp_path / share[0]))
    call("results", "merge", *(str(tmp_path / n) for n in "12"), "--out", str(tmp_path / "merged"))
    assert content(tmp_path / "merged") == content(tmp_path / "whole")
    assert (tmp_path / "merged" / "TOY" / "ndcg.png").is_file()
