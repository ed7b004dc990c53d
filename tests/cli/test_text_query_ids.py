"""A folder as the Gov sets are published: text query ids, CRLF, no newline at the end."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import printed

import letorbench as lb
from letorbench.datasets.load import load
from letorbench.datasets.synthetic import make

#: what stands for the query of a number in text: `7` and `07` are two of them
NAMES = {1: "7", 2: "07", 3: "NP151", 4: "2003/td/5", 5: "NULL", 6: "é" * 100, 7: '"a,b"', 8: "=1"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with Gov as it unpacks, in text/, and the same with numbers, in numbers/."""
    folder = tmp_path_factory.mktemp("gov")
    twin = make("NP2004-twin", folder, scale=0.2)
    for path in twin.rglob("*.txt"):
        lines = path.read_bytes().split(b"\r\n")
        assert b" qid:WT04-" in lines[0] and b" #docid = " in lines[0] and lines.pop() == b""
        queries = [int(line.split()[1][9:]) for line in lines]
        for kind, names in (("text", NAMES), ("numbers", {})):
            target = folder / kind / "Gov/QueryLevelNorm/2004_NP_dataset" / path.relative_to(twin)
            target.parent.mkdir(parents=True, exist_ok=True)
            renamed = [
                line.replace(b"WT04-%d" % number, str(names.get(number, number)).encode(), 1)
                for number, line in zip(queries, lines)
            ]
            target.write_bytes(b"\r\n".join(renamed[::20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind in ("text", "numbers"):
            where = ("--data-dir", f"{kind}-data")
            assert "NP2004" in printed("datasets", "import", kind, *where)
            algos = "regression,ndcgboost"
            printed("run", "--dataset", "NP2004", "--algo", algos, *where, "--out", f"{kind}-out")
        yield folder


def test_from_the_files_to_every_table(place: Path) -> None:
    tests = [fold.test for fold in load("NP2004", "text-data").folds]
    ids = [qid for test in tests for qid in test.qids.tolist()]
    assert len(set(ids)) == 15 and set(NAMES.values()) <= set(ids)
    for algo in ("regression", "ndcgboost"):
        for fold in range(1, 6):
            file = f"NP2004/{algo}/fold{fold}/scores.txt"
            assert Path("text-out", file).read_bytes() == Path("numbers-out", file).read_bytes()
    with Path("text-out/NP2004/regression/per_query.csv").open(newline="") as file:
        stored = [row["qid"] for row in csv.DictReader(file)]
    assert stored == ["'=1" if qid == "=1" else qid for qid in ids]  # no formula
    results = lb.load_results("text-out").per_query()
    assert results[results["algo"] == "regression"]["qid"].tolist() == ids

    out = ("--out", "text-out")
    assert printed("table", "NP2004", *out).count("\n") >= 4
    assert "15 queries" in printed("compare", "NP2004", "--baseline", "regression", *out)
    printed("report", "NP2004", "--out-file", "page.html", *out)
    assert "regression" in Path("page.html").read_text()

    printed(
        "export", "NP2004", "--algo", "regression", "--to", "runs", "--data-dir", "text-data", *out
    )
    data = str(next(Path("text-data").rglob("Fold1/test*.txt")))
    stored_scores, run = "text-out/NP2004/regression/fold1/scores.txt", "runs/fold1/regression.run"
    rules = ("--convention", "letor3")
    measured = {
        printed("score", "--data", data, "--scores", stored_scores, *rules),
        printed("score", "--data", data, "--scores", run, *rules),
        printed("score", "--qrels", "runs/fold1/qrels.txt", "--scores", run, *rules),
    }
    assert len(measured) == 1 and "NDCG" in measured.pop()
