"""The printed numbers: whole, found under our names, and named after rankers that exist."""

import csv
import math
from dataclasses import replace
from pathlib import Path

from conftest import same
from toy_data import sample_row

from letorbench import analysis
from letorbench.analysis.figures import Panel
from letorbench.analysis.published import (
    DATASETS,
    lookup,
    published,
    published_table,
    with_published,
)
from letorbench.analysis.tables import to_frame
from letorbench.results.dataset_results import DatasetResults, SystemResults

NAMED = Path(__file__).with_name("published.txt")


def test_rows_are_whole():
    rows, text = published(), Path(analysis.__file__).with_name("published.csv").read_text()
    for row, (source, dataset, algorithm, metric, cutoff, value, note) in zip(
        rows, list(csv.reader(text.splitlines()))[1:], strict=True
    ):
        named = row.source, row.dataset, row.algorithm, row.measure
        assert named == (source, dataset, algorithm, f"{metric.lower()}@{cutoff}".rstrip("@"))
        assert (row.printed, row.value, row.note) == (value, float(value), note)
        assert {len(folds) for folds in row.folds.values()} <= {5}
        assert row.reference and math.isfinite(row.value)
        if row.measure.partition("@")[0] in ("ndcg", "p", "map", "err", "mrr"):
            assert 0.0 < row.value < 1.0
    assert len({(r.source, r.dataset, r.algorithm, r.measure) for r in rows}) == len(rows) == 773


CUTOFFS = [f"ndcg@{k}" for k in range(1, 11)]


def test_published_lines_have_a_place_for_each_cutoff():
    shown = with_published(Panel("OHSUMED dataset", "NDCG", {"a": [0.5] * 10}), "OHSUMED", CUTOFFS)
    assert shown.curves.pop("a") == [0.5] * 10
    drawn = {
        (name, f"ndcg@{k}"): value
        for name, curve in shown.curves.items()
        for k, value in enumerate(curve, 1)
        if not math.isnan(value)
    }
    assert {len(curve) for curve in shown.curves.values()} == {10}
    assert drawn == {
        (f"{row.algorithm} ({row.source})", row.measure): row.value
        for k in range(1, 11)
        for row in lookup("OHSUMED", f"ndcg@{k}")
    }


def test_what_the_printed_names_are_called_here():
    """Data sets, and methods of which we have a ranker."""
    sets = dict.fromkeys((row.source, row.dataset) for row in published())
    said = [f"{source}: {name} = {DATASETS.get(name, name)}" for source, name in sets]
    methods = dict.fromkeys((row.source, row.algorithm, row.ours) for row in published())
    said += [f"{source}: {name} = {ours}" for source, name, ours in methods if ours]
    same(NAMED, NAMED.read_text(), "".join(f"{line}\n" for line in said))


def test_what_is_printed_stands_beside_every_label_of_its_algorithm():
    """MQ2008's ListNet is printed once; ours may have been chosen in two ways."""
    rows = [sample_row("listnet", {"map": 0.5})]
    stored = (
        replace(fold, fit={**fold.fit, "label": "listnet[protocol=letor]"})
        for fold in sample_row("listnet", {"map": 0.25}).stored
    )
    rows.append(SystemResults("listnet[protocol=letor]", tuple(stored)))
    table = to_frame(published_table(DatasetResults("MQ2008", tuple(rows)), ["map"]))
    whole = table[table["fold"].isna()].set_index("algo")
    assert whole.loc["listnet", "ours"] == 0.5
    assert whole.loc["listnet[protocol=letor]", "ours"] == 0.25
    assert set(whole.loc[["listnet", "listnet[protocol=letor]"], "published"]) == {"0.4775"}


def test_lookup():
    (row,) = (row for row in lookup("TD2003", "ndcg@10") if row.ours == "ranksvm")
    assert (row.algorithm, row.printed, row.value) == ("RankSVM", "0.346", 0.346)
    assert row.source == "liu-book" and "Liu" in row.reference
    assert not row.folds
    rows = [row for row in lookup("mq2007", "MAP") if row.ours == "listnet"]
    assert [row.printed for row in rows] == ["0.465", "0.4652"]
    # LightGBM's numbers of WEB30K are of its first fold alone
    assert {row.source for row in lookup("MSLR-WEB30K", "ndcg@10")} == {"lgrz-ltr-baseline"}
    for wrong in ("TD2003/Feature-min", "TD2003-twin", "MINE"):
        assert lookup(wrong, "map") == ()
    assert lookup("TD2003", "ndcg@4") == ()


def test_letor_4_is_as_microsoft_printed_it(shared):
    with (shared / "published" / "letor4-printed.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    parts = {"training": "train", "validation": "validation", "testing": "test"}
    there = {
        (row["dataset"], row["algorithm"], row["measure"].replace("MeanN", "Mean-N").lower(),
         parts[row["part"]], row["fold"]): float(row["value"])
        for row in rows
    }  # fmt: skip
    ours = {}
    for row in published():
        if row.source == "letor4-site":
            key = row.dataset, row.algorithm, row.measure
            ours[*key, "test", "average"] = row.value
            for part, numbers in row.folds.items():
                ours |= {(*key, part, f"Fold{k}"): value for k, value in enumerate(numbers, 1)}
    averages = {key for key in there if key[4] == "average" and key[3] != "test"}
    assert ours == {key: value for key, value in there.items() if key not in averages}
