"""Results of a data set as one small file: ranks, values by query, and each fold's facts."""

from __future__ import annotations

import json
import lzma
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.files import one_writer, write_atomically, write_unlocked
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults, SystemResults, write_tables
from letorbench.results.paths import FoldKey
from letorbench.results.per_query import PerQuery, write_fold_queries
from letorbench.results.scores import write_scores
from letorbench.results.store import Store, StoredFold, write_fit

#: the members of a packed file
FACTS, QUERIES, VALUES, PLACES = "facts.json", "queries.json", "values.npy", "places.npy"
#: what of a fit.json is not packed: it is of files that are not there, or long
LEFT_OUT: dict[str, object] = {"files": {}, "objective": []}
CURVES: dict[str, object] = {"curve": [], "grid": []}
#: ranks below take two bytes each, others four
TWO_BYTES = 1 << 16


def pack(frame: DatasetResults, measures: Sequence[str], path: Path) -> None:
    """Write the rows of a data set, which have all its folds, with these measures."""
    if frame.partial:
        raise UsageError(f"{frame.dataset}: found {', '.join(frame.partial)}, expected all folds")
    frame = frame.measured(measures)
    tests = [fold.test for fold in frame.data().folds]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([test.lengths for test in tests]))])
    facts, values, places = [], [], []
    for row in frame.rows:
        values.append(np.stack([row.queries.tables[name] for name in measures], axis=-1))
        for folds in row.by_repeat:
            scores = np.concatenate([f.scores(t.n_docs) for f, t in zip(folds, tests, strict=True)])
            lists = np.split(scores, offsets[1:-1])
            ranked = [np.unique(-scored, return_inverse=True)[1] for scored in lists]
            places.append(np.concatenate(ranked))
            for fold in folds:
                test = fold.fit["test"] | {"means": {name: fold.means[name] for name in measures}}
                validation = fold.fit["validation"] | CURVES
                fit = {**fold.fit, **LEFT_OUT, "validation": validation, "test": test}
                facts.append([row.algo, fold.key.repeat, fold.number, fit])
    queries = {
        "dataset": frame.dataset,
        "measures": list(measures),
        "qids": [test.qids.tolist() for test in tests],
        "lengths": [test.lengths.tolist() for test in tests],
    }
    # equal values are near each other, and so are the higher bytes, which are mostly 0; the
    # ranks of a training are in one piece, because other trainings may have the same
    tables = np.concatenate(values).transpose(2, 1, 0)
    ranks = np.array(places)
    size = 2 if ranks.max() < TWO_BYTES else 4
    bytes_of = ranks.astype(f"<u{size}").view(np.uint8).reshape(-1, size).T
    with write_atomically(path, binary=True) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as packed:
            for name, member in ((FACTS, facts), (QUERIES, queries)):
                packed.writestr(_undated(name), json.dumps(member))
            for name, array in ((VALUES, tables), (PLACES, bytes_of)):
                with packed.open(_undated(name), "w") as target:
                    np.lib.format.write_array(target, np.ascontiguousarray(array))


def _undated(name: str) -> zipfile.ZipInfo:
    """Return a member without a date, so that equal results have equal bytes."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_LZMA
    return info


def read_packed(path: Path) -> DatasetResults:
    """Return the frame that was packed; DataError if the file is none.

    Its folds are on no disk: what asks for their scores unpacks them first.
    """
    facts, queries, values, _ = _members(path)
    n_queries = [len(qids) for qids in queries["qids"]]
    ends = np.cumsum(n_queries)
    training, rows = -1, dict[str, list[StoredFold]]()
    last: tuple[str, int] | None = None
    for algo, repeat, number, fit in facts:
        if (algo, repeat) != last:
            training, last = training + 1, (algo, repeat)
        at = slice(ends[number - 1] - n_queries[number - 1], ends[number - 1])
        tables = {m: values[k, at, training] for k, m in enumerate(queries["measures"])}
        folds = np.full(n_queries[number - 1], number, dtype=np.int64)
        measured = PerQuery(algo, folds, np.array(queries["qids"][number - 1]), tables)
        key = FoldKey(queries["dataset"], algo, repeat, number)
        folder = paths.fold_folder(path / key.dataset / algo, number, repeat)
        rows.setdefault(algo, []).append(StoredFold(key, folder, fit, 0, measured))
    systems = (SystemResults(algo, tuple(folds)) for algo, folds in rows.items())
    return DatasetResults(queries["dataset"], tuple(systems))


def unpack(path: Path, out: Path) -> Path:
    """Write a packed file as a results folder; a document's score is its negative rank."""
    frame = read_packed(path)
    _, queries, _, bytes_of = _members(path)
    n_docs = [sum(lengths) for lengths in queries["lengths"]]
    ends = np.cumsum(n_docs)
    ranks_of = np.ascontiguousarray(bytes_of.T).view(f"<u{len(bytes_of)}")
    places = ranks_of.reshape(-1, ends[-1])
    trainings = (folds for row in frame.rows for folds in row.by_repeat)
    place = out / frame.dataset
    if place.exists():
        raise UsageError(f"{place}: is there already, expected a new folder")
    for scores, folds in zip(places, trainings, strict=True):
        for fold in folds:
            of_algo = place / fold.label.folders[0]
            folder = paths.fold_folder(of_algo, fold.number, fold.key.repeat)
            ranks = scores[ends[fold.number - 1] - n_docs[fold.number - 1] : ends[fold.number - 1]]
            with one_writer(folder, out):
                write_scores(folder / paths.SCORES, -ranks.astype(np.float64), write_unlocked)
                write_fold_queries(folder / paths.QUERIES, fold.queries)
                write_fit(folder, fold.fit)
    write_tables(Store(out, frame.dataset))
    return place


def _members(path: Path) -> tuple[list, dict, np.ndarray, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as packed:
            texts = [json.loads(packed.read(name)) for name in (FACTS, QUERIES)]
            arrays = []
            for name in (VALUES, PLACES):
                with packed.open(name) as source:
                    arrays.append(np.lib.format.read_array(source, allow_pickle=False))
    except (OSError, KeyError, ValueError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: found no packed results ({error})") from None
    return texts[0], texts[1], arrays[0], arrays[1]
