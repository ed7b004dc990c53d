"""The cache never parses twice, and never believes what is damaged or stale."""

import errno
import mmap
import os
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from letorbench.datasets import cache as cache_module
from letorbench.datasets.cache import TICK_NS, Cache
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import DataError

OPTIONS = ReadOptions()
NAMES = ("features", "labels", "offsets", "qids", "docids")


def settle() -> None:
    """Wait until the file system's clock has ticked: notes are taken only of settled files."""
    time.sleep(2 * TICK_NS / 1e9)


@pytest.fixture
def files(tmp_path, rng) -> list[Path]:
    paths = []
    for part in range(3):
        lines = [
            f"{rng.integers(0, 3)} qid:{q} 1:{rng.normal():.6f} 2:{rng.integers(0, 99)}"
            f" #docid = D{part}-{i}\n"
            for q in range(1, 4 + part)
            for i in range(5)
        ]
        paths.append(tmp_path / f"S{part}.txt")
        paths[-1].write_text("".join(lines))
    settle()
    return paths


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


def touch_no_text(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let every parse, and every look into a file, fail from now on."""
    for name in names or ("read_queries", "files_digest"):
        monkeypatch.setattr(cache_module, name, lambda *_: pytest.fail("the text was touched"))


def assert_holds(found: tuple[QuerySet, np.ndarray], files: list[Path]) -> None:
    whole, bounds = found
    assert len(bounds) == len(files) + 1 and bounds[0] == 0 and bounds[-1] == whole.n_queries
    for file, start, stop in zip(files, bounds, bounds[1:]):
        part, expected = whole.queries(int(start), int(stop)), read_queries(file)
        for name in NAMES:
            np.testing.assert_array_equal(getattr(part, name), getattr(expected, name))
            assert getattr(part, name).dtype.kind == getattr(expected, name).dtype.kind


def entry_of(tmp_path: Path) -> Path:
    (entry,) = (tmp_path / "cache" / "entries").iterdir()
    return entry


def test_joined_in_order_each_file_parsed_once_then_mapped(cache, files, tmp_path, monkeypatch):
    parsed = []

    def read(path: Path, options: ReadOptions) -> QuerySet:
        parsed.append(path)
        return read_queries(path, options)

    monkeypatch.setattr(cache_module, "read_queries", read)
    order = [*files, *files[:2]]
    assert_holds(cache.queries(order, OPTIONS), order)
    assert parsed == files
    touch_no_text(monkeypatch)
    whole, bounds = cache.queries(order, OPTIONS)
    assert_holds((whole, bounds), order)
    for array in (*(getattr(whole, name) for name in NAMES), bounds):
        assert type(array) is np.ndarray and array.flags.c_contiguous
        while getattr(array, "base", None) is not None:
            array = array.base
        assert isinstance(array, mmap.mmap)
    sizes = [path.stat().st_size for path in (tmp_path / "cache").rglob("*.*")]
    assert cache.size() == sum(sizes) > whole.features.nbytes


def test_narrow_files_are_widened(cache, tmp_path):
    narrow, wide = tmp_path / "a.txt", tmp_path / "b.txt"
    narrow.write_text("0 qid:7 1:1\n")
    wide.write_text("0 qid:WT04-182 3:3 #docid = long-name\n")
    whole, bounds = cache.queries([narrow, wide], OPTIONS)
    np.testing.assert_array_equal(whole.features, [[1, 0, 0], [0, 0, 3]])
    assert whole.docids.tolist() == [b"", b"long-name"]
    assert bounds.tolist() == [0, 1, 2]
    assert whole.qids.tolist() == ["7", "WT04-182"]
    narrow.write_text("0 qid:7 1:NULL 2:1e39\n")
    for null in (5.0, 6.0):  # read in another way, it is another entry
        whole, _ = cache.queries([narrow], ReadOptions(null, 3, clip=True))
        np.testing.assert_array_equal(whole.features, [[null, np.finfo(np.float32).max, 0]])
        with pytest.raises(DataError, match="1: found '1e39' as the value of feature 2"):
            cache.queries([narrow], ReadOptions(null, 3))


def flip(path: Path) -> None:
    """Change a bit, and keep the size and the time."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("damage", [
    lambda entry: os.truncate(entry / "features.npy", 99),
    lambda entry: flip(entry / "features.npy"),
    lambda entry: (entry / "labels.npy").unlink(),
    lambda entry: (entry / "meta.json").write_text("{]"),
    lambda entry: [note.write_text("[]") for note in entry.parents[1].glob("notes/*")],
])  # fmt: skip
def test_damage_is_mended(damage, cache, files, tmp_path, monkeypatch):
    cache.queries(files, OPTIONS)
    settle()
    damage(entry_of(tmp_path))
    assert_holds(cache.queries(files, OPTIONS), files)
    with monkeypatch.context() as patch:
        touch_no_text(patch)
        cache.queries(files, OPTIONS)
    assert not entry_of(tmp_path).name.startswith(".")
    flip(files[1])  # a changed text is read anew
    assert_holds(cache.queries(files, OPTIONS), files)


def test_bad_file_leaves_no_entry(cache, files, tmp_path):
    files[2].write_text("0 qid:1 1:1\n0 qid:1 1:x\n")
    for _ in range(2):
        with pytest.raises(DataError, match="S2.txt:2: found 'x'"):
            cache.queries(files, OPTIONS)
    assert not list((tmp_path / "cache").rglob("*.npy"))
    with pytest.raises(DataError, match="no such file"):
        cache.queries([tmp_path / "absent.txt"], OPTIONS)


def test_file_that_changes_between_hash_and_parse(cache, files, tmp_path, monkeypatch):
    def read(path: Path, options: ReadOptions) -> QuerySet:
        time.sleep(0.02)
        path.write_text("0 qid:1 1:9\n")
        return read_queries(path, options)

    monkeypatch.setattr(cache_module, "read_queries", read)
    with pytest.raises(DataError, match="changed while it was read"):
        cache.queries(files, OPTIONS)
    assert not list((tmp_path / "cache").rglob("*.npy"))


def test_unwritable_cache_is_said_and_a_read_only_one_is_not_used(
    cache, files, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("where the folder should be")
    with pytest.raises(DataError, match="file/entries/[0-9a-f]*: cannot be written: Not a dir"):
        Cache(tmp_path / "file").queries(files, OPTIONS)

    refuse = Mock(side_effect=OSError(errno.EROFS, "not here"))
    monkeypatch.setattr(cache_module, "_write", refuse)
    assert_holds(cache.queries(files, OPTIONS), files)
    refuse.side_effect = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DataError, match="cannot be written: No space left on device"):
        cache.queries(files, OPTIONS)
    assert not list((tmp_path / "cache").rglob("*.npy"))


def test_facts_are_remembered_until_a_file_changes(cache, files, monkeypatch):
    calls = []

    def compute() -> object:
        calls.append(1)
        return {"pair": (1, 2.5), "n": len(calls)}

    first = cache.remember("fact", files, compute)
    assert first == {"pair": [1, 2.5], "n": 1}
    assert cache.remember("fact", files, compute) == first
    assert cache.remember("other", files, compute)["n"] == 2
    assert cache.remember("fact", files[:2], compute)["n"] == 3
    files[0].write_text(files[0].read_text().replace("qid:1", "qid:9"))
    monkeypatch.setattr(cache_module, "TICK_NS", 10**18)  # the file has just changed
    assert [cache.remember("fact", files, compute)["n"] for _ in range(2)] == [4, 5]
    monkeypatch.setattr(cache_module, "TICK_NS", 0)
    assert [cache.remember("fact", files, compute)["n"] for _ in range(2)] == [6, 6]
