"""The results of new draws of a data set's folds, each stored as a data set: OHSUMED@split3."""

from pathlib import Path

from letorbench.datasets.catalog import parse
from letorbench.datasets.load import digest_of_draw
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.store import Store


def resplits(frame: DatasetResults, out: Path) -> dict[int, DatasetResults]:
    """Return the results of the draws of a data set's folds, by the draws' numbers.

    Each is what `DatasetResults.read` gives of the official folds, which are those of `frame`: the
    `queries` of a row have a value of every query of the data set, tested once. The rows are those
    of `frame` that have every fold of the draw, of the same data. A draw without any is left out,
    unless it is damaged.
    """
    data = {row.algo: row.stored[0].identity.get("data") for row in frame.rows}
    names = [name for name in paths.present(out) if name != frame.dataset]
    numbers = {parse(n).resplit: n for n in names if parse(n).official == frame.dataset}
    found = {}
    for number, name in sorted(numbers.items()):
        drawn = DatasetResults.of(Store(out).look(name), name, frame.data_dir)
        whole = drawn.only(
            row.algo
            for row in drawn.rows
            if row.algo in data
            and row.folds == row.n_folds
            and row.stored[0].identity.get("data") == digest_of_draw(data[row.algo], number)
        )
        if whole.rows or whole.damaged:
            found[number] = whole
    return found
