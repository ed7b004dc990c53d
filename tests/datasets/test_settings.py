"""LETOR 4.0's other settings and any encoding: from a made-up release to a table of results."""

import csv
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import call, places, printed, refused
from toy_data import write_folds

import letorbench as lb
from letorbench.datasets import catalog
from letorbench.datasets.load import load
from letorbench.errors import DataError


def release(folder: Path, name: str, cells, labels, n_features: int) -> Path:
    """An archive of five folds of three queries, with a file that is no part."""
    rng = np.random.default_rng(5)
    parts = []
    for part in range(5):
        lines = ""
        for query in range(3):
            x = rng.random((12, n_features))
            for row, label in enumerate(labels(x, rng)):
                values = " ".join(f"{k}:{v}" for k, v in enumerate(cells(x)[row], 1))
                comment = f"#docid = GX{row} inc = -1 prob = 0.1"
                lines += f"{label} qid:{part}{query} {values} {comment}\r\n"
        parts.append(lines)
    write_folds(folder / "made" / name, parts)
    (folder / "made" / name / "Large_null.txt").write_text("0 qid:1 1:NULL\n")
    with tarfile.open(folder / "made.tar.gz", "w:gz") as archive:
        archive.add(folder / "made" / name, name)
    return folder / "made.tar.gz"


def grades(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.digitize(x[:, 0] + x[:, 1], [0.9, 1.4])


def ranks(x: np.ndarray) -> list[list[str]]:
    places = np.argsort(np.argsort(-x, axis=0), axis=0) + 1
    return [["NULL" if place > 4 else str(place) for place in row] for row in places]


def numbers(x: np.ndarray) -> list[list[str]]:
    return [[f"{value:.6f}" for value in row] for row in x]


def test_rank_aggregation(tmp_path):
    name, width = "MQ2008-agg", 25
    archive = release(tmp_path, name, ranks, grades, width)
    data, where = tmp_path / "data", places(tmp_path)
    assert f"{name}  {data / name}" in printed("datasets", "import", str(archive), *where[:2])
    run = ("run", "--dataset", name, "--algo", "ndcgboost", "--null", "99", *where)
    assert "[letor4]" in printed(*run) and "ndcgboost" in printed("table", name, *where)
    queries = load(name, data, null=99).folds[0].test
    assert queries.n_features == width and (queries.features == 99).mean() > 0.5
    wide = (data / name / "Fold1" / "train.txt").read_text().replace(" #", f" {width + 1}:1 #", 1)
    (data / name / "Fold1" / "train.txt").write_text(wide)
    said = refused(1, *run)
    assert f"train.txt:1: found feature index {width + 1}, expected at most {width}" in said


def test_semi_supervised(tmp_path):
    """Nobody learns from a document that is not judged; it stays where it is in the file."""

    def labels(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(np.arange(12) % 3 > 0, -1, grades(x, rng))

    archive = release(tmp_path, "MQ2008-semi", numbers, labels, 46)
    for file in (tmp_path / "made").rglob("*.txt"):
        if file.stem in ("vali", "test"):
            judged = [line for line in file.read_bytes().splitlines(True) if line[:1] != b"-"]
            file.write_bytes(b"".join(judged))
    archive, where = tmp_path / "made", places(tmp_path)
    said = call("datasets", "import", str(archive), *where[:2]).output
    assert "MQ2008-semi, fold 1: 72 of 132 documents are not judged (label -1)" in said
    train = load("MQ2008-semi", tmp_path / "data").folds[0].train
    assert (train.n_docs, train.judged.n_docs, train.judged.n_queries) == (108, 36, 9)
    assert "72 of 132 not judged" in printed("datasets", "show", "MQ2008-semi", *where[:2])
    assert "0-2 or -1" in printed("datasets", "list", *where[:2])
    run = ("run", "--dataset", "MQ2008-semi", "--algo", "regression[l2=0.1],ndcgboost", *where)
    printed(*run)
    model = lb.load_model(tmp_path / "results/MQ2008-semi/regression[l2=0.1]/fold1/model.npz")
    kept = train.judged
    again = lb.Regression(l2=0.1).fit(kept.X, kept.y, qid=kept.qid)
    np.testing.assert_allclose(model.predict(train), again.predict(train))
    path = tmp_path / "data/MQ2008-semi/Fold1/train.txt"
    path.write_bytes(path.read_bytes().replace(b"\n-1 ", b"\n-2 ", 1))
    assert "found '-2' as the label, expected an integer from 0" in refused(1, *run)


def test_a_ranker_may_ask_for_documents_that_are_not_judged(rng):
    class Counting(lb.Regression):
        def learn(self, train, validation, rng):
            self.seen = train.labels.tolist()
            return super().learn(train, validation, rng)

    X, y, group = rng.random((5, 2)), [-1, 2, 0, -1, -1], [3, 2]
    for uses, seen in ((False, [2, 0]), (True, y)):
        Counting.uses_unjudged = uses
        assert Counting().fit(X, y, group=group).seen == seen
    with pytest.raises(DataError, match="no judged documents"):
        lb.Regression().fit(X[3:], y[3:], group=[2])


def test_listwise(tmp_path):
    def labels(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return 1335 + np.argsort(np.argsort(x[:, 0] + 0.5 * x[:, 1]))

    archive, where = release(tmp_path, "MQ2007-list", numbers, labels, 46), places(tmp_path)
    printed("datasets", "import", str(archive), *where[:2])
    run = ("run", "--dataset", "MQ2007-list", "--algo", "regression", *where)
    assert "[letor4,gain=linear]" in printed(*run)
    table = printed("table", "MQ2007-list", *where, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(table))
    # the lowest label counts nearly as much as the highest
    assert 0.99 < float(row["NDCG@5"] if "NDCG@5" in row else row["ndcg@5"]) <= 1
    said = call(*run, "--convention", "letor4", "--force")
    assert "found 1346, expected 0 to 31 for gain exp2" in said.stderr and said.exit_code == 1
    assert "Traceback" not in said.output


def test_a_thousand_labels_are_not_listed_one_by_one(tmp_path):
    parts = [
        "".join(f"{200 * p + 7 * d + q} qid:{p}{q} 1:{d}\n" for q in range(3) for d in range(60))
        for p in range(5)
    ]
    write_folds(tmp_path / "data" / "long", parts)
    where = places(tmp_path)[:2]
    assert "labels      0-1215, " in printed("datasets", "show", "long", *where)
    assert "different labels" in call("datasets", "verify", "long", *where).output
    queries = load("long", tmp_path / "data").folds[0].train
    assert queries.labels.dtype == np.int32 and queries.labels.max() == 815


BOM, TEXT = "\ufeff", "1 qid:1 1:0.5\n0 qid:1 1:0.25\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("name", ["a.txt", "a.csv"])
def test_other_encodings_are_named(tmp_path, name, encoding):
    path, where = tmp_path / name, places(tmp_path)[:2]
    path.write_bytes((TEXT if name == "a.txt" else "label,qid,x\n1,1,2\n").encode(encoding))
    kind = encoding[:6].upper()
    said = refused(1, "datasets", "split", str(path), *where)
    assert f"{path}: found {kind}, expected UTF-8" in said
    good = tmp_path / "good.txt"
    good.write_text(TEXT)
    for words in (("--data", path, "--scores", good), ("--data", good, "--scores", path)):
        assert f"found {kind}" in refused(1, "score", *map(str, words))


def test_a_byte_order_mark_is_no_part_of_any_text(tmp_path):
    files = {
        "data.txt": TEXT, "scores.txt": "2\n1\n", "run.txt": "1 Q0 1 1 2 x\n1 Q0 2 2 1 x\n",
        "qrels.txt": "1 0 1 1\n1 0 2 0\n", "t.csv": "label,qid,x\n1,1,.5\n0,1,.25\n",
        "t.svm": "1 1:0.5\n0 1:0.25\n", "t.svm.query": "2\n",
    }  # fmt: skip
    values = []
    for mark in ("", BOM):
        for name, text in files.items():
            (tmp_path / name).write_text(mark + text)
        path = {name: str(tmp_path / name) for name in files}
        for data in ("data.txt", "t.csv", "t.svm"):
            for scores in ("scores.txt", "run.txt"):
                values.append(printed("score", "--data", path[data], "--scores", path[scores]))
        qrels = ("--qrels", path["qrels.txt"], "--scores", path["run.txt"])
        values.append(printed("score", *qrels))
    assert len(set(values)) == 1
    for k in range(1, 6):  # folds composed of test parts have no marks inside
        (tmp_path / f"tests/Fold{k}").mkdir(parents=True)
        (tmp_path / f"tests/Fold{k}/test.txt").write_text(BOM + f"1 qid:{k} 1:1\n")
    printed("datasets", "import", str(tmp_path / "tests"), *places(tmp_path)[:2])
    assert load("tests", tmp_path / "data").folds[0].train.n_docs == 3


SPACE = "found a no-break space (U+00A0), expected a blank"


@pytest.mark.parametrize(("scores", "said"), [
    ("2\n1\u00a0\n", f":2: {SPACE}"), ("1\u00a0Q0 1 1 2 x\n1 Q0 2 2 1 x\n", f":1: {SPACE}"),
    ("1 Q0 1 1 2 x\n1 Q0 2\u00a02 1 x\n", f":2: {SPACE}"),
    ("\uff12\n1\n", ":1: found a fullwidth digit two (U+FF12), expected 2"),
    ("2\r1\r", ": found lines that end in a carriage return alone, expected newlines"),
])  # fmt: skip
def test_characters_that_only_look_plain_are_named_in_scores(tmp_path, scores, said):
    data, path = tmp_path / "data.txt", tmp_path / "scores.txt"
    data.write_text(TEXT)
    path.write_text(scores, newline="")
    assert said in refused(1, "score", "--data", str(data), "--scores", str(path))


@pytest.mark.parametrize("form", ["LETOR", "SVMlight", "table"])
def test_document_ids_pass_as_the_bytes_they_are(tmp_path, form):
    ids = [b"caf\xe9-7", "caf\u00e9-8".encode(), b"\xff\xfe\x80-9", b"plain"]
    head = {"LETOR": b"%d qid:%d 1:%d #docid = %b\n", "SVMlight": b"%d qid:%d 0:%d #docid = %b\n",
            "table": b"%d,%d,%d,%b\n"}[form]  # fmt: skip
    lines = [head % (d % 2, q, d + q, name) for q in range(5) for d, name in enumerate(ids)]
    path, where = tmp_path / f"own.{'csv' if form == 'table' else 'txt'}", places(tmp_path)
    path.write_bytes(b"label,qid,x,doc\n" * (form == "table") + b"".join(lines))
    docid = ("--docid", "doc") if form == "table" else ()
    printed("datasets", "split", str(path), "--name", "own", *docid, *where[:2])
    printed("run", "--dataset", "own", "--algo", "regression", *where)
    model = tmp_path / "results/own/regression/fold1/model.npz"
    words = ("rank", "--model", str(model), "--input", str(path), *docid, "--format", "trec")
    printed(*words, "--output", str(tmp_path / "run.txt"))
    run = [line.split(b" ") for line in (tmp_path / "run.txt").read_bytes().splitlines()]
    assert {line[2] for line in run} == set(ids) and len(run) == 20
    scored = ("score", "--data", str(path), *docid, "--scores", str(tmp_path / "run.txt"))
    assert "NDCG" in printed(*scored)


def test_facts_of_all_sources_agree(shared):
    """Hashes, counts and printed tables are of one data set."""
    hashes = list(csv.DictReader(Path(catalog.__file__).with_name("hashes.csv").open()))
    known = {(row["dataset"], row["file"], row["digest"]) for row in hashes}
    published = shared / "published"
    git = {row["digest"] for row in hashes if row["algorithm"] == "git"}
    rows = list(csv.DictReader((published / "blob_ids.tsv").open(), delimiter="\t"))
    assert git and git <= {row["git_blob_sha1"] for row in rows}
    downloads = list(csv.DictReader((published / "downloads.csv").open()))
    assert {d for _, _, d in known} <= git | {row["hash"] for row in downloads}
    for row in hashes:  # as the parts rotate, a validation part is the test part of the fold before
        place, number = row["file"].split("/")[0], row["file"].split("/")[0][4:]
        if row["file"].lower().endswith(("vali.txt", "validationset.txt")) and number.isdigit():
            before = f"Fold{(int(number) - 2) % 5 + 1}/"
            name = row["file"].replace(f"{place}/", before)
            for this, that in (("vali.txt", "test.txt"), ("validationset.txt", "testset.txt")):
                name = name.replace(this, that)
            assert (row["dataset"], name, row["digest"]) in known, row
    settings = {name: catalog.CATALOG[name] for name in catalog.CATALOG if name.startswith("MQ")}
    for name, entry in settings.items():  # of the same queries
        assert entry.queries == settings[name[:6]].queries


def test_counts_of_the_archives(shared, tmp_path):
    for name in ("OHSUMED", "MQ2008"):
        archive = shared / "archives" / f"{name}.zip"
        printed("datasets", "import", str(archive), *places(tmp_path)[:2])
        assert "differs" not in printed("datasets", "verify", name, *places(tmp_path)[:2])


def test_published_hashes_are_right_and_counts_then_wrong(tmp_path, monkeypatch):
    write_folds(tmp_path / "data" / "MQ2007", [f"0 qid:{k} 46:1\n" for k in range(5)])
    monkeypatch.setattr(catalog.Entry, "status_of", lambda *_: "ok")
    said = call("datasets", "verify", "MQ2007", *places(tmp_path)[:2])
    assert "its files are the published ones, the counts not" in said.stderr


def test_queries_have_names_where_their_ids_are_numbers(tmp_path):
    words = ["shoes red", "tent", "a\u00e9 #1"]
    rows = "".join(f'"{w}",{d},{d}.5\n' for d in range(3) for w in words)  # scattered
    path, where = tmp_path / "shop.csv", places(tmp_path)[:2]
    path.write_text("query,grade,x\n" + rows)
    named = ("--label", "grade", "--qid", "query")
    printed("datasets", "split", str(path), "--folds", "3", *named, *where)
    text = (tmp_path / "data/shop/queries.txt").read_text()
    assert text == "1\tshoes red\n2\ttent\n3\ta\u00e9 #1\n"
    for fold in load("shop", tmp_path / "data").folds:
        assert fold.test.query_names.tolist() == [words[int(q) - 1] for q in fold.test.qids]
    scores = tmp_path / "scores.txt"
    scores.write_text("".join(f"{n}\n" for n in range(9)))  # the ideal order, in the file's rows
    options = ("--data", str(path), "--scores", str(scores), *named, "--format", "csv")
    found = list(csv.DictReader(io.StringIO(printed("score", *options, "--per-query"))))
    assert [row["qid"] for row in found] == [*words, "mean"]
    assert {float(row["ndcg@10"]) for row in found} == {1.0}
    printed("run", "--dataset", "shop", "--algo", "regression,random", *where)
    (by := tmp_path / "own.csv").write_text("q,s\nshoes  red,a\n2,b\n")
    found = printed("compare", "shop", "--by", str(by), "--format", "csv", *where)
    slices = {(row["slice"], row["queries"]) for row in csv.DictReader(io.StringIO(found))}
    assert slices == {("s a", "1"), ("s b", "1"), ("(no segment)", "1")}
    page = tmp_path / "page.html"
    printed("report", "shop", "--by", str(by), "--out-file", str(page), *where)
    assert all(text in page.read_text() for text in ("shoes red", "s a", "(no segment)"))
