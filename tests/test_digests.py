"""The table of digests, on a small data set: how a run is made changes no byte that it leaves."""

from __future__ import annotations

import sys
from pathlib import Path

from toy_data import write_toy

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.digests import Place, Setting, settings, table  # noqa: E402
from letorbench.jit import kernel_root  # noqa: E402

#: one of each kind: closed form, gradient descent a query, stumps, L-BFGS
ALGOS = ["regression", "ranknet", "rankboost", "mcl", "adarank-ndcg"]


def test_jobs_threads_python_and_order_change_no_byte(tmp_path: Path) -> None:
    write_toy(tmp_path / "data")
    place = Place("TOY", 1, tmp_path / "data", kernel_root())
    chosen = [Setting(threads=1), Setting(False, 2, 7, True), Setting(False, 1, 3, True)]
    found = table(place, chosen, ALGOS)
    assert {name: len(digests) for name, digests in found.items()} == dict.fromkeys(ALGOS, 1)


def test_other_data_have_other_digests(tmp_path: Path) -> None:
    """What is digested is what the run left."""
    write_toy(tmp_path / "data")
    place = Place("TOY", 1, tmp_path / "data", kernel_root())
    first = place.digests(Setting(), ["ranknet", "regression"])
    write_toy(tmp_path / "other", seed=2)
    other = Place("TOY", 1, tmp_path / "other", kernel_root())
    second = other.digests(Setting(), ["ranknet", "regression"])
    assert not set(first.values()) & set(second.values())


def test_the_full_table_has_all_combinations() -> None:
    assert len(set(settings(quick=False, machines=False))) == 24
    assert len(settings(quick=True, machines=True)) == 5
