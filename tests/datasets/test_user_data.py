"""A user's own files: each layout gives the data that were written, and says what it was."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import call, random_queries, unlocked

import letorbench as lb
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.user_data.folds import split
from letorbench.datasets.user_data.rows import graded, parse_grades
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError

LENGTHS = {"train": [3, 1, 4, 2], "vali": [2, 2], "test": [1, 5]}
Data = dict[str, QuerySet]


@pytest.fixture
def data(rng: np.random.Generator) -> Data:
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
        separator.join([str(y), *([f"q{q}", "1.5"] if extra else []), *cells(row)]) + "\n"
        for y, row, q in rows
    )


def sizes(queries: QuerySet) -> str:
    return "".join(f"{n}\n" for n in queries.lengths)


def lightgbm(part: str, queries: QuerySet) -> dict[str, str]:
    name = f"rank.{part}"
    return {name: sparse(queries, 0), name + ".query": sizes(queries), name + ".weight": "1\n"}


def xgboost(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.txt": sparse(queries, 1), f"{part}.txt.group": sizes(queries)}


def numbers(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.CSV": dense(queries, ","), f"{part}.csv.QUERY": sizes(queries)}


def blanks(part: str, queries: QuerySet) -> dict[str, str]:
    return {part: dense(queries, "  "), f"{part}.query": sizes(queries)}


def catboost(part: str, queries: QuerySet) -> dict[str, str]:
    described = "0\tLabel\n1\tGroupId\n2\tWeight\n4\tNum\tpage rank\n"
    return {f"{part}.tsv": dense(queries, "\t", extra=True), "pool.cd": described}


def from_0(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.txt": sparse(queries, 0, " qid:{q}")}


def ranklib(part: str, queries: QuerySet) -> dict[str, str]:
    part = part.replace("vali", "validation")
    return {f"f1.{part}.mine.txt": sparse(queries, 1, " qid:{q}", " # GX-{q} anything: 0:1")}


def comments(part: str, queries: QuerySet) -> dict[str, str]:
    return {f"{part}.txt": sparse(queries, 1, "", " # {q}")}


LAYOUTS: dict[Callable[[str, QuerySet], dict[str, str]], str] = {
    lightgbm: "rank.train.*SVMlight text, features from 0, queries by .query; not used: .weight",
    xgboost: "train.txt.*SVMlight text, features from 1, queries by .group",
    numbers: "train.CSV.*columns of numbers, the first the label, queries by .QUERY",
    blanks: "train.*columns of numbers, the first the label, queries by .query",
    catboost: r"train.tsv.*columns as pool.cd describes them .CatBoost.; not used: Weight",
    from_0: "train.txt.*SVMlight text, features from 0, queries by qid:",
    ranklib: "f1.train.*LETOR text",
    comments: "train.txt.*SVMlight text, features from 1, queries by each line's comment",
}


def put(folder: Path, files: dict[str, str], change: Callable[[str], str] = str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(change(text), encoding="utf-8", newline="")


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
        put(tmp_path / "mine", layout(part, queries), change)
    told: list[str] = []
    assert import_archive(tmp_path / "mine", tmp_path / "data", tell=told.append) == ("mine",)
    assert len(told) == 1 and re.match(LAYOUTS[layout], told[0].replace("test", "train"))
    fold = lb.load("mine", tmp_path / "data").folds[0]
    for part, queries in zip((fold.train, fold.validation, fold.test), data.values(), strict=True):
        same(part, queries)
    if layout in (lightgbm, xgboost, numbers, blanks):
        ids = [set(part.qids.tolist()) for part in fold.parts.values()]
        assert len(set.union(*ids)) == sum(map(len, ids)), "no query is in two parts"
    if layout is catboost:
        assert fold.test.feature_names == ("0", "page rank", "2")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_one_file_is_split(layout, data, tmp_path):
    files = layout("train", data["train"])
    put(tmp_path, files)
    told: list[str] = []
    split(tmp_path / next(iter(files)), tmp_path / "data", "mine", tell=told.append, folds=3)
    assert len(told) == (layout is not ranklib) and all(re.match(LAYOUTS[layout], x) for x in told)
    fold = lb.load("mine", tmp_path / "data").folds[0]
    found = np.concatenate([part.X for part in fold.parts.values()])
    assert sorted(found.tolist()) == sorted(data["train"].X.tolist())


SCATTERED = "0.07 qid:b 1:1\n0 qid:a 1:2\n0.41 qid:b 1:3\n0.61 qid:c 1:4\n0.14 qid:a 1:5\n"


@pytest.mark.parametrize("form", ["text", "comment", "table"])
def test_scattered_rows_are_gathered_and_labels_graded(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [re.split(r"[ :]", line) for line in SCATTERED.splitlines()]
    Path("mine.txt").write_text(
        {
            "text": SCATTERED,
            "comment": "".join(f"{y} 1:{x} # {q}\n" for y, _, q, _, x in rows),
            "table": "",
        }[form]
    )
    Path("mine.csv").write_text("label,qid,x\n" + "".join(f"{r[0]},{r[2]},{r[4]}\n" for r in rows))
    words = ["mine.csv" if form == "table" else "mine.txt", "--folds", "3"]
    told = call("datasets", "split", *words, "--grades", "0.07,0.14,0.41,0.61").stdout.splitlines()
    grades = ["below 0.07", "0.07 to below 0.14", "0.14 to below 0.41", "0.41 to below 0.61"]
    assert [line for line in told if line.startswith("grade")] == [
        f"grade {grade}: {range_}: 1" for grade, range_ in enumerate([*grades, "0.61 or more"])
    ]
    assert told[-2].endswith(": scattered queries, now together: 2 of 3")
    tests = [Path(f"data/mine/Fold{k}/test.txt").read_text() for k in (1, 2, 3)]
    assert sorted(tests) == [
        "0 qid:a 1:2\n2 qid:a 1:5\n",
        "1 qid:b 1:1\n3 qid:b 1:3\n",
        "4 qid:c 1:4\n",
    ]


def test_grades_of_at_most_32_values_in_their_order():
    labels = np.arange(32)[::-1] / 7
    assert graded(labels, parse_grades("auto"), str)[0].tolist() == list(range(32))[::-1]
    with pytest.raises(DataError, match="found 33 different labels, expected at most 32"):
        graded(np.arange(33) / 7, parse_grades("auto"), "{}:1".format)


ROWS = "1 0:1\n0 0:2\n2 0:4\n"


@pytest.mark.parametrize(
    "files, words, message",
    [
        ({"x.svm": ROWS, "x.svm.query": "1\n-2\n"}, [], "query:2: found '-2', expected .* rows"),
        ({"x.svm": ROWS, "x.svm.group": "2\n2\n"}, [], "found 2 queries of 4 rows.*expected 3,"),
        ({"x.svm": ROWS}, [], "x.svm:1: found '0:1', expected qid: .*x.svm.query"),
        ({"x.svm": "\n1 qid:1 0:1\n0 qid:1 0:y\n"}, [], "x.svm:3: found 'y' as the value"),
        ({"x.svm": "nan qid:1 1:1\n"}, [], "x.svm:1: found 'nan' as the label, expected a number"),
        ({"x.svm": "1.5 qid:1 1:1\n"}, [], "x.svm:1: found 1.5, .*--grades 0.5,1.5 .*grades auto"),
        ({"x.svm": "1 qid:1 1:1\n"}, ["--grades", "2,1"], "found '2,1', expected auto, or numbers"),
        ({"x.svm": "1 qid:\x01 0:1\n"}, [], r"x.svm:1: found query id .*expected printable"),
        ({"x.tsv": "0\t1\n", "x.cd": "0\tNum\n"}, [], "x.cd: found no column of type Label"),
        ({"x.tsv": "0\t1\n", "x.cd": "0\tLabel\n"}, [], "x.cd: found no column of type GroupId"),
        (
            {"x.tsv": "0\t1\ta\n", "x.cd": "0\tLabel\n2\tCateg\tbrand\n"},
            [],
            "x.cd:2: found column 2 'brand' of type Categ, .*Auxiliary leaves the column out",
        ),
        ({"x.csv": "label,qid,x\n1,2,3\n\n1,2\n"}, [], "x.csv:4: found 2 columns, expected 3"),
        ({"x.csv": "label,qid,x\n1,2,3\n1,,3\n"}, [], "x.csv:3: column 'qid': found no query id"),
        ({"x.csv": "label,qid,x\n1,2,1e39\n"}, [], "x.csv:2: column 'x': found 1e.39, expected"),
        ({"x.csv": "label,qid,x,x\n1,2,3,4\n"}, [], "found the column 'x' twice"),
        ({"x.csv": "label,qid,x\n0,1,2\n"}, ["--qid", "q"], "column of x.csv 'q'.*one of label"),
        ({"x.csv": ",label,qid\n0,1,2\n"}, [], "found a column without a name"),
        ({"x.csv": "label;qid;x\n1;1;2,5\n"}, [], "csv:2: column 'x': found '2,5', expected num"),
        ({"x.csv": "label,qid,t\n1,1,4 08:32:15\n"}, [], "csv:2: column 't': found '4 08:32:15'"),
        (
            {"x.csv": "label,qid,x\n0.5,1,2\n"},
            [],
            "csv:2: column 'label': found 0.5, .*grades auto",
        ),
        ({"x.csv": "label,qid,x\nb,1,2\n"}, [], "csv:2: column 'label': found 'b', expected num"),
        ({"x.csv": "label,qid,x\n0,1,b\n"}, [], "csv:2: column 'x': found 'b', .*.--columns"),
        ({"x.csv": "label,qid,x\n0,1,2\n"}, [], "found 1 queries, expected at least 3, the folds"),
        ({"x.csv": "label,qid,x\n0,1,2\n"}, ["--name", "../x"], "cannot name a data set"),
        ({"x.csv": "1,2,3\n"}, [], "x.csv:1: found numbers only, expected .*x.csv.query"),
    ],
)
def test_what_is_wrong_is_one_line(files, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, files)
    result = call("datasets", "split", next(iter(files)), "--folds", "3", *words)
    assert result.exit_code in (1, 2), result.output
    assert result.stderr.startswith("letorbench: error: ") and result.stderr.count("\n") == 1
    assert re.search(message, result.stderr), result.stderr
    assert not list(Path("data").glob("*"))


def test_a_query_may_be_called_na_and_a_number_may_be_missing(tmp_path):
    (tmp_path / "mine.csv").write_text("label,qid,x\n1,NA,3\n0,07,NA\n1,7,\n")
    split(tmp_path / "mine.csv", tmp_path / "data", folds=3)
    tests = [(tmp_path / f"data/mine/Fold{k}/test.txt").read_text() for k in (1, 2, 3)]
    assert sorted(tests) == ["0 qid:07 1:NULL\n", "1 qid:7 1:NULL\n", "1 qid:NA 1:3\n"]


def test_ids_that_cannot_stand_in_text_are_numbered(tmp_path):
    (tmp_path / "mine.csv").write_text("label,qid,x\n1,red shoes,3\n0,#1,5\n1,red shoes,4\n2,c,6\n")
    told: list[str] = []
    split(tmp_path / "mine.csv", tmp_path / "data", folds=3, tell=told.append)
    assert told[0] == "mine.csv: a table; queries are numbered, as an id has a blank or a #"
    tests = [(tmp_path / f"data/mine/Fold{k}/test.txt").read_text() for k in (1, 2, 3)]
    assert sorted(tests) == ["0 qid:2 1:5\n", "1 qid:1 1:3\n1 qid:1 1:4\n", "2 qid:3 1:6\n"]


def alone(folder: Path, texts: list[str]) -> Path:
    for k, text in enumerate(texts, 1):
        put(folder / f"FOLD{k}", {"Test.TXT": text})
    return folder


def test_test_parts_alone_become_folds(tmp_path):
    texts = [f"0 qid:{k} 1:{k}\n1 qid:{k} 1:2" for k in range(1, 6)]
    told: list[str] = []
    source = alone(tmp_path / "MQ2008", texts)
    assert import_archive(source, tmp_path / "data", tell=told.append) == ("MQ2008",)
    assert len(told) == 1 and "test parts alone: each fold trains on 3 of them" in told[0]
    found = lb.load("MQ2008", tmp_path / "data")
    assert found.provenance["rotation"] and len(found.folds) == 5
    for k, fold in enumerate(found.folds, 1):
        assert fold.test.qids.tolist() == [str(k)]
        assert fold.validation.qids.tolist() == [str((k + 3) % 5 + 1)]
        assert sorted(fold.train.qids) == sorted(str((k + i) % 5 + 1) for i in range(3))


@pytest.mark.parametrize(
    "last, message",
    [
        ("1 qid:1 1:1\n", "FOLD3/Test.TXT: found query 1 of .*FOLD1/Test.TXT too"),
        ("1 qid:3 1:1 2:1\n", "FOLD3/Test.TXT: found 2 features, expected 1"),
        ("1 qid:3 1:x\n", "FOLD3/Test.TXT:1: found 'x'"),
    ],
)
def test_test_parts_that_are_no_parts_of_one_set(last, message, tmp_path):
    source = alone(tmp_path / "mine", ["1 qid:1 1:1\n", "1 qid:2 1:1\n", last])
    with pytest.raises(DataError, match=message) as error:
        import_archive(source, tmp_path / "data")
    assert ".unfinished" not in str(error.value) and not list((tmp_path / "data").iterdir())


TEXT = "".join(
    f"{d % 3} qid:{q} 1:{q}.5 2:{'NULL' if (q, d) == (2, 1) else d} #docid = D{q}-{d}\n"
    for q in range(1, 8)
    for d in range(3)
)


@pytest.fixture
def frame(rng: np.random.Generator) -> pd.DataFrame:
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


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_table_is_what_from_frame_makes_of_it(form, frame, tmp_path):
    path = tmp_path / f"mine.{form}"
    named = frame.assign(row=range(len(frame)))
    named.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    split(path, tmp_path, folds=3, seed=4, columns=Columns("grade", "query", "row"))
    loaded = lb.load("mine", tmp_path)
    expected = lb.from_frame(frame, "grade", "query", folds=3, seed=4)
    for found, wanted in zip(loaded.folds, expected.folds, strict=True):
        for part in ("train", "validation", "test"):
            ours, theirs = found.parts[part], wanted.parts[part]
            np.testing.assert_array_equal(ours.X, theirs.X)
            np.testing.assert_array_equal(ours.y, theirs.y)
            np.testing.assert_array_equal(ours.offsets, theirs.offsets)
            assert ours.feature_names == ("bm25", "page rank", "clicks")


def test_columns_docids_and_missing_values(frame, tmp_path):
    frame["name"] = [f"D{row}" for row in range(len(frame))]
    frame.iloc[0, 0] = np.nan
    frame.to_csv(tmp_path / "mine.csv", index=False)
    columns = Columns("grade", "query", "name", ["clicks", "bm25"])
    split(tmp_path / "mine.csv", tmp_path, columns=columns)
    with pytest.raises(DataError, match="found NULL as the value of feature 2.*--null min"):
        lb.load("mine", tmp_path)
    parts = lb.load("mine", tmp_path, null=0.0).folds[0].parts.values()
    assert all(part.feature_names == ("clicks", "bm25") for part in parts)
    names = sorted(name.decode() for part in parts for name in part.docids)
    assert names == sorted(frame["name"])
    value = {n.decode(): x for part in parts for n, x in zip(part.docids, part.X, strict=True)}
    for _, row in frame.iterrows():
        wanted = [np.float32(row["clicks"]), np.float32(np.nan_to_num(row["bm25"]))]
        assert value[row["name"]].tolist() == wanted
