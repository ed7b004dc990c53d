"""Finding a data set's files in every spelling of the official layouts."""

from pathlib import Path

import pytest

from letorbench.datasets import layout
from letorbench.errors import DataError, UsageError


def lay(root: Path, *files: str) -> None:
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"0 qid:1 1:0 # {file}\n")


def folds(folder: str, names: tuple[str, str, str], fold: str = "Fold", n: int = 5) -> list[str]:
    return [f"{folder}/{fold}{k}/{name}" for k in range(1, n + 1) for name in names]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("OHSUMED", "OHSUMED/QueryLevelNorm"),
        ("OHSUMED/Feature-min", "OHSUMED/Feature_Min"),
        ("ohsumed-feature-null", "Ohsumed/Feature-null"),
        ("TD2003", "Gov/QueryLevelNorm/2003_td_dataset"),
        ("HP2004/feature-min", "gov/Feature-min/2004_HP_dataset"),
        ("np2004", "Gov/QueryLevelNorm/2004_np_dataset"),
        ("MQ2007", "MQ2007"),
        ("MSLR-WEB10K", "mslr-web10k"),
        ("mine", "mine"),
        ("mine/raw", "mine/raw"),
        ("TD2003-twin", "TD2003-twin"),
    ],
)
@pytest.mark.parametrize(
    "names",
    [
        ("train.txt", "vali.txt", "test.txt"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("Train.TXT", "VALI.TXT", "Test.TXT"),
    ],
)
def test_folds(tmp_path: Path, name: str, folder: str, names: tuple[str, str, str]) -> None:
    lay(tmp_path, *folds(folder, names), f"{folder}/readme.txt", f"{folder}/ALL/train.txt")
    found = layout.find(name, tmp_path)
    assert [each.number for each in found.folds] == [1, 2, 3, 4, 5]
    for each in found.folds:
        where = tmp_path / folder / f"Fold{each.number}"
        assert (each.train, each.validation, each.test) == tuple(where / file for file in names)
    assert layout.present(name, tmp_path)


def test_missing_parts(tmp_path: Path) -> None:
    files = folds("MQ2008", ("train.txt", "vali.txt", "test.txt"))
    lay(tmp_path, *(file for file in files if "Fold4" not in file))
    with pytest.raises(
        DataError, match="found Fold1, Fold2, Fold3, Fold5; expected Fold1 to Fold5"
    ):
        layout.find("MQ2008", tmp_path)
    lay(tmp_path, *(file for file in files if "Fold4/test" not in file))
    with pytest.raises(DataError, match="Fold4: no test file; expected one of test.txt"):
        layout.find("MQ2008", tmp_path)
    lay(tmp_path, *files, "MQ2008/Fold2/trainingset.txt")
    with pytest.raises(DataError, match="Fold2: two train files"):
        layout.find("MQ2008", tmp_path)


@pytest.mark.parametrize("name", ["", "..", "../x", "x/../..", "a//b", "a\\b", "."])
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no data set's name"):
        layout.find(name, tmp_path)


def test_installed(tmp_path: Path) -> None:
    names = ("train.txt", "vali.txt", "test.txt")
    assert layout.installed(tmp_path / "none") == ()
    for folder in (
        "OHSUMED/Feature-min",
        "Gov/QueryLevelNorm/2003_td_dataset",
        "own",
        "MQ2008-twin",
    ):
        lay(tmp_path, *folds(folder, names))
    lay(tmp_path, "junk/a.txt", ".cache/train.txt")
    expected = ("OHSUMED-Feature-min", "TD2003", "MQ2008-twin", "own")
    assert layout.installed(tmp_path) == expected


@pytest.mark.parametrize(
    ("folders", "message"),
    [
        (["Fold1", "Fold01"], "found Fold01, Fold1; expected Fold1 to Fold1, one folder a fold"),
        (["Fold0"], "found Fold0; expected Fold1 to Fold1"),
        (["Fold0", "Fold1"], "found Fold0, Fold1; expected Fold1 to Fold1"),
        (["Fold" + "9" * 200], "found Fold9999.*; expected Fold1 to Fold1000"),
        (["Fold1", "Fold3"], "found Fold1, Fold3; expected Fold1 to Fold3"),
    ],
)
def test_fold_numbers(tmp_path: Path, folders: list[str], message: str) -> None:
    for folder in folders:
        (tmp_path / "mine" / folder).mkdir(parents=True)
    with pytest.raises(DataError, match=message):
        layout.find("mine", tmp_path)
    assert layout.installed(tmp_path) == ()
