"""The table of digests, on a small data set: how a run is made changes no byte that it leaves."""

import sys
from pathlib import Path

import pytest
from conftest import places, printed
from toy_data import write_toy

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.digests import Place, Setting  # noqa: E402
from letorbench.jit import kernel_root  # noqa: E402

#: one of each kind: closed form, gradient descent a query, stumps, L-BFGS
ALGOS = ["regression", "ranknet", "rankboost", "mcl", "adarank-ndcg", "ndcgboost"]


@pytest.mark.usefixtures("no_figures")
def test_jobs_threads_python_and_order_change_no_byte(tmp_path: Path, monkeypatch) -> None:
    write_toy(tmp_path / "data")
    place = Place("TOY", 1, tmp_path / "data", kernel_root())
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    words = ["run", "--repeats=1", "--dataset", "TOY", "--folds", "1", "--algo", ",".join(ALGOS)]
    printed(*words, *places(tmp_path))
    here = {name: place.digest(tmp_path / "results", name) for name in ALGOS}
    assert place.digests(Setting(False, 2, 7, True), ALGOS) == here
