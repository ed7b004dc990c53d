"""Model files of LightGBM and XGBoost, and of ours that hold such a file."""

import json

from forged_models import LIGHTGBM, XGBOOST, in_npz, ubj
from fuzz_files import scores
from target import Target


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
        b"Infinity",
        b"1e300",
        b"-100000",
        b"[]",
        b"{}",
        b'"num_class": "3"',
        b"[0, 0]",
        b"1e39",
    )

    def seeds(self) -> list[bytes]:
        return [json.dumps(XGBOOST).encode()]


class XGBoostUBJ(LightGBMText):
    """Its binary JSON, which is refused."""

    def seeds(self) -> list[bytes]:
        return [ubj(XGBOOST), json.dumps(XGBOOST).encode()]


class LibraryInside(LightGBMText):
    """A model.npz with the file of a library inside, which is refused, and such a file itself."""

    def seeds(self) -> list[bytes]:
        content = json.dumps(XGBOOST).encode()
        return [
            in_npz(LIGHTGBM.encode(), "lightgbm-file", self.folder), content,
            in_npz(content, "xgboost-file", self.folder), LIGHTGBM.encode(),
        ]  # fmt: skip
