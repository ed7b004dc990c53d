"""Importing: every layout, and everything an archive can do to harm."""

import io
import re
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from letorbench.datasets import layout, unpack
from letorbench.datasets.archive import import_archive
from letorbench.errors import DataError

NAMES = ("train.txt", "vali.txt", "test.txt")


def tree(*roots: str, n: int = 5) -> dict[str, str]:
    """Five folds under each root, each file with a text of its own."""
    return {
        path: f"0 qid:1 1:0 # {path}\n"
        for root in roots
        for k in range(1, n + 1)
        for path in (f"{root}/Fold{k}/{name}".lstrip("/") for name in NAMES)
    }


def packed(path: Path, files: Mapping[str, str]) -> Path:
    """An archive of the kind that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path
    kind = {".tar": "", ".tgz": "gz"}.get(path.suffix, path.suffix[1:].lower())
    with tarfile.open(path, f"w:{kind}") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def as_folder(path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8", newline="")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but those of the cache."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    }


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tgz", ".tar.bz2", ".tar.xz", "/"])
def test_every_kind(tmp_path, ending):
    files = tree("a/b/MQ2008") | {"a/b/MQ2008/readme.txt": "hello", "a/b/MQ2008/S1.txt": "x"}
    if ending == "/":
        source = as_folder(tmp_path / "downloads", files)
    else:
        source = packed(tmp_path / f"some{ending}", files)
    data = tmp_path / "data"
    assert import_archive(source, data) == ("MQ2008",)
    expected = {name[len("a/b/") :]: text.encode() for name, text in tree("a/b/MQ2008").items()}
    assert contents(data) == expected
    assert len(layout.find("MQ2008", data).folds) == 5
    assert import_archive(source, data) == ("MQ2008",), "the same again"
    assert contents(data) == expected


@pytest.mark.parametrize(("stem", "root", "name", "place"), [
    ("x", "OHSUMED/QueryLevelNorm", "OHSUMED", "OHSUMED/QueryLevelNorm"),
    ("OHSUMED", "Feature-min", "OHSUMED-Feature-min", "OHSUMED/Feature-min"),
    ("x", "Gov/QueryLevelNorm/2003_td_dataset", "TD2003", "Gov/QueryLevelNorm/2003_td_dataset"),
    ("msn30k", "dataset", "MSLR-WEB30K", "MSLR-WEB30K"), ("x", *["Données 2"] * 3),
    ("mine", "", "mine", "mine"), ("mine (1)", "", "mine", "mine"),
])  # fmt: skip
def test_recognises(tmp_path, stem, root, name, place):
    source = packed(tmp_path / f"{stem}.TAR.GZ", tree(root))
    data = tmp_path / "data"
    assert import_archive(source, data) == (name,)
    assert (data / place / "Fold1/train.txt").read_text() == tree(root)[
        f"{root}/Fold1/train.txt".lstrip("/")
    ]
    layout.find(name, data)


def test_fixed_splits(tmp_path):
    yahoo = {
        f"d/set{i}.{part}.txt": f"{i}{part}" for i in (1, 2) for part in ("train", "valid", "test")
    }
    data = tmp_path / "data"
    found = import_archive(packed(tmp_path / "y.tar", yahoo), data)
    assert found == ("YAHOO-SET1", "YAHOO-SET2")
    assert (data / "Yahoo/set2.valid.txt").read_text() == "2valid"
    assert layout.present("YAHOO-SET1", data) and layout.present("YAHOO-SET2", data)
    full = packed(tmp_path / "istella-letor.tar", {"full/train.txt": "a", "full/test.txt": "b"})
    assert import_archive(full, data) == ("ISTELLA",)
    assert layout.present("ISTELLA", data)


def test_refuses_to_overwrite(tmp_path):
    data = tmp_path / "data"
    import_archive(packed(tmp_path / "a.tar", tree("MQ2008")), data)
    before = contents(data)
    other = tree("MQ2008", "MQ2007") | {
        "MQ2008/Fold3/vali.txt": "1 qid:1 1:0 # MQ2008/Fold3/vali.txt\n"
    }
    with pytest.raises(DataError, match="Fold3/vali.txt: found a file of other content"):
        import_archive(packed(tmp_path / "b.tar", other), data)
    assert contents(data) == before, "nothing of MQ2007 either"
    as_folder(tmp_path / "other", {"MQ2008": "a file, where a folder is to be"})
    before = contents(tmp_path / "other")
    with pytest.raises(DataError, match="cannot be written"):
        import_archive(tmp_path / "b.tar", tmp_path / "other")
    assert contents(tmp_path / "other") == before, "nothing of MQ2007, which was there already"


def whole(text: str) -> str:
    """The pattern of a text and nothing else."""
    return f"^{re.escape(text)}$"


def too_much(source: Path, files: int, size: int) -> str:
    """The pattern of the error for an archive of more files or bytes."""
    most = min(unpack.MOST_BYTES, max(unpack.HARMLESS, 200 * source.stat().st_size))
    return f"{files:,} files or more with {size:,} bytes.* 10,000 files and {most:,} bytes"


def refused(source: Path, tmp_path: Path, message: str) -> None:
    """The import fails with that line, and nothing is left in or beside the data folder."""
    data = tmp_path / "inner" / "data"
    data.mkdir(parents=True)
    with pytest.raises(DataError) as error:
        import_archive(source, data)
    said = str(error.value)
    assert re.search(message, said), said
    assert "\n" not in said
    assert list(data.iterdir()) == []
    assert sorted(path.name for path in data.parent.iterdir()) == ["data"]


@pytest.mark.parametrize("name", [
    "MQ2008/../../evil.txt", "/tmp/evil/Fold1/train.txt", "shop\\..\\..\\x", "\\x", "C:\\x",
])  # fmt: skip
def test_names_that_climb_out(tmp_path, name):
    files = tree("MQ2008") | {name: "evil"}
    said = f": unsafe name {name!r} inside; expected a path within it"
    for ending in ("tar", "zip"):
        source = packed(tmp_path / f"evil.{ending}", files)
        refused(source, tmp_path / ending, whole(f"{source}{said}"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tars(tmp_path, kind):
    source = packed(tmp_path / "evil.tar", tree("MQ2008"))
    with tarfile.open(source, "a") as archive:
        info = tarfile.TarInfo("MQ2008/Fold1/extra.txt")
        info.type, info.linkname = kind, "../../../secret"
        archive.addfile(info)
    refused(source, tmp_path, "damaged, or no archive of .*extra.txt")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_inside_a_tar_is_a_copy_and_counts_as_one(tmp_path, kind, monkeypatch):
    files = tree("MQ2008")
    source = packed(tmp_path / "a.tar", files)
    with tarfile.open(source, "a") as archive:
        info = tarfile.TarInfo("MQ2008/Fold1/again.txt")
        info.type = kind
        info.linkname = "train.txt" if kind == tarfile.SYMTYPE else "MQ2008/Fold1/train.txt"
        archive.addfile(info)
    unpack.unpack(source, tmp_path / "to")
    again = tmp_path / "to" / "MQ2008" / "Fold1" / "again.txt"
    assert not again.is_symlink() and again.read_text() == files["MQ2008/Fold1/train.txt"]
    sizes = [len(text) for text in [*files.values(), files["MQ2008/Fold1/train.txt"]]]
    monkeypatch.setattr(unpack, "MOST_BYTES", sum(sizes) - 1)
    refused(source, tmp_path, too_much(source, len(sizes), sum(sizes)))


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_bombs(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(unpack, "HARMLESS", 1 << 21)
    size = unpack.HARMLESS + (1 << 20)
    files = tree("MQ2008") | {"MQ2008/Fold1/train.txt": "0" * size}
    source = packed(tmp_path / f"bomb{ending}", files)
    assert source.stat().st_size < 1 << 20
    refused(source, tmp_path, too_much(source, 1, size))
    monkeypatch.setattr(unpack, "MOST_BYTES", unpack.HARMLESS >> 1)
    refused(source, tmp_path / "small", too_much(source, 1, size))


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz"])
@pytest.mark.parametrize("kept", [0, 0.5, 0.9])
def test_damaged(tmp_path, ending, kept):
    files = {name: text * 50 for name, text in tree("MQ2008").items()}
    archive = packed(tmp_path / f"a{ending}", files)
    data = archive.read_bytes()
    archive.write_bytes(data[: int(kept * len(data))])
    refused(archive, tmp_path, ": damaged, or|no data set|expected Fold1 to Fold5")


def test_a_wrong_check_sum_at_the_end(tmp_path):
    archive = packed(tmp_path / "a.tar.gz", tree("MQ2008"))
    data = archive.read_bytes()
    archive.write_bytes(data[:-6] + bytes([data[-6] ^ 128]) + data[-5:])
    refused(archive, tmp_path, ": damaged, or no archive")


def test_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(unpack, "MOST_FILES", 20)
    for n, said in ((20, "no data set inside"), (21, "21 files or more with 0 bytes; expected at")):
        source = packed(tmp_path / f"{n}.zip", {f"{i}.txt": "" for i in range(n)})
        refused(source, tmp_path / str(n), said)
    source = tmp_path / "g.zip"
    refused(source, tmp_path / "g", whole(f"{source}: no such file or folder"))
