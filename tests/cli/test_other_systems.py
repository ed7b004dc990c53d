"""`external`, `--external`, `export`, `rank`, `--plugin`: whole commands."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.models.base import with_checksum
from letorbench.rankers import places, plugins, ranker

EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data/TOY and a run of regression on it, as the current one."""
    write_toy(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    assert call("run", "--dataset", "TOY", "--algo", "regression").exit_code == 0
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def fails(status: int, *words: str) -> str:
    result = call(*words)
    assert result.exit_code == status, result.output
    assert re.fullmatch(r"letorbench: error: .+\n", result.stderr), result.stderr
    return result.stderr


def taken(name: str, pattern: str, *words: str) -> tuple[str, ...]:
    return ("external", "--dataset", "TOY", "--name", name, "--scores", pattern, *words)


def as_ranklib(toy: Path) -> str:
    """Regression's scores in RankLib's form: 8 queries of 7 documents a part."""
    for k in range(1, 6):
        source = toy / f"results/TOY/regression/fold{k}/scores.txt"
        test = (toy / f"data/TOY/Fold{k}/test.txt").read_text().split()
        qids = list(dict.fromkeys(w[4:] for w in test if w.startswith("qid:")))
        lines = enumerate(source.read_text().splitlines())
        text = "".join(f"{qids[i // 7]}\t{i % 7}\t{score}\n" for i, score in lines)
        (toy / f"rl{k}.txt").write_text(text)
    return "rl{fold}.txt"


def test_every_format_measures_as_the_original(toy):
    made = call("export", "TOY", "--algo", "regression", "--to", "trec")
    assert made.exit_code == 0 and made.stdout.splitlines()[0] == "trec/fold1/qrels.txt"
    plain = "results/{dataset}/regression/fold{fold}/scores.txt"
    patterns = {"a": plain, "b": as_ranklib(toy), "c": "trec/fold{fold}/regression.run"}
    expected = (toy / "results/TOY/regression/per_query.csv").read_bytes()
    for name, pattern in patterns.items():
        result = call(*taken(name, pattern))
        assert result.exit_code == 0, result.stderr
        assert re.search(rf"^{name} +0\.", result.stdout, re.MULTILINE)
        assert (toy / f"results/TOY/{name}/per_query.csv").read_bytes() == expected
        fit = json.loads((toy / f"results/TOY/{name}/fold2/fit.json").read_text())
        assert fit["identity"]["external"]["file"] == pattern.format(fold=2, dataset="TOY")
    summary = (toy / "results/TOY/summary.csv").read_text().splitlines()[1:]
    assert len(summary) == 4 and len({line.partition(",")[2] for line in summary}) == 1
    assert call("table", "TOY", "--measure", "ndcg@7").exit_code == 0  # measured anew


def test_external_option_of_table_compare_and_plot(toy):
    word = f"theirs={as_ranklib(toy)}"
    (toy / "rl3.txt").write_text((toy / "rl3.txt").read_text().replace("\t-", "\t"))
    table = call("table", "--algo", "regression", "--external", word)
    assert re.search(r"^theirs ", table.stdout, re.MULTILINE), table.stderr
    compared = call("compare", "TOY", "--external", word, "--baseline", "regression")
    assert re.search(r"^theirs +regression ", compared.stdout, re.MULTILINE)
    drawn = call("plot", "TOY", "--external", word, "--format", "svg")
    assert "theirs" in (toy / drawn.stdout.strip()).read_text()
    assert "expected NAME=PATTERN" in fails(2, "table", "TOY", "--external", "theirs")


def test_externals_keep_the_convention_of_the_results(toy):
    call("run", "--dataset", "TOY", "--algo", "regression", "--convention", "letor4", "--force")
    assert "[letor4]" in call(*taken("theirs", as_ranklib(toy))).stdout


def test_some_folds(toy):
    result = call(*taken("theirs", "results/TOY/regression/fold2/scores.txt", "--folds", "2"))
    assert result.exit_code == 0
    folds = (toy / "results/TOY/theirs/folds.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in folds] == ["fold", "2", "mean"]


@pytest.mark.parametrize(
    "name, pattern, status, words",
    [
        ("theirs", "rl1.txt", 2, "expected {fold} in it"),
        ("regression", "rl{fold}.txt", 2, "that of an algorithm"),
        ("lightgbm", "rl{fold}.txt", 2, "that of an algorithm"),
        ("../x", "rl{fold}.txt", 2, "expected letters, digits"),
        ("theirs", "none{fold}.txt", 1, "none1.txt: found no readable file"),
        ("theirs", "bad{fold}.txt", 1, "bad5.txt:1: found 1 columns, expected 3"),
    ],
)
def test_wrong_externals_write_nothing(toy, name, pattern, status, words):
    as_ranklib(toy)
    for k in range(1, 6):
        (toy / f"bad{k}.txt").write_bytes((toy / f"rl{k}.txt").read_bytes())
    (toy / "bad5.txt").write_text("1\n")
    before = sorted((toy / "results").rglob("*"))
    assert words in fails(status, *taken(name, pattern, "--format", "ranklib"))
    assert sorted((toy / "results").rglob("*")) == before


def test_score_takes_runs_and_qrels(toy):
    call("export", "TOY", "--to", "trec")
    data, scores = "data/TOY/Fold2/test.txt", "results/TOY/regression/fold2/scores.txt"
    expected = call("score", "--data", data, "--scores", scores, "--per-query").stdout
    run = ("--scores", "trec/fold2/regression.run", "--per-query")
    assert expected and call("score", "--data", data, *run).stdout == expected
    assert call("score", "--qrels", "trec/fold2/qrels.txt", *run).stdout == expected
    assert "one of --data and --qrels" in fails(2, "score", *run)


def test_rank_applies_every_models_and_refuses_what_does_not_fit(toy):
    model = "results/TOY/regression/fold1/model.npz"
    words = ("rank", "--model", model, "--input", "data/TOY/Fold1/test.txt")
    assert "56 scores of 8 queries" in call(*words, "--output", "s.txt").stdout
    own = (toy / "results/TOY/regression/fold1/scores.txt").read_bytes()
    assert (toy / "s.txt").read_bytes() == own
    call("export", "TOY", "--to", "trec")
    call(*words, "--output", "s.run", "--format", "trec")
    assert (toy / "s.run").read_bytes() == (toy / "trec/fold1/regression.run").read_bytes()

    (toy / "narrow.txt").write_text("0 qid:1 1:1 2:1\n1 qid:1 1:2\n")
    (toy / "wide.txt").write_text("0 qid:1 1:1 5:1\n")
    start = ("rank", "--output", "x.txt", "--model", model, "--input")
    narrow = fails(1, *start, "narrow.txt")
    assert "found 2 features, expected 4, which regression learned from; --sparse" in narrow
    assert "found 5 features, expected 4" in fails(1, *start, "wide.txt", "--sparse")
    assert call(*start, "narrow.txt", "--sparse").exit_code == 0
    wrong = fails(1, "rank", "--output", "x", "--input", "wide.txt", "--model", "s.txt")
    assert "s.txt: found no saved model" in wrong
    made = io.BytesIO()
    np.savez(made, header=json.dumps({"kind": "odd", "facts": {}}))
    (toy / "other.npz").write_bytes(with_checksum(made.getvalue()))
    odd = fails(1, "rank", "--output", "x", "--input", "wide.txt", "--model", "other.npz")
    assert "kind 'odd'" in odd and "--plugin" in odd


def test_export_refuses_scores_of_other_data(toy):
    write_toy(toy / "other", seed=2)
    assert "other data" in fails(1, "export", "TOY", "--data-dir", "other")


def test_a_plugin_in_every_command_and_worker(toy):
    def letorbench(*words: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "letorbench", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=toy)

    (toy / "mine.py").write_text(EXAMPLE.read_text())
    words = ("run", "--dataset", "TOY", "--algo", "centroid", "--plugin", "mine.py")
    run = letorbench(*words, "--jobs", "2")
    assert run.returncode == 0 and "centroid" in run.stdout, run.stderr
    assert "5 of 5 folds were stored already" in letorbench(*words).stdout
    assert "Rocchio" in letorbench("algos", "centroid", "--plugin", "mine.py").stdout
    assert "centroid" in letorbench("table", "TOY").stdout
    model = ("rank", "--model", "results/TOY/centroid/fold1/model.npz")
    model += ("--input", "data/TOY/Fold1/test.txt", "--output", "s.txt")
    refused = letorbench(*model)
    assert refused.returncode == 1 and "needs its --plugin" in refused.stderr
    assert letorbench(*model, "--plugin", "mine.py").returncode == 0
    (toy / "mine.py").write_text(EXAMPLE.read_text() + "# changed\n")
    assert "stored already" not in letorbench(*words).stdout  # another code, another result


def test_all_leaves_out_what_is_not_installed_and_says_so(toy, monkeypatch):
    for name in list(places()):
        if name not in ("regression", "lightgbm"):
            monkeypatch.delitem(places(), name)
    monkeypatch.setattr(ranker("lightgbm"), "needs", "no_such_package")
    result = call("run", "--dataset", "TOY", "--algo", "all")
    assert result.exit_code == 0 and "lightgbm" not in result.stdout
    assert re.search("note: all leaves lightgbm out: .*'letorbench.trees.'", result.stderr)
    named = fails(2, "run", "--dataset", "TOY", "--algo", "lightgbm")
    assert "needs the package no_such_package" in named and "letorbench[trees]" in named
    assert "lightgbm" in call("algos").stdout
    assert "python -m pip install" in call("algos", "lightgbm").stdout


def test_wrong_plugin_files_are_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    text = EXAMPLE.read_text().replace('"centroid"', '"wrong"')
    wrong = {
        "syntax": (text.replace("def learn(", "def learn"), "syntax.py:.*SyntaxError"),
        "empty": ("x = 1\n", "found no ranker"),
        "imports": ("import no_such\n", "ModuleNotFoundError: No module named"),
        "untitled": (text.replace("title =", "name_ ="), "'wrong' has no title"),
        "plain": (text.replace("@dataclass\n", ""), "is no dataclass"),
        "abstract": (text.replace("def learn(", "def learns("), "does not define learn"),
        "grids": (text.replace('{"shrink"', '{"shrunk"'), "names 'shrunk', which is no field"),
        "taken": (text.replace('"wrong"', '"regression"'), "two rankers are named 'regression'"),
    }
    for stem, (source, words) in wrong.items():
        path = tmp_path / f"{stem}.py"
        path.write_text(source)
        assert re.search(words, fails(2, "algos", "--plugin", str(path))), stem
        assert "wrong" not in plugins.FOUND and plugins.VARIABLE not in os.environ
