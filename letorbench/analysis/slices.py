"""Slices of queries: is an algorithm better on long lists, on hard queries, on a segment?

Queries are cut at the quartiles of a property. Equal values stay together, so that there may be
fewer than four slices. The difficulty of a query is the mean value of all compared algorithms. The
value of one would mislead: its worst queries are in part bad luck, so that any other algorithm
looks better there (regression to the mean; J. M. Bland, D. G. Altman, Comparing Methods of
Measurement, The Lancet 346, 1995).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import DataError
from letorbench.named_files import DASH, input_file
from letorbench.results.per_query import PerQuery

if TYPE_CHECKING:
    import pandas as pd

#: the properties, and the names of slices, with their smallest and largest values
SLICES: Mapping[str, str] = {
    "length": "{} documents",
    "relevant": "{} relevant",
    "difficulty": "mean {}",
}
#: a column of more different numbers than this is cut at its quartiles
MOST_NUMBERS = 10
#: the slice of the queries without a segment
REST = "(no segment)"


class Segments(NamedTuple):
    """A CSV file of queries, and the column of their segments; "" for the second one."""

    path: Path
    column: str


def sliced(
    by: str | Path | Segments,
    systems: Sequence[PerQuery],
    measure: str,
    data: Callable[[], Benchmark],
) -> dict[str, pd.MultiIndex]:
    """Return the folds and queries of each slice, by its name.

    by: a name of `SLICES`; or a CSV file of segments, `FILE.csv` or `FILE.csv:COLUMN`, or what
    `property_or_segments` made of it. `data` reads the data set, to count documents.
    """
    import pandas as pd

    by = by if isinstance(by, Segments) else property_or_segments(by)
    if isinstance(by, Segments):
        return _by_segments(by, systems, data)
    if by == "difficulty":
        there = (system for system in systems if system.competes)
        facts = [pd.Series(system.values[measure], system.keys).dropna() for system in there]
    else:  # the number of documents, or of those with at least a label
        benchmark, facts = data(), []
        least = benchmark.convention.relevant if by == "relevant" else 0
        for fold in benchmark.folds:
            counts = np.add.reduceat(fold.test.labels >= least, fold.test.offsets[:-1], dtype=int)
            index = pd.MultiIndex.from_product([[fold.number], fold.test.qids])
            facts.append(pd.Series(counts, index))
    values = pd.concat(facts).groupby(level=[0, 1]).mean()
    values = values[np.any([values.index.isin(each.keys) for each in systems], axis=0)]
    if values.empty:
        raise DataError(f"found no query with a value of {measure}, expected one to find slices by")
    return _quartiles(values, SLICES[by])


def _quartiles(values: pd.Series, words: str) -> dict[str, pd.MultiIndex]:
    cuts = np.quantile(values, [0.25, 0.5, 0.75], method="inverted_cdf")
    parts = [part for _, part in values.groupby(np.searchsorted(cuts, values))]

    def named(text: Callable[[float], str]) -> dict[str, pd.MultiIndex]:
        ends = ((text(float(part.min())), text(float(part.max()))) for part in parts)
        names = (words.format("-".join(dict.fromkeys(of_part))) for of_part in ends)
        return {name: part.index for name, part in zip(names, parts)}

    slices = named(lambda end: f"{end:.4f}".rstrip("0").rstrip("."))
    return slices if len(slices) == len(parts) else named(repr)  # values of many decimals


def property_or_segments(by: str | Path) -> str | Segments:
    """Return the property of that name, or the segments of a CSV file."""
    file, end, column, _ = re.split(r"(\.[ct]sv(?:\.\w+)?|$)(?::(.*))?$", str(by), maxsplit=1)
    if not (end or file == DASH or (file not in SLICES and Path(file).exists())):
        return require_choice(str(by), list(SLICES), "property of queries")
    return Segments(input_file(file + end), column or "")


def labelled(
    path: Path, column: str, what: str, label: str, known: Callable[[str], bool]
) -> pd.Series:
    """Return the label of each query or feature in a CSV file, by default of its second column.

    known: whether there is a query or a feature of that name; the first line may be a heading.
    """
    try:
        table = _table(path, what, label, known)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: cannot be read as CSV: {error}") from None
    names = [str(name) for name in table.columns[1:]]
    if not names or table.empty:
        found = "one column" if not names else "only headings"
        raise DataError(f"{path}: found {found}, expected each {what} and its {label}")
    column = require_choice(column or names[0], names, f"column of {path}")
    repeated = table.iloc[:, 0].duplicated()
    if repeated.any():
        line = int(repeated.argmax())
        again = f"found {what} {table.iloc[line, 0]} again, expected one line per {what}"
        raise DataError(f"{path}:{table.index[line]}: {again}")
    return table.set_index(table.columns[0])[column]


def _table(path: Path, what: str, label: str, known: Callable[[str], bool]) -> pd.DataFrame:
    """Return the cells by lines; columns whose first line holds values get headings."""
    import pandas as pd

    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    mark = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","

    def read(**names: Sequence[str]) -> pd.DataFrame:
        table = pd.read_csv(path, sep=mark, dtype=str, keep_default_na=False, **names)
        if not isinstance(table.index, pd.RangeIndex):  # pandas takes cells too many for an index
            raise ValueError("found more cells in a line than headings, expected as many")
        return table.rename(columns=str.strip).map(str.strip, na_action="ignore")

    table = read()
    heads = [str(name) for name in table]
    if heads[1:] and known(heads[0]):
        more = [f"column {k}" for k in range(3, len(heads) + 1)]
        return read(names=[what, label, *more]).rename(lambda row: row + 1)
    return table.rename(lambda row: row + 2)


def query_names(data: Callable[[], Benchmark]) -> dict[str, str]:
    """Return the texts of a data set's queries by their ids; none without the data."""
    called: dict[str, str] = {}
    with suppress(DataError):
        for fold in data().folds:
            if fold.test.query_names is not None:
                called |= zip(fold.test.qids.tolist(), fold.test.query_names.tolist())
    return called


def _plain(name: str) -> str:
    """Return a query's name with single blanks, as `split` keeps it."""
    return " ".join(name.split())


def _by_segments(
    file: Segments, systems: Sequence[PerQuery], data: Callable[[], Benchmark]
) -> dict[str, pd.MultiIndex]:
    """Return the slices of segments; a query is found by its id, else by its text."""
    import pandas as pd

    index = pd.MultiIndex.from_tuples(dict.fromkeys(key for each in systems for key in each.keys))
    qids = index.get_level_values(1)
    segment = labelled(*file, "query", "segment", qids.__contains__)
    if not qids.isin(segment.index).all() and (called := query_names(data)):
        names = {*qids, *called.values()}
        segment = labelled(*file, "query", "segment", lambda name: _plain(name) in names)
        segment = segment.groupby([_plain(str(name)) for name in segment.index]).first()
        qids = pd.Index([q if q in segment.index else called.get(q, q) for q in qids])
    path, column = file.path, segment.name
    there = qids.isin(segment.index)
    known = index[there]
    if not len(known):
        raise DataError(
            f"{path}: found none of the compared queries in its first column, expected ids such as "
            f"{index[0][1]}, or the queries' texts"
        )
    segments = pd.Series(segment.loc[qids[there]].to_numpy(), known)
    numbers = pd.to_numeric(segments, errors="coerce")
    if numbers.notna().all() and numbers.nunique() > MOST_NUMBERS:
        slices = _quartiles(numbers, f"{column} {{}}")
    else:
        slices = {f"{column} {name}": each.index for name, each in segments.groupby(segments)}
    rest = index.difference(known)
    return slices | ({REST: rest} if len(rest) else {})
