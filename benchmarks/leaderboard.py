"""Make the leaderboard's numbers: run every algorithm on its data sets, and pack the results.

`make leaderboard` runs this with the data in data/. What is stored in the results folder already
is not run again. Algorithms that draw random numbers have five seeds. The results folders in
submissions/ are packed with them. With `--protocols published,tuned` the algorithms are also run
and packed under these, for the table of tuning. CatBoost is not tuned: that takes many hours.
"""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import letorbench as lb
from letorbench.analysis.leaderboard import (
    MEASURES,
    PROTOCOLS,
    RECOMMENDED,
    files,
    never_beaten,
    protocol_of,
    shipped,
)
from letorbench.api.leaderboard import boards
from letorbench.choices import require_choice, split
from letorbench.errors import LetorError
from letorbench.experiment.plan import DEFAULT_REPEATS
from letorbench.rankers import names
from letorbench.rankers.tuning import BUDGET
from letorbench.results.dataset_results import DatasetResults, SystemResults
from letorbench.results.packed import pack
from letorbench.results.paths import present

#: takes two hours under its default grid, half an hour as published, and far longer tuned
SLOW = "catboost"
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


def of_board(row: SystemResults, protocols: Sequence[str]) -> bool:
    """Return whether a row is a built-in algorithm's as it is, under one of the protocols."""
    settings = {key for key, _ in row.label.settings}
    known = row.label.algo in lb.algorithms() and not row.label.name
    return known and settings <= {"protocol", "budget"} and protocol_of(row) in protocols


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--protocols", default="", help="comma list of published and tuned")
    parser.add_argument("--algo", default=f"all,{SLOW}", help="algorithms; `ideal` is added")
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--repeats", type=int, default=DEFAULT_REPEATS, help="of the protocols")
    chosen = parser.parse_args(arguments)
    others = [require_choice(each, PROTOCOLS, "protocol") for each in split([chosen.protocols])]
    where = {"data_dir": chosen.data_dir, "out": chosen.out, "jobs": os.cpu_count() or 1}
    quick = [each for each in split([chosen.algo]) if each != SLOW]
    for name, path in files().items():
        lb.run(name, f"{chosen.algo},ideal", **where)
        for protocol in others:
            lb.run(
                name, quick if protocol == "tuned" else chosen.algo, protocol=protocol,
                budget=chosen.budget, repeats=chosen.repeats, **where,
            )  # fmt: skip
        results = DatasetResults.read(chosen.out, name, chosen.data_dir)
        shown = [each for each in results.rows if of_board(each, ["default", *others])]
        submitted = (
            DatasetResults.read(folder, name, chosen.data_dir)
            for folder in sorted(SUBMISSIONS.glob("*/"))
            if name in present(folder) and not faults(folder)
        )
        rows = (*shown, *(row for each in submitted for row in each.rows))
        pack(replace(results, rows=rows), MEASURES, path)
        print(f"{path}: {path.stat().st_size:,} bytes")
    best = never_beaten([shipped(name) for name in files()])
    (path.parent / RECOMMENDED).write_text("".join(f"{name}\n" for name in best))


if __name__ == "__main__":
    main()
