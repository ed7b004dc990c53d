"""Stored scores as TREC runs, the labels of the test parts as qrels, models as others' texts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.conventions import CONVENTIONS, RULES, Convention, convention
from letorbench.datasets import layout
from letorbench.datasets.catalog import CATALOG
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.user_data import Note
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.features import Raw
from letorbench.files import Writer, write_atomically
from letorbench.measures.rankings import compared, rows_in_order
from letorbench.rankers import load_model
from letorbench.rankers.any_model import OWN_FILE
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults, data_of
from letorbench.results.external import document_names, document_rows
from letorbench.results.model_texts import FORMATS, lost
from letorbench.results.store import StoredFold
from letorbench.results.user_files import check_output

QRELS_FILE = "qrels.txt"
#: larger scores, in size, are written so: beyond, numbers of single precision soon end
LARGEST_SCORE = 3e38


def export(
    results: DatasetResults, form: str, data_dir: Path, folder: Path, note: Note = lambda line: None
) -> Iterator[Path]:
    """Write the folds of the first repeat as runs with qrels and metadata, or as models' texts.

    Yields the files. `note` takes what the form cannot say of a model that it holds; DataError, at
    the end, names the models that it cannot hold.
    """
    stored = {row.algo: row.by_repeat[0] for row in results.rows}
    end = "json" if form in ("solr", "elasticsearch") else "txt"
    for algo, folds in stored.items():
        for fold in folds:
            check_output(_file(folder, fold, end), data_dir=data_dir)
    if form != "trec":
        failed: dict[str, None] = {}
        for algo, fold in ((algo, fold) for algo, folds in stored.items() for fold in folds):
            name, names = f"{algo}-{fold.folder.name}", None
            try:
                if feature_names(results.dataset, data_dir):
                    names = data_of(data_dir, [fold]).folds[0].train.feature_names
                text = model_text(model_file(fold.folder), form, name, names, note)
            except LetorError as error:
                message = f"{algo}: {error}" if isinstance(error, UsageError) else str(error)
                failed[message] = None
                continue
            path = _file(folder, fold, end)
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
            qrels = folder / fold.folder.name / QRELS_FILE
            run, made_by = (_file(folder, fold, end) for end in ("run", "yml"))
            write_run(run, test, fold.scores(test.n_docs), algo, benchmark.convention)
            if qrels not in written:
                write_qrels(qrels, test)
            with write_atomically(made_by) as file:
                file.write(ir_metadata(fold, QRELS_FILE))
            written |= {qrels: None, run: None, made_by: None}
    yield from written


def _file(folder: Path, fold: StoredFold, end: str) -> Path:
    """A file of an algorithm, whose label may have signs that no file name has."""
    return folder / fold.folder.name / f"{fold.folder_of_algo.name}.{end}"


def model_file(folder: Path) -> Path:
    """Return the path of a stored fold's model; another library's is kept as its text."""
    text = folder / OWN_FILE
    return text if text.exists() else folder / paths.MODEL


def model_text(path: Path, form: str, name: str, names: Sequence[str] | None, note: Note) -> str:
    """Return a saved model as another program's text; UsageError says that it has none there."""
    fitted = load_model(path)
    if fitted.transformation_.name != Raw.name:
        raise UsageError(
            f"the model is of features that {fitted.transformation_.name} transformed, "
            f"which a model of {form} cannot say; expected a model of --features raw"
        )
    model = fitted.learned.model
    text = FORMATS[form](model, name, names or fitted.feature_names_in_)
    if lacking := lost(model, form):
        note(f"{name}: {lacking}")
    return text


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

    trec_eval orders by the scores, in single precision, and ties by falling document id. Where this
    is another order, a score is written as the next number below that of the document above.
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


def ir_metadata(fold: StoredFold, qrels: str) -> str:
    """Return what made the run of a fold, as YAML; `qrels` is the file of its labels.

    The schema is `ir_metadata` (https://www.ir-metadata.org), version 0.1, which has it at the head
    of the run, in lines with #. pytrec_eval, ir_measures, ranx and trec_eval refuse these, so it is
    a file beside the run. Goal and actor, which users know, stay empty.
    """
    key, fit, identity = fold.key, fold.fit, fold.identity
    source = CATALOG[key.dataset].page if key.dataset in CATALOG else None
    facts: dict[str, Any] = {"schema-version": 0.1, "run-version": 1.0, "tag": key.algo}
    facts |= dict.fromkeys(("platform", "research goal", "implementation"), {})
    retrieval: dict[str, Any] = {"name": key.algo}
    facts["method"] = {"score ties": RULES["ties"][convention(fold.convention).ties]}
    facts |= {"actor": {}, "data": {"test collection": {
        "name": key.dataset, "source": source, "qrels": qrels, "fold": key.fold,
        "digest": identity.get("data"),
    }}}  # fmt: skip
    if "external" not in identity:  # of another system's training nothing is known
        python = [f"{name}=={version}" for name, version in fit["versions"].items()]
        toolkit = [each for each in python if each.startswith("letorbench==")]
        software = {"libraries": {"python": python}, "retrieval toolkit": toolkit}
        facts["platform"] = {**(fit.get("machine") or {}), "software": software}
        facts["implementation"] = {"source": {"lang": ["python"]}}
        facts["method"]["automatic"] = True
        module, seed = identity.get("module"), identity.get("seed")
        retrieval |= {"method": module, "params": fit["chosen"], "seed": seed}
        facts["data"]["training data"] = [
            {"name": f"{key.dataset}, {part} part of fold {key.fold}", "source": source}
            for part in ("training", "validation")
        ]
    facts["method"]["retrieval"] = [retrieval]
    return "".join(f"{line}\n" for line in _yaml(facts))


def _yaml(facts: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the known facts as lines of YAML, whose values are JSON."""
    for name, value in facts.items():
        if isinstance(value, Mapping) and value:
            yield f"{before}{name}:"
            yield from _yaml(value, f"{before}  ")
        elif name in ("retrieval", "training data"):
            yield f"{before}{name}:"
            for each in value:
                first, *others = _yaml(each, f"{before}  ")
                yield f"{before}- {first.strip()}"
                yield from others
        elif value not in (None, ""):
            yield f"{before}{name}: {json.dumps(value)}"
