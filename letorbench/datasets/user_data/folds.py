"""A user's own data made a data set: LETOR text of given parts, or folds of one file."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from letorbench.datasets import UNJUDGED, layout
from letorbench.datasets import folds as fold_files
from letorbench.datasets.catalog import parse
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.text import without_mark
from letorbench.datasets.user_data import (
    Documents,
    Grades,
    Note,
    grade_parts,
    letor_text,
    listed,
    query_counts,
    weights_beside,
)
from letorbench.datasets.user_data.read import read_files
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.files import unfinished_folder, write_atomically


def split(
    path: Path,
    data_dir: Path,
    name: str | None = None,
    folds: int = 5,
    seed: int = 0,
    columns: Columns = Columns(),
    grades: Grades = None,
    note: Note = lambda line: None,
) -> str:
    """Make a data set of one file of LETOR text, of a table or of another library's layout.

    The queries are shuffled and cut into at least 3 parts, as `from_frame` does. Each part is the
    test part of one fold. Lines of LETOR text are copied as they are. The name is the file's
    without its ending by default. `note` takes a line on the file's layout and on what was done.
    Return the name.
    """
    name = path.stem if name is None else name
    if not layout.OWN_NAME.fullmatch(name) or parse(name).entry is not None:
        raise UsageError(
            f"{name!r} cannot name a data set of yours; expected letters, digits, - and _, "
            "and no published set's name (--name gives one)"
        )
    target = data_dir / name
    if target.exists():
        raise DataError(f"{target}: is there already; --name gives the data set another name")
    files = read_files([path], columns, grades)
    if files is None:
        texts, weights = _text_of_queries(path)
    else:
        (labels,) = grade_parts(files, grades, note)
        texts, weights = list(letor_text(files[0], labels, 0, note)), files[0].query_weights
    parts = fold_files.shuffled_parts(len(texts), folds, seed, str(path))
    with unfinished_folder(target.with_name(f".unfinished-{name}")) as folder:
        for number, part in enumerate(parts):
            place = fold_files.part_file(folder, number, folds)
            of_part = None if weights is None else weights[part]
            _write_part(place, (texts[query] for query in part), of_part)
        fold_files.compose_folds(folder, folds)
        if files is not None:
            _write_names(folder, files)
        try:
            folder.rename(target)
        except OSError as error:
            raise WriteError(target, error) from None
    note_unjudged(layout.find(name, data_dir), note)
    return name


def make_letor_text(
    folder: Path, parts: Sequence[tuple[Path, Path]], grades: Grades, note: Note
) -> None:
    """Make LETOR text of a data set's parts, each a file and its place."""
    files = read_files([old for old, _ in parts], Columns(), grades)
    if files is None:
        note(f"{listed([old.name for old, _ in parts])}: LETOR text")
        for old, new in parts:
            # at its first mistake nothing is imported
            queries = read_queries(old, ReadOptions(null="min"))
            with old.open("rb") as lines:
                _write_part(new, lines, weights_beside(old, queries.offsets))
    else:
        files = [_in_order_of(files[0], file) for file in files]
        graded = grade_parts(files, grades, note)
        for (_, new), file, labels, before in zip(parts, files, graded, query_counts(files)):
            _write_part(new, letor_text(file, labels, before, note), file.query_weights)
        _write_names(folder, files)
    if not any(layout.part_of(new.name) == "validation" for _, new in parts):
        note(f"{folder.name}: no validation part: the last fifth of the training queries validates")


def rotate_tests(folder: Path, tests: Sequence[Path], note: Note) -> None:
    """Compose folds of test parts alone, as LETOR's rotate."""
    numbered = {path.parent.name: layout.fold_number(path.parent.name) for path in tests}
    numbers = {name: -1 if number is None else number for name, number in numbered.items()}
    layout.numbered_folds(numbers, None, str(folder))
    tests = sorted(tests, key=lambda path: numbers[path.parent.name])
    width, part_of_query, weights = 0, dict[str, Path](), list[np.ndarray]()
    weighted = False
    for path in tests:
        part = read_queries(path, ReadOptions(null="min"))
        of_part = weights_beside(path, part.offsets)
        weighted |= of_part is not None
        weights.append(np.ones(len(part)) if of_part is None else of_part)
        width = width or part.n_features
        if part.n_features != width:
            raise DataError(f"{path}: found {part.n_features} features, expected {width}")
        for qid in part.qids.tolist():
            other = part_of_query.setdefault(qid, path)
            if other is not path:
                raise DataError(
                    f"{path}: found query {qid} of {other} too, expected each query in one part"
                )
    for number, path in enumerate(tests, 1):
        text = without_mark(path, path.read_bytes()).rstrip(b"\n") + b"\n"
        of_part = weights[number - 1] if weighted else None
        _write_part(folder / f"Fold{number}" / "test.txt", [text], of_part)
    fold_files.compose_folds(folder, len(tests))
    note(
        f"{folder.name}: test parts alone: each fold trains on {len(tests) - 2} of them and "
        "validates on the one before its own, as LETOR's folds rotate"
    )


def note_unjudged(dataset: layout.Layout, note: Note) -> None:
    """Note how many documents of the first fold are not judged, if there are any."""
    labels = np.concatenate([read_queries(path).labels for path in dataset.folds[0].files])
    if unjudged := np.count_nonzero(labels == UNJUDGED):
        where = f"{dataset.name.label}, fold {dataset.folds[0].number}"
        counted = f"{unjudged:,} of {len(labels):,} documents"
        note(f"{where}: {counted} are not judged (label {UNJUDGED})")


def _text_of_queries(path: Path) -> tuple[list[bytes], np.ndarray | None]:
    """Read a file of LETOR text; return each query's lines as they are, and its weight."""
    queries = read_queries(path, ReadOptions(null="min"))
    lines = [line.rstrip(b"\r") for line in without_mark(path, path.read_bytes()).split(b"\n")]
    documents = (line + b"\n" for line in lines if line.split(b"#")[0].strip())
    texts = [b"".join(islice(documents, n)) for n in queries.lengths.tolist()]
    return texts, weights_beside(path, queries.offsets)


def _write_part(place: Path, text: Iterable[bytes], weights: np.ndarray | None) -> None:
    """Write a part's text, and the weights of its queries beside it, one a line."""
    with write_atomically(place, binary=True) as file:
        file.writelines(text)
    if weights is not None:
        with write_atomically(place.with_name(place.name + layout.WEIGHTS)) as file:
            file.writelines(f"{weight!r}\n" for weight in weights.tolist())


def _in_order_of(first: Documents, part: Documents) -> Documents:
    """Return a part with its features in the first one's order, if their names are alike."""
    names, given = first.feature_names or (), part.feature_names or ()
    if names == given or sorted(names) != sorted(given):
        return part
    features = part.features[:, [given.index(name) for name in names]]
    return replace(part, features=features, feature_names=names)


def _write_names(folder: Path, parts: Sequence[Documents]) -> None:
    """Write the names of features and queries beside the folds."""
    names = parts[0].feature_names
    if any(part.feature_names != names for part in parts):
        raise DataError(f"{parts[0].name}: found other columns than in the other parts")
    if names is not None:
        with write_atomically(folder / layout.FEATURE_NAMES) as file:
            file.writelines(f"{name}\n" for name in names)
    if parts[0].categories:
        with write_atomically(folder / layout.CATEGORIES) as file:
            lines = (
                (column, word) for column, words in parts[0].categories.items() for word in words
            )
            csv.writer(file, lineterminator="\n").writerows(lines)
    queries = [
        f"{number}\t{' '.join(name.split())}\n".encode("utf-8", "surrogateescape")
        for part, before in zip(parts, query_counts(parts))
        for number, name in enumerate(part.query_names, before + 1)
    ]
    if queries:
        with write_atomically(folder / layout.QUERY_NAMES, binary=True) as file:
            file.writelines(queries)
