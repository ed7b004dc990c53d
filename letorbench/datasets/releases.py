"""Published data and their copies here: files and numbers compared, releases without folds read.

A release without folds is found by its hashes and made ready for `datasets split`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.datasets import LARGEST_GRADE, UNJUDGED, layout
from letorbench.datasets.catalog import CATALOG, FileHash, Name, Source, Unsplit, parse
from letorbench.datasets.load import load
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError
from letorbench.named_files import input_file

if TYPE_CHECKING:
    from pandas import DataFrame

#: what a movie has in MSRD: texts, of which the part of the query's words is a feature, and numbers
TEXTS = ("title", "overview", "tags", "genres", "director", "actors", "characters")
NUMBERS = ("year", "votes", "rating", "popularity", "budget")
#: the columns of MSRD's judgements by their roles, in spellings that are accepted: its readme says
#: what they are and not how they are called
JUDGED = {
    "query": ("query", "query_text", "text"),
    "id": ("id", "item", "item_id", "doc", "doc_id", "movie", "movie_id", "tmdb_id"),
    "label": ("label", "relevance", "relevant", "grade", "click"),
    "bm25": ("bm25", "bm25_score", "score"),
}
#: the largest grade of judgements by several people
MOST = 4


def release_in(path: Path, expected: Name | None) -> tuple[Name, list[Path]] | None:
    """Return the data set whose release without folds a file or a folder is, and its files."""
    files = [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*")))
    if expected is not None and expected.entry is not None:
        return (expected, files) if expected.entry.unsplit else None
    for known in CATALOG.values():
        for source in known.sources if known.unsplit else ():
            matches = [next((f for f in files if _is(f, each)), None) for each in source.addresses]
            there = [file for file in matches if file is not None]
            if len(there) == len(matches):
                return parse(f"{known.name}/{source.variant}".strip("/")), there
    return None


def _is(file: Path, source: Source) -> bool:
    published = source.hash
    assert published is not None
    same_size = file.stat().st_size == source.bytes
    return same_size and FileHash.of(file, published.algorithm) == published


def as_table(files: Sequence[Path], shape: Unsplit, place: Path) -> tuple[Path, Columns]:
    """Write a release's tables as one that `split` reads; return its path and its columns."""
    import pandas as pd

    if shape.judgements:
        table = _judged_movies(files)
    else:
        named = (shape.label, shape.qid, shape.docid, *shape.left_out, *shape.categories)
        table = _read(files[0], named).drop(columns=[*shape.left_out])
        table = pd.get_dummies(table, columns=[*shape.categories], prefix_sep="=", dtype=int)
    table.to_csv(place, index=False)
    return place, Columns(shape.label, shape.qid, shape.docid)


def _read(path: Path, expected: Sequence[str] = ()) -> DataFrame:
    """Return a table of texts with commas or tabs, which has these columns."""
    import pandas as pd

    plain = input_file(path)
    try:
        with plain.open(encoding="utf-8-sig") as file:
            separator = "\t" if "\t" in file.readline() else ","
        table = pd.read_csv(plain, sep=separator, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None
    if missing := [name for name in expected if name not in table]:
        found = ", ".join(table)[:200]
        raise DataError(f"{path}:1: found the columns {found}, expected {missing[0]} too")
    return table


def _judged_movies(files: Sequence[Path]) -> DataFrame:
    """Join MSRD's judgements with the movies, the users' labels as their mean, 0 to `MOST`."""
    import pandas as pd

    described, path = sorted(files, key=lambda file: "title" not in _read(file))
    movies, judged = _read(described, ("id", *TEXTS, *NUMBERS)), _read(path)
    names: dict[str, str] = {}
    for role, spellings in JUDGED.items():
        if (name := next((each for each in spellings if each in judged), None)) is None:
            raise DataError(
                f"{path}:1: found the columns {', '.join(judged)[:200]}, expected the {role} as "
                f"one of {', '.join(spellings)}"
            )
        names[name] = role
    judged = judged[[*names]].rename(columns=names)
    labels = pd.to_numeric(judged["label"], errors="coerce")
    for wrong, role, expected in (
        (~judged["id"].isin(movies["id"]), "id", f"a movie of {described.name}"),
        (labels.isna(), "label", "a number"),
    ):
        if wrong.any():
            row = int(wrong.argmax())
            found = f"found {judged[role][row]!r} as the {role}, expected {expected}"
            raise DataError(f"{path}:{row + 2}: {found}")
    pairs = judged.assign(label=labels).groupby(["query", "id"], sort=False, as_index=False)
    rows = pairs.agg(label=("label", "mean"), bm25=("bm25", "last"))
    rows["label"] = (MOST * rows["label"] / (labels.max() or 1.0)).round().astype(int)
    rows = rows.merge(movies[["id", *NUMBERS]].drop_duplicates("id"), on="id", how="left")
    query_words = {query: _words(query) for query in rows["query"]}
    for text in TEXTS:
        words = {
            movie: set(_words(movie_text)) for movie, movie_text in zip(movies["id"], movies[text])
        }
        rows[f"query words in {text}"] = [
            sum(word in words[movie] for word in query_words[query]) / len(query_words[query])
            for query, movie in zip(rows["query"], rows["id"])
        ]
    return rows


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower()) or [""]


@dataclass(frozen=True)
class Check:
    """A file or a number of a data set compared with the published one."""

    what: str
    status: str  # ok, differs, or unknown if nothing is published
    published: int | None = None
    loaded: int | None = None


def verify(name: str | Name, data_dir: Path, null: str | float = "keep") -> list[Check]:
    """Hash every file, load all folds, and compare them with the published facts."""
    data = load(name, data_dir, null=null)
    there = layout.find(name, data_dir)
    known = there.name.entry
    files = [(path, path.relative_to(there.folder).as_posix()) for path in there.files]
    checks = [
        Check(file, known.status_of(path, file) if known else "unknown") for path, file in files
    ]
    recipe = data.provenance["recipe"]
    if isinstance(recipe, dict) and recipe.get("scale") != 1.0:
        known = None
    labels = np.concatenate([part.labels for part in data.parts])
    published = known.label_counts if known else None
    judged = labels[labels != UNJUDGED]
    counts = np.bincount(judged, minlength=len(published or ())).tolist()
    facts: list[tuple[str, int | None, int]] = [
        ("queries", known.queries if known else None, sum(part.n_queries for part in data.parts)),
        ("documents", known.documents if known else None, len(labels)),
        ("features", known.n_features if known else None, data.parts[0].n_features),
    ]
    if len(counts) > LARGEST_GRADE + 1:
        facts.append(("different labels", None, sum(map(bool, counts))))
        counts = []
    for label, count in enumerate(counts):
        number = None if published is None else sum(published[label : label + 1])
        facts.append((f"label {label}", number, count))
    if len(judged) < len(labels):
        facts.append(("not judged", None, len(labels) - len(judged)))
    for what, number, loaded in facts:
        status = "unknown" if number is None else "ok" if number == loaded else "differs"
        checks.append(Check(what, status, number, loaded))
    return checks
