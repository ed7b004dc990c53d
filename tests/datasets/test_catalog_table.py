"""The figures of every data set in the catalog are those of the table beside this file.

They come from the papers and pages that published the sets. Who adds a set writes the
table again with `python tests/datasets/test_catalog_table.py`, and reads what changed.
"""

from __future__ import annotations

import csv
from pathlib import Path

from letorbench.datasets.catalog import CATALOG

TABLE = Path(__file__).with_name("catalog.csv")
FIGURES = (
    "convention", "n_features", "max_label", "queries", "documents", "label_counts",
    "label_shares", "n_folds", "validation", "normalised", "twin",
)  # fmt: skip


def rows() -> list[tuple[str, str, str]]:
    return [
        (name, figure, repr(getattr(known, figure)))
        for name, known in CATALOG.items()
        for figure in FIGURES
    ]


def test_every_figure_is_that_of_the_table() -> None:
    with TABLE.open(newline="", encoding="utf-8") as file:
        assert rows() == [tuple(row) for row in csv.reader(file)]


if __name__ == "__main__":
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows())
