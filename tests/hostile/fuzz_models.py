"""Saved models: damaged ones, forged ones whose check sum is right, and the libraries' trees."""

from __future__ import annotations

import io
import warnings
import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np
from sample_models import SAMPLES
from target import Misread, Target

from letorbench.errors import LetorError
from letorbench.models.base import model_class, save, with_checksum
from letorbench.rankers import load_model, ranker

#: a kind of model -> a ranker that leaves it
RANKERS = {
    "linear": "ranksvm", "net": "ranknet", "stumps": "rankboost", "quadratic": "recipe",
    "separate": "recipe", "lightgbm": "lightgbm", "xgboost": "xgboost",
}  # fmt: skip
#: a forged model may claim more features, which no document of ours has
MOST_FEATURES = 1000


def available() -> list[str]:
    return [kind for kind, name in RANKERS.items() if ranker(name).available()]


class ModelFile(Target):
    """The bytes of a model.npz: whole, or refused."""

    name = "model"
    watched = ("letorbench.models.base", "zipfile")
    most = 8192

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.path = folder / "model.npz"
        self.whole = [self.saved(kind) for kind in ("linear", "net", "stumps", "separate")]

    def saved(self, kind: str) -> bytes:
        model, name = SAMPLES[kind](), RANKERS[kind]
        facts = {
            "ranker": name, "settings": ranker(name)().get_params(), "features": 5,
            "transformation": {"name": "raw"},
        }  # fmt: skip
        save(model, self.path, facts)
        return self.path.read_bytes()

    def seeds(self) -> list[bytes]:
        return self.whole

    def taken(self, data: bytes) -> bool:
        self.path.write_bytes(data)
        good = scores(self.path)
        if good != (data in self.whole):
            raise Misread("a damaged model was taken, or a whole one was refused")
        return good


def scores(path: Path) -> bool:
    """Whether the file is taken for a model, which must then score documents."""
    try:
        fitted = load_model(path)
        if fitted.n_features_in_ <= MOST_FEATURES:
            X = np.resize(np.linspace(-1, 1, 7, dtype=np.float32), (9, fitted.n_features_in_))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = fitted.predict(X, qid=[1] * 9)
            if found.shape != (9,):
                raise Misread(f"scores of shape {found.shape}")
    except LetorError as error:
        if not str(error).isprintable():
            raise Misread(f"a message that is not one line: {error}") from None
        return False
    return True


class ForgedModel(ModelFile):
    """What is inside: a line of JSON, then a line for each array: name, header, hex digits."""

    name = "forged-model"
    watched = ("letorbench.models.base", "letorbench.rankers.saved")
    words = (
        b"'<f8'", b"'<i8'", b"'|b1'", b"'|O'", b"'<U0'", b"(5,)", b"(4,)", b"()", b"(-1,)",
        b"(2**40,)",
        b"True", b"\"kind\"", b"\"net\"", b"\"stumps\"", b"\"raw\"", b"\"zscore\"", b"null",
        b"ffffffff",
        b"000000000000f07f", b"000000000000f8ff",
    )  # fmt: skip

    def seeds(self) -> list[bytes]:
        return [self.described(data) for data in self.whole]

    def described(self, data: bytes) -> bytes:
        lines = []
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
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
            text = np.array(header.decode(errors="replace"))
            inside = io.BytesIO()
            np.lib.format.write_array(inside, text, allow_pickle=False)
            archive.writestr("header.npy", inside.getvalue())
            for line in lines:
                name, about, digits = (line.split(b"\t") + [b"", b""])[:3]
                hexadecimal = bytes(c for c in digits if c in b"0123456789abcdef")
                values = bytes.fromhex(hexadecimal[: len(hexadecimal) // 2 * 2].decode())
                start = b"\x93NUMPY\x01\x00" + len(about).to_bytes(2, "little") + about
                # zipfile ends a name where a zero is, and cannot write an empty one
                text = name.decode("ascii", "replace").partition("\0")[0]
                archive.writestr(text or "x", start + values)
        self.path.write_bytes(with_checksum(made.getvalue()))
        return scores(self.path)


class Trees(Target):
    """The model texts of LightGBM and XGBoost, which the libraries read without a check."""

    name = "trees"
    watched = ("letorbench.models.trees",)
    words = (b"num_leaves=", b"-1", b"left_child=", b'"split_indices"', b"tree_sizes=", b"Tree=0")
    most = 16_000

    def seeds(self) -> list[bytes]:
        """Return the texts, the kind in a line before."""
        kinds = [kind for kind in ("lightgbm", "xgboost") if kind in available()]
        return [kind.encode() + b"\n" + SAMPLES[kind]().model.tobytes() for kind in kinds]

    def taken(self, data: bytes) -> bool:
        kind, _, text = data.partition(b"\n")
        name = kind.decode(errors="replace")
        if name not in ("lightgbm", "xgboost"):
            return False
        (only,) = (each.name for each in fields(model_class(name)))
        try:
            model = model_class(name)(**{only: np.frombuffer(text, np.uint8)})
            if model.n_features > MOST_FEATURES:
                return False
            found = model.predict(np.linspace(-1, 1, 9 * model.n_features).reshape(9, -1))
        except LetorError:
            return False
        if found.shape != (9,):
            raise Misread(f"scores of shape {found.shape}")
        return True
