"""Saved models, those of LightGBM and XGBoost, and archives."""

import gzip
import io
import json
import shutil
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from forged_models import LIGHTGBM, XGBOOST
from fuzz import Misread, Target, one_line
from sample_models import SAMPLES

from letorbench.datasets.archive import import_archive
from letorbench.errors import LetorError
from letorbench.models.base import save
from letorbench.rankers import load_model, ranker

#: a forged model may claim more features, which no document of ours has
MOST_FEATURES = 1000


def scores(path: Path) -> bool:
    """Whether the file is taken for a model, which must then score documents."""
    try:
        fitted = load_model(path)
        if fitted.n_features_in_ <= MOST_FEATURES:
            X = np.resize(np.linspace(-1, 1, 7, dtype=np.float32), (9, fitted.n_features_in_))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shape = fitted.predict(X, qid=[1] * 9).shape
            if shape != (9,):
                raise Misread(f"scores of shape {shape}")
    except LetorError as error:
        one_line(error)
        return False
    return True


class Model(Target):
    """What is in a model.npz: a line of JSON, then one for each array: name, header, hex digits."""

    most = 8192
    short = 300
    words = (
        b"'<f8'", b"'<i8'", b"'|b1'", b"'|O'", b"'<U0'", b"(5,)", b"(4,)", b"()", b"(-1,)",
        b"(2**40,)", b"True", b"\"kind\"", b"\"net\"", b"\"stumps\"", b"\"raw\"", b"\"zscore\"",
        b"null", b"ffffffff", b"000000000000f07f", b"000000000000f8ff",
    )  # fmt: skip

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "model.npz"

    def seeds(self) -> list[bytes]:
        settings = ranker("recipe")().get_params()
        facts = {"ranker": "recipe", "settings": settings, "features": 5}
        facts["transformation"] = {"name": "raw"}
        texts = []
        for made in SAMPLES.values():
            save(made(), self.path, facts)
            texts.append(self.described())
        return texts

    def described(self) -> bytes:
        lines = []
        with zipfile.ZipFile(self.path) as archive:
            for member in archive.namelist():
                array = np.lib.format.read_array(io.BytesIO(archive.read(member)))
                if member == "header.npy":
                    lines.insert(0, str(array))
                    continue
                about = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
                lines.append(f"{member}\t{about}\t{array.tobytes().hex()}")
        return "\n".join(lines).encode()

    def taken(self, data: bytes) -> bool:
        header, *lines = data.split(b"\n")
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # equal names
            inside = io.BytesIO()
            text = np.array(header.decode(errors="replace"))
            np.lib.format.write_array(inside, text, allow_pickle=False)
            archive.writestr("header.npy", inside.getvalue())
            for line in lines:
                name, about, digits = (line.split(b"\t") + [b"", b""])[:3]
                hexadecimal = bytes(c for c in digits if c in b"0123456789abcdef")
                values = bytes.fromhex(hexadecimal[: len(hexadecimal) // 2 * 2].decode())
                start = b"\x93NUMPY\x01\x00" + len(about).to_bytes(2, "little") + about
                # zipfile ends a name where a zero is, and cannot write an empty one
                member = name.decode("ascii", "replace").partition("\0")[0]
                archive.writestr(member or "x", start + values)
        self.path.write_bytes(made.getvalue())
        return scores(self.path)


class Archive(Target):
    """An archive to import; the last byte chooses its name, and whether bytes are packed first."""

    words = (
        b"../", b"/", b"Fold1", b"Fold01", b"Fold0", b"train.txt", b"TRAIN.TXT", b"test.txt",
        b"vali.txt", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"ustar", b"\0" * 512, b"1",
        b"2", b"5", b"L", b"x",
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
        path.write_bytes(gzip.compress(content, 1, mtime=0) if ending == "tar.gz" else content)
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


class LightGBMText(Target):
    """The text that LightGBM's `save_model` writes."""

    words = (b"inf", b"1e300", b"-100000", b"num_leaves=", b"Tree=2\n", b"-2 -3 0", b"37 37")

    def seeds(self) -> list[bytes]:
        return [LIGHTGBM.encode()]

    def taken(self, data: bytes) -> bool:
        path = self.folder / "model"
        path.write_bytes(data)
        return scores(path)


class XGBoostJSON(LightGBMText):
    """The JSON that XGBoost's `save_model` writes."""

    words = (
        b"Infinity", b"1e300", b"-100000", b"[]", b"{}", b'"num_class": "3"', b"[0, 0]", b"1e39",
    )  # fmt: skip

    def seeds(self) -> list[bytes]:
        return [json.dumps(XGBOOST).encode()]
