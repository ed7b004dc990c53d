"""Results measured again: no edited cell goes unnoticed; which conventions give a number."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import random_queries
from toy_data import write_toy

import letorbench as lb
from letorbench.conventions import convention
from letorbench.datasets.queryset import QuerySet
from letorbench.files import digest, with_checksum
from letorbench.measures import parse, query_metrics
from letorbench.results.csv_files import write_tables
from letorbench.results.store import Store, stored_fit
from letorbench.verify.numbers import POOLED, Printed, readings
from letorbench.verify.stored import Agreement, trace

SIMILAR = "a similar system: rankings and values by query agree, not only the means"
LUCKY = "equal means of different rankings: the values by query do not agree"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    write_toy(folder / "data", "TOY", 0)
    lb.run(
        "TOY", {name: name for name in ("regression", "random")}, data_dir=folder / "data",
        out=folder / "out", convention="letor4,empty=drop", folds="1-2",
    )  # fmt: skip
    return folder


def problems(folder: Path) -> list[str]:
    return [p for each in trace(folder / "out", folder / "data", "TOY") for p in each.problems]


def test_scores_that_cannot_be_read_stop_no_other_algorithm(made, tmp_path) -> None:
    """The checksums are right, and the scores are of fewer documents."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "out" / "TOY" / "regression" / "fold1"
    (folder / "scores.txt").write_text("1\n2\n")
    fit = stored_fit(made / "out" / "TOY" / "regression" / "fold1")
    fit["files"]["scores.txt"] = digest(b"1\n2\n")
    (folder / "fit.json").write_text(with_checksum(fit))
    [line] = problems(tmp_path)
    assert line.startswith(f"not measured again: {folder / 'scores.txt'}:3: found 2 scores")
    of = [trace(place / "out", place / "data", "TOY") for place in (tmp_path, made)]
    now, before = ({each.algo: each.cells for each in traced} for traced in of)
    assert 0 < now["regression"] < before["regression"] and now["random"] == before["random"] > 0


@pytest.mark.parametrize("seed", range(8))
def test_an_edited_cell_is_found(made, tmp_path, seed) -> None:
    """In any file, and in a fold's values also where its checksums were made anew."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    rng = np.random.default_rng(seed)
    files = sorted((tmp_path / "out").rglob("*.csv")) + sorted(
        (tmp_path / "out").rglob("scores.txt")
    )
    forged = bool(seed % 2)
    if forged:
        files = sorted((tmp_path / "out").rglob("fold*/per_query.csv"))
    path = files[rng.integers(len(files))]
    lines = path.read_text().splitlines()
    row = int(rng.integers(1, len(lines)))
    cells = lines[row].split(",")
    numbers = [i for i, cell in enumerate(cells) if "." in cell]
    column = int(rng.choice(numbers))
    cells[column] = repr(float(cells[column]) + 0.01)
    lines[row] = ",".join(cells)
    path.write_text("\n".join([*lines, ""]))
    if forged:
        facts = dict(stored_fit(made / path.relative_to(tmp_path).parent))
        facts["files"] = {**facts["files"], path.name: digest(path.read_bytes())}
        (path.parent / "fit.json").write_text(with_checksum(facts))
    assert problems(tmp_path), (path, row, column)


@pytest.mark.parametrize("place", ["values", "means"])
def test_a_forgery_that_all_tables_agree_with_is_found(made, tmp_path, place) -> None:
    """Of one value in a fold, with its checksums, and the tables made anew of it."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "out" / "TOY" / "regression" / "fold1"
    facts = dict(stored_fit(folder))
    if place == "means":
        means = facts["test"]["means"]
        facts["test"] = {**facts["test"], "means": {**means, "map": means["map"] + 0.01}}
    else:
        path = folder / "per_query.csv"
        table = pd.read_csv(path, dtype={"qid": str})
        table.loc[0, "map"] += 1e-6
        table.to_csv(path, index=False)
        facts["files"] = {**facts["files"], path.name: digest(path.read_bytes())}
    (folder / "fit.json").write_text(with_checksum(facts))
    store = Store(tmp_path / "out").look("TOY")
    write_tables(store, "TOY", store.algorithms("TOY"))
    where = {"values": "query", "means": "the mean of map"}[place]
    assert [each for each in problems(tmp_path) if where in each and "map" in each]


@pytest.mark.parametrize(
    ("tau", "rmse", "correlation", "p", "verdict"),
    [
        (0.9991, 0.00099, 0.0, 0.01, "the same system: the rankings are the same"),
        (0.999, 0.0, 1.0, 0.05, SIMILAR),
        (1.0, 0.001, 0.9, 1.0, SIMILAR),
        (1.0, 0.001, 1.0, 0.049, "different systems: their means differ (p < .05)"),
        (0.5, 0.1, 0.9, 0.05, SIMILAR),
        (0.49, 0.1, 0.9, 0.05, LUCKY),
        (0.5, 0.1, 0.89, 0.05, LUCKY),
    ],
)
def test_a_verdict_changes_at_its_borders(tau, rmse, correlation, p, verdict) -> None:
    found = Agreement(tau, 1.0, 0.5, 0.5, rmse, correlation, None, p)
    assert found.verdict == verdict
    assert found.same == verdict.startswith(("the same", "a similar"))


MADE_BY = [
    ("map", "mslr,empty=drop"),
    ("ndcg@10", "letor3,gain=linear,short_ndcg=whole,ideal=list"),
    ("p@5", "xgboost,relevant=2"),
]


Parts = list[tuple[QuerySet, np.ndarray]]


def parts(rng: np.random.Generator, n: int = 2) -> Parts:
    """Files of short and long lists, some without a relevant document, with tied scores."""
    made = []
    for _ in range(n):
        queries = random_queries(rng, [1, 4, 12, 15, 30, 3, 8], levels=3)
        scores = np.round(rng.normal(size=queries.n_docs), 1)
        labels = queries.labels.copy()
        labels[5:17] = 0
        made.append((replace(queries, labels=labels), scores))
    return made


def number(data: Parts, name: str, rules: str, pooled: bool = False) -> float:
    tables = [
        query_metrics(q.labels, scores, q.offsets, [parse(name)], convention(rules))
        for q, scores in data
    ]
    return float(
        np.nanmean(np.concatenate(tables)) if pooled else np.mean([*map(np.nanmean, tables)])
    )


@pytest.mark.parametrize(("name", "rules"), MADE_BY)
def test_the_convention_that_made_a_number_explains_it(rng, rules, name) -> None:
    data = parts(rng)
    for pooled in (False, True):
        value = number(data, name, rules, pooled)
        found = readings(data, parse(name), Printed.of(f"{value:.8f}"))
        explained = [each for each in found if each.rounding is not None]
        same = [number(data, name, each.convention.name) for each in explained]
        texts = [each.text for each in explained]
        assert convention(rules).name + f", {POOLED}" * pooled in texts
        assert texts == sorted(texts, key=lambda text: text.count(","))
        assert all(abs(each.value - value) < 1e-8 for each in explained), same


def test_a_number_that_nothing_gives_has_its_nearest_readings_first(rng) -> None:
    found = readings(parts(rng, 1), parse("map"), Printed.of("0.99999"))
    assert not any(each.rounding is not None for each in found)
    distances = [abs(each.value - 0.99999) for each in found]
    assert distances == sorted(distances)


def test_tables_that_a_run_has_not_written_are_no_problem_and_wrong_ones_are(
    made, tmp_path, monkeypatch
) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "out" / "TOY"
    with monkeypatch.context() as patch:
        patch.setattr("letorbench.results.csv_files._write_if_other", lambda *ignored: None)
        where = {"data_dir": tmp_path / "data", "out": tmp_path / "out", "folds": "3"}
        lb.run("TOY", "regression", convention="letor4,empty=drop", **where)
        assert problems(tmp_path) == []
        (folder / "regression" / "folds.csv").unlink()
        assert problems(tmp_path) == []
    table = folder / "random" / "folds.csv"
    table.write_text(table.read_text().replace("mean,0.", "mean,1.", 1))
    assert [line.partition(":")[0] for line in problems(tmp_path)] == [str(table)]
