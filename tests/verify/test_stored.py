"""Results measured again: no edited cell goes unnoticed; which conventions give a number."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries
from toy_data import write_toy

import letorbench as lb
from letorbench.conventions import convention
from letorbench.datasets.queryset import QuerySet
from letorbench.files import digest, with_checksum
from letorbench.measures import parse, query_metrics
from letorbench.results.store import stored_fit
from letorbench.verify.numbers import POOLED, Printed, readings
from letorbench.verify.stored import Agreement, trace

RULES = "letor4,empty=drop"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    write_toy(folder / "data", "TOY", 0)
    where = {"data_dir": folder / "data", "out": folder / "out", "convention": RULES}
    lb.run("TOY", {name: name for name in ("regression", "random")}, folds="1-2", **where)
    return folder


@pytest.fixture
def copied(made, tmp_path) -> Path:
    """A copy to damage: the folder of the results of TOY."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "out" / "TOY"


def traced(folder: Path) -> tuple[list[str], dict[str, int]]:
    """The problems, and how many values of each algorithm were measured again."""
    found = trace(folder.parent, folder.parents[1] / "data", "TOY")
    return [p for each in found for p in each.problems], {each.algo: each.cells for each in found}


def reseal(path: Path, fit: dict) -> None:
    """Make the checksums of a fold anew: that of one file, and that of its facts."""
    fit["files"] = {**fit["files"], path.name: digest(path.read_bytes())}
    path.with_name("fit.json").write_text(with_checksum(fit))


def test_scores_that_cannot_be_read_stop_no_other_algorithm(made, copied):
    """The checksums are right, and the scores are of fewer documents."""
    path = copied / "regression" / "fold1" / "scores.txt"
    fit = stored_fit(path.parent)
    path.write_text("1\n2\n")
    reseal(path, fit)
    [line], now = traced(copied)
    assert line.startswith(f"not measured again: {path}:3: found 2 scores")
    _, before = traced(made / "out" / "TOY")
    assert 0 < now["regression"] < before["regression"] and now["random"] == before["random"] > 0


@pytest.mark.parametrize("seed", range(6))
def test_an_edited_cell_is_found(copied, seed):
    """In any file, and in a fold's values also where its checksums were made anew."""
    rng, forged = np.random.default_rng(seed), bool(seed % 2)
    names = ["fold*/per_query.csv"] if forged else ["*.csv", "scores.txt"]
    files = sorted(path for name in names for path in copied.rglob(name))
    path = files[rng.integers(len(files))]
    fit, lines = forged and stored_fit(path.parent), path.read_text().splitlines()
    row = int(rng.integers(1, len(lines)))
    cells = lines[row].split(",")
    column = int(rng.choice([i for i, cell in enumerate(cells) if "." in cell]))
    cells[column] = repr(float(cells[column]) + 0.01)
    lines[row] = ",".join(cells)
    path.write_text("\n".join([*lines, ""]))
    if forged:
        reseal(path, fit)
    assert traced(copied)[0], (path, row, column)


def test_tables_that_a_run_has_not_written_are_no_problem_and_wrong_ones_are(copied, monkeypatch):
    with monkeypatch.context() as patch:
        writer = "letorbench.results.dataset_results.write_unlocked"
        patch.setattr(writer, lambda path: open(os.devnull, "w"))
        where = {"data_dir": copied.parents[1] / "data", "out": copied.parent}
        lb.run("TOY", "regression", folds="3", convention=RULES, **where)
        assert traced(copied)[0] == []
        (copied / "regression" / "folds.csv").unlink()
        assert traced(copied)[0] == []
    table = copied / "random" / "folds.csv"
    table.write_text(table.read_text().replace("mean,0.", "mean,1.", 1))
    assert [line.partition(":")[0] for line in traced(copied)[0]] == [str(table)]


@pytest.mark.parametrize(
    ("tau", "rmse", "correlation", "p", "verdict"),
    [
        (0.9991, 0.00099, 0.0, 0.01, "the same"),
        (0.999, 0.0, 1.0, 0.05, "a similar"),
        (1.0, 0.001, 0.9, 1.0, "a similar"),
        (1.0, 0.001, 1.0, 0.049, "different"),
        (0.49, 0.1, 0.9, 0.05, "equal means"),
        (0.5, 0.1, 0.89, 0.05, "equal means"),
    ],
)
def test_a_verdict_changes_at_its_borders(tau, rmse, correlation, p, verdict):
    found = Agreement(tau, 1.0, 0.5, 0.5, rmse, correlation, None, p)
    assert found.verdict.startswith(verdict)
    assert found.same == (verdict in ("the same", "a similar"))


def parts(rng: np.random.Generator, n: int = 2) -> list[tuple[QuerySet, np.ndarray]]:
    """Files of short and long lists, some without a relevant document, with tied scores."""
    made = []
    for _ in range(n):
        queries = random_queries(rng, [1, 4, 12, 15, 30, 3, 8], levels=3)
        labels = queries.labels.copy()
        labels[5:17] = 0
        scores = np.round(rng.normal(size=queries.n_docs), 1)
        made.append((replace(queries, labels=labels), scores))
    return made


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("map", "mslr,empty=drop"),
        ("ndcg@10", "letor3,gain=linear,short_ndcg=whole,ideal=list"),
        ("p@5", "xgboost,relevant=2"),
    ],
)
def test_the_convention_that_made_a_number_explains_it(rng, rules, name):
    data, made_by = parts(rng), convention(rules)
    tables = [
        query_metrics(q.labels, scores, q.offsets, [parse(name)], made_by) for q, scores in data
    ]
    pooled = np.nanmean(np.concatenate(tables))
    for average, value in (("", np.mean([*map(np.nanmean, tables)])), (f", {POOLED}", pooled)):
        found = readings(data, parse(name), Printed.of(f"{value:.8f}"))
        texts = [each.text for each in found if each.rounding is not None]
        assert made_by.name + average in texts
        assert texts == sorted(texts, key=lambda text: text.count(","))
        assert all(abs(each.value - value) < 1e-8 for each in found[: len(texts)])


def test_a_negative_number_is_rounded_and_cut_off_towards_zero():
    printed = Printed.of("-0.50")
    assert [printed.rounding(value) for value in (-0.504, -0.509, -0.494)] == ["", "cut off", None]


def test_a_number_that_nothing_gives_has_its_nearest_readings_first(rng):
    found = readings(parts(rng, 1), parse("map"), Printed.of("0.99999"))
    assert not any(each.rounding is not None for each in found)
    distances = [abs(each.value - 0.99999) for each in found]
    assert distances == sorted(distances)
    # rules by which no query counts give no number
    none = [(replace(q, labels=np.zeros_like(q.labels)), scores) for q, scores in parts(rng, 1)]
    assert {each.value for each in readings(none, parse("map"), Printed.of("0.5"))} == {0.0, 1.0}
