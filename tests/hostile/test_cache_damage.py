"""A short version of `cache_damage.py`, and runs with and without a cache."""

from __future__ import annotations

import shutil
from pathlib import Path

from cache_damage import damaged_loads
from toy_data import write_toy

from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.results.paths import FIT


def test_no_damage_of_the_cache_reaches_a_benchmark() -> None:
    done, wrong = damaged_loads(60)
    assert sum(done.values()) == 60 and not wrong


def test_runs_with_and_without_a_cache_and_with_a_damaged_one_are_equal(tmp_path: Path) -> None:
    write_toy(tmp_path / "data")
    cache = tmp_path / "data" / ".cache"

    def scores(name: str) -> dict[str, bytes]:
        protocol = Protocol(tmp_path / "data", tmp_path / name)
        run(["TOY"], {"regression": {}, "adarank-ndcg": {"rounds": 3}}, None, protocol)
        files = [p for p in protocol.out.rglob("*") if p.is_file() and p.name != FIT]
        return {p.relative_to(protocol.out).as_posix(): p.read_bytes() for p in files}

    first = scores("none")
    assert cache.is_dir() and scores("there") == first and len(first) > 30
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert scores("damaged") == first
    shutil.rmtree(cache)
    assert scores("gone") == first
