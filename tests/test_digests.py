"""The table of digests, on a small data set: how a run is made changes no byte that it leaves."""

import sys
from pathlib import Path

from toy_data import write_toy

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.digests import Place, Setting, table  # noqa: E402
from letorbench.jit import kernel_root  # noqa: E402

#: one of each kind: closed form, gradient descent a query, stumps, L-BFGS
ALGOS = ["regression", "ranknet", "rankboost", "mcl", "adarank-ndcg", "ndcgboost"]


def test_jobs_threads_python_and_order_change_no_byte(tmp_path: Path) -> None:
    write_toy(tmp_path / "data")
    place = Place("TOY", 1, tmp_path / "data", kernel_root())
    chosen = [Setting(threads=1), Setting(False, 2, 7, True)]
    found = table(place, chosen, ALGOS)
    assert {name: len(digests) for name, digests in found.items()} == dict.fromkeys(ALGOS, 1)
