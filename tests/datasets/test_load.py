"""Benchmarks from files: their layout, rotations as views on one array, and what to do without."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from toy_data import document, write_folds

from letorbench.datasets import catalog, layout, synthetic
from letorbench.datasets.folds import files_digest
from letorbench.datasets.load import digest_of, from_frame, load, redrawn
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.user_data.folds import split
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import Protocol, benchmark_of


def parts_text(rng: np.random.Generator, n: int = 5) -> list[str]:
    """n parts of two to four queries of one to five documents."""
    return [
        "".join(
            document(rng, 10 * part + query, 4)
            for query in range(rng.integers(2, 5))
            for _ in range(rng.integers(1, 6))
        )
        for part in range(n)
    ]


def same(found: QuerySet, expected: QuerySet) -> bool:
    return all(
        np.array_equal(getattr(found, name), getattr(expected, name))
        for name in ("features", "labels", "offsets", "qids")
    )


def check_against_files(data: Benchmark, data_dir: Path, name: str) -> None:
    """Every set of every fold equals its own file, read by itself."""
    for files, fold in zip(layout.find(name, data_dir).folds, data.folds, strict=True):
        assert files.number == fold.number
        for path, found in zip(files.files, (fold.train, fold.validation, fold.test), strict=True):
            assert same(found, read_queries(path, ReadOptions())), path


def base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("n", [3, 5])
def test_rotation_is_views_on_one_array(tmp_path, rng, n):
    write_folds(tmp_path / "own", parts_text(rng, n))
    for _ in range(2):  # parsed, then from the cache
        data = load("own", tmp_path)
        files = [tmp_path / f"own/Fold{(part + 1) % n + 1}/test.txt" for part in range(n)]
        assert data.provenance == {
            "folder": str(tmp_path / "own"), "digest": files_digest(files), "null": "error",
            "normalised": None, "rotation": True, "validation": "own part", "recipe": None,
        }  # fmt: skip
        check_against_files(data, tmp_path, "own")
        sets = [s for fold in data.folds for s in (fold.train, fold.validation, fold.test)]
        assert len({id(base(each.features)) for each in sets}) == 1
        for fold, after in zip(data.folds, data.folds[1:]):
            assert np.shares_memory(fold.test.features, after.validation.features)
            assert not np.shares_memory(fold.test.features, fold.train.features)
        first, second = data.folds[0].train, data.folds[1].train
        if n > 3:
            assert np.shares_memory(first.features, second.features)
        mapped = sum(each.features.nbytes for each in (f.test for f in data.folds))
        assert base(sets[0].features).nbytes <= 2 * mapped, "no part more than twice"


@pytest.mark.parametrize("file", ["Fold3/vali.txt", "Fold5/train.txt"])
def test_a_changed_byte_breaks_the_rotation(tmp_path, rng, file):
    write_folds(tmp_path / "own", parts_text(rng))
    load("own", tmp_path)
    path = tmp_path / "own" / file
    text = path.read_text()
    path.write_text(text[:-2] + ("1" if text[-2] != "1" else "2") + "\n")
    data = load("own", tmp_path)
    assert data.provenance["rotation"] is False
    check_against_files(data, tmp_path, "own")


@pytest.mark.parametrize("n, held_out", [(8, 2), (2, 1)])
def test_without_validation_the_last_queries_validate(tmp_path, n, held_out):
    (tmp_path / "ISTELLA").mkdir()
    lines = "".join(f"1 qid:{q} 1:{q} 220:1\n" for q in range(1, n + 1))
    (tmp_path / "ISTELLA/train.txt").write_text(lines)
    (tmp_path / "ISTELLA/test.txt").write_text("0 qid:99 1:1\n")
    data = load("istella", tmp_path)
    (fold,) = data.folds
    assert fold.train.qids.tolist() == [str(q) for q in range(1, n + 1 - held_out)]
    assert fold.validation.qids.tolist() == [str(q) for q in range(n + 1 - held_out, n + 1)]
    assert fold.test.qids.tolist() == ["99"]
    facts = ("normalised", False), ("rotation", False), ("recipe", None), ("null", "error")
    assert {*facts, ("validation", "the last fifth of the training queries")} <= {
        *data.provenance.items()
    }
    files = [tmp_path / "ISTELLA" / f"{part}.txt" for part in ("train", "test")]
    assert data.provenance["digest"] == files_digest(files)
    (tmp_path / "ISTELLA/train.txt").write_text("1 qid:1 120:1e308\n")
    with pytest.raises(DataError, match="train.txt: found 1 query, expected at least 2, or a val"):
        load("istella", tmp_path)
    (tmp_path / "ISTELLA").rename(tmp_path / "mine")  # no release has values beyond float32
    with pytest.raises(DataError, match="1e308"):
        load("mine", tmp_path)


def test_digest_follows_the_content_and_the_parts(tmp_path):
    found = set()
    for number, texts in enumerate((("ab", "c"), ("a", "bc"), ("ab", "d"), ("c", "ab"))):
        files = [tmp_path / f"{number}{k}.txt" for k in (0, 1)]
        for file, text in zip(files, texts):
            file.write_text(text)
        found.add(files_digest(files))
    assert len(found) == 4


def test_conventions(tmp_path):
    """The largest label is the published one, also where no document has it."""
    name = "OHSUMED-twin"
    synthetic.make(name, tmp_path, scale=0.1)
    for path in (tmp_path / name).rglob("*.txt"):
        path.write_text(re.sub("^2", "1", path.read_text(), flags=re.MULTILINE))
    benchmark = load(name, tmp_path, convention="ranklib")
    protocol = Protocol(data_dir=tmp_path, out=tmp_path, convention="letor4")
    for found, convention, max_label in (
        (load(name.lower(), tmp_path), "letor3", 2),
        (benchmark_of(benchmark, protocol), "letor4", 2),
        (load(name, tmp_path, convention="standard"), "standard", 2),
        (load(name, tmp_path, convention="standard,max_label=4"), "standard", 4),  # as asked for
        (benchmark, "ranklib", 4),
    ):
        rules = found.convention
        facts = found.name, rules.name.partition(",")[0], rules.max_label
        assert facts == (name, convention, max_label)
    with pytest.raises(UsageError, match="unknown convention"):
        load(name, tmp_path, convention="letor5")


@pytest.fixture
def df(rng) -> pd.DataFrame:
    """23 queries of one to eight documents, the rows shuffled."""
    qid = np.repeat(np.arange(100, 123), rng.integers(1, 9, 23))
    table = pd.DataFrame({
        "query": qid, "bm25": rng.normal(size=len(qid)), "clicks": rng.integers(0, 50, len(qid)),
        "rel": rng.integers(0, 4, len(qid)),
    })  # fmt: skip
    return table.sample(frac=1, random_state=3)


@pytest.mark.parametrize("folds", [3, 5])
def test_folds_are_a_rotation_by_query(df, folds):
    data = from_frame(df, label="rel", qid="query", folds=folds, seed=1, name="OHSUMED")
    assert data.convention.name == "standard" and data.convention.max_label == 3
    assert [fold.number for fold in data.folds] == list(range(1, folds + 1))
    tested = np.concatenate([fold.test.qids for fold in data.folds])
    assert sorted(tested) == sorted(df["query"].astype(str).unique())
    for k, fold in enumerate(data.folds):
        parts = fold.parts.values()
        queries = np.concatenate([part.qids for part in parts])
        assert sorted(queries) == sorted(df["query"].astype(str).unique())
        rows = np.concatenate([part.rows for part in parts])
        assert sorted(rows) == list(range(len(df)))
        after = data.folds[(k + 1) % folds]
        assert np.shares_memory(fold.test.features, after.validation.features) or k == folds - 1
        np.testing.assert_array_equal(fold.test.features, after.validation.features)
        for part in parts:
            assert part.feature_names == ("bm25", "clicks")
            found = df.iloc[part.rows]
            np.testing.assert_array_equal(part.X, found[["bm25", "clicks"]].astype("float32"))
            np.testing.assert_array_equal(part.y, found["rel"])
            np.testing.assert_array_equal(part.qid, found["query"].astype(str))
            ordered = part.in_caller_order(part.rows)
            assert (np.diff(ordered) > 0).all()


def test_draws_of_the_folds_partition_the_queries(tmp_path):
    """Whatever the order of the queries, in a frame, in memory and on disk."""
    folds, rng = 5, np.random.default_rng(4)
    numbers = [range(100 * k, 100 * k + 7) for k in range(folds)]
    parts = [[f"0 qid:{q} 1:{rng.random():.6f}\n" * (1 + q % 3) for q in part] for part in numbers]
    turned = [part[::-1] for part in parts[::-1]]
    for name, each in (("A", parts), ("B", turned)):
        write_folds(tmp_path / name, ["".join(part) for part in each])
    kept = [load(f"A@split{number}", tmp_path) for number in (1, 2, 1)]
    held = [redrawn(load(name, tmp_path), 1) for name in "AB"]
    official = load("A", tmp_path)
    assert [each.name for each in (*kept[:2], held[1])] == ["A@split1", "A@split2", "B@split1"]
    for drawn in (*kept, *held):
        assert [fold.number for fold in drawn.folds] == [fold.number for fold in official.folds]
        for fold, own in zip(drawn.folds, official.folds):
            sizes = [[part.n_queries for part in each.parts.values()] for each in (fold, own)]
            qids = [part.qids for each in (fold, own) for part in each.parts.values()]
            assert sizes[0] == sizes[1] == [7 * (folds - 2), 7, 7]
            assert sorted(np.concatenate(qids[:3])) == sorted(np.concatenate(qids[3:]))
        assert len({*np.concatenate([fold.test.qids for fold in drawn.folds])}) == 7 * folds
        for part in drawn.parts:
            texts = dict(zip(part.qids.tolist(), np.split(part.X[:, 0], part.offsets[1:-1])))
            lines = {line.split()[1][4:]: line for each in parts for line in each}
            for qid, found in texts.items():
                expected = float(lines[qid].split()[2][2:])
                assert found == pytest.approx([expected] * (1 + int(qid) % 3), rel=1e-6)

    def tested(data: Benchmark) -> list[list[str]]:
        return [fold.test.qids.tolist() for fold in data.folds]

    assert tested(kept[0]) == tested(kept[2]) == tested(held[0]) == tested(held[1])
    assert tested(kept[1]) != tested(kept[0]) != tested(official)
    digests = [each.provenance["digest"] for each in (official, *kept, *held)]
    assert digests[1] == digests[3] == digests[4] == digest_of("A@split1", tmp_path)
    assert len({*digests}) == 4 and digests[0] == digest_of("A", tmp_path)


def test_draws_of_folds_go_by_the_queries_names_and_need_a_rotation(tmp_path):
    table = pd.DataFrame(
        {"qid": [f"word {c}" for c in "abcdefghi"], "label": 1, "x": np.arange(9.0)}
    )
    for name, rows in (("one", table), ("other", table[::-1])):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        split(tmp_path / f"{name}.csv", tmp_path, folds=3)
    one, other = (load(f"{name}@split1", tmp_path) for name in ("one", "other"))
    for a, b in zip(one.folds, other.folds):
        assert a.test.query_names.tolist() == b.test.query_names.tolist()
        assert np.array_equal(a.test.X, b.test.X)
    frame = from_frame(table, "label", "qid", folds=3)
    drawn = redrawn(frame, 1)
    for a, b in zip(one.folds, drawn.folds):
        assert a.test.query_names.tolist() == b.test.qids.tolist()
        assert b.test.feature_names == ("x",)
        assert table["qid"].iloc[b.test.rows].tolist() == b.test.qids.tolist()
    lay(tmp_path / "plain", "train.txt", "test.txt")
    (tmp_path / "plain" / "train.txt").write_text("0 qid:1 1:0\n0 qid:2 1:0\n")
    with pytest.raises(UsageError, match="plain@split1: found 1 fold that do"):
        load("plain@split1", tmp_path)
    with pytest.raises(UsageError, match="found 1 fold that do"):
        redrawn(load("plain", tmp_path), 1)


def test_the_seed_and_the_content_decide(df):
    def digest(table: pd.DataFrame = df, **options: object) -> str:
        return from_frame(table, "rel", "query", **options).provenance["digest"]

    changed = df.copy()
    changed.iloc[0, 1] += 1
    other = [digest(seed=1), digest(folds=4), digest(changed), digest(features=["bm25"])]
    assert digest() == digest(df.copy())
    assert len({digest(), *other}) == 5
    first, second = from_frame(df, "rel", "query"), from_frame(df, "rel", "query")
    assert first.folds[0].train.digest == second.folds[0].train.digest


def lay(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"0 qid:1 1:0 # {file}\n")


#: names as users write them, and folders as releases spell them
FOLDERS = {
    "OHSUMED": "OHSUMED/QueryLevelNorm", "OHSUMED/Feature-min": "OHSUMED/Feature_Min",
    "ohsumed-feature-null": "Ohsumed/Feature-null", "MSLR-WEB10K": "mslr-web10k",
    "TD2003": "Gov/QueryLevelNorm/2003_td_dataset", "TD2003-twin": "TD2003-twin",
    "HP2004/feature-min": "gov/Feature-min/2004_HP_dataset", "mine/raw": "mine/raw",
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_folds(tmp_path, name):
    for number, names in enumerate((
        ("train.txt", "vali.txt", "test.txt"), ("Train.TXT", "VALI.TXT", "Test.TXT"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
    )):  # fmt: skip
        data, folder = tmp_path / str(number), FOLDERS[name]
        lay(data / folder, *(f"Fold{k}/{file}" for k in range(1, 6) for file in names),
            "readme.txt", "ALL/train.txt", "Fold1/valid.txt/words")  # fmt: skip
        found = layout.find(catalog.parse(name), data)
        assert [each.number for each in found.folds] == [1, 2, 3, 4, 5]
        for each in found.folds:
            where = data / folder / f"Fold{each.number}"
            assert (each.train, each.validation, each.test) == tuple(where / file for file in names)
