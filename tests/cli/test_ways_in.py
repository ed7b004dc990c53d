"""What a file says of its documents and queries counts at every way in."""

import csv
from pathlib import Path

import numpy as np
import pytest
from conftest import call, places, printed

import letorbench as lb

RULES = "letor4,ties=docid"


def column(text: str, name: str) -> dict[str, float]:
    """Return a column of a CSV text by query, "mean" among them."""
    return {row["qid"]: float(row[name]) for row in csv.DictReader(text.splitlines())}


@pytest.mark.parametrize(("relevant", "other", "first"), [("z", "a", 1.0), ("a", "z", 0.0)])
def test_names_turned_round_turn_a_tie_round(
    tmp_path, monkeypatch, no_figures, relevant, other, first
):
    """Of two documents with one score, the one with the greater name is first."""
    monkeypatch.chdir(tmp_path)
    rows = [(q, r, x, f"{name}{q}") for q, x in zip(range(1, 13), np.linspace(0, 1, 12))
            for r, name in ((0, other), (1, relevant))]  # fmt: skip
    Path("d.txt").write_text(
        "".join(f"{r} qid:{q} 1:{x:.3f} #docid = {n}\n" for q, r, x, n in rows)
    )
    Path("s.txt").write_text("1\n" * len(rows))
    Path("a.run").write_text("".join(f"{q} Q0 {n} 1 1 a\n" for q, _, _, n in rows))
    Path("q.txt").write_text("".join(f"{q} 0 {n} {r}\n" for q, r, _, n in rows))
    one = ["--measure", "p@1", "--convention", RULES]
    for words in (["--data", "d.txt"], ["--qrels", "q.txt"]):
        for scores in ("s.txt", "a.run"):
            score = ["score", *words, "--scores", scores]
            found = column(printed(*score, *one, "--format", "csv", "--per-query"), "p@1")
            assert set(found.values()) == {first} and len(found) == 13
            official = printed(*score, "--convention", RULES, "--per-query").splitlines()
            assert {line.split("\t")[1] for line in official[1:14]} == {f"{first:.4f}"}
    runs = ["--qrels", "q.txt", "--run", "a.run"]
    assert f"{first:.4f}" in printed("score", *runs, *one)
    data = lb.read_letor("d.txt")
    assert lb.evaluate(data, np.ones(24), measures="p@1", convention=RULES)["p@1"] == first
    printed("datasets", "split", "d.txt", "--name", "own", "--folds", "3", "--data-dir", "data")
    run = ["run", "--dataset", "own", "--algo", "regression", "--convention", RULES]
    assert call(*run, *places(tmp_path)).exit_code == 0
    for fold in lb.load("own", "data").folds:
        Path(f"s{fold.number}.txt").write_text("1\n" * fold.test.n_docs)
    external = ["external", "--dataset", "own", "--name", "e", "--scores", "s{fold}.txt"]
    printed(*external, *places(tmp_path), "--convention", RULES)
    values = lb.load_results("results", data_dir="data").per_query("p@1")
    assert len(values) == 24 and set(values["p@1"]) == {first}
