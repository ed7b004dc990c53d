"""Make the leaderboard's numbers: run every algorithm on its data sets, and pack the results.

`make leaderboard` runs this with the data in data/. What is stored in the results folder already
is not run again. Algorithms that draw random numbers have five seeds.
"""

import argparse
import os
from pathlib import Path

import letorbench as lb
from letorbench.analysis.leaderboard import MEASURES, RECOMMENDED, files, never_beaten, shipped
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.packed import pack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    for name, path in files().items():
        lb.run(
            name, "all,ideal", data_dir=chosen.data_dir, out=chosen.out, jobs=os.cpu_count() or 1
        )
        results = DatasetResults.read(chosen.out, name, chosen.data_dir)
        pack(results.only(lb.algorithms()), MEASURES, path)
        print(f"{path}: {path.stat().st_size:,} bytes")
    names = never_beaten([shipped(name) for name in files()])
    (path.parent / RECOMMENDED).write_text("".join(f"{name}\n" for name in names))


if __name__ == "__main__":
    main()
