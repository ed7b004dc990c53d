"""A user's own files: each layout gives the data that were written, and says what it was."""

import bz2
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import random_queries, unlocked
from test_archive import as_folder

import letorbench as lb
from letorbench.cli import cli
from letorbench.datasets import layout
from letorbench.datasets.archive import import_archive
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions
from letorbench.datasets.user_data import Words, graded, parse_grades
from letorbench.datasets.user_data.folds import split
from letorbench.datasets.user_data.read import read_documents
from letorbench.datasets.user_data.tables import Columns, read_categories
from letorbench.errors import DataError, UsageError
from letorbench.named_files import input_file
from letorbench.results.user_files import read_for

LENGTHS = {"train": [3, 1, 4, 2], "vali": [2, 2], "test": [1, 5]}
Data = dict[str, QuerySet]


@pytest.fixture
def data(rng) -> Data:
    """Parts of which the training part alone has the first feature."""
    parts = {part: random_queries(rng, n, n_features=3) for part, n in LENGTHS.items()}
    with unlocked(parts["vali"], parts["test"]):
        parts["vali"].features[:, 0] = parts["test"].features[:, 0] = 0.0
    return parts


def cells(values: np.ndarray) -> list[str]:
    """Numbers with more digits than float32 has."""
    return [repr(float(value) * (1 + 1e-9)) for value in values]


def sparse(queries: QuerySet, first: int, head: str = "", tail: str = "") -> str:
    rows = zip(queries.y, queries.X, np.repeat(range(7, 7 + len(queries)), queries.lengths))
    return "".join(
        f"{y}{head.format(q=q)} "
        + " ".join(f"{i}:{x}" for i, x in enumerate(cells(row), first) if x != "0.0")
        + f"{tail.format(q=q)}\n"
        for y, row, q in rows
    )


def dense(queries: QuerySet, separator: str, extra: bool = False) -> str:
    rows = zip(queries.y, queries.X, np.repeat(range(7, 7 + len(queries)), queries.lengths))
    return "".join(
        separator.join([str(y), *([f"q{q}", f"{q}.25"] if extra else []), *cells(row)]) + "\n"
        for y, row, q in rows
    )


def sizes(queries: QuerySet) -> str:
    return "".join(f"{n}\n" for n in queries.lengths)


def weights(queries: QuerySet, times: np.ndarray | int = 1) -> str:
    """7.25, 8.25, ..., each so many times."""
    return "".join(f"{w}\n" for w in np.repeat(np.arange(len(queries)) + 7.25, times))


def lightgbm(part: str, queries: QuerySet) -> dict[str, str]:
    name, beside = f"rank.{part}", weights(queries, queries.lengths)
    return {name: sparse(queries, 0), name + ".query": sizes(queries), name + ".weight": beside}


def xgboost(part: str, queries: QuerySet) -> dict[str, str]:
    name = f"{part}.txt"
    files = {name: sparse(queries, 1), name + ".group": sizes(queries)}
    return {**files, name + ".weight": weights(queries)}


def numbers(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.CSV": dense(queries, ","), f"{part}.csv.QUERY": sizes(queries)}


def blanks(part: str, queries: QuerySet) -> dict[str, str]:
    return {part: dense(queries, "  "), f"{part}.query": sizes(queries)}


def catboost(part: str, queries: QuerySet) -> dict[str, str]:
    described = "0\tLabel\n1\tGroupId\n2\tGroupWeight\n4\tNum\tpage rank\n"
    return {f"{part}.tsv": dense(queries, "\t", extra=True), "pool.cd": described}


def from_0(part: str, queries: QuerySet) -> dict[str, str]:
    name, beside = f"{part}.txt", weights(queries)
    return {name: sparse(queries, 0, " qid:{q}"), name + ".weight": beside}


def ranklib(part: str, queries: QuerySet) -> dict[str, str]:
    name = f"f1.{part.replace('vali', 'validation')}.mine.txt"
    text = sparse(queries, 1, " qid:{q}", " # GX-{q} anything: 0:1")
    return {name: text, name + ".weight": weights(queries)}


def comments(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.txt": sparse(queries, 1, "", " # {q}")}


#: what a file of each layout is taken for
LAYOUTS: dict[Callable[[str, QuerySet], dict[str, str]], str] = {
    lightgbm: "SVMlight text, features from 0, queries by .query, weights of queries",
    xgboost: "SVMlight text, features from 1, queries by .group, weights of queries",
    numbers: "columns of numbers, the first the label, queries by .QUERY",
    blanks: "columns of numbers, the first the label, queries by .query",
    catboost: "columns as pool.cd describes them (CatBoost), weights of queries",
    from_0: "SVMlight text, features from 0, queries by qid:, weights of queries",
    ranklib: "LETOR text",
    comments: "SVMlight text, features from 1, queries by each line's comment",
}


#: layouts without weights
UNWEIGHED = (numbers, blanks, comments)


def same(found: QuerySet, written: QuerySet) -> None:
    np.testing.assert_array_equal(found.X, written.X)
    np.testing.assert_array_equal(found.y, written.y)
    np.testing.assert_array_equal(found.offsets, written.offsets)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("windows", [False, True])
def test_given_parts_are_what_was_written(layout, windows, data, tmp_path):
    def change(text: str) -> str:
        return "\ufeff" + text.rstrip().replace("\n", "\r\n") if windows else text

    if windows and layout is ranklib:
        pytest.skip("LETOR text is copied as it is")
    for part, queries in data.items():
        files = {name: change(text) for name, text in layout(part, queries).items()}
        as_folder(tmp_path / "mine", files)
    notes: list[str] = []
    assert import_archive(tmp_path / "mine", tmp_path / "data", note=notes.append) == ("mine",)
    names = sorted(next(iter(layout(part, queries))) for part, queries in data.items())
    assert notes == [f"{', '.join(names)}: {LAYOUTS[layout]}"]
    fold = lb.load("mine", tmp_path / "data").folds[0]
    for part, queries in zip((fold.train, fold.validation, fold.test), data.values(), strict=True):
        same(part, queries)
        expected = None if layout in UNWEIGHED else (np.arange(len(queries)) + 7.25).tolist()
        assert (None if part.weights is None else part.weights.tolist()) == expected
    if layout in (lightgbm, xgboost, numbers, blanks):
        ids = [set(part.qids.tolist()) for part in fold.parts.values()]
        assert len(set.union(*ids)) == sum(map(len, ids)), "no query is in two parts"
    if layout is catboost:
        assert fold.test.feature_names == ("0", "page rank", "2")


@pytest.mark.parametrize("name", ["train.weight", "train.weight.gz", "train.gz.weight"])
def test_compressed_files_beside_compressed_data_are_read(name, data, tmp_path):
    text, lengths, numbers = map(str.encode, lightgbm("train", data["train"]).values())
    (tmp_path / "train.gz").write_bytes(gzip.compress(text))
    (tmp_path / "train.query.bz2").write_bytes(bz2.compress(lengths))
    (tmp_path / name).write_bytes(gzip.compress(numbers) if "gz" in name else numbers)
    found = read_documents(input_file(tmp_path / "train.gz"))
    assert found.weights.tolist() == (np.arange(len(found)) + 7.25).tolist()


def test_grades_of_at_most_32_values_in_their_order():
    labels = np.arange(32)[::-1] / 7
    assert graded(labels, parse_grades("auto"), str)[0].tolist() == list(range(32))[::-1]


TEXT = "".join(
    f"{d % 3} qid:{q} 1:{q}.5 2:{'NULL' if (q, d) == (2, 1) else d} #docid = D{q}-{d}\n"
    for q in range(1, 8)
    for d in range(3)
)


@pytest.fixture
def frame(rng) -> pd.DataFrame:
    queries = random_queries(rng, [3, 1, 4, 2, 5, 2], n_features=3)
    values = queries.X.astype(float) * [1e-7, 1.0, 1e9]
    table = pd.DataFrame(values, columns=["bm25", "page rank", "clicks"])
    table.insert(1, "grade", queries.y)
    table["query"] = [f"q{number}" for number in queries.qid]
    return table.sample(frac=1.0, random_state=1)


def lines(folder: Path, fold: int, part: str) -> list[str]:
    return (folder / f"Fold{fold}" / f"{part}.txt").read_text().splitlines()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_text_is_copied_line_by_line(ending, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# a heading\n\n" + TEXT.rstrip().replace("\n", ending), newline="")
    assert split(path, tmp_path / "data", folds=3) == "mine"
    whole = sorted(TEXT.splitlines())
    for fold in (1, 2, 3):
        parts = [lines(tmp_path / "data" / "mine", fold, p) for p in ("train", "vali", "test")]
        assert sorted(sum(parts, [])) == whole
    tests = [lines(tmp_path / "data" / "mine", fold, "test") for fold in (1, 2, 3)]
    assert sorted(sum(tests, [])) == whole
    loaded = lb.load("mine", tmp_path / "data", null="min")
    assert loaded.provenance["rotation"]
    together = [part.qids for part in loaded.folds[0].parts.values()]
    assert len(np.unique(np.concatenate(together))) == sum(map(len, together))


def test_a_table_is_what_from_frame_makes_of_it(frame, tmp_path):
    path = tmp_path / "mine.tsv"
    named = frame.assign(row=range(len(frame)))
    named.to_csv(path, index=False, sep="\t")
    split(path, tmp_path, folds=3, seed=4, columns=Columns("grade", "query", "row"))
    loaded = lb.load("mine", tmp_path)
    expected = lb.from_frame(frame, "grade", "query", folds=3, seed=4)
    for found, wanted in zip(loaded.folds, expected.folds, strict=True):
        assert found.number == wanted.number
        for part in ("train", "validation", "test"):
            same(found.parts[part], wanted.parts[part])
            assert found.parts[part].feature_names == ("bm25", "page rank", "clicks")


def test_words_are_categories_or_a_feature_each(tmp_path):
    text = "label,qid,x,brand\n1,a,0.5,nova\n0,a,1,\n2,b,2,acme\n0,b,3, nova\n1,c,4,zen\n"
    table = tmp_path / "shop.csv"
    table.write_text(text)
    for codes, hot in (("brand", None), (None, "brand")):
        name = "hot" if hot else "coded"
        words = [*(("--categories", codes) if codes else ("--one-hot", hot))]
        given = ["split", str(table), "--name", name, "--folds", "3", "--data-dir", str(tmp_path)]
        assert CliRunner().invoke(cli, ["datasets", *given, *words]).exit_code == 0
        kept = tmp_path / name / "categories.csv"
        assert kept.read_text() == "brand,acme\nbrand,nova\nbrand,zen\n"
        parts = [fold.test for fold in lb.load(name, tmp_path, null="keep").folds]
        names = ("x", "brand") if codes else ("x", "brand=acme", "brand=nova", "brand=zen")
        assert parts[0].feature_names == names
        rows = np.concatenate([each.X[:, 1:] for each in parts])
        rows = rows[np.argsort(np.concatenate([each.X[:, 0] for each in parts]))]
        code = np.array([1, np.nan, 0, 1, 2])
        expected = code[:, None] if codes else np.equal.outer(code, np.arange(3))
        np.testing.assert_array_equal(rows, expected)
        # new documents: the same numbers, also where words lack or are new
        other = tmp_path / "new.csv"
        other.write_text("label,qid,x,brand\n0,z,1,zen\n0,z,1,other\n")
        columns = Columns(categories=read_categories(kept), one_hot=[hot] if hot else [])
        read = read_documents(other, ReadOptions(null="keep"), columns)
        new = [[2], [np.nan]] if codes else [[0, 0, 1], [0, 0, 0]]
        np.testing.assert_array_equal(read.X[:, 1:], new)
    for text, said in (
        (b"brand,a\nbrand,b,c\n", "kept.csv:2: found 'brand,b,c', expected column,word"),
        (b"brand,a;b;c\nbrand,a;b;c\n", "kept.csv:2: found 'brand,a;b;c', .*each once"),
        (b"\xfd\x80", "kept.csv: found no table"),
    ):
        (tmp_path / "kept.csv").write_bytes(text)
        with pytest.raises(DataError, match=said):
            read_categories(tmp_path / "kept.csv")
    with pytest.raises(DataError, match="shop.csv:2: column 'brand': found 'nova', expected num"):
        read_documents(table)


def test_parquet_is_read_by_pandas(tmp_path, monkeypatch):
    """pandas stands in for itself: what reads Parquet need not be installed."""
    path, name = tmp_path / "mine.parquet", ["label", "qid", 7, "id"]
    path.write_bytes(b"odd")
    path.with_suffix(".txt").write_bytes(b"PAR1")
    rows = [[1, "b", 0.1, "x"], [0, 4, None, "y"], [True, "c", 2**24, "z"], [2, "b", -0.5, "v"]]
    table = pd.DataFrame(rows, columns=name).assign(new=[True, False, False, True])
    for found, said in (
        (ValueError("odd\n  file"), "no table: odd file"),
        (ImportError(), "found Parquet, which needs a package; .*letorbench.parquet"),
        (pd.DataFrame([], columns=name), "found no rows, expected at least 1"),
        (pd.DataFrame([[1, 2, "a", "x"]], columns=name), "row 0: column '7': found 'a', expected"),
    ):
        monkeypatch.setattr(pd, "read_parquet", Mock(side_effect=[found]))
        with pytest.raises(DataError, match=f"mine.parquet: {said}"):
            split(path, tmp_path, folds=3, columns=Columns(docid="id"))
    monkeypatch.setattr(pd, "read_parquet", lambda path: table)
    split(path.with_suffix(".txt"), tmp_path, folds=3, columns=Columns(docid="id"))
    tests = sorted((tmp_path / f"mine/Fold{k}/test.txt").read_text() for k in (1, 2, 3))
    assert tests == [
        "0 qid:4 1:NULL 2:0 #docid = y\n",
        "1 qid:b 1:0.100000001 2:1 #docid = x\n2 qid:b 1:-0.5 2:1 #docid = v\n",
        "1 qid:c 1:16777216 2:0 #docid = z\n",
    ]


@pytest.mark.parametrize("words", ["", "bad good"])
def test_a_head_that_a_description_replaces_is_no_document(words, tmp_path):
    grades = words.split()
    rows = [f"{grades[row % 2] if grades else row % 2}\tq{row}\t{row}\n" for row in range(3)]
    for name, head in (("with", "target\tgroup\tage\n"), ("without", "")):
        (tmp_path / f"{name}.tsv").write_text(head + "".join(rows))
        (tmp_path / f"{name}.cd").write_text("0\tLabel\n1\tGroupId\n")
        found = read_documents(tmp_path / f"{name}.tsv", grades=Words(grades) if grades else None)
        assert found.y.tolist() == [0, 1, 0] and found.X.tolist() == [[0], [1], [2]]


PLAIN = pd.DataFrame(
    {"label": [2, 0, 1, 0], "qid": ["b", "b", "a", "a"], "x": [0.1, -1e30, np.nan, 4], "page": 7.0}
)
#: the same table as others export it: the file's name, and its text or what pandas reads
EXPORTS: dict[str, tuple[str, str | pd.DataFrame]] = {
    "row numbers": ("d.csv", PLAIN.to_csv()),
    "row numbers twice": ("d.csv", PLAIN.rename_axis("Unnamed: 0").to_csv()),
    "ends in commas": ("d.csv", PLAIN.to_csv(index=False).replace("\n", ",,\n")),
    "empty rows": ("d.csv", PLAIN.to_csv(index=False) + ",,,\n,,,\n"),
    "blanks in the head": ("d.csv", PLAIN.to_csv(index=False).replace("qid,x", " qid , x", 1)),
    "Excel's separator": ("d.csv", "sep=;\n" + PLAIN.to_csv(index=False, sep=";")),
    "comments above": ("d", "# by us, 2026\n#\n\n" + PLAIN.to_csv(index=False)),
    "Excel's N/A": ("d.csv", PLAIN.to_csv(index=False, na_rep="#N/A")),
    "MySQL's NULL": ("d.tsv", PLAIN.to_csv(index=False, sep="\t", na_rep="\\N")),
    "any ending": ("d.log", PLAIN.to_csv(index=False, sep="\t")),
    "no ending": ("d", PLAIN.to_csv(index=False, sep=";")),
    "JSON lines": ("d.jsonl", PLAIN.to_json(orient="records", lines=True)),
    "JSON lines by another name": ("d.json", PLAIN.to_json(orient="records", lines=True)),
    "JSON": ("d.json", "\n" + PLAIN.to_json(orient="records", indent=1)),
    "JSON of columns": ("d.json", PLAIN.to_json(indent=1)),
    "Feather": ("d", PLAIN),
    "index of Parquet": ("d.parquet", PLAIN.set_index(["qid", "label"])),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_exports_of_others_are_the_plain_table(export, tmp_path, monkeypatch):
    name, content = EXPORTS[export]
    (tmp_path / "plain.csv").write_text(PLAIN.to_csv(index=False))
    (tmp_path / name).write_text(content if isinstance(content, str) else "ARROW1")
    for each in ("read_feather", "read_parquet"):
        monkeypatch.setattr(pd, each, lambda path: content)
    found, wanted = (read_documents(tmp_path / each) for each in (name, "plain.csv"))
    same(found, wanted)
    assert found.feature_names == wanted.feature_names == ("x", "page")
    assert found.qids.tolist() == wanted.qids.tolist()


def test_a_heading_that_begins_as_a_comment_and_lines_below_comments_keep_their_places(tmp_path):
    (tmp_path / "d.csv").write_text("# of us\n#qid,label,x\n1,0,2\n")
    assert read_documents(tmp_path / "d.csv", columns=Columns(qid="#qid")).X.tolist() == [[2.0]]
    (tmp_path / "d.csv").write_text("# of us\n\nqid,label,x\n1,0,y\n")
    with pytest.raises(DataError, match="d.csv:4: column 'x': found 'y'"):
        read_documents(tmp_path / "d.csv")
    (tmp_path / "d.json").write_text("3")
    with pytest.raises(DataError, match="found '3', expected an object for each row"):
        read_documents(tmp_path / "d.json")


def test_a_column_docid_is_no_feature_unless_it_is_named_as_one(tmp_path):
    (tmp_path / "d.csv").write_text("docid,qid,label,x\n7,1,0,2\n")
    for columns, docids, features in (
        (Columns(), [b"7"], [2]), (Columns(docid="x"), [b"2"], [7]),
        (Columns(features=["docid", "x"]), None, [7, 2]),
    ):  # fmt: skip
        found = read_documents(tmp_path / "d.csv", columns=columns)
        assert found.X.tolist() == [features]
        assert (None if found.docids is None else found.docids.tolist()) == docids


def test_numbers_of_names_are_whole_and_indices_have_their_order(tmp_path):
    """pandas makes floats of integers beside a missing one, and "10" is before "2" as a text."""
    rows = [{"label": 1, "qid": 7, "10": 0.5, "2": 4.0, "c": 3}, {"label": 0, "qid": 8, "10": 1.0}]
    (tmp_path / "d.json").write_text(json.dumps(rows))
    found = read_documents(tmp_path / "d.json", columns=Columns(categories={"c": None}))
    assert found.feature_names == ("10", "2", "c") and found.qids.tolist() == ["7", "8"]
    assert found.X[0].tolist() == [0.5, 4.0, 0.0] and np.isnan(found.X[1, 1:]).all()
    (tmp_path / "d.json").write_text(json.dumps([{k: r[k] for k in r if k != "c"} for r in rows]))
    found = read_documents(tmp_path / "d.json")
    assert found.X[0].tolist() == [4.0, 0.5]


def test_names_that_differ_by_a_blank_are_kept_apart(tmp_path):
    X = pd.DataFrame({"a b": [1.0, 0.0, 0.5], "a_b": [0.0, 1.0, 0.0]})
    ranker = lb.Regression().fit(X, [1, 0, 2], qid=[1, 1, 1])
    X[["a_b", "a b"]].assign(qid=1).to_csv(tmp_path / "new.csv", index=False)
    assert read_for(ranker, tmp_path / "new.csv").X.tolist() == X.to_numpy().tolist()
    ranker = lb.Regression().fit(X.set_axis(["a_b", "c_d"], axis=1), [1, 0, 2], qid=[1, 1, 1])
    X.assign(qid=1).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(DataError, match="a_b.* blank"):
        read_for(ranker, tmp_path / "new.csv")


def test_json_that_has_no_rows_or_breaks_off_is_refused(tmp_path):
    for text, nouns in (("", "no rows"), ("[]", "no rows"), ('\n{"x": 1}\n{"x" 2}', "line 3")):
        (tmp_path / "d.json").write_text(text)
        with pytest.raises(DataError, match=nouns):
            read_documents(tmp_path / "d.json")


def test_new_documents_need_no_labels_and_have_features_by_name(tmp_path):
    table = PLAIN.fillna(0.0)
    ranker = lb.Regression().fit(table[["x", "page"]], table["label"], qid=table["qid"])
    path = tmp_path / "new.csv"
    for columns, label in ((["qid", "page", "x"], None), (["label", "qid", "x", "page"], "?")):
        new = table if label is None else table.assign(label=label)
        new[columns].to_csv(path, index=False)
        read = read_for(ranker, path)
        np.testing.assert_array_equal(read.X, table[["x", "page"]].astype(np.float32))
    (tmp_path / "new.txt").write_text("0.5 qid:1 1:2 2:3\n")
    assert read_for(ranker, tmp_path / "new.txt").X.tolist() == [[2, 3]]
    (tmp_path / "new.txt").write_text("1 qid:1 1:-1.7976931348623157E308 2:3\n")
    assert read_for(ranker, tmp_path / "new.txt").X.tolist() == [[np.finfo(np.float32).min, 3]]
    for columns, said in (
        (["qid", "x", "views"], "found the feature 'views', expected 'page'"),
        (["qid", "x", "page", "views"], "found 3 features, expected 2"),
    ):
        table.rename(columns={"label": "views"})[columns].to_csv(path, index=False)
        with pytest.raises(DataError, match=said):
            read_for(ranker, path)
    for chosen in (
        Columns("grade"), Columns(features=["x", "x"]), Columns(features=["x", "qid"]),
        Columns(categories={"qid": ["a"]}),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="new.csv.*'(grade|x|qid)'"):
            read_for(ranker, path, columns=chosen)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_parts_that_are_tables_are_imported(ending, tmp_path):
    (tmp_path / "mine").mkdir()
    for part, first in (("train", 0), ("test", 2)):
        path = tmp_path / "mine" / f"{part}.{ending}"
        table = PLAIN[first : first + 2]
        table = table[["page", "qid", "x", "label"]] if part == "train" else table
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    assert import_archive(tmp_path / "mine", tmp_path / "data") == ("mine",)
    train, test = ((tmp_path / f"data/mine/{part}.txt").read_text() for part in ("train", "test"))
    assert train == "2 qid:b 1:0.100000001 2:7\n0 qid:b 1:-1.00000002e+30 2:7\n"
    assert test == "1 qid:a 1:NULL 2:7\n0 qid:a 1:4 2:7\n"


@pytest.mark.parametrize("name, first", [
    ("fold_{}/{}.txt", 0), ("split{}/{}.txt.gz", 1), ("cv-{}/{}.csv.bz2", 1), ("S{}/{}.dat", 1),
    ("{}/{}.txt", 0), ("fold{}_{}.txt", 1), ("my.{1}.cv{0}.txt.gz", 0), ("f{}.{}.web.txt", 1),
])  # fmt: skip
def test_folds_are_known_by_folders_and_files_of_any_usual_name(name, first, tmp_path):
    pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)
    for number in range(3):
        for part in ("train", "test"):
            path = tmp_path / "mine" / name.format(first + number, part)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = f"{number} qid:{part} 1:1\n" * 2
            if ".csv" in name:
                text = f"label,qid,x\n{number},{part},1\n"
            path.write_bytes(pack(text.encode()))
    notes: list[str] = []
    assert import_archive(tmp_path / "mine", tmp_path / "data", note=notes.append) == ("mine",)
    assert any("is fold 1, as" in note for note in notes) == (first == 0)
    folds = layout.find("mine", tmp_path / "data").folds
    found = [(each.number, each.test.read_text()[0]) for each in folds]
    assert found == [(1, "0"), (2, "1"), (3, "2")]


def test_years_are_no_folds_and_compressed_parts_of_a_release_are_unpacked(tmp_path):
    for name in ("2003/{}.txt", "2004/{}.txt", "f136/my_f46_{}.txt"):
        text = "0 qid:1 1:1\n"
        as_folder(tmp_path / "in", {name.format(part): text for part in ("train", "test")})
    assert import_archive(tmp_path / "in", tmp_path / "data") == ("2003", "2004", "f136")
    names = [f"Fold{k}/{part}.txt" for k in range(1, 6) for part in ("train", "vali", "test")]
    for name in names:
        path = tmp_path / "MQ2008" / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(f"0 qid:1 1:1 # {name}\n".encode()))
    assert import_archive(tmp_path / "MQ2008", tmp_path / "data") == ("MQ2008",)
    assert all(
        (tmp_path / "data/MQ2008" / name).read_text().endswith(f"{name}\n") for name in names
    )


@pytest.mark.parametrize("null", ["keep", "min"])
def test_a_table_is_read_as_its_letor_text(null, tmp_path):
    table, text = tmp_path / "d.csv", tmp_path / "d.txt"
    table.write_text("label,qid,x,y\n1,b,3,NA\n0,a,NA,1e-3\n1,b,-7,0.1\n2,c d,4,16777217\n")
    text.write_text(
        "1 qid:1 1:3 2:NULL\n1 qid:1 1:-7 2:0.1\n0 qid:2 1:NULL 2:0.001\n2 qid:3 1:4 2:16777217\n"
    )
    found, wanted = (read_documents(path, ReadOptions(null, 3)) for path in (table, text))
    same(found, wanted)
    assert found.qids.tolist() == wanted.qids.tolist() and found.rows.tolist() == [0, 2, 1, 3]
    assert found.query_names.tolist() == ["b", "a", "c d"] and found.n_features == 3
    with pytest.raises(DataError, match="d.csv:2: column 'y': found NULL"):
        read_documents(table, ReadOptions("error"))
