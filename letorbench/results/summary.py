"""What a results folder holds, as tables of numbers: a row per algorithm, a column per measure."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from letorbench.errors import DataError, UsageError
from letorbench.files import write_atomically

#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds")


@dataclass(frozen=True)
class Row:
    """One algorithm on one data set; `values` are means of the folds' means, by measure."""

    algo: str
    convention: str
    folds: int
    values: dict[str, float]


@dataclass(frozen=True)
class Summary:
    """All the algorithms of one data set, in the order of their names."""

    dataset: str
    rows: tuple[Row, ...]

    @property
    def conventions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.convention for row in self.rows))

    @property
    def mixed(self) -> bool:
        """Whether the algorithms were measured by several conventions: they do not compare."""
        return len(self.conventions) > 1

    @property
    def measures(self) -> tuple[str, ...]:
        """Every measure that a row has, in the order of the first row that has it."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    def only(self, algos: Sequence[str]) -> Summary:
        return Summary(self.dataset, tuple(row for row in self.rows if row.algo in algos))


def summarise(out: Path, dataset: str) -> Summary:
    """Gather every algorithm's folds.csv of a data set and write its summary.csv."""
    folder = out / dataset
    rows = tuple(_algorithm(path.parent) for path in sorted(folder.glob("*/folds.csv")))
    summary = Summary(dataset, rows)
    with write_atomically(folder / "summary.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*HEAD, *summary.measures])
        for row in rows:
            values = [repr(row.values[m]) if m in row.values else "" for m in summary.measures]
            writer.writerow([row.algo, row.convention, row.folds, *values])
    return summary


def read_summary(out: Path, dataset: str) -> Summary:
    """Read the summary.csv that `summarise` wrote; DataError where there is none."""
    path = out / dataset / "summary.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *lines = list(csv.reader(file))
        if tuple(header[: len(HEAD)]) != HEAD:
            raise ValueError(f"found the columns {','.join(header[:len(HEAD)])}")
        rows = tuple(_row(header, line) for line in lines)
    except FileNotFoundError:
        present = sorted(p.parent.name for p in out.glob("*/summary.csv"))
        have = f"results there: {', '.join(present)}" if present else "no results there"
        raise DataError(
            f"{path}: not found ({have}); `letorbench run --dataset {dataset}` makes it"
        ) from None
    except (ValueError, IndexError) as error:
        raise DataError(f"{path}: {error}, expected a summary as `run` writes it") from error
    return Summary(dataset, rows)


def present(out: Path) -> list[str]:
    """The data sets that have a summary.csv, sorted."""
    return sorted(path.parent.name for path in out.glob("*/summary.csv"))


def curve(row: Row, measure: str) -> tuple[float, ...]:
    """The values of measure@1, measure@2, ... as far as they go without a gap, at most 10."""
    values: list[float] = []
    while len(values) < 10 and f"{measure}@{len(values) + 1}" in row.values:
        values.append(row.values[f"{measure}@{len(values) + 1}"])
    if not values:
        known = ", ".join(sorted({n.split("@")[0] for n in row.values if "@" in n}))
        raise UsageError(
            f"no column {measure}@1 among the results of {row.algo}; expected one of {known}"
        )
    return tuple(values)


def _row(header: list[str], line: list[str]) -> Row:
    cells = dict(zip(header, line))
    values = {name: float(cells[name]) for name in header[len(HEAD) :] if cells.get(name)}
    return Row(cells["algo"], cells["convention"], int(cells["folds"]), values)


def _algorithm(folder: Path) -> Row:
    """An algorithm's row, from the `mean` line of its folds.csv."""
    path = folder / "folds.csv"
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    if len(lines) < 2 or lines[-1][0] != "mean":
        raise DataError(f"{path}: found no last line `mean`, expected one as `run` writes it")
    fit = folder / f"fold{lines[0][0]}" / "fit.json"
    try:
        convention = json.loads(fit.read_text(encoding="utf-8"))["identity"]["convention"]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{fit}: found no convention ({error}); run it again") from error
    values = {name: float(cell) for name, cell in zip(header[1:], lines[-1][1:])}
    return Row(folder.name, convention, len(lines) - 1, values)
