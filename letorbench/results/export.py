"""Stored scores as TREC runs, the labels of the test parts as qrels, models as others' texts.

In runs and qrels, a document is named by its id. Where the data have no ids, its name is its
position in its query, counted from 1.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets import layout
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.features import Raw
from letorbench.files import Writer, write_atomically
from letorbench.measures.rankings import compared, rows_in_order
from letorbench.rankers import load_model
from letorbench.rankers.any_model import OWN_FILE
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults, data_of
from letorbench.results.external import document_names, document_rows
from letorbench.results.ir_metadata import ir_metadata
from letorbench.results.model_texts import FORMATS
from letorbench.results.store import StoredFold
from letorbench.results.user_files import check_output

QRELS_FILE = "qrels.txt"
#: larger scores, in size, are written so: beyond, numbers of single precision soon end
LARGEST_SCORE = 3e38


def export(results: DatasetResults, form: str, data_dir: Path, folder: Path) -> Iterator[Path]:
    """Write every finished fold of a data set's algorithms as files of other programs.

    With the form `trec` these are fold<k>/<algo>.run, <algo>.yml with what made it, and qrels.txt,
    with another one fold<k>/<algo>.txt, the model as that program's text, or .json. Of an algorithm
    with repeats the first is written. A model of transformed features is refused: the texts have no
    place for what was done to them. Features have the names of the data set's features.txt.

    form: `trec`, or a name of `letorbench.results.model_texts.FORMATS`.

    Yields the files written, and raises DataError at the end for the models that cannot be: they
    are damaged, or the form does not know their kind. DataError also says that scores are of other
    data, UsageError that the folder is one of a data set.
    """
    stored = {row.algo: row.by_repeat[0] for row in results.rows}
    end = "json" if form in ("solr", "elasticsearch") else "txt"
    for algo, folds in stored.items():
        for fold in folds:
            check_output(folder / fold.folder.name / f"{algo}.{end}", data_dir=data_dir)
    if form != "trec":
        places = ((a, f, folder / f.folder.name / f"{a}.{end}") for a in stored for f in stored[a])
        failed: dict[str, None] = {}
        for algo, fold, path in places:
            try:
                text = _model_text(algo, fold, form, data_dir)
            except LetorError as error:
                failed[str(error)] = None
                continue
            with write_atomically(path) as file:
                file.write(text)
            yield path
        if failed:
            raise DataError("; ".join(failed))
        return
    written: dict[Path, None] = {}
    for algo, folds in stored.items():
        benchmark = data_of(data_dir, folds)
        tests = {fold.number: fold.test for fold in benchmark.folds}
        for fold in folds:
            test = tests[fold.number]
            names = (QRELS_FILE, f"{algo}.run", f"{algo}.yml")
            qrels, run, made_by = (folder / fold.folder.name / name for name in names)
            write_run(run, test, fold.scores(test.n_docs), algo, benchmark.convention)
            if qrels not in written:
                write_qrels(qrels, test)
            with write_atomically(made_by) as file:
                file.write(ir_metadata(fold, QRELS_FILE))
            written |= {qrels: None, run: None, made_by: None}
    yield from written


def _model_text(algo: str, fold: StoredFold, form: str, data_dir: Path) -> str:
    path = model_file(fold.folder)
    names = feature_names(fold.key.dataset, data_dir)
    if names:
        names = data_of(data_dir, [fold]).folds[0].train.feature_names
    try:
        return model_text(path, form, f"{algo}-{fold.folder.name}", names)
    except UsageError as error:
        raise UsageError(f"{algo}: {error}") from None


def model_file(folder: Path) -> Path:
    """Return the path of a stored fold's model; another library's is kept as its text."""
    text = folder / OWN_FILE
    return text if text.exists() else folder / paths.MODEL


def model_text(path: Path, form: str, name: str, names: Sequence[str] | None = None) -> str:
    """Return a saved model as another program's text; UsageError says that it has none there.

    form, name: of `letorbench.results.model_texts.FORMATS`, and the model's there. names: those of
    the features; by default those that are in the file.
    """
    fitted = load_model(path)
    if fitted.transformation_.name != Raw.name:
        raise UsageError(
            f"its model is of features that {fitted.transformation_.name} transformed, "
            f"which a model of {form} cannot say; expected a run with --features raw"
        )
    return FORMATS[form](fitted.learned.model, name, names or fitted.feature_names_in_)


def feature_names(dataset: str, data_dir: Path) -> Sequence[str] | None:
    """Return the names of a data set's features, None where it has none or is not there."""
    if not layout.present(dataset, data_dir):
        return None
    return layout.feature_names(layout.find(dataset, data_dir))


def write_run(
    path: Path,
    queries: QuerySet,
    scores: np.ndarray,
    tag: str,
    rules: Convention = CONVENTIONS["standard"],
    to: Writer = write_atomically,
) -> None:
    """Write scores of shape (n_docs,) as a run, every query by rank, ties by the convention.

    trec_eval takes the order from the scores, in single precision, and breaks ties by falling
    document id. Where this is another order, a score is written a little lower: as the next
    number of single precision below that of the document above. Mean orders are the file's.
    """
    if len(tag.split()) != 1:
        raise UsageError(f"tag {tag!r}: expected one word")
    names = document_names(queries)
    document_rows(path, queries, names)  # a run could not tell two documents of one name apart
    ids, offsets = np.array(names, "S"), queries.offsets
    order = rows_in_order(queries.labels, compared(scores, rules), offsets, rules.ties, ids)
    values = np.clip(np.asarray(scores, dtype=np.float64), -LARGEST_SCORE, LARGEST_SCORE)
    singles = values.astype(np.float32)
    with to(path, binary=True) as file:
        for query, qid in enumerate(queries.qids.tolist()):
            above, id_above = np.float32(np.inf), b""
            for place, row in enumerate(order[offsets[query] : offsets[query + 1]], 1):
                name, single, score = names[row], singles[row], float(values[row])
                if (single, name) > (above, id_above):
                    single = np.nextafter(above, np.float32(-np.inf))
                    score = float(single)
                above, id_above = single, name
                last = f"{place} {score!r} {tag}\n".encode()
                file.write(b"%s Q0 %s %s" % (qid.encode(), name, last))


def write_qrels(path: Path, queries: QuerySet) -> None:
    """Write the labels of the documents as qrels, in file order."""
    qids = np.repeat(queries.qids, queries.lengths).tolist()
    cells = zip(qids, document_names(queries), queries.labels.tolist())
    with write_atomically(path, binary=True) as file:
        file.writelines(b"%s 0 %s %d\n" % (qid.encode(), name, label) for qid, name, label in cells)
