"""Releases without folds: found by their hashes, and tables made ready for `datasets split`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from letorbench.datasets.catalog import CATALOG, FileHash, Name, Source, Unsplit, parse
from letorbench.datasets.text import check_content
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError
from letorbench.named_files import input_file

_Row = Mapping[str, str]
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


def release_in(path: Path) -> tuple[Name, list[Path]] | None:
    """Return the data set whose release, without folds, a file or a folder is, and its files."""
    files = [path] if path.is_file() else sorted(filter(Path.is_file, path.rglob("*")))
    for known in CATALOG.values():
        for source in known.sources if known.unsplit is not None else ():
            found = [[f for f in files if _is(f, each)][:1] for each in source.addresses]
            if all(found):
                named = parse(f"{known.name}/{source.variant}".strip("/"))
                return named, [file for (file,) in found]
    return None


def _is(file: Path, source: Source) -> bool:
    published = source.hash
    assert published is not None
    same_size = file.stat().st_size == source.bytes
    return same_size and FileHash.of(file, published.algorithm) == published


def as_table(files: Sequence[Path], shape: Unsplit, place: Path) -> tuple[Path, Columns]:
    """Write a release's tables as one that `split` reads; return its path and its columns.

    A column of words becomes a column of 1 and 0 for each word, in the order of the alphabet.
    """
    named = [shape.label, shape.qid, shape.docid, *shape.left_out, *shape.categories]
    rows = _judged_movies(files) if shape.judgements else list(_rows(files[0], named))
    words = {name: sorted({row[name] for row in rows}) for name in shape.categories}
    flags = [(name, word) for name, each in words.items() for word in each]
    kept = [name for name in rows[0] if name not in (*shape.left_out, *shape.categories)]
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*kept, *(f"{name}={word}" for name, word in flags)])
        for row in rows:
            ones = (int(row[name] == word) for name, word in flags)
            table.writerow([*(row[name] for name in kept), *ones])
    return place, Columns(shape.label, shape.qid, shape.docid or None)


def _rows(path: Path, expected: Sequence[str]) -> Iterator[_Row]:
    """Yield the rows of a table with commas or tabs, at least one, which has these columns."""
    plain = input_file(path)
    with plain.open("rb") as binary:
        check_content(path, binary.read(1 << 16))
    with plain.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        table = csv.DictReader(file, delimiter="\t" if "\t" in head else ",")
        missing = [name for name in expected if name not in (table.fieldnames or ())]
        if missing:
            found = ", ".join(table.fieldnames or ())
            raise DataError(f"{path}:1: found the columns {found[:200]}, expected {missing[0]} too")
        first = None
        for row in table:
            first = first or row
            if None in row or None in row.values():
                width = len(table.fieldnames or ())
                raise DataError(
                    f"{path}:{table.line_num}: found another number of columns, expected {width}"
                )
            yield row
        if first is None:
            raise DataError(f"{path}: found no rows, expected at least 1")


def _judged_movies(files: Sequence[Path]) -> list[_Row]:
    """Join MSRD's judgements with the movies, one row for each query and movie.

    The label is the mean of the users' labels, in whole steps from 0 to `MOST`, the largest label.
    """
    judgements, described = files
    judged = list(_rows(judgements, ()))
    columns = {}
    for role, spellings in JUDGED.items():
        columns[role] = next((name for name in spellings if name in judged[0]), "")
        if not columns[role]:
            found = ", ".join(judged[0])
            raise DataError(
                f"{judgements}:1: found the columns {found[:200]}, expected the {role} as one of "
                f"{', '.join(spellings)}"
            )
    movies = {row["id"]: row for row in _rows(described, ("id", *TEXTS, *NUMBERS))}
    labels: dict[tuple[str, str], list[float]] = {}
    bm25 = {}
    for line, row in enumerate(judged, 2):
        query, movie, label, score = (row[name] for name in columns.values())
        if movie not in movies:
            raise DataError(f"{judgements}:{line}: found movie {movie!r}, not in {described.name}")
        try:
            labels.setdefault((query, movie), []).append(float(label))
        except ValueError:
            found = f"found {label!r} as the label, expected a number"
            raise DataError(f"{judgements}:{line}: {found}") from None
        bm25[query, movie] = score
    largest = max(max(each) for each in labels.values())
    words = {
        (movie, text): set(_words(movies[movie][text])) for movie, text in product(movies, TEXTS)
    }
    rows = list[_Row]()
    for (query, movie), each in labels.items():
        asked = _words(query)
        shares = {
            f"query words in {text}": f"{sum(w in words[movie, text] for w in asked) / len(asked)}"
            for text in TEXTS
        }
        grade = round(MOST * sum(each) / len(each) / largest) if largest > 0 else 0
        head = {"query": query, "id": movie, "label": str(grade), "bm25": bm25[query, movie]}
        rows.append(head | {name: movies[movie][name] for name in NUMBERS} | shares)
    return rows


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower()) or [""]
