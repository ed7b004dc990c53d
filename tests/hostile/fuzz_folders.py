"""Files that letorbench keeps itself: results, cached data; and archives and config files."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import click
import numpy as np
from damage import stored_run
from target import Misread, Target

from letorbench.cli import config
from letorbench.cli.compare import compare
from letorbench.cli.run import run
from letorbench.datasets import mapped
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.cache import Cache
from letorbench.errors import LetorError
from letorbench.results import Store, paths
from letorbench.results.trainings import Training, read_trainings

#: what a cached query set is compared by
ARRAYS = ("features", "labels", "offsets", "qids", "docids")


def one_line(error: LetorError) -> None:
    if not str(error).isprintable():
        raise Misread(f"a message that is not one line: {error}")


class Config(Target):
    """A TOML file for `--config`; the last byte chooses the command."""

    name = "config"
    watched = ("letorbench.cli.config", "letorbench.choices")
    words = (
        b"dataset = ", b"algo", b"folds", b"seed", b"jobs", b"set", b"set.rounds", b"force",
        b"null",
        b"time-limit", b"[set]\n", b"[[algo]]", b"= true", b"= 1979-05-27", b"= [1, 2]",
        b"= {a = 1}",
        b"'''", b"\"\"\"", b"[" * 2000,
    )  # fmt: skip

    def taken(self, data: bytes) -> bool:
        text, choice = data[:-1], data[-1] if data else 0
        path = self.folder / "config.toml"
        path.write_bytes(text)
        command = compare if choice % 3 == 2 else run
        try:
            found = config.defaults(config.read(path), click.Context(command), path)
        except LetorError as error:
            one_line(error)
            return False
        known = {param.name for param in command.params}
        for name, value in found.items():
            values = value if isinstance(value, list) else [value]
            if name not in known or not all(isinstance(each, (str, bool)) for each in values):
                raise Misread(f"{name}: {value!r}")
        return True


class Archive(Target):
    """An archive to import; the last byte chooses its name, and whether bytes are packed first."""

    name = "archive"
    watched = (
        "letorbench.datasets.acquire.members", "letorbench.datasets.acquire.recognise",
        "letorbench.datasets.acquire.archive",
    )  # fmt: skip
    words = (
        b"../", b"/", b"Fold1", b"Fold01", b"Fold0", b"train.txt", b"TRAIN.TXT", b"test.txt",
        b"vali.txt",
        b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"ustar", b"\0" * 512, b"1", b"2", b"5",
        b"L", b"x",
    )  # fmt: skip
    most = 40_000
    short = 100
    endings = ("zip", "tar", "tar.gz")

    def seeds(self) -> list[bytes]:
        line = b"1 qid:1 1:0.5\n0 qid:1 1:0.25\n"
        zipped, tarred = io.BytesIO(), io.BytesIO()
        with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in ("train", "vali", "test"):
                archive.writestr(f"MINE/{part}.txt", line)
        with tarfile.open(fileobj=tarred, mode="w") as archive:
            for part in ("train", "vali", "test"):
                info = tarfile.TarInfo(f"MINE/Fold1/{part}.txt")
                info.size = len(line)
                archive.addfile(info, io.BytesIO(line))
        tar = tarred.getvalue()[:5120]
        return [zipped.getvalue() + b"\0", tar + b"\1", tar + b"\2"]

    def taken(self, data: bytes) -> bool:
        content, choice = data[:-1], data[-1] if data else 0
        ending = self.endings[choice % 3]
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        path = place / f"archive.{ending}"
        path.write_bytes(packed(content) if ending == "tar.gz" else content)
        data_dir = place / "data"
        try:
            names = import_archive(path, data_dir)
        except LetorError as error:
            one_line(error)
            names = ()
        there = [each for each in place.rglob("*") if each != path and each.is_file()]
        if any(data_dir not in each.parents for each in there):
            raise Misread("a file outside the data folder")
        if bool(there) != bool(names):
            raise Misread(f"imported {names}, found {there}")
        return bool(names)


def packed(content: bytes) -> bytes:
    import gzip

    return gzip.compress(content, 1, mtime=0)


class CacheFile(Target):
    """A file of the cache; the last byte chooses which. The data must come out the same."""

    name = "cache"
    watched = ("letorbench.datasets.cache", "letorbench.datasets.mapped")
    words = (
        b"\"signature\"", b"\"signatures\"", b"\"value\"", b"\"crc32\"", b"null", b"../data.txt",
    )  # fmt: skip
    most = 2048
    short = 200

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.data, self.cache = folder / "data.txt", folder / "cache"
        self.data.write_text("1 qid:3 1:0.5 2:1 #docid = a\n0 qid:3 2:4\n2 qid:4 1:7\n")
        self.fill()
        # copies: the arrays are mapped from the very files that are changed
        whole, _ = Cache(self.cache).queries([self.data])
        self.whole = {name: getattr(whole, name).copy() for name in ARRAYS}

    def fill(self) -> None:
        """Make the cache and wait until it notes what it knows."""
        import time

        shutil.rmtree(self.cache, ignore_errors=True)
        time.sleep(0.03)
        for _ in range(2):
            Cache(self.cache).queries([self.data])
        self.files = sorted(p for p in self.cache.rglob("*") if p.is_file())
        self.contents = [path.read_bytes() for path in self.files]

    def seeds(self) -> list[bytes]:
        return [content + bytes([i]) for i, content in enumerate(self.contents)]

    def taken(self, data: bytes) -> bool:
        content, choice = data[:-1], (data[-1] if data else 0) % len(self.files)
        self.files[choice].write_bytes(content)
        before, mapped.TICK_NS = mapped.TICK_NS, 0  # nobody else changes these files
        try:
            found, _ = Cache(self.cache).queries([self.data])
        finally:
            mapped.TICK_NS = before
        for name, expected in self.whole.items():
            ours = getattr(found, name)
            if ours.dtype != expected.dtype or ours.tolist() != expected.tolist():
                raise Misread(f"other {name}")
        if content == self.contents[choice]:
            return True
        for path in self.cache.rglob("*"):
            if path.is_file() and path not in self.files:
                path.unlink()
        for path, whole in zip(self.files, self.contents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(whole)
        return False


class ResultFile(Target):
    """A file of a finished fold; the last byte chooses which. It is whole, or the fold is not."""

    name = "result"
    watched = ("letorbench.checksum", "letorbench.results.store")
    words = (
        b"\"seal\"", b"\"files\"", b"\"test\"", b"\"means\"", b"\"identity\"", b"null", b"ndcg@10",
    )  # fmt: skip
    most = 20_000
    short = 100

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.out = stored_run(folder)
        shutil.rmtree(self.out / "TOY" / "adarank-ndcg")
        fold = paths.fold_folder(self.out, "TOY", "regression", 1)
        for path in self.out.glob("TOY/regression/*"):
            if path.is_dir() and path != fold:
                shutil.rmtree(path)
        self.files = [fold / name for name in (paths.FIT, *paths.CHECKED)]
        self.files = [path for path in self.files if path.is_file()]
        self.contents = [path.read_bytes() for path in self.files]

    def seeds(self) -> list[bytes]:
        return [content + bytes([i]) for i, content in enumerate(self.contents)]

    def taken(self, data: bytes) -> bool:
        content, choice = data[:-1], (data[-1] if data else 0) % len(self.files)
        path = self.files[choice]
        path.write_bytes(content)
        store = Store(self.out).look("TOY", "regression")
        sound, damaged = store.folds, store.damaged
        path.write_bytes(self.contents[choice])
        same = content == self.contents[choice]
        if bool(sound) != same or len(damaged) != (not same):
            raise Misread(f"{path.name}: sound {bool(sound)}, damaged {damaged}")
        return same


class Trials(Target):
    """A trials.npz: read as what it was, or taken for none."""

    name = "trials"
    watched = ("letorbench.results.trainings",)
    most = 20_000

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.source,) = stored_run(folder).glob("TOY/adarank-ndcg/fold1/trials.npz")
        self.whole = self.source.read_bytes()
        self.expected = told(read_trainings(self.source))

    def seeds(self) -> list[bytes]:
        return [self.whole, *super().seeds()]

    def taken(self, data: bytes) -> bool:
        self.source.write_bytes(data)
        found = read_trainings(self.source)
        if found and told(found) != self.expected:
            raise Misread("other trainings")
        return bool(found)


def told(trainings: Mapping[str, Training]) -> dict[str, object]:
    """Return all that stored trainings say, to compare them by."""
    found: dict[str, object] = {}
    for settings, training in trainings.items():
        learned, history = training.learned, training.learned.history
        models = [learned.model]
        if history is not None:
            models += [history.model(count) for count in range(history.rounds + 1)]
        arrays = [np.asarray(getattr(m, f.name)).tolist() for m in models for f in fields(m)]
        found[settings] = (training.settings, learned.best, learned.objective, arrays)
    return found
