"""Files as other systems leave them: what macOS and Windows add, links, pages instead of data."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import random_queries
from test_archive import as_folder, contents, packed, tree

import letorbench as lb
from letorbench.datasets import layout, synthetic
from letorbench.datasets.archive import import_archive
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.user_data.folds import split
from letorbench.datasets.user_data.read import read_documents
from letorbench.datasets.user_data.tables import Columns
from letorbench.errors import DataError
from letorbench.results.external import read_any, read_qrels

ATTRIBUTES = "\0\5\26\7\0\2\0\0Mac OS X        " + "\0" * 60


def macos(files: dict[str, str], outside: bool) -> dict[str, str]:
    """The files, and beside each, or in __MACOSX, one of its attributes."""
    added = {f"{'__MACOSX/' * outside}{Path(f).parent}/._{Path(f).name}": ATTRIBUTES for f in files}
    return added | files | {"__MACOSX/._shop": ATTRIBUTES, "shop/._Fold1": ATTRIBUTES}


@pytest.mark.parametrize("kind, outside, names", [
    (".zip", True, "txt"), (".tar", False, "cd"), ("/", False, "query"),
])  # fmt: skip
def test_attributes_of_macos_are_no_data(kind, outside, names, tmp_path):
    files = tree("shop", n=3)
    if names == "query":
        files = {f"shop/rank.{p}": "0 0:1\n1 0:2\n0 0:3\n" for p in ("train", "test")}
        files |= {f"{name}.query": "2\n1\n" for name in files}
    if names == "cd":
        files = {f"shop/{p}.tsv": "0\t1\t2\n1\t1\t3\n0\t2\t1\n" for p in ("train", "test")}
        files["shop/pool.cd"] = "0\tLabel\n1\tGroupId\n"
    both = macos(files, outside)
    source = tmp_path / ("shop" if kind == "/" else f"a{kind}")
    source = as_folder(source, both) if kind == "/" else packed(source, both)
    assert import_archive(source, tmp_path / "data") == ("shop",)
    there = contents(tmp_path / "data/shop")
    assert len(there) == (9 if names == "txt" else 2)
    assert not any("._" in name for name in there)
    lb.load("shop", tmp_path / "data")


@pytest.mark.parametrize("folders", [True, False])
def test_back_slashes_in_a_zip_part_folders(folders, tmp_path):
    files = tree("shop", n=3)
    names = {name.replace("/", "\\"): text for name, text in files.items()}
    made = {name.rpartition("\\")[0] + "\\": "" for name in names} if folders else {}
    assert import_archive(packed(tmp_path / "a.zip", made | names), tmp_path / "data") == ("shop",)
    assert {f"shop/{name}" for name in contents(tmp_path / "data/shop")} == set(files)


def test_a_file_that_is_a_folder_too_is_named(tmp_path):
    for files in (["shop/a/b", "shop/a"], ["shop/a", "shop/a/b/c/d"]):
        source = packed(tmp_path / "a.zip", dict.fromkeys(files, "1"))
        with pytest.raises(DataError) as error:
            import_archive(source, tmp_path / "data")
        found = f"found {files[0]} and {files[1]} inside, expected shop/a as a file or as a folder"
        assert str(error.value) == f"{source}: {found}"


def test_a_link_in_a_zip_is_named(tmp_path):
    info = zipfile.ZipInfo("shop/test.txt")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="shop/test.txt is a link, not a file"):
        import_archive(tmp_path / "a.zip", tmp_path / "data")


def linked(kind: str, folder: Path) -> Path:
    """A folder shop whose files, folds or own place are links, each to what is outside it."""
    store, shop = as_folder(folder / "store", tree("s", n=3)) / "s", folder / "in/shop"
    shop.parent.mkdir()
    if kind == "itself":
        shop.symlink_to(store)
    for fold in sorted(store.iterdir()) if kind != "itself" else ():
        for path in [fold] if kind == "folds" else sorted(fold.iterdir()):
            place = shop / path.relative_to(store)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.path.relpath(path, place.parent))
    return shop


@pytest.mark.parametrize("kind", ["files", "folds", "itself"])
def test_links_are_followed(kind, tmp_path):
    shop = linked(kind, tmp_path)
    if kind != "itself":  # links that lead up end nowhere
        (shop / "up").symlink_to("..")
        (shop / "Fold1/self").symlink_to("self")
    for source, data in ((shop, "a"), (shop.parent, "b")):
        name = "s" if source.is_symlink() else "shop"
        assert import_archive(source, tmp_path / data) == (name,)
        assert len(contents(tmp_path / data / name)) == 9
        assert not any(path.is_symlink() for path in (tmp_path / data).rglob("*"))
    assert len(layout.find("shop", shop.parent).folds) == 3


@pytest.mark.parametrize("kind, gone", [("files", "Fold2/test.txt"), ("folds", "Fold2")])
def test_links_that_lead_nowhere_are_named(kind, gone, tmp_path):
    shop = linked(kind, tmp_path)
    (shop / gone).unlink()
    (shop / gone).symlink_to("gone")
    said = f"{shop / gone}: found a link to gone, which is not there"
    (shop.parent / "other").symlink_to("gone")
    for act, given in (
        (import_archive, (shop, tmp_path / "data")),
        (lb.load, ("shop", shop.parent)),
    ):
        with pytest.raises(DataError, match=f"^{said}$"):
            act(*given)
    with pytest.raises(DataError, match="/other: found a link to gone, which is not there"):
        lb.load("other", shop.parent)


#: what is saved instead of data, and how it is called
INSTEAD = {
    "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n": "a web page",
    "\ufeff\n  <!-- x -->\n<HTML lang=en>": "a web page",
    '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>': "XML",
    '{"message": "Not Found"}': "JSON",
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n": "a Git LFS pointer",
    "%PDF-1.7\n": "a PDF",
    "PK\3\4\24\0\0\0": "a ZIP archive",
}


@pytest.mark.parametrize("text", INSTEAD, ids=lambda text: INSTEAD[text][:9])
def test_what_is_saved_instead_of_data_is_named_wherever_data_are_read(text, tmp_path):
    queries = QuerySet.from_arrays([[1.0]], [0], group=[1])
    path, data = tmp_path / "d.txt", tmp_path / "data"
    readers: list[Callable[[], object]] = [
        *(lambda form=form: read_any(path, queries, form) for form in ("scores", "trec", "auto")),
        lambda: split(path, data), lambda: split(path.rename(tmp_path / "d.csv"), data),
        lambda: read_documents(path), lambda: read_qrels(path), lambda: lb.read_letor(path),
    ]  # fmt: skip
    for read in readers:
        path.write_text(text)
        with pytest.raises(DataError, match=rf"/d\.(txt|csv): found {INSTEAD[text]}") as error:
            read()
        assert "--grades" not in str(error.value) and "\n" not in str(error.value)
    for place in ("shop/Fold2/test.txt", "MQ2008/Fold3/vali.txt", "shop/Fold1/train.txt.weight"):
        source = packed(tmp_path / "a.tar", tree(place.partition("/")[0]) | {place: text})
        with pytest.raises(DataError, match=f"a.tar/{place}: found {INSTEAD[text]}"):
            import_archive(source, data)
    parts = {f"shop/{part}.x": text for part in ("train", "test")}  # no data beside data
    assert import_archive(as_folder(tmp_path / "fine", tree("shop") | parts), data) == ("shop",)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    """Let the disk be full at one of what writes: opening for writing, folders, renaming."""
    calls: list[str] = []

    def counted(module: object, name: str, counts: Callable[..., bool]) -> None:
        real = getattr(module, name)

        def call(*args: object, **named: object) -> object:
            if counts(*args, **named):
                calls.append(name)
                if len(calls) == number:
                    raise OSError(28, "No space left on device")
            return real(*args, **named)

        monkeypatch.setattr(module, name, call)

    def writes(_: object, mode: str = "r", *args: object, **named: object) -> bool:
        return bool(set(mode) & set("wxa"))

    for module in ("builtins", "io"):
        counted(__import__(module), "open", writes)
    for name in ("replace", "rename", "mkdir"):
        counted(os, name, lambda *args, **named: True)
    return calls


def own_files(folder: Path) -> Path:
    lines = [f"{q % 3} qid:{q} 1:{q}.5\n" for q in range(6)]
    parts = ("train", "vali", "test")
    files = {f"shop/{part}.txt": "".join(lines[i::3]) for i, part in enumerate(parts)}
    return as_folder(folder, files) / "shop"


#: what writes into a data folder; each takes the data folder and one with its input
ACTS: dict[str, Callable[[Path, Path], object]] = {
    "archive": lambda data, given: import_archive(given / "a.tar", data),
    "own": lambda data, given: import_archive(given / "shop", data),
    "tests": lambda data, given: import_archive(given / "tests", data),
    "split": lambda data, given: split(given / "d.csv", data, folds=3),
    "make": lambda data, given: synthetic.make("MQ2008", data, scale=0.01),
}


@pytest.mark.parametrize("act", ACTS)
def test_an_error_at_any_write_leaves_the_folder_as_it_was(act, tmp_path, monkeypatch):
    """Some of the files that are brought are there already, equal; they stay, too."""
    given = tmp_path / "given"
    files = tree("MQ2008")
    own_files(given)
    packed(given / "a.tar", files)
    as_folder(given / "tests", {f"Fold{k}/test.txt": f"0 qid:{k} 1:1\n" for k in (1, 2, 3)})
    (given / "d.csv").write_text("label,qid,a,w\n" + "".join(f"0,{q},1,{q}\n" for q in range(4)))
    there = {name: text for name, text in files.items() if "Fold2" in name}
    there |= {"shop/vali.txt": (given / "shop/vali.txt").read_text()}
    refused = 0
    for number in range(1, 1000):
        data = as_folder(tmp_path / str(number), there)
        before = snapshot(data)
        with monkeypatch.context() as patch:
            calls = failing(patch, number)
            try:
                ACTS[act](data, given)
            except (DataError, OSError) as error:
                assert "No space left" in str(error)
                assert isinstance(error, DataError) or act == "make"
                assert snapshot(data) == before, (number, calls[-1])
                refused += 1
        if len(calls) < number:
            break
    assert refused >= 5 and snapshot(data) != before


def test_weights_of_columns_and_of_test_parts_reach_every_part(rng, tmp_path):
    drawn = random_queries(rng, [2, 1, 3, 1, 2, 1, 2], n_features=1)
    numbers = np.repeat(np.arange(1.0, 8.0), drawn.lengths)
    frame = pd.DataFrame({"label": drawn.y, "qid": numbers, "a": numbers, "w": numbers})
    frame = frame.sample(frac=1.0, random_state=2)
    frame.to_csv(tmp_path / "column.csv", index=False)
    split(tmp_path / "column.csv", tmp_path, folds=3, columns=Columns(weight="w"))
    found = {"frame": lb.from_frame(frame, "label", "qid", 3, weight="w")}
    found["column"] = lb.load("column", tmp_path)
    tests = {f"Fold{k}/test.txt": f"0 qid:{k} 1:{k}\n1 qid:{k} 1:{k}\n" for k in (1, 2, 3)}
    tests |= {f"Fold{k}/test.txt.weight": f"{k}\n" for k in (1, 2, 3)}
    import_archive(as_folder(tmp_path / "in/alone", tests), tmp_path)
    for k in (1, 2, 3):
        assert (tmp_path / f"alone/Fold{k}/test.txt.weight").read_text() == f"{k}.0\n"
    found["alone"] = lb.load("alone", tmp_path)
    del tests["Fold2/test.txt.weight"]  # its queries count once
    import_archive(as_folder(tmp_path / "in/some", tests), tmp_path)
    some = lb.load("some", tmp_path)
    weights = {float(each) for fold in some.folds for each in fold.test.query_weights}
    assert weights == {1.0, 3.0}
    for way, benchmark in found.items():
        for fold in benchmark.folds:
            for part in fold.parts.values():
                first = part.X[part.offsets[:-1], 0]
                assert part.weights is not None and part.weights.tolist() == first.tolist(), way
