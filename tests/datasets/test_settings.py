"""LETOR 4.0's other settings and any encoding: from a made-up release to a table of results."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from conftest import call, places, printed, refused
from toy_data import write_folds

import letorbench as lb
from letorbench.datasets import catalog
from letorbench.datasets.load import load
from letorbench.errors import DataError


def test_labels_that_are_places_in_a_list(tmp_path: Path) -> None:
    """LETOR 4.0's listwise setting: the gain is linear, and any other is refused."""
    rng, parts, where = np.random.default_rng(5), [], places(tmp_path)
    for query in range(15):
        x = rng.random((12, 46))
        labels = 1335 + np.argsort(np.argsort(x[:, 0] + 0.5 * x[:, 1]))
        values = (" ".join(f"{k}:{v:.6f}" for k, v in enumerate(row, 1)) for row in x)
        parts.append("".join(f"{y} qid:{query} {v}\n" for y, v in zip(labels, values)))
    write_folds(tmp_path / "data/MQ2007-list", ["".join(parts[k::5]) for k in range(5)])
    run = ("run", "--dataset", "MQ2007-list", "--algo", "regression", *where)
    assert "[letor4,gain=linear]" in printed(*run)
    (row,) = csv.DictReader(io.StringIO(printed("table", "MQ2007-list", *where, "--format", "csv")))
    # the lowest label counts nearly as much as the highest
    assert 0.99 < float(row["NDCG@5"] if "NDCG@5" in row else row["ndcg@5"]) <= 1
    said = call(*run, "--convention", "letor4", "--force")
    assert "found 1346, expected 0 to 31 for gain exp2" in said.stderr and said.exit_code == 1
    assert "Traceback" not in said.output


def test_a_ranker_may_ask_for_documents_that_are_not_judged(rng: np.random.Generator) -> None:
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


BOM, TEXT = "\ufeff", "1 qid:1 1:0.5\n0 qid:1 1:0.25\n"


@pytest.mark.parametrize("name, encoding", [
    ("a.txt", "utf-16"), ("a.csv", "utf-16-be"), ("a.txt", "utf-32-be"),
])  # fmt: skip
def test_other_encodings_are_named(tmp_path: Path, name: str, encoding: str) -> None:
    path, where = tmp_path / name, places(tmp_path)[:2]
    path.write_bytes((TEXT if name == "a.txt" else "label,qid,x\n1,1,2\n").encode(encoding))
    kind = encoding[:6].upper()
    said = refused(1, "datasets", "split", str(path), *where)
    assert f"{path}: found {kind}, expected UTF-8" in said
    good = tmp_path / "good.txt"
    good.write_text(TEXT)
    for words in (("--data", path, "--scores", good), ("--data", good, "--scores", path)):
        assert f"found {kind}" in refused(1, "score", *map(str, words))


def test_a_byte_order_mark_is_no_part_of_any_text(tmp_path: Path) -> None:
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
    ("2\n1\u00a0\n", f":2: {SPACE}"), ("1 Q0 1 1 2 x\n1 Q0 2\u00a02 1 x\n", f":2: {SPACE}"),
    ("2\r1\r", ": found lines that end in a carriage return alone, expected newlines"),
])  # fmt: skip
def test_characters_that_only_look_plain_are_named_in_scores(tmp_path, scores, said) -> None:
    data, path = tmp_path / "data.txt", tmp_path / "scores.txt"
    data.write_text(TEXT)
    path.write_text(scores, newline="")
    assert said in refused(1, "score", "--data", str(data), "--scores", str(path))


@pytest.mark.parametrize("form", ["SVMlight", "table"])
def test_document_ids_pass_as_the_bytes_they_are(tmp_path: Path, form: str) -> None:
    ids = [b"caf\xe9-7", "caf\u00e9-8".encode(), b"\xff\xfe\x80-9", b"plain"]
    head = b"%d,%d,%d,%b\n" if form == "table" else b"%d qid:%d 0:%d #docid = %b\n"
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


def test_facts_of_all_sources_agree(shared: Path) -> None:
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


def test_published_hashes_are_right_and_counts_then_wrong(tmp_path: Path, monkeypatch) -> None:
    write_folds(tmp_path / "data" / "MQ2007", [f"0 qid:{k} 46:1\n" for k in range(5)])
    monkeypatch.setattr(catalog.Entry, "status_of", lambda *_: "ok")
    said = call("datasets", "verify", "MQ2007", *places(tmp_path)[:2])
    assert "its files are the published ones, the counts not" in said.stderr
