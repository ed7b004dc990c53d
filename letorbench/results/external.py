"""Other systems' score files as results: one score a line, RankLib's, TREC's or MS MARCO's runs."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets import LONGEST_QID
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.datasets.text import odd_character
from letorbench.errors import DataError, UsageError
from letorbench.files import digest, one_writer
from letorbench.measures import Measure, query_metrics
from letorbench.measures.rankings import document_ids, positions
from letorbench.named_files import input_file
from letorbench.rankers import names
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults, write_tables
from letorbench.results.labels import NAME, Label
from letorbench.results.measuring import measure_fold
from letorbench.results.per_query import PerQuery
from letorbench.results.scores import content, read_scores
from letorbench.results.store import Store, read_folds, write_fold
from letorbench.results.user_files import check_not_read
from letorbench.solvers.fit_result import score_warnings

RANKLIB = ("qid", "index", "score")
RUN = ("qid", "Q0", "docno", "rank", "score", "tag")
QRELS = ("qid", "iter", "docno", "label")
#: MS MARCO's runs, and BEIR's qrels with the names that are their first line
RANKS, BEIR = ("qid", "pid", "rank"), ("query-id", "corpus-id", "score")
#: blank lines and comments at the head of a file, as those of ir_metadata
_HEAD = re.compile(rb"\A(?:#(?:[ \t][^\n]*)?\n|\s)*")
#: a whole number, also as pandas writes it among missing values
_WHOLE = re.compile(rb"[+-]?\d+(?:\.0*)?")
#: a label of NTCIR's qrels
_NTCIR = re.compile(rb"L(\d+)")
#: the largest label of qrels
LARGEST_LABEL = 1_000_000


def import_external(
    name: str,
    pattern: str,
    benchmark: Benchmark,
    out: Path,
    form: str = "auto",
    folds: Sequence[int] | None = None,
) -> tuple[DatasetResults, list[str]]:
    """Store another system's scores, if every file is right; return the results and notes."""
    if not NAME.fullmatch(name):
        raise UsageError(f"name {name!r}: expected letters, digits and . _ + @ -")
    there = read_folds(out, benchmark.name, name)
    if name in names() or any("external" not in fold.identity for fold in there):
        raise UsageError(f"name {name!r} is that of an algorithm of letorbench; choose another")
    chosen = [fold for fold in benchmark.folds if folds is None or fold.number in folds]
    if absent := sorted(set(folds or ()) - {fold.number for fold in chosen}):
        raise UsageError(f"{benchmark.name} has no fold {absent[0]}")
    if len(chosen) > 1 and "{fold}" not in pattern:
        raise UsageError(
            f"{name}={pattern}: expected {{fold}} in it, where {benchmark.name}'s folds "
            f"{chosen[0].number}-{chosen[-1].number} have their numbers"
        )
    given = pattern.replace("{dataset}", benchmark.name)
    files = [input_file(given.replace("{fold}", str(fold.number))) for fold in chosen]
    scores = [read_any(file, fold.test, form) for file, fold in zip(files, chosen)]
    place = out / benchmark.name / name
    folders = [paths.fold_folder(place, fold.number) for fold in chosen]
    for folder in folders:
        for each in (paths.FIT, *paths.CHECKED):
            check_not_read(folder / each, files)
    notes = []
    for fold, folder, file, read in zip(chosen, folders, files, scores):
        warnings = score_warnings(read, fold.test)
        notes += [f"{benchmark.name}, {name}, fold {fold.number}: {each.text}" for each in warnings]
        facts = {
            "dataset": benchmark.name,
            "algo": name,
            "fold": fold.number,
            "external": {
                "pattern": pattern,
                "file": str(file),
                "format": detect(file) if form == "auto" else form,
                "digest": digest(content(file)),
            },
            "convention": benchmark.convention.name,
            "data": benchmark.provenance["digest"],
            "null": benchmark.provenance.get("null", "error"),
        }
        rules, n_folds = benchmark.convention, len(benchmark.folds)
        queries = measure_fold(name, fold, read, rules)
        made = facts, Label(name), read, queries, rules.name, n_folds
        with one_writer(folder, out):
            write_fold(folder, *made, warnings=warnings)
    return write_tables(Store(out, benchmark.name), [name]), notes


def read_any(path: Path, queries: QuerySet, form: str = "auto") -> np.ndarray:
    """Read scores in any format, (n_docs,) float64, in the order of the query set."""
    return FORMATS[detect(path) if form == "auto" else form](path, queries)


def read_scores_of(path: Path, queries: QuerySet) -> np.ndarray:
    """Read the scores of a file that `read_documents` read, in any form, in the set's order."""
    scores = read_any(path, queries)
    # scores alone stand in the order of the file's rows; documents that are named do not
    alone = queries.rows is not None and detect(path) == "scores"
    return scores[queries.rows] if alone else scores


def detect(path: Path) -> str:
    """Return the format by the columns of the first line; three are ranklib, or a run's."""
    if _is_json(path):
        return "trec"
    width = len(_cells(_HEAD.sub(b"", content(path), count=1)[:4096].partition(b"\n")[0]))
    if width == len(RANKS):
        names: dict[bytes, set[bytes]] = {}
        with suppress(DataError):
            scored = False
            for _, qid, name, score in run_lines(path):
                names.setdefault(qid, set()).add(name)
                scored |= bool(float(score) % 1)
            wrong = any(each != {b"%d" % i for i in range(len(each))} for each in names.values())
            # wrong indices are those of RankLib's still
            if wrong and not (scored and all(map(bytes.isdigit, set.union(*names.values())))):
                return "trec"
    return {len(RANKLIB): "ranklib", len(RUN): "trec"}.get(width, "scores")


def read_ranklib(path: Path, queries: QuerySet) -> np.ndarray:
    """Read RankLib's file. A document's index counts from 0 within its query."""
    cells = ((line, qid, index, score) for line, (qid, index, score) in columns(path, RANKLIB))
    return _placed(path, queries, positions(queries.offsets, first=0).tolist(), cells)


def read_run(path: Path, queries: QuerySet) -> np.ndarray:
    """Read a run."""
    return _placed(path, queries, document_names(queries), run_lines(path))


def run_lines(path: Path) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """Yield line, query, document and score of a run; rank r of MS MARCO's has the score -r.

    Three columns end in a score if one of these is no whole number.
    """
    rows: list[tuple[int, bytes, bytes, bytes]] = []
    ranks: dict[bytes, list[float]] = {}
    for line, cells in columns(path, RUN, RANKS):
        if len(cells) == len(RUN):
            yield line, cells[0], cells[2], cells[4]
        else:
            qid, name, last = cells
            rows.append((line, qid, name, last))
            ranks.setdefault(qid, []).append(number(path, line, last))
    if any(rank % 1 for documents in ranks.values() for rank in documents):
        yield from rows
        return
    for qid, documents in ranks.items():
        if set(documents) != {*range(1, len(documents) + 1)}:
            raise DataError(
                f"{path}: found other ranks than 1 to {len(documents)} in query {shown(qid)}, "
                f"expected each once ({' '.join(RANKS)}), or 6 columns: {' '.join(RUN)}"
            )
    yield from ((line, qid, name, b"-" + rank) for line, qid, name, rank in rows)


#: name -> a function from path and queries to (n_docs,) float64 scores in file order
FORMATS: dict[str, Callable[[Path, QuerySet], np.ndarray]] = {
    "scores": lambda path, queries: read_scores(path, queries.n_docs),
    "ranklib": read_ranklib,
    "trec": read_run,
}  # fmt: skip


def _placed(
    path: Path,
    queries: QuerySet,
    names: Sequence[bytes],
    cells: Iterator[tuple[int, bytes, bytes, bytes]],
) -> np.ndarray:
    """Put the score of each line in the row of its document, which has one in the end."""
    rows = document_rows(path, queries, names)
    qids = {qid for qid, _ in rows}
    scores = np.full(queries.n_docs, np.nan)
    lines: dict[int, int] = {}
    for line, qid, name, score in cells:
        what = f"document {shown(name)} of query {shown(qid)}"
        row = rows.get((qid, name))
        if row is None:
            what = what if qid in qids else f"query {shown(qid)}"
            raise DataError(f"{path}:{line}: found {what}, which its test file does not have")
        if row in lines:
            raise _again(path, line, name, qid, f" (line {lines[row]})")
        lines[row] = line
        scores[row] = number(path, line, score)
    missing = np.flatnonzero(np.isnan(scores))
    if len(missing):
        qid, name = next(key for key, row in rows.items() if row == missing[0])
        raise DataError(
            f"{path}: found no score for document {shown(name)} of query {shown(qid)}, expected "
            f"one for each of the {len(scores)} documents ({len(missing)} have none)"
        )
    return scores


def read_qrels(path: Path) -> QuerySet:
    """Read the documents of qrels, TREC's or BEIR's, without features; not judged ones are -1."""
    return without_features(labels_of(path))


def labels_of(path: Path) -> dict[str, dict[bytes, int]]:
    """Return the label of each document of each query of qrels."""
    labels: dict[str, dict[bytes, int]] = {}
    named = False
    for line, cells in columns(path, QRELS, BEIR):
        grade = _NTCIR.fullmatch(cells[-1])
        if len(cells) == len(BEIR) and not named and not grade:
            named = b" ".join(cells).lower() == " ".join(BEIR).encode()
            if named:
                continue
            names = f"4: {' '.join(QRELS)}, or BEIR's names {' '.join(BEIR)} first"
            raise DataError(f"{path}:{line}: found 3 columns, expected {names}")
        qid, docno, label = cells[0], *cells[-2:]
        query = qid.decode("utf-8", "surrogateescape")
        if len(qid) > LONGEST_QID or not query.isprintable():
            expected = f"printable characters in UTF-8, at most {LONGEST_QID:,} bytes"
            raise DataError(f"{path}:{line}: found query id {shown(qid)!r}, expected {expected}")
        documents = labels.setdefault(query, {})
        if docno in documents:
            raise _again(path, line, docno, qid)
        value = int(number(path, line, grade[1] if grade else label, int))
        if value > LARGEST_LABEL:
            raise DataError(f"{path}:{line}: found label {value}, expected at most {LARGEST_LABEL}")
        documents[docno] = max(-1, value)
    return labels


def without_features(qrels: Mapping[str, Mapping[bytes, int]]) -> QuerySet:
    """Return the set of queries whose documents have these labels."""
    labels = [label for documents in qrels.values() for label in documents.values()]
    return QuerySet(
        np.zeros((len(labels), 0), np.float32),
        np.array(labels, np.int32),
        np.cumsum([0, *map(len, qrels.values())]),
        np.array(list(qrels)),
        np.array([docno for documents in qrels.values() for docno in documents], "S"),
    )


def measure_runs(
    qrels: Path, runs: Sequence[Path], measures: Sequence[Measure], rules: Convention
) -> tuple[list[PerQuery], list[str]]:
    """Measure TREC runs on the queries of qrels, NaN where one does not count; return notes too."""
    if rules.mean != "plain":
        raise DataError(f"{qrels}: mean={rules.mean}: qrels have no weights of queries")
    judgements, systems = read_qrels(qrels), []
    notes: list[str] = []
    names = [run.stem for run in runs]
    for path, name in zip(runs, names if len(set(names)) == len(names) else map(str, runs)):
        queries, scores, remarks = matched(str(path), scores_of(path), judgements, rules)
        rows = queries.labels, scores, queries.offsets
        table = query_metrics(*rows, measures, rules, queries.docids)
        if np.isnan(table).all():
            raise DataError(f"{path}: found no query that counts by {rules.name}, expected one")
        values = dict(zip(map(str, measures), table.T))
        systems.append(PerQuery(name, np.ones(len(queries), np.int64), queries.qids, values))
        notes += remarks
    return systems, notes


def scores_of(path: Path) -> dict[str, dict[bytes, float]]:
    """Return the score of each document of each query of a run."""
    run: dict[str, dict[bytes, float]] = {}
    for line, query, docno, score in run_lines(path):
        ranked = run.setdefault(query.decode("utf-8", "surrogateescape"), {})
        if docno in ranked:
            raise _again(path, line, docno, query)
        ranked[docno] = number(path, line, score)
    return run


def matched(
    source: str, run: Mapping[str, Mapping[bytes, float]], qrels: QuerySet, rules: Convention
) -> tuple[QuerySet, np.ndarray, list[str]]:
    """Return the documents of a run of that name, and those it missed: labels, scores, notes."""
    pooled: dict[str, dict[bytes, int]] = {}
    scores: list[float] = []
    names, grades = document_names(qrels), qrels.labels.tolist()
    for qid, first, last in zip(qrels.qids.tolist(), qrels.offsets, qrels.offsets[1:]):
        labels, ranked = dict(zip(names[first:last], grades[first:last])), run.get(qid, {})
        pooled[qid] = {docno: labels.get(docno, -1) for docno in ranked} | labels
        scores += [ranked.get(docno, -np.inf) for docno in pooled[qid]]
    both = run.keys() & pooled.keys()
    if not both:
        raise DataError(f"{source}: found no query of the qrels, expected one at least")
    queries, values = without_features(pooled), np.array(scores)
    how = "count as empty lists" if rules.missing == "0" else "left out"
    drops = rules.unjudged == "drop"
    unjudged = int(np.count_nonzero((queries.labels < 0) & (values > -np.inf))) * drops
    counts = {
        "queries that the qrels do not have, left out": len(run) - len(both),
        f"queries of the qrels without results, {how}": len(pooled) - len(both),
        "documents that are not judged, left out (unjudged=0 keeps them)": unjudged,
    }
    notes = [f"{source}: {what}: {count}" for what, count in counts.items() if count]
    return queries, values, notes


def _again(path: Path, line: int, docno: bytes, qid: bytes, first: str = "") -> DataError:
    what = f"document {shown(docno)} of query {shown(qid)}"
    return DataError(f"{path}:{line}: found {what} again, expected it once{first}")


def columns(path: Path, *forms: tuple[str, ...]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and cells of each line that is not empty; the first line decides the form.

    Comments may stand above, as those of ir_metadata.
    """
    if _is_json(path):
        yield from _of_json(path, forms[0])
        return
    empty = True
    for line_number, line in enumerate(content(path).split(b"\n"), 1):
        cells = _cells(line)
        if not cells or (empty and cells[0] == b"#"):
            continue
        if b"\0" in line:
            raise DataError(f"{path}:{line_number}: found a zero byte, expected text")
        alike = tuple(form for form in forms if len(form) == len(cells))
        if not alike:
            if (odd := odd_character(line)) is not None:
                raise DataError(f"{path}:{line_number}: found {odd[0]}, expected {odd[1]}")
            expected = " or ".join(f"{len(form)}: {' '.join(form)}" for form in forms)
            raise DataError(
                f"{path}:{line_number}: found {len(cells)} columns, expected {expected}"
            )
        forms, empty = alike, False
        yield line_number, cells
    if empty:
        raise DataError(f"{path}: found no lines, expected lines of {' '.join(forms[0])}")


def _cells(line: bytes) -> list[bytes]:
    """Return the words of a line; RankLib's runs name a document by its comment in LETOR text."""
    words = line.split()
    return [*words[:2], *words[4:5], *words[-3:]] if words[2:4] == [b"docid", b"="] else words


def _is_json(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:  # `content` names what cannot be read
        return re.match(rb"\{\s*[\"}]", file.read(64)) is not None
    return False


def _of_json(path: Path, form: tuple[str, ...]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the documents of JSON as pytrec_eval and ranx write it: {query: {document: number}}."""
    try:
        given = json.loads(path.read_bytes(), object_pairs_hook=list)  # a name may be there twice
        cells = [(qid, name, value) for qid, documents in given for name, value in documents]
    except (ValueError, TypeError, RecursionError) as error:
        found = f"found JSON that is no object of objects ({error})"
        raise DataError(f"{path}: {found}, expected {{query: {{document: number}}}}") from None
    for qid, docno, value in cells:
        names = {"qid": qid, "docno": docno, form[-1 if form is QRELS else -2]: json.dumps(value)}
        yield 1, [names.get(name, "").encode("utf-8", "surrogatepass") for name in form]


def number(path: Path, line: int, text: bytes, kind: type = float) -> float | int:
    """Return a cell as a number; DataError for NaN, infinity and text."""
    try:
        value = float(text)
        finite = math.isfinite(value) and b"_" not in text
        finite = finite and (kind is float or _WHOLE.fullmatch(text) is not None)
    except ValueError:
        finite = False
    if not finite:
        what = "a whole number" if kind is int else "a finite number"
        raise DataError(f"{path}:{line}: found {shown(text)!r}, expected {what}")
    return value


def shown(text: bytes) -> str:
    """Return a cell as an error message shows it."""
    return text[:40].decode(errors="replace")


def document_names(queries: QuerySet) -> list[bytes]:
    """Return each document's id, or its position in its query, from 1, where it has none."""
    return document_ids(queries.docids, queries.offsets).tolist()


def document_rows(
    path: Path, queries: QuerySet, names: Sequence[bytes]
) -> dict[tuple[bytes, bytes], int]:
    """Return each document's row by qid and name; DataError where two have the same."""
    qids = [qid.encode() for qid in np.repeat(queries.qids, queries.lengths).tolist()]
    rows: dict[tuple[bytes, bytes], int] = {}
    for row, key in enumerate(zip(qids, names)):
        if rows.setdefault(key, row) != row:
            raise DataError(
                f"{path}: the data have two documents {shown(key[1])} in query {shown(key[0])}, "
                "which a TREC file cannot tell apart"
            )
    return rows
