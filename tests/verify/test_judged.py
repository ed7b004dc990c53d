"""The label counts that `verify` knows without data: those of the data, and what they bound."""

from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest
from conftest import same

from letorbench.conventions import CONVENTIONS
from letorbench.datasets import catalog
from letorbench.datasets.archive import import_archive
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.verify.known import judged_folds, known_facts
from letorbench.verify.printed import check_by_data, read_table

KNOWN = ("OHSUMED", "MQ2008")
MEASURES = [
    *(f"{name}@{k}" for name in ("ndcg", "p", "err") for k in (1, 3, 10, 16)),
    *("map", "mrr", "mean-ndcg", "rbp", "wta", "pairwise", "auc", "bpref"),
]


@pytest.fixture(scope="module", params=KNOWN)
def data(request: pytest.FixtureRequest, shared: Path, tmp_path_factory) -> Benchmark:
    folder = tmp_path_factory.mktemp(request.param)
    import_archive(shared / "archives" / f"{request.param}.zip", folder)
    return load(request.param, folder)


def test_the_counts_are_those_of_the_data(data: Benchmark) -> None:
    """RENEW=1 writes the data set's lines of the table."""
    lines = []
    for fold in data.folds:
        starts = fold.test.offsets
        own = [fold.test.labels[a:b].tolist() for a, b in zip(starts, starts[1:])]
        for counts, n in sorted(Counter(tuple(map(q.count, range(3))) for q in own).items()):
            lines.append(",".join(map(str, (data.name, fold.number, n, *counts))) + "\n")
    table = Path(catalog.__file__).with_name("judged.csv")
    kept = table.read_text().splitlines(keepends=True)
    same(table, "".join(line for line in kept if line.startswith(data.name)), "".join(lines))
    assert kept[0] == "dataset,fold,queries,label 0,label 1,label 2\n"
    assert {line.partition(",")[0] for line in kept[1:]} == set(KNOWN)


def test_the_bounds_are_those_of_the_data(data: Benchmark) -> None:
    """Each part of each fold, by the conventions in turn."""
    rules = cycle(CONVENTIONS.values())
    for ours, theirs in zip(judged_folds(data.name), data.folds, strict=True):
        for part, queries in theirs.parts.items():
            by = next(rules)
            known = known_facts(ours.parts[part], MEASURES, by)
            expected = known_facts(queries, MEASURES, by)
            assert (known.queries, known.ndcg1) == (expected.queries, expected.ndcg1)
            for measure, bounds in expected.bounds.items():
                assert known.bounds[measure] == pytest.approx(bounds, abs=1e-12)


HEAD = "dataset,algorithm,part,fold,measure,value\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("MQ2008,a,test,,map,0.99", "above the ideal order of these queries, 0.7194"),
        ("MQ2008,a,test,,ndcg@10,0.95", "above the ideal order of these queries, 0.3737"),
        ("mq2008,a,,mean,P@10,30.1%", "above the ideal order of these queries, 0.2986"),
        ("OHSUMED,a,test,,ndcg@1,0.995", "above the ideal order of these queries, 0.9906"),
        ("MQ2008,a,validation,2,map,0.99", "above the ideal order"),
        ("MQ2008,a,train,5,ndcg@5,0.95", "above the ideal order"),
        ("OHSUMED,a,test,,map,0.1", "below the worst order of these queries, 0."),
        ("MQ2008,a,test,,map,0.719", ""),
        ("MQ2007,a,test,,map,0.99", ""),
    ],
)
def test_a_number_beyond_the_bound_is_named_without_data(tmp_path: Path, row, said) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEAD + row + "\n")
    found, _, rules = check_by_data(read_table(path), tmp_path / "none", "auto")
    assert rules == "auto" and len(found) == bool(said)
    assert all(each.level == "impossible" and said in each.what for each in found)


def test_a_convention_that_would_allow_few_numbers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{HEAD}MQ2008,a,test,,ndcg@10,0.65\n")
    (found,) = check_by_data(read_table(path), tmp_path, "auto")[0]
    assert "; mslr" not in found.what and "standard" in found.what and "would allow" in found.what
    assert check_by_data(read_table(path), tmp_path, "standard")[0] == []
    path.write_text(HEAD + "".join(f"MQ2008,a{i},test,,ndcg@10,0.65\n" for i in range(20)))
    assert check_by_data(read_table(path), tmp_path, "auto")[::2] == ([], "standard")
