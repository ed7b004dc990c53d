"""A user's own data made a data set: LETOR text of given parts, or folds of one file."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets import folds as fold_files
from letorbench.datasets import layout
from letorbench.datasets.catalog import parse
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.text.encodings import without_mark
from letorbench.datasets.user_data.beside import weights_beside
from letorbench.datasets.user_data.rows import (
    Grades,
    Tell,
    letor_lines,
    listed,
    tell_unjudged,
    text_of_queries,
    write_names,
    write_weights,
)
from letorbench.datasets.user_data.svmlight import read_rows
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
    tell: Tell = lambda line: None,
) -> str:
    """Make a data set of one file of LETOR text, of a table or of another library's layout.

    The queries are shuffled and cut into at least 3 parts, as `from_frame` does. Each part is the
    test part of one fold. Lines of LETOR text are copied as they are. The name is the file's
    without its ending by default. `tell` takes a line on what the file was taken for and on what
    was done. Return the name.
    """
    name = path.stem if name is None else name
    if not layout.OWN_NAME.fullmatch(name) or parse(name).entry is not None:
        raise UsageError(
            f"{name!r} cannot name a data set of one's own; expected letters, digits, - and _, "
            "and no published set's name (--name gives one)"
        )
    target = data_dir / name
    if target.exists():
        raise DataError(f"{target}: is there already; --name gives the data set another name")
    rows = read_rows([path], columns, grades)
    if rows is None:
        texts, weights = _text_of_queries(path)
    else:
        (texts,), weights = letor_lines(rows, grades, tell), rows[0].query_weights
    parts = fold_files.shuffled_parts(len(texts), folds, seed, str(path))
    with unfinished_folder(target.with_name(f".unfinished-{name}")) as folder:
        for number, part in enumerate(parts):
            place = fold_files.part_file(folder, number, folds)
            with write_atomically(place, binary=True) as file:
                file.write(b"".join(texts[query] for query in part))
            write_weights(place, None if weights is None else weights[part])
        fold_files.compose_folds(folder, folds)
        if rows is not None:
            write_names(folder, rows)
        try:
            folder.rename(target)
        except OSError as error:
            raise WriteError(target, error) from None
    tell_unjudged(layout.find(name, data_dir), tell)
    return name


def make_letor_text(
    folder: Path, parts: Sequence[tuple[Path, Path]], grades: Grades, tell: Tell
) -> None:
    """Make LETOR text of a data set's parts, each a file and its place."""
    rows = read_rows([old for old, _ in parts], Columns(), grades)
    if rows is None:
        tell(f"{listed([old.name for old, _ in parts])}: LETOR text")
        for old, new in parts:
            # at its first mistake nothing is imported
            queries = read_queries(old, ReadOptions(null="min"))
            with old.open("rb") as text, write_atomically(new, binary=True) as copy:
                shutil.copyfileobj(text, copy)
            write_weights(new, weights_beside(old, queries.offsets))
    else:
        lines = letor_lines(rows, grades, tell)
        for (_, new), own, texts in zip(parts, rows, lines, strict=True):
            with write_atomically(new, binary=True) as file:
                file.writelines(texts)
            write_weights(new, own.query_weights)
        write_names(folder, rows)
    if not any(layout.part_of(new.name) == "validation" for _, new in parts):
        tell(f"{folder.name}: no validation part: the last fifth of the training queries validates")


def compose_folds(folder: Path, tests: Sequence[Path], tell: Tell) -> None:
    """Compose folds of test parts alone, as LETOR's rotate."""
    numbers = {path.parent.name: layout.fold_number(path.parent.name) or 0 for path in tests}
    layout.numbered_folds(numbers, None, str(folder))
    tests = sorted(tests, key=lambda path: numbers[path.parent.name])
    width, part_of_query, weights = 0, dict[str, Path](), []
    for path in tests:
        part = read_queries(path, ReadOptions(null="min"))
        weights.append(weights_beside(path, part.offsets))
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
        place = folder / f"Fold{number}" / "test.txt"
        with write_atomically(place, binary=True) as file:
            file.write(without_mark(path, path.read_bytes()).rstrip(b"\n") + b"\n")
        write_weights(place, weights[number - 1])
    fold_files.compose_folds(folder, len(tests))
    tell(
        f"{folder.name}: test parts alone: each fold trains on {len(tests) - 2} of them and "
        "validates on the one before its own, as LETOR's folds rotate"
    )


def _text_of_queries(path: Path) -> tuple[list[bytes], np.ndarray | None]:
    """Read a file of LETOR text, and return each query's lines as they are, and its weight."""
    queries = read_queries(path, ReadOptions(null="min"))
    lines = [line.rstrip(b"\r") for line in without_mark(path, path.read_bytes()).split(b"\n")]
    documents = [line for line in lines if line.split(b"#")[0].strip()]
    weights = weights_beside(path, queries.offsets)
    return text_of_queries(documents, queries.offsets), weights
