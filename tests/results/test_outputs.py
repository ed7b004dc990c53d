"""What a command writes is never what it reads: every option that names a file to write."""

import os
from pathlib import Path

import pytest
from conftest import places, printed, refused
from toy_data import write_toy


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """A folder with a data set, its results, an input, a link to it, and another's scores."""
    folder = tmp_path_factory.mktemp("outputs")
    write_toy(folder / "data")
    (folder / "d.txt").write_text((folder / "data/TOY/Fold1/test.txt").read_text())
    (folder / "link.txt").symlink_to("d.txt")
    run = "run --dataset TOY --algo regression --folds 1"
    printed(*run.split(), *places(folder))
    scores = (folder / "results/TOY/regression/fold1/scores.txt").read_bytes()
    place = folder / "results/TOY/theirs/fold1/scores.txt"
    place.parent.mkdir(parents=True)
    place.write_bytes(scores)
    os.link(folder / "results/TOY/regression/fold1/model.npz", folder / "m.npz")
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file but those of the cache, in which reading leaves notes."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {path: path.read_bytes() for path in files}


RANK = "rank --model m.npz --input d.txt --output"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{RANK} d.txt", "d.txt: the output would be the input d.txt"),
        (f"{RANK} link.txt", "the input d.txt"),
        (f"{RANK} data/TOY/Fold2/train.txt", "a file of LETOR text"),
        (f"{RANK} results/TOY/regression/fold1/fit.json", "a file of a stored fold"),
        ("report --out-file data/TOY/Fold2/vali.txt", "a file of LETOR text"),
        ("plot --to data/TOY/Fold1/test", "a file of the data set TOY"),
        ("export TOY --to data/TOY", "a file of the data set TOY"),
        ("reproduce ndcgboost-2009 --pages data/TOY", "a file of the data set TOY"),
        ("external --dataset TOY --name theirs --folds 1 "
         "--scores results/TOY/theirs/fold{fold}/scores.txt", "would be the input"),
    ],
)  # fmt: skip
def test_no_output_changes_what_is_read(stored, monkeypatch, words: str, said: str) -> None:
    monkeypatch.chdir(stored)
    before = contents(stored)
    command = words.split()
    assert said in refused(2, *command, *([] if command[0] == "rank" else places(stored)))
    assert contents(stored) == before


def test_an_output_of_before_is_written_anew(stored, monkeypatch) -> None:
    monkeypatch.chdir(stored)
    for words in (f"{RANK} new.txt", "report --out-file new.html", "plot --to new", "export TOY"):
        command = words.split()
        for _ in range(2):
            printed(*command, *([] if command[0] == "rank" else places(stored)))
