"""Whole commands, start-up included, from cached data, beside RankLib's times on MQ2008."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.quality import DATA
from benchmarks.table import Row, seconds, show
from letorbench.datasets import layout
from letorbench.rankers import ranker

#: seconds RankLib takes on MQ2008, five folds, its defaults, start-up and reading included
RANKLIB = {
    "adarank-ndcg": 12.7,
    "rankboost": 21.5,
    "listnet": 55.5,
    "ranknet": 40.7,
    "lambdarank": 55.0,
}


def command(*words: str) -> float:
    """The median wall time of several calls of `letorbench`."""
    call = [sys.executable, "-m", "letorbench", *words]
    return seconds(lambda: subprocess.run(call, check=True, capture_output=True), 5)


def run(algo: str, out: str) -> float:
    """Five folds and one seed on MQ2008 at the default settings, nothing chosen from a grid."""
    cls = ranker(algo)
    fixed = [f"--set={name}={cls().get_params()[name]}" for name in cls.grid]
    asked = ["--dataset", "MQ2008", "--algo", algo, "--repeats", "1", *fixed]
    return command("run", *asked, "--force", "--out", out)


def rows() -> list[Row]:
    elapsed = command("--help")
    found = [Row("letorbench --help", f"{elapsed:.2f} s", "-", "<= 0.30 s", elapsed <= 0.3)]
    if "MQ2008" not in layout.installed(Path(DATA)):
        return [*found, Row("letorbench run, MQ2008", "-", "no MQ2008 in data/", "-", None)]
    with tempfile.TemporaryDirectory() as out:
        for algo, limit in (("ndcgboost", 3.0), ("regression", 1.5)):
            elapsed = run(algo, out)
            what, target = f"letorbench run, MQ2008, {algo}, 5 folds", f"<= {limit:.2f} s"
            found.append(Row(what, f"{elapsed:.2f} s", "-", target, elapsed <= limit))
        for algo, theirs in RANKLIB.items():
            elapsed = run(algo, out)
            found.append(
                Row(
                    f"letorbench run, MQ2008, {algo}, 5 folds, no grid",
                    f"{elapsed:.2f} s",
                    f"RankLib: {theirs:.1f} s, {theirs / elapsed:.0f} times as long",
                    f"<= {theirs / 20:.2f} s",
                    elapsed <= theirs / 20,
                    {"letorbench": elapsed, "RankLib": theirs},
                )
            )
    return found


if __name__ == "__main__":
    show(rows())
