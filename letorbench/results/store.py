"""The store of results: the files of a fold, how they are written, read and checked.

A fit.json is written last and removed first, so that a killed run leaves a fold finished or not. It
has the digests of the other files and its own; a fold with any byte changed is run again.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench.conventions import convention
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.files import (
    checked,
    digest,
    read_file,
    touch,
    with_checksum,
    write_unlocked,
)
from letorbench.measures import Measure
from letorbench.results import paths
from letorbench.results.environment import machine, versions
from letorbench.results.labels import Label, configured, of_stored
from letorbench.results.paths import FoldKey
from letorbench.results.per_query import PerQuery, mean_of, read_fold_queries, write_fold_queries
from letorbench.results.scores import read_scores, write_scores
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.version import require_format

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: the format of a fold's files; a higher one where an older reader would misread them
FORMAT = 1
#: the digest of a file that cannot be read: a pipe, a device, one without permission
UNREADABLE = "-"
#: what becomes of a damaged fold
AGAIN = "the next run of this fold makes it again"
#: what fit.json says of the validation of a system that letorbench did not train
NOT_VALIDATED: dict[str, object] = {
    "measure": None, "value": None, "curve": [], "best": None, "grid": []
}  # fmt: skip
_TEXT, _WHOLE, _NUMBER = (str,), (int,), (int, float)
_VALUE = (*_NUMBER, type(None))
#: the largest number, in size, that is taken; NaN is none
MOST = 1e300
_SETTINGS = {"*": (str, *_VALUE, list)}
#: the kinds of the facts of fit.json that anything reads: those of every key are at "*", those of
#: each item in a list; what ends in "?" may be missing or null, as in older versions
_FACTS: Mapping[str, Any] = {
    "format?": _WHOLE, "machine?": {},
    "identity": {
        "algo": _TEXT, "seed?": _WHOLE, "null?": (str, *_NUMBER), "settings?": _SETTINGS,
        "fixed?": [_TEXT], "grid?": {"*": [(str, *_VALUE, list)]},
        **dict.fromkeys(("module?", "code?", "data?", "features?"), _TEXT),
        **dict.fromkeys(("protocol?", "select?", "convention?"), _TEXT),
    },
    "label?": _TEXT, "chosen": _SETTINGS, "versions": {"*": _TEXT}, "objective": [_VALUE],
    "validation": {
        "measure?": _TEXT, "value?": _NUMBER, "training?": _NUMBER, "best?": _WHOLE,
        "curve?": [_VALUE],
        "grid?": [{"settings": _SETTINGS, "value": _VALUE, "curve?": [_VALUE]}],
    },
    "test": {
        "convention": _TEXT, "n_folds": _WHOLE, "means": {"*": _VALUE}, "added?": {"*": _TEXT}
    },
    "warnings": [{"kind": _TEXT, "text": _TEXT}], "cut_off?": {"time_limit": _NUMBER},
    "seconds": _VALUE, "repeats?": _WHOLE, "files": {paths.SCORES: _TEXT, "*": _TEXT},
}  # fmt: skip
#: what an external system's identity says of one fold's file; the folds differ in it
_OF_ONE_FILE = ("file", "digest")


@dataclass(frozen=True, eq=False)
class StoredFold:
    """A finished fold: what made it, and the values of its test queries."""

    key: FoldKey
    folder: Path
    #: its fit.json
    fit: Mapping[str, Any]
    #: when fit.json was written, or reused by a later run, in nanoseconds
    written: int
    #: the test queries' values by the measures that are shown
    queries: PerQuery = field(repr=False)

    label: Label = field(init=False)
    #: the number of its fold
    number: int = field(init=False)
    #: the folder of the algorithm's results
    folder_of_algo: Path = field(init=False)
    #: all that the fold's scores depend on
    identity: Mapping[str, Any] = field(init=False)
    convention: str = field(init=False)
    #: how many folds the data set has
    n_folds: int = field(init=False)
    #: the digest of the code of each measure beside the usual ones, see `Measure.code`
    added: Mapping[str, str] = field(init=False)
    warnings: Sequence[FitWarning] = field(init=False)
    #: the identity as text, without what differs by fold and repeat
    experiment: str = field(init=False)
    #: the mean of each measure that is shown; NaN where no query has a value
    means: Mapping[str, float] = field(init=False)

    def __post_init__(self) -> None:
        test, folder = self.fit["test"], paths.folder_of_fold(self.folder, self.key.repeat)
        means = {name: test["means"][name] for name in self.queries.tables}
        vars(self).update(
            label=of_stored(self.fit, folder), number=self.key.fold, folder_of_algo=folder,
            identity=self.fit["identity"], convention=test["convention"], n_folds=test["n_folds"],
            added=test.get("added", {}),
            warnings=[FitWarning(**facts) for facts in self.fit["warnings"]],
            experiment=experiment_of(self.fit["identity"]),
            means={name: math.nan if mean is None else mean for name, mean in means.items()},
        )  # fmt: skip

    def has(self, measure: Measure) -> bool:
        """Return whether it holds the values of a measure, made by the same code."""
        name = str(measure)
        return name in self.means and self.added.get(name, "") == measure.code

    def scores(self, n_docs: int) -> np.ndarray:
        """Read the test scores, float64 of shape (n_docs,)."""
        return read_scores(self.folder / paths.SCORES, n_docs, read_file)

    def extended(
        self, tables: Mapping[str, np.ndarray], codes: Mapping[str, str] | None = None
    ) -> StoredFold:
        """Return the fold with values (n_queries,) of further measures; its files stay."""
        queries = replace(self.queries, tables={**self.queries.tables, **tables})
        new, test = _means(queries), self.fit["test"]
        means = {**test["means"], **{name: new[name] for name in tables}}
        test = {**test, "means": means, "added": {**self.added, **(codes or {})}}
        return replace(self, fit={**self.fit, "test": test}, queries=queries)

    def without(self, measures: Collection[str]) -> StoredFold:
        """Return the fold without the values of measures; its files stay."""
        shown = {name: v for name, v in self.queries.tables.items() if name not in measures}
        return replace(self, queries=replace(self.queries, tables=shown)) if measures else self


def write_fold(
    folder: Path,
    identity: Mapping[str, Any],
    label: Label,
    scores: np.ndarray,
    queries: PerQuery,
    convention: str,
    n_folds: int,
    *,
    ranker: Ranker | None = None,
    validation_scores: np.ndarray | None = None,
    validation: Mapping[str, object] = NOT_VALIDATED,
    warnings: Sequence[FitWarning] = (),
    cut_off: Mapping[str, float | None] | None = None,
    seconds: float | None = None,
    repeats: int | None = None,
) -> dict[str, Any]:
    """Write a fold's files and, last, the fit.json that says so; return what that holds.

    The caller is the `one_writer` of the folder, here and below. Another system has no `ranker`.
    """
    (folder / paths.FIT).unlink(missing_ok=True)
    write_scores(folder / paths.SCORES, scores, write_unlocked)
    if validation_scores is None:
        (folder / paths.VALIDATION).unlink(missing_ok=True)
    else:
        write_scores(folder / paths.VALIDATION, validation_scores, write_unlocked)
    write_fold_queries(folder / paths.QUERIES, queries)
    if ranker is not None:
        ranker.save(folder / paths.MODEL)
    test = {
        "convention": convention,
        "n_folds": n_folds,
        "queries": len(queries.qids),
        "means": _means(queries),
    }
    facts = {
        "format": FORMAT,
        "identity": identity,
        **({"label": str(label)} if str(label) != identity.get("algo") else {}),
        "chosen": ranker.get_params() if ranker else {},
        "validation": validation,
        "test": test,
        "objective": ranker.learned.objective if ranker else [],
        "warnings": [asdict(warning) for warning in warnings],
        "cut_off": cut_off,
        "seconds": seconds,
        "repeats": repeats,
        "versions": versions(ranker.needs if ranker else None),
        "machine": machine() if ranker else None,
    }
    return write_fit(folder, facts)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a fold that was made elsewhere, its fit.json last."""
    (folder / paths.FIT).unlink(missing_ok=True)
    for name in paths.CHECKED:
        if name not in files:
            (folder / name).unlink(missing_ok=True)
    for name, content in sorted(files.items(), key=lambda item: item[0] == paths.FIT):
        with write_unlocked(folder / name, binary=True) as file:
            file.write(content)


def add_measures(fold: StoredFold, queries: PerQuery, added: Sequence[Measure]) -> StoredFold:
    """Store the values of further measures of a finished fold; nothing else of it changes."""
    tables = {str(each): queries.tables[str(each)] for each in added}
    whole = fold.extended(tables, {str(each): each.code for each in added})
    write_fold_queries(fold.folder / paths.QUERIES, whole.queries)
    facts = write_fit(fold.folder, whole.fit)
    return replace(whole, fit=facts, written=stamp(fold.folder) or 0)


def _means(queries: PerQuery) -> dict[str, float]:
    """Return the mean of each measure over the queries of a fold."""
    table = np.stack(list(queries.in_means.values.values()), axis=1)
    return dict(zip(queries.values, mean_of(table, axis=0).tolist()))


def write_fit(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write a fold's fit.json, with the digests of the files there; return its content."""
    digests = {name: _digest(folder / name) for name in paths.CHECKED}
    files = {name: text for name, text in digests.items() if text}
    written: dict[str, Any] = _finite({**facts, "files": files})
    with write_unlocked(folder / paths.FIT) as file:
        file.write(with_checksum(written))
    return written


def stored_fit(folder: Path) -> dict[str, Any]:
    """Return a fold's fit.json, {} without one; DataError: damaged, UsageError: too new to read."""
    path = folder / paths.FIT
    try:
        try:
            return _verified(folder)
        except DataError:  # another run may be writing the fold anew: look again
            return _verified(folder)
    except OSError as error:
        if _absent(path, error):
            return {}
        raise _damaged(path, f"cannot be read ({error.strerror})") from None


def matches(
    fit: Mapping[str, Any], identity: Mapping[str, object], time_limit: float | None
) -> bool:
    """Return whether a fit.json is of an identity, and not cut off by a shorter time limit."""
    cut = fit.get("cut_off")
    in_time = not cut or (time_limit is not None and time_limit <= cut["time_limit"])
    return fit.get("identity") == identity and in_time


def read_fold(key: FoldKey, folder: Path) -> StoredFold | None:
    """Return a finished fold, None without one; DataError: damaged, UsageError: too new to read."""
    written = stamp(folder)
    if written is None and folder.is_dir():
        return None
    fit = stored_fit(folder)
    if written is None or not fit:
        return None
    try:
        # an algorithm's whole folder may be copied under another name, to compare two versions
        _check(fit, _FACTS)
        # before 1.0 the version was in it: every new one would have trained everything again
        same = {key: value for key, value in fit["identity"].items() if key != "letorbench"}
        fit = {**fit, "identity": same}
        facts = {"repeat": 1, **fit["identity"]}
        convention(fit["test"]["convention"])
        label = of_stored(fit, paths.folder_of_fold(folder, key.repeat))
        [FitWarning(**each) for each in fit["warnings"]], configured(facts)  # what is made of them
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise _damaged(folder / paths.FIT, f"its facts are wrong: {error}") from None
    for name in ("dataset", "fold", "repeat"):
        if facts.get(name) != getattr(key, name):
            raise _damaged(
                folder / paths.FIT,
                f"found the {name} {facts.get(name)!r}, expected {getattr(key, name)!r}",
            )
    queries = read_fold_queries(folder / paths.QUERIES, label.row, key.fold)
    if list(fit["test"]["means"]) != list(queries.tables):
        raise _damaged(folder / paths.QUERIES, f"found other measures than in {paths.FIT}")
    return StoredFold(key._replace(algo=label.row), folder, fit, written, queries)


def stamp(folder: Path) -> int | None:
    """Return when a fold's fit.json was written, in nanoseconds; None without one."""
    try:
        return (folder / paths.FIT).lstat().st_mtime_ns
    except OSError:
        return None


def mark_reused(fold: StoredFold) -> StoredFold:
    """Mark a fold as requested last."""
    touch(fold.folder / paths.FIT)
    return replace(fold, written=stamp(fold.folder) or fold.written)


class Store:
    """The finished folds of a data set in a results folder, each read and verified once."""

    def __init__(self, out: Path, dataset: str) -> None:
        self.out, self.dataset = out, dataset
        #: the sound folds, by their folders
        self.folds: dict[Path, StoredFold] = {}
        #: what is damaged of each fold that is left out, in one line
        self.damaged: dict[Path, str] = {}

    def look(self) -> Store:
        """Read the folds that are new or changed since the last look; return the store."""
        known, self.folds, self.damaged = self.folds, {}, {}
        for key, folder in paths.finished(self.out, self.dataset).items():
            fold = known.get(folder)
            try:
                if fold is None or fold.written != stamp(folder):
                    fold = read_fold(key, folder)
            except LetorError as error:
                self.damaged[folder] = str(error)
            else:
                self.folds |= {folder: fold} if fold else {}
        return self

    def rows(self) -> dict[str, list[StoredFold]]:
        """Return the sound folds of each row, by name, repeat and number."""
        rows: dict[str, list[StoredFold]] = {}
        for fold in sorted(self.folds.values(), key=lambda fold: fold.key):
            rows.setdefault(fold.key.algo, []).append(fold)
        return rows

    def folder(self, label: Label, identity: Mapping[str, Any] | None) -> Path:
        """Return the first folder of a label where no other configuration is stored."""
        free = [self.out / self.dataset / name for name in label.folders]
        for place in free:
            others = [
                fold
                for fold in self.folds.values()
                if fold.folder_of_algo == place
                and identity is not None
                and configured(fold.identity) != configured(identity)
            ]
            if not others:
                return place
            if label.name:
                break
        raise UsageError(
            f"{place}: found results of {others[0].label}, expected those of {label}; choose "
            "another name"
        )


def read_folds(out: Path, dataset: str, algo: str) -> list[StoredFold]:
    """Read every finished, undamaged fold of a row, by repeat and number."""
    return Store(out, dataset).look().rows().get(algo, [])


def experiment_of(identity: Mapping[str, Any]) -> str:
    """Return an identity as text, without the parts that differ by fold and repeat."""
    shared = {key: value for key, value in identity.items() if key not in ("fold", "repeat")}
    if isinstance(shared.get("external"), dict):
        external = shared["external"].items()
        shared["external"] = {key: value for key, value in external if key not in _OF_ONE_FILE}
    return sys.intern(json.dumps(shared, sort_keys=True))  # hundreds of folds have the same


def current_folds(folds: Sequence[StoredFold]) -> list[StoredFold]:
    """Return the folds of the last experiment, of the repeats that have the most folds."""
    if not folds:
        return []
    last = _alike(max(folds, key=lambda fold: fold.written))
    same = [fold for fold in folds if _alike(fold) == last]
    numbers: dict[int, dict[int, list[str]]] = {}
    for fold in same:
        numbers.setdefault(fold.key.repeat, {})[fold.number] = fold.queries.qids.tolist()
    most = max(numbers.values(), key=len)
    current = [fold for fold in same if numbers[fold.key.repeat] == most]
    common = set.intersection(*(set(fold.added.items()) for fold in current))
    return [fold.without({name for name, _ in fold.added.items() - common}) for fold in current]


def _alike(fold: StoredFold) -> tuple[object, ...]:
    """Return the facts that are equal in all folds of a mean."""
    usual = fold.queries.tables.keys() - fold.added.keys()
    return fold.experiment, fold.convention, fold.n_folds, usual


def by_repeat(folds: Sequence[StoredFold]) -> list[list[StoredFold]]:
    """Return the folds of each repeat; folds and repeats keep their order."""
    repeats: dict[int, list[StoredFold]] = {}
    for fold in folds:
        repeats.setdefault(fold.key.repeat, []).append(fold)
    return list(repeats.values())


def _verified(folder: Path) -> dict[str, Any]:
    """Return the facts of a fit.json if they and the files beside it have their digests."""
    path = folder / paths.FIT
    facts = checked(read_file(path))
    if facts is None:
        raise _damaged(path, "its content does not have the checksum in its last line")
    require_format(facts, FORMAT, path)
    stated = facts.get("files")
    digests = stated if isinstance(stated, dict) else {}  # `_check` names others
    for name in paths.CHECKED:
        file = folder / name
        if (found := _digest(file)) != digests.get(name, found) or found == UNREADABLE:
            raise _damaged(file, f"its content does not have the checksum in {path.name}")
    return facts


def _digest(file: Path) -> str:
    """Return the digest of a file, "" if there is none."""
    try:
        return digest(read_file(file))
    except OSError as error:
        return "" if _absent(file, error) else UNREADABLE


def _absent(path: Path, error: OSError) -> bool:
    """Return whether the error is that nothing is there; a link that leads nowhere is something."""
    links = any(place.is_symlink() for place in (path, path.parent) if not place.exists())
    return isinstance(error, FileNotFoundError) and not links


def _check(value: Any, kinds: Any, name: str = "its facts") -> None:
    """Raise TypeError where a value of fit.json, () for none, is not as `_FACTS` says."""
    types = kinds if isinstance(kinds, tuple) else (type(kinds),)
    if not isinstance(value, types) or (isinstance(value, _NUMBER) and not abs(value) <= MOST):
        expected = " or ".join(each.__name__ for each in types)
        found = "nothing" if value == () else repr(str(value)[:40])
        raise TypeError(f"found {found} for {name}, expected {expected}")
    if kinds is types:
        return
    if isinstance(kinds, list):
        # a curve of ordinary numbers is known by its sum, in a tenth of the time
        curve = set(map(type, value)) == {float} and float in kinds[0]
        if not (curve and sum(map(abs, value)) <= MOST):
            for item in value:
                _check(item, kinds[0], name)
        return
    for key in value if "*" in kinds else ():
        _check(value[key], kinds["*"], f"{name}.{key}"[:80])
    for key, kind in kinds.items():
        fact = key.rstrip("?")
        item = value.get(fact, () if fact == key else None)
        if key != "*" and (fact == key or item is not None):
            _check(item, kind, fact)


def _damaged(path: Path, what: str) -> DataError:
    return DataError(f"{path}: damaged: {what}; {AGAIN}")


def _finite(value: Any) -> Any:
    """Return the value as JSON has it: None for NaN and infinity, lists for tuples."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
