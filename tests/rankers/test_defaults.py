"""Every ranker's default settings and grid are those of the table.

The numbers that the pages print were made with them: whoever changes one renews those numbers, and
writes the table again with `python tests/rankers/test_defaults.py`.
"""

from __future__ import annotations

import csv
from pathlib import Path

from letorbench.rankers import names, ranker

TABLE = Path(__file__).with_name("defaults.csv")
COLUMNS = ("ranker", "setting", "default", "grid")


def rows() -> list[tuple[str, ...]]:
    return [
        (name, setting, repr(default), repr(cls.grid.get(setting, "")))
        for name in sorted(names())
        for cls in [ranker(name)]
        for setting, default in cls().get_params().items()
    ]


def test_settings_and_grids_are_those_of_the_table() -> None:
    with TABLE.open(newline="", encoding="utf-8") as file:
        header, *expected = map(tuple, csv.reader(file))
    assert header == COLUMNS
    assert rows() == expected


def test_grids_rise_and_their_ends_are_settings() -> None:
    for name in names():
        cls = ranker(name)
        for setting, values in cls.grid.items():
            numbers = [value for value in values if isinstance(value, float | int)]
            assert numbers == sorted(set(numbers)), (name, setting)
            cls(**{setting: values[0]}), cls(**{setting: values[-1]})


if __name__ == "__main__":
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows()])
