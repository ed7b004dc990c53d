"""The leaderboard from Python: shipped results and yours as one object."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from letorbench.analysis.leaderboard import MEASURES, Board, board, files, shipped
from letorbench.api.results import Results, split_names
from letorbench.choices import resolve_name
from letorbench.errors import DataError, UsageError
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.paths import present
from letorbench.results.scores import parse


def leaderboard(
    results: Results | str | Path | None = None, datasets: str | Iterable[str] | None = None
) -> Results:
    """Return the shipped results of every algorithm, and yours beside them.

    Parameters
    ----------
    results : Results or path-like, optional
        Your results, or their folder; the names of their rows end in `` (yours)``.
    datasets : str or iterable of str, optional
        Names and comma lists; by default all that are shipped, or that `results` has of them.

    Returns
    -------
    Results
        Its tables, comparisons and figures have both kinds of rows.

    Raises
    ------
    UsageError
        Your results are of no data set that is shipped.
    DataError
        Your results cannot be read.
    """
    all_boards = boards(results, datasets, MEASURES[0])
    out = results.out if isinstance(results, Results) else Path(results or "results")
    notes = tuple(note for each in all_boards for note in each.notes)
    return Results(out, tuple(each.frame for each in all_boards), notes)


def boards(
    results: Results | str | Path | None,
    datasets: str | Iterable[str] | None,
    measure: str,
    data_dir: Path = Path("data"),
) -> list[Board]:
    """Return a board for each data set; UsageError where a name or the measure is not shipped."""
    if str(parse(measure)) not in MEASURES:
        raise UsageError(f"found {measure}, expected one of {', '.join(MEASURES)}")
    stored: dict[str, DatasetResults] = {}
    if isinstance(results, Results):
        stored = {frame.dataset: frame for frame in results.frames}
    elif results is not None:
        out = Path(results)
        stored = {name: DatasetResults.read(out, name, data_dir) for name in present(out)}
        if not stored and str(results).upper() in files() and not out.exists():
            raise UsageError(
                f"found {results}, a data set, expected a results folder; "
                f"`--dataset {results}` chooses the data set"
            )
        if not stored:
            raise DataError(f"{results}: no results there; `letorbench run` makes them")
    names = split_names(datasets) or [name for name in files() if not stored or name in stored]
    if not names:
        raise UsageError(
            f"found results of {', '.join(stored)}, expected some of {' or '.join(files())}"
        )
    chosen = [resolve_name(name, list(files()), "shipped data set") for name in names]
    return [board(shipped(name, every=True), stored.get(name)) for name in chosen]
