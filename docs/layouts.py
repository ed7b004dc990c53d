"""Write small made-up data in the layouts of other libraries, for docs/data.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

Row = tuple[int, int, np.ndarray]  # query, label, features


def rows(rng: np.random.Generator, first: int, n_queries: int) -> list[Row]:
    """Queries of 10 documents with 4 features, the first two of them of use."""
    x = rng.normal(size=(n_queries, 10, 4)).round(3)
    y = np.digitize(x @ [1.0, 0.5, 0.0, 0.0] + rng.normal(size=(n_queries, 10)), [0.5, 1.5])
    return [(first + q, int(y[q, d]), x[q, d]) for q in range(n_queries) for d in range(10)]


def sparse(row: Row, start: int, head: str = "", tail: str = "") -> str:
    """The row as SVMlight text whose features count from `start`."""
    return f"{row[1]}{head} " + " ".join(f"{i}:{v}" for i, v in enumerate(row[2], start)) + tail


def put(name: str, lines: list[str]) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), newline="")


def main() -> None:
    rng = np.random.default_rng(0)
    parts = {"train": rows(rng, 1, 60), "vali": rows(rng, 61, 20), "test": rows(rng, 81, 20)}
    for part, found in parts.items():
        sizes = ["10"] * (len(found) // 10)
        put(f"xgb/{part}.txt", [sparse(row, 1) for row in found])
        put(f"xgb/{part}.txt.group", sizes)
        with_qid = [sparse(row, 1, f" qid:{row[0]}", f" # page-{row[0]}") for row in found]
        put(f"ranklib/f1.{part.replace('vali', 'validation')}.web.txt", with_qid)
        if part != "vali":
            put(f"lambdarank/rank.{part}", [sparse(row, 0) for row in found])
            put(f"lambdarank/rank.{part}.query", sizes)
            put(f"numbers/{part}.csv", [",".join(map(str, [y, *x])) for _, y, x in found])
            put(f"numbers/{part}.csv.query", sizes)
    every = sum(parts.values(), [])
    cells = [[y / 2, f"q{q}", f"d{n}", 1, *x] for n, (q, y, x) in enumerate(every)]
    put("pool.tsv", ["\t".join(map(str, row)) for row in cells])
    types = ["Label", "GroupId", "DocId", "Weight", "Num\tbm25", "Num\tpage rank"]
    put("pool.cd", [f"{column}\t{kind}" for column, kind in enumerate(types)])
    shuffled = [every[i] for i in rng.permutation(len(every))]
    relevance = (0, 0.07, 0.41)
    put("imat.txt", [sparse((q, relevance[y], x), 1, "", f" # {q}") for q, y, x in shuffled])
    trec = [sparse(row, 1, f" qid:WT04-{row[0]}", f" #docid = G13-{row[0]}\r") for row in every]
    put("trec.txt", trec)
    for k in range(5):
        part = every[200 * k : 200 * k + 200]
        put(f"mirror/Fold{k + 1}/test.txt", [sparse(row, 1, f" qid:{row[0]}") for row in part])


if __name__ == "__main__":
    main()
