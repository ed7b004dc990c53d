"""Results folders of strangers: links at every name, pipes and devices, facts of any shape."""

import copy
import json
import os
import re
import shutil
import signal
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import call, places, refused
from toy_data import store_fold, stored_run

from letorbench import files
from letorbench.files import with_checksum
from letorbench.results.dataset_results import write_tables
from letorbench.results.paths import CHECKED, FIT, QUERIES
from letorbench.results.store import Store, read_folds

#: the commands that show results; each ends with 0
SHOW = (
    "table --measure map", "plot", "plot --validation --format png",
    "compare --measure map --baseline b",
    "report --measure map --out-file {}/page.html",
)  # fmt: skip
VALIDATED = {
    "measure": "map", "value": 0.5, "training": 0.75, "curve": [0.25, 0.5], "best": 2,
    "grid": [{"settings": {"c": 1.0}, "value": 0.5, "curve": [0.5]}] * 2,
}  # fmt: skip
#: what a line says of a fold that is not read: damage, or a number of a later format
LEFT_OUT = re.compile(": damaged: |is too old to read it")
IDENTITY = {
    "settings": {"c": 1.0}, "fixed": ["c"], "grid": {"c": [0.1, 1.0]}, "code": "0", "seed": 0,
    "module": "letorbench.rankers.listnet", "letorbench": "0.1", "features": "raw", "data": "d",
    "protocol": "default", "select": "map", "convention": "letor3", "null": "error",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    signal.alarm(300)
    yield
    signal.alarm(0)


def stored(folder: Path) -> Path:
    """Store two algorithms of two folds that validation chose, and the tables; return the place."""
    out = folder / "results"
    for algo in ("a", "b"):
        for number in (1, 2):
            values = {"map": [0.5, number / 8, 0.25], "ndcg@1": [1.0, 0.0, 0.5]}
            facts = {"validation": VALIDATED, "seconds": 1.0, **IDENTITY}
            store_fold(out, "S", algo, number, values, n_folds=2, validation_scores=[1.0], **facts)
    store = Store(out, "S").look()
    write_tables(store, store.rows())
    return out


def snapshot(folder: Path) -> dict[str, tuple]:
    """What is in a folder, with what would show that it was written to."""
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        found[str(path)] = (facts.st_mode, facts.st_ino, facts.st_mtime_ns, facts.st_size)
    return found


def shown(out: Path, show: Sequence[str] = SHOW) -> list:
    """Call commands that show results: by default all, `verify` and `leaderboard` too."""
    of = ["--out", str(out), "--data-dir", str(out.parent / "data")]
    done = [call(*each.format(out.parent).split(), *of) for each in show]
    other = ("verify {0}", "leaderboard {0} --out-file {1}/board.html") if show is SHOW else ()
    done += [call(*each.format(out, out.parent).split(), *of[2:]) for each in other]
    for each in done:
        assert isinstance(each.exception, SystemExit | None), each.exception
    return done


def test_nothing_is_written_through_links(tmp_path):
    """Links at every temporary name, then at every name that is read, then at every lock."""
    out, canary = stored(tmp_path), tmp_path / "canary"
    canary.mkdir()
    names = ("ndcg", "validation", "summary", "report")
    figures = [out / "S" / f"{name}.{end}" for name in names for end in ("png", "svg", "pdf")]
    there = [path for path in out.rglob("*") if path.is_file()]
    folders = [out, *(path for path in out.rglob("*") if path.is_dir())]

    def link(path: Path, content: bytes = b"mine") -> None:
        target = canary / str(len(list(canary.iterdir())))
        target.write_bytes(content)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    for path in there + figures:
        link(path.with_name(f".{path.name}.part"))
    for path in there:
        link(path, path.read_bytes())
    for path in figures:
        link(path)
    before = snapshot(canary)
    assert [each.exit_code for each in shown(out)][:5] == [0] * 5
    assert snapshot(canary) == before
    drawn = [out / "S" / f"ndcg.{end}" for end in ("png", "svg", "pdf")]
    assert all(stat.S_ISREG(path.lstat().st_mode) for path in drawn)
    for path in there + figures:
        link(path.with_name(f".{path.name}.lock"))
    for folder in folders:
        link(folder / ".lock")
    before = snapshot(canary)
    assert [each.exit_code for each in shown(out)][:5] == [0, 1, 1, 0, 0]
    of_lock = refused(1, "plot", "--out", str(out))
    assert ".ndcg.png.lock: cannot be written: Too many levels of symbolic links" in of_lock
    assert snapshot(canary) == before


@pytest.mark.parametrize("inside", ["TOY", "TOY/regression", "TOY/regression/fold2"])
def test_what_is_behind_links_is_read_and_not_written_to(tmp_path, inside):
    out = stored_run(tmp_path, "regression")
    canary = tmp_path / "canary"
    shutil.move(out / inside, canary)
    (out / inside).symlink_to(canary)
    (out / "TOY" / "summary.csv").write_text("stale")
    before, own = snapshot(canary), places(tmp_path)
    assert "regression" in call("table", *own).stdout
    assert call("plot", *own).exit_code == int(inside == "TOY")
    for force in ([], ["--force"]):
        line = refused(1, "run", "--dataset", "TOY", "--algo", "regression", *own, *force)
        assert "is a link" in line and str(out / inside) in line
    line = call("export", "TOY", "--as", "trec", *own)
    assert (line.exit_code == 0) == (inside != "TOY")
    assert snapshot(canary) == before
    linked = tmp_path / "linked"  # the user's own
    linked.symlink_to(out)
    (out / inside).unlink()
    shutil.move(canary, out / inside)
    words = ["run", "--dataset", "TOY", "--algo", "regression", *own[:2], "--out", str(linked)]
    assert call(*words).exit_code == 0 and "regression" in (out / "TOY/summary.csv").read_text()


def kinds() -> dict[str, Callable[[Path], None]]:
    def large(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(files.LARGEST + 1)

    made = {"pipe": os.mkfifo, "large": large, "folder": Path.mkdir,
            "endless": lambda path: path.symlink_to("/dev/zero"),
            "loop": lambda path: path.symlink_to(path.name),
            "dangling": lambda path: path.symlink_to("gone")}  # fmt: skip
    if os.getuid() == 0:
        made["device"] = lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    return made


@pytest.mark.parametrize("kind", kinds())
def test_what_is_no_regular_file_of_sane_size_is_one_damaged_fold(tmp_path, kind):
    out = stored(tmp_path)
    for name in (FIT, *CHECKED):
        path = out / "S" / "a" / "fold1" / name
        content = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        kinds()[kind](path)
        store = Store(out, "S").look()
        [line] = store.damaged.values()
        assert line.startswith(f"{path}: damaged: ") and len(store.folds) == 3
        if name == QUERIES:
            done = shown(out)[:5] if kind == "pipe" else shown(out, SHOW[:1])
            assert all(line in each.stderr for each in done)
        path.rmdir() if kind == "folder" else path.unlink()
        if content is not None:
            path.write_bytes(content)
    if kind in ("loop", "dangling"):  # the whole fold is such a link
        fold = out / "S" / "a" / "fold1"
        shutil.move(fold, tmp_path / "kept")
        kinds()[kind](fold)
        [line] = Store(out, "S").look().damaged.values()
        assert line.startswith(f"{fold}/") and ": damaged: " in line
        fold.unlink()
        shutil.move(tmp_path / "kept", fold)
    for path in (out / "S" / "summary.csv", out / "S" / "a" / "folds.csv"):
        path.unlink()
        kinds()[kind](path)
        assert str(path) in call("verify", str(out)).stdout


def test_a_file_of_just_the_largest_size_is_read(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    monkeypatch.setattr(files, "LARGEST", 5)
    assert files.read_file(path) == b"12345"
    path.write_bytes(b"123456")
    with pytest.raises(OSError, match="Larger than 5 bytes"):
        files.read_file(path)


#: what may stand where another fact is expected
ODD: tuple[object, ...] = (
    None, True, -1, 10**400, 1e308, float("nan"), float("inf"), "", "x", "=1+1", "\ud800", [], {},
    [[]], [None], {"x": {}}, [1, "x"], "1" * 5000, json.loads("[" * 400 + "]" * 400),
)  # fmt: skip


def subtrees(facts: object, *at: object) -> Iterator[tuple]:
    """Where each subtree and leaf of facts is."""
    if at:
        yield at
    keys = facts if isinstance(facts, dict) else range(len(facts[:2])) if at and isinstance(
        facts, list) else ()  # fmt: skip
    for key in keys:
        yield from subtrees(facts[key], *at, key)


@pytest.mark.parametrize("shift", [0])
def test_odd_facts_are_damaged_folds_or_harmless(tmp_path, shift):
    """Each leaf and subtree of fit.json is exchanged, or gone, with the right check sum.

    Each shift up to len(ODD) is another choice of what stands where.
    """
    out = stored(tmp_path)
    whole = json.loads((out / "S" / "a" / "fold1" / FIT).read_text())
    del whole["seal"]
    whole["files"] |= {"/dev/zero": "0", "../fold2/scores.txt": "0"}  # which nobody opens
    for number, at in enumerate(subtrees(whole)):
        facts = copy.deepcopy(whole)
        place = facts
        for key in at[:-1]:
            place = place[key]
        chosen = (number + shift) % (len(ODD) + 1)
        if chosen < len(ODD):
            place[at[-1]] = ODD[chosen]
        else:
            del place[at[-1]]
        folder = out / "S" / f"x{number}" / "fold1"
        shutil.copytree(out / "S" / "a" / "fold1", folder)
        (folder / FIT).write_text(with_checksum(facts))
    store = Store(out, "S").look()
    assert len(store.damaged) + len(store.folds) == number + 1 + 4
    assert len(store.damaged) > number / 2 and len(store.folds) > 10
    assert all("/x" in line and LEFT_OUT.search(line) for line in store.damaged.values())
    for done in shown(out, [each for each in SHOW if each.startswith(("table", "report"))]):
        assert done.exit_code == 0, done.output
        assert len(LEFT_OUT.findall(done.stderr)) >= len(store.damaged)


def test_code_that_is_not_there_is_other_code(tmp_path):
    """No file is looked for by the text of a module."""
    modules = ("letorbench.rankers.renamed", "letorbench./etc/hostname", "letorbench.files",
               "letorbench", "letorbench..", "letorbench.rankers.listnet:ListNet")  # fmt: skip
    for module in modules:
        store_fold(tmp_path, "S", "a", 1, {"map": 0.5}, **{**IDENTITY, "module": module})
        done = call("table", "--measure", "map", "--out", str(tmp_path))
        assert done.exit_code == 0 and "other code" in done.stdout, done.output


def test_a_query_that_a_spreadsheet_would_compute_reads_back(tmp_path):
    odd = ["=1+1", "'=1", "''@x", "-2.5", "+a", "plain", "a'=b", " '=x"]
    folder = store_fold(tmp_path, "S", "a", 1, {"map": [0.5] * len(odd)}, qids=odd)
    assert read_folds(tmp_path, "S", "a")[0].queries.qids.tolist() == odd
    cells = [line.split(",")[0] for line in (folder / QUERIES).read_text().splitlines()[1:]]
    assert cells[0] == "'=1+1" and not any(cell.lstrip()[0] in "=+@" for cell in cells)


def test_a_fold_number_of_many_digits_is_no_fold(tmp_path):
    store_fold(tmp_path, "S", "a", 1, {"map": 0.5})
    for digits in (10, 200):
        name = "fold" + "1" * digits
        shutil.copytree(tmp_path / "S/a/fold1", tmp_path / "S/a" / name)
    assert len(Store(tmp_path, "S").look().folds) == 1 and not Store(tmp_path, "S").look().damaged
