"""Make the leaderboard's numbers: run every algorithm on its data sets, and pack the results.

`make leaderboard` runs this with the data in data/. What is stored in the results folder already
is not run again. Algorithms that draw random numbers have five seeds. The results folders in
submissions/ are packed with them.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import letorbench as lb
from letorbench.analysis.leaderboard import MEASURES, RECOMMENDED, files, never_beaten, shipped
from letorbench.api.leaderboard import boards
from letorbench.errors import LetorError
from letorbench.rankers import names
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.packed import pack
from letorbench.results.paths import present

SUBMISSIONS = Path(__file__).resolve().parents[1] / "submissions"


def faults(folder: Path) -> list[str]:
    """Return a line for each reason why a results folder cannot be on the leaderboard.

    The data are not needed: `letorbench verify`, which has them, measures the numbers again.
    """
    try:
        found = boards(folder, None, MEASURES[3])
    except LetorError as error:
        return [str(error)]
    taken = [
        f"{row.algo}: found a name of an algorithm here, expected another"
        for each in found
        for row in each.frame.rows
        if row.algo in each.users and row.label.row in names()
    ]
    frames = [each.frame for each in found]
    damaged = [line for frame in frames for line in (*frame.damaged, *frame.partial)]
    return [*taken, *damaged, *(note for each in found for note in each.notes)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    for name, path in files().items():
        lb.run(
            name, "all,ideal", data_dir=chosen.data_dir, out=chosen.out, jobs=os.cpu_count() or 1
        )
        results = DatasetResults.read(chosen.out, name, chosen.data_dir).only(lb.algorithms())
        submitted = (
            DatasetResults.read(folder, name, chosen.data_dir)
            for folder in sorted(SUBMISSIONS.glob("*/"))
            if name in present(folder) and not faults(folder)
        )
        rows = (*results.rows, *(row for each in submitted for row in each.rows))
        pack(replace(results, rows=rows), MEASURES, path)
        print(f"{path}: {path.stat().st_size:,} bytes")
    best = never_beaten([shipped(name) for name in files()])
    (path.parent / RECOMMENDED).write_text("".join(f"{name}\n" for name in best))


if __name__ == "__main__":
    main()
