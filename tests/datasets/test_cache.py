"""The cache never parses twice, and never believes what is damaged or stale."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from letorbench.checksum import checked
from letorbench.datasets import cache as cache_module
from letorbench.datasets import mapped
from letorbench.datasets import signature as signature_module
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
def files(tmp_path: Path, rng: np.random.Generator) -> list[Path]:
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
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch):
    """A function after whose call every parse, and every look into a file, fails."""

    def forbid(hashing: bool = False) -> None:
        def fail(*_arguments):
            raise AssertionError("the text was touched")

        monkeypatch.setattr(cache_module, "read_queries", fail)
        if not hashing:
            monkeypatch.setattr(cache_module, "_hash_file", fail)

    return forbid


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


def test_joined_in_order_and_each_file_parsed_once(
    cache: Cache, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []

    def read(path: Path, options: ReadOptions) -> QuerySet:
        parsed.append(path)
        return read_queries(path, options)

    monkeypatch.setattr(cache_module, "read_queries", read)
    order = [*files, *files[:2]]
    found = cache.queries(order, OPTIONS)
    assert parsed == files
    assert_holds(found, order)


def _owner(array: object) -> object:
    """What holds the memory of a view of views."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def test_arrays_are_mapped_plain(cache: Cache, files: list[Path]) -> None:
    whole, bounds = cache.queries(files, OPTIONS)
    for array in (*(getattr(whole, name) for name in NAMES), bounds):
        assert type(array) is np.ndarray and isinstance(_owner(array), mmap.mmap)
        assert array.flags.c_contiguous
    assert cache.size() > whole.features.nbytes


def test_second_time_the_text_is_not_touched(cache, files, tmp_path, no_reading) -> None:
    expected = cache.queries(files, OPTIONS)[0].features.copy()
    no_reading()
    again = Cache(tmp_path / "cache").queries(files, OPTIONS)[0].features
    np.testing.assert_array_equal(again, expected)


def test_same_content_elsewhere_is_hashed_but_not_parsed(cache, files, no_reading) -> None:
    cache.queries(files, OPTIONS)
    copy = files[0].with_name("copy.txt")
    copy.write_bytes(files[0].read_bytes())
    os.utime(files[1], ns=(1, 1))
    no_reading(hashing=True)
    cache.queries([copy, *files[1:]], OPTIONS)


def test_options_and_order_make_other_entries(cache: Cache, files: list[Path]) -> None:
    assert cache.queries(files, OPTIONS)[0].n_features == 2
    assert cache.queries(files, ReadOptions(n_features=5))[0].n_features == 5
    assert_holds(cache.queries(files[::-1], OPTIONS), files[::-1])


def test_narrow_files_are_widened(cache: Cache, tmp_path: Path) -> None:
    narrow, wide = tmp_path / "a.txt", tmp_path / "b.txt"
    narrow.write_text("0 qid:7 1:1\n")
    wide.write_text("0 qid:WT04-182 3:3 #docid = long-name\n")
    whole, bounds = cache.queries([narrow, wide], OPTIONS)
    np.testing.assert_array_equal(whole.features, [[1, 0, 0], [0, 0, 3]])
    assert whole.docids.tolist() == [b"", b"long-name"]
    assert bounds.tolist() == [0, 1, 2]
    assert whole.qids.tolist() == ["7", "WT04-182"]


def test_changed_byte_with_equal_size_and_time(cache: Cache, files: list[Path]) -> None:
    cache.queries(files, OPTIONS)
    before = files[1].stat()
    text = bytearray(files[1].read_bytes())
    text[0] = ord("2") if text[0] == ord("1") else ord("1")
    files[1].write_bytes(text)
    os.utime(files[1], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files[1].stat().st_size == before.st_size
    assert_holds(cache.queries(files, OPTIONS), files)


def truncate(entry: Path) -> None:
    path = entry / "features.npy"
    os.truncate(path, path.stat().st_size - 4)


def flip(entry: Path) -> None:
    path = entry / "features.npy"
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def garble_meta(entry: Path) -> None:
    (entry / "meta.json").write_text("{]")


def alter_meta(entry: Path) -> None:
    meta = (entry / "meta.json").read_text()
    (entry / "meta.json").write_text(meta.replace("labels", "lapels"))


def lose_meta(entry: Path) -> None:
    (entry / "meta.json").unlink()


def shorten_meta(entry: Path) -> None:
    meta = json.loads((entry / "meta.json").read_text())
    del meta["arrays"]["labels"]
    (entry / "meta.json").write_text(json.dumps(meta))


def lose_docids(entry: Path) -> None:
    """What would be a sound entry of files without document ids."""
    meta = checked((entry / "meta.json").read_bytes())
    del meta["arrays"]["docids"]
    (entry / "meta.json").write_text(json.dumps(meta))


def exchange_entries(entry: Path) -> None:
    other = Cache(entry.parents[1])
    other.queries([entry.parents[2] / "S2.txt"], OPTIONS)
    (second,) = (each for each in entry.parent.iterdir() if each != entry)
    shutil.rmtree(entry)
    second.rename(entry)


def empty_meta(entry: Path) -> None:
    (entry / "meta.json").write_text("[1]")


def lose_array(entry: Path) -> None:
    (entry / "labels.npy").unlink()


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        flip,
        garble_meta,
        alter_meta,
        shorten_meta,
        lose_meta,
        empty_meta,
        lose_array,
        lose_docids,
        exchange_entries,
    ],
)
def test_damage_is_mended(damage, cache, files, tmp_path, no_reading) -> None:
    cache.queries(files, OPTIONS)
    settle()
    damage(entry_of(tmp_path))
    assert_holds(cache.queries(files, OPTIONS), files)
    no_reading()
    cache.queries(files, OPTIONS)
    assert not entry_of(tmp_path).name.startswith(".")


def test_entry_that_was_copied_is_checked_and_used_once(
    cache, files, tmp_path, no_reading, monkeypatch
) -> None:
    expected = cache.queries(files, OPTIONS)[0].features.copy()
    for path in entry_of(tmp_path).glob("*.npy"):
        os.utime(path, ns=(5, 5))
    no_reading()
    settle()
    np.testing.assert_array_equal(cache.queries(files, OPTIONS)[0].features, expected)
    monkeypatch.setattr(mapped, "_checksum", lambda path: pytest.fail("was read again"))
    cache.queries(files, OPTIONS)


def test_entry_that_is_as_it_was_written_is_not_read_to_be_checked(
    cache, files, monkeypatch
) -> None:
    cache.queries(files, OPTIONS)
    monkeypatch.setattr(mapped, "_checksum", lambda path: pytest.fail("was read"))
    cache.queries(files, OPTIONS)


def test_nothing_is_noted_of_a_file_that_has_just_changed(cache, files, monkeypatch) -> None:
    calls = []
    monkeypatch.setattr(signature_module, "TICK_NS", 10**18)
    for _ in range(2):
        cache.remember("fact", files[:1], lambda: calls.append(1))
    assert len(calls) == 2
    monkeypatch.setattr(signature_module, "TICK_NS", 0)
    for _ in range(2):
        cache.remember("fact", files[:1], lambda: calls.append(1))
    assert len(calls) == 3


def test_garbage_notes_are_ignored(cache: Cache, files: list[Path], tmp_path: Path) -> None:
    cache.queries(files, OPTIONS)
    for note in (tmp_path / "cache" / "notes").iterdir():
        note.write_text("[]")
    assert_holds(cache.queries(files, OPTIONS), files)


@pytest.mark.parametrize("kind", ["edited", "exchanged"])
def test_notes_that_are_well_formed_and_wrong_are_ignored(
    cache: Cache, files: list[Path], tmp_path: Path, kind: str
) -> None:
    facts = {key: cache.remember(key, files[:1], lambda key=key: {"is": key}) for key in "ab"}
    one, other = sorted((tmp_path / "cache" / "notes").iterdir())
    if kind == "exchanged":
        text = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(text)
    else:
        for note in (one, other):
            note.write_text(note.read_text().replace('"is": "', '"is": "another '))
    for key in "ab":
        assert cache.remember(key, files[:1], lambda key=key: {"is": key}) == facts[key]


def test_one_wide_file_that_needs_more_than_the_memory(
    cache: Cache, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sysconf", lambda name: 38)
    files[1].write_text("0 qid:1 9:1\n")
    with pytest.raises(DataError, match="S1.txt: found feature index 9, which needs 1,476 bytes"):
        cache.queries(files, OPTIONS)


def test_other_version_is_not_used(cache, files, monkeypatch) -> None:
    cache.queries(files, OPTIONS)
    monkeypatch.setattr(cache_module, "VERSION", "other")
    monkeypatch.setattr(cache_module, "read_queries", lambda *_: (_ for _ in ()).throw(KeyError))
    with pytest.raises(KeyError):
        cache.queries(files, OPTIONS)


def test_bad_file_leaves_no_entry(cache: Cache, files: list[Path], tmp_path: Path) -> None:
    files[2].write_text("0 qid:1 1:1\n0 qid:1 1:x\n")
    for _ in range(2):
        with pytest.raises(DataError, match="S2.txt:2: found 'x'"):
            cache.queries(files, OPTIONS)
    assert not list((tmp_path / "cache").rglob("*.npy"))
    files[2].write_text("0 qid:1 1:1\n0 qid:1 1:2\n")
    assert cache.queries(files[2:], OPTIONS)[0].n_docs == 2
    with pytest.raises(DataError, match="no such file"):
        cache.queries([tmp_path / "absent.txt"], OPTIONS)


def test_file_that_changes_between_hash_and_parse(cache, files, tmp_path, monkeypatch) -> None:
    def read(path: Path, options: ReadOptions) -> QuerySet:
        time.sleep(0.02)
        path.write_text("0 qid:1 1:9\n")
        return read_queries(path, options)

    monkeypatch.setattr(cache_module, "read_queries", read)
    with pytest.raises(DataError, match="changed while it was read"):
        cache.queries(files, OPTIONS)
    assert not list((tmp_path / "cache").rglob("*.npy"))


def test_unwritable_cache_is_said(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match="cache/entries/[0-9a-f]*: cannot be written: Not a dir"):
        Cache(tmp_path / "cache").queries(files, OPTIONS)


def test_where_data_may_only_be_read_the_text_is_read_anew(
    cache: Cache, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(place: Path, arrays: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(place))

    monkeypatch.setattr(mapped, "store", refuse)
    for _ in range(2):
        assert_holds(cache.queries(files, OPTIONS), files)
    assert not list((tmp_path / "cache").rglob("*.npy"))


def test_facts_are_remembered_until_a_file_changes(cache: Cache, files: list[Path]) -> None:
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
    settle()
    assert cache.remember("fact", files, compute)["n"] == 4
    assert cache.remember("fact", files, compute)["n"] == 4


PROCESS = """
import sys
from pathlib import Path
from letorbench.datasets.cache import Cache
from letorbench.datasets.reader import ReadOptions
print("ready", flush=True)
sys.stdin.readline()
whole, bounds = Cache(Path(sys.argv[1])).queries([Path(p) for p in sys.argv[2:]], ReadOptions())
print(whole.features.sum(dtype=float), bounds.tolist())
"""


def start(folder: Path, files: list[Path]) -> subprocess.Popen:
    command = [sys.executable, "-c", PROCESS, str(folder), *map(str, files)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_at_once(cache: Cache, files: list[Path], tmp_path: Path) -> None:
    processes = [start(tmp_path / "cache", files) for _ in range(3)]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = {process.communicate(timeout=60)[0] for process in processes}
    assert all(process.returncode == 0 for process in processes) and len(answers) == 1
    assert_holds(cache.queries(files, OPTIONS), files)
    assert len(list((tmp_path / "cache" / "entries").iterdir())) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills at once")
def test_killed_in_the_middle(cache: Cache, files: list[Path], tmp_path: Path) -> None:
    process = start(tmp_path / "cache", files)
    process.stdin.write("\n")
    process.stdin.flush()
    entries = tmp_path / "cache" / "entries"
    while process.poll() is None and not list(entries.glob(".new-*")):
        pass
    process.kill()
    process.wait()
    assert_holds(cache.queries(files, OPTIONS), files)
    assert not list(entries.glob(".*"))


def test_meta_is_plain_json(cache: Cache, files: list[Path], tmp_path: Path) -> None:
    cache.queries(files, OPTIONS)
    meta = json.loads((entry_of(tmp_path) / "meta.json").read_text())
    assert set(meta["arrays"]) == {*NAMES, "bounds"}
