"""Results of other machines and systems taken in, ours given out, saved models applied to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from warnings import warn

from letorbench.analysis.results_table import USUAL, render
from letorbench.api.results_view import Results
from letorbench.api.selection import stored_summaries, words
from letorbench.datasets.load import load
from letorbench.errors import UsageError
from letorbench.experiment import plan
from letorbench.rankers import load_model, plugins
from letorbench.results.export import export_trec, write_run
from letorbench.results.external import import_external
from letorbench.results.merging import Merged
from letorbench.results.merging import merge as merge_stored
from letorbench.results.paths import present
from letorbench.results.scores import finite_scores, score_warnings, write_scores
from letorbench.results.summary import stored_reading
from letorbench.results.user_files import check_output, read_for


def import_scores(
    dataset: str,
    name: str,
    pattern: str,
    folders: tuple[Path, Path],
    form: str = "auto",
    folds: str | None = None,
    convention: str = "auto",
    null: str | float = "error",
) -> tuple[str, list[str]]:
    """Store another system's scores of the test parts as an algorithm's.

    Parameters
    ----------
    dataset, name : str
        The data set, and what tables call the system.
    pattern : str
        The paths of the score files, {fold} for the fold's number.
    folders : tuple of Path
        The folders of the data sets and of the results.
    form : {"auto", "scores", "ranklib", "trec"}
        The form of the files.
    folds : str, optional
        "1-5"; all by default.
    convention : str
        Whose measuring rules; "auto" are those of the stored results, else the data set's.
    null : str or float
        What a NULL feature reads as.

    Returns
    -------
    text : str
        The data set's table.
    warnings : list of str
    """
    data_dir, out = folders
    [dataset] = plan.datasets([dataset], data_dir)[:1]
    if convention == "auto":
        convention = stored_reading(out, dataset)[0]
    benchmark = load(dataset, data_dir, convention, null)
    numbers = None if folds is None else plan.folds(folds)
    summary, notes = import_external(name, pattern, benchmark, out, form, numbers)
    return render(summary, USUAL, "text"), notes


def import_beside(
    externals: Sequence[str], datasets: Sequence[str], data_dir: Path, out: Path
) -> tuple[list[str], list[str]]:
    """Import every NAME=PATTERN for every data set, measured as its stored results.

    Returns
    -------
    names : list of str
        The new algorithms.
    warnings : list of str

    Raises
    ------
    UsageError
        A text has another form than NAME=PATTERN.
    """
    pairs = [word.partition("=") for word in externals]
    for name, equals, pattern in pairs:
        if not (name and equals and pattern):
            raise UsageError(f"--external {name}{equals}{pattern}: expected NAME=PATTERN")
    if not pairs:
        return [], []
    asked = words(datasets) or ["all"]
    notes = []
    for dataset in present(out) if "all" in asked else asked:
        benchmark = load(dataset, data_dir, *stored_reading(out, dataset))
        for name, _, pattern in pairs:
            notes += import_external(name, pattern, benchmark, out)[1]
    return [name for name, _, _ in pairs], notes


def merge(
    folders: Sequence[str | Path], out: str | Path = "results", data_dir: str | Path = "data"
) -> Results:
    """Copy the finished folds of results folders into one, and make its tables.

    So come together the shares of one run, `run(..., shard="1/3")`, from several machines.

    Parameters
    ----------
    folders : sequence of path-like
        The results folders.
    out : path-like
        Where everything is afterwards. What is there already counts as well.
    data_dir : path-like
        The folder of the data sets, for measures that are not stored.

    Returns
    -------
    Results
        Those of the data sets that the merged folders have.

    Raises
    ------
    DataError
        A folder has no finished fold, or two contradict each other. Nothing is copied then.

    Warns
    -----
    UserWarning
        Once for each damaged fold, which is left out.
    """
    merged = merge_stored([Path(folder) for folder in folders], Path(out))
    for line in merged.damaged:
        warn(line, stacklevel=2)
    return Results(Path(out), Path(data_dir), merged.summaries, merged.damaged)


def merge_folders(folders: Sequence[Path], out: Path) -> tuple[list[str], list[str]]:
    """Merge results folders; return what was done, and a line for each damaged fold."""
    merged = merge_stored(folders, out)
    return _merged_lines(merged, out), list(merged.damaged)


def _merged_lines(merged: Merged, out: Path) -> list[str]:
    there = f", {merged.reused} were there already" if merged.reused else ""
    folds = "fold" if merged.copied == 1 else "folds"
    lines = [f"{out}: {merged.copied} {folds} copied{there}"]
    for summary in merged.summaries:
        lines += [f"{summary.dataset}: partial: {line}" for line in summary.partial]
    return lines


def export(
    dataset: str, algos: Sequence[str], data_dir: Path, out: Path, folder: Path | None = None
) -> list[Path]:
    """Write stored scores as TREC run files, with their qrels; return the files."""
    [summary] = stored_summaries(out, [dataset], algos)
    names = [row.algo for row in summary.rows]
    return export_trec(summary.dataset, names, data_dir, out, folder)


def rank_file(
    model: Path,
    data: Path,
    output: Path,
    form: str = "scores",
    tag: str | None = None,
    null: str | float = "error",
    sparse: bool = False,
) -> tuple[str, list[str]]:
    """Score every document of a file with a saved model; labels are not looked at.

    Parameters
    ----------
    model, data, output : Path
        A model that a run left, a file of LETOR text, and the file to write.
    form : {"scores", "trec"}
        One score a line, or a TREC run file.
    tag : str, optional
        The run file's last column; the algorithm's name by default.
    null : str or float
        What a NULL feature reads as.
    sparse : bool
        Whether the last features may be missing in every line.

    Returns
    -------
    text : str
        What was done, in one line.
    warnings : list of str

    Raises
    ------
    UsageError
        The file to write is one that is read, or a file of data or of a stored fold.
    """
    check_output(output, [model, data, *plugins.files()])
    ranker = load_model(model)
    queries = read_for(ranker, data, null, sparse)
    with plugins.blamed(type(ranker)):
        scores = ranker.predict(queries)
    notes = [f"{data}: {each.text}" for each in score_warnings(scores, queries)]
    scores = finite_scores(scores)
    if form == "trec":
        write_run(output, queries, scores, tag or ranker.name)
    else:
        write_scores(output, scores)
    done = f"{queries.n_docs} scores of {queries.n_queries} queries ({ranker.name})"
    return f"{output}: {done}", notes
