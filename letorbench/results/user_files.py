"""Files that the user names: documents for a saved model, and where an output may go."""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.datasets.layout import find, installed
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.user_data.read import read_documents
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError, UsageError
from letorbench.named_files import is_stream
from letorbench.rankers import Ranker
from letorbench.results import paths

#: how tables and SVMlight text begin, and no score file, run, model or page of ours
_TABLE = re.compile(
    rb"PAR1|ARROW1|\S+(?:[ \t]+\d+:\S+)+\s|(?:\xef\xbb\xbf)?(?![#<{]|[^\n]* Q0 )[^\n\0]*[,;|\t]"
)
#: how a line of LETOR text begins
_LETOR_TEXT = re.compile(rb"^\s*\S+[ \t]+qid:", re.MULTILINE)


def read_for(
    ranker: Ranker,
    path: Path,
    null: str | float = "keep",
    sparse: bool = False,
    columns: Columns = Columns(),
) -> QuerySet:
    """Read documents of any layout with the features that a fitted ranker learned from."""
    width = ranker.n_features_in_
    if unknown := [name for name, words in columns.categories.items() if words is None]:
        raise UsageError(
            f"{path}: found no words of the column {unknown[0]}, expected those that the model "
            "learned from (--categories FILE, a data set's categories.csv)"
        )
    null = "error" if null == "keep" and not ranker.takes_missing else null
    columns = replace(columns, labelled=False)
    # Istella's files have larger numbers, and data of these sets are read so
    queries = read_documents(path, ReadOptions(null=null, clip=True), columns)
    if queries.n_features == width:
        return _as_named(queries, ranker, path)
    if sparse and queries.n_features < width:
        return read_documents(path, ReadOptions(null, width, clip=True), columns)
    hint = "; --sparse takes those that no line has for 0" if queries.n_features < width else ""
    raise DataError(
        f"{path}: found {queries.n_features} features, expected {width}, which {ranker.name} "
        f"learned from{hint}"
    )


def _as_named(queries: QuerySet, ranker: Ranker, path: Path) -> QuerySet:
    """Return documents with the features in the order of the names that a ranker learned from."""
    given, wanted = list(queries.feature_names or ()), list(ranker.feature_names_in_ or ())
    if not set(wanted) <= set(given):  # LightGBM writes a blank in a name as _
        given, wanted = ([n.replace(" ", "_") for n in names] for names in (given, wanted))
        if twice := [name for name in given if given.count(name) > 1]:
            raise DataError(
                f"{path}: found the feature {twice[0]!r} also with a blank for _, expected one"
            )
    if not given or not wanted:
        return queries
    if given == wanted:
        return replace(queries, feature_names=ranker.feature_names_in_)
    if new := sorted(set(given) - set(wanted)):
        [lacking] = sorted(set(wanted) - set(given))[:1]
        raise DataError(
            f"{path}: found the feature {new[0]!r}, expected {lacking!r}, which {ranker.name} "
            "learned from"
        )
    features = np.ascontiguousarray(queries.features[:, [given.index(name) for name in wanted]])
    return replace(queries, features=features, feature_names=ranker.feature_names_in_)


def check_output(path: Path, inputs: Iterable[Path] = (), data_dir: Path | None = None) -> None:
    """Raise UsageError where an output would be an input, LETOR text, data or a stored fold."""
    if is_stream(path):
        return
    check_not_read(path, inputs)
    what = ""
    if (Path(os.path.realpath(path)).parent / paths.FIT).is_file():
        what = "a file of a stored fold"
    elif path.is_file() and _LETOR_TEXT.search(_start(path)):
        what = "a file of LETOR text"
    elif path.is_file() and _TABLE.match(_start(path)):
        what = "a table, which letorbench did not write"
    elif data_dir is not None and (name := _data_set_of(path, data_dir)):
        what = f"a file of the data set {name}"
    if what:
        raise UsageError(f"{path}: the output would be {what}; expected another place")


def check_not_read(path: Path, inputs: Iterable[Path]) -> None:
    """Raise UsageError where a file to write is one of those that are read."""
    for each in inputs:  # which may be copies of those that the user named
        if path.exists() and Path(str(each)).exists() and path.samefile(str(each)):
            raise UsageError(f"{path}: the output would be the input {each}; expected another file")


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


def _data_set_of(path: Path, data_dir: Path) -> str:
    """Return the name of the data set in whose folder a file would be, "" if there is none."""
    for name in installed(data_dir):
        folder = find(name, data_dir).folder.resolve()
        if folder != data_dir.resolve() and Path(os.path.realpath(path)).is_relative_to(folder):
            return name
    return ""
