"""Downloading and verifying, against files served from this machine."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from letorbench.datasets import layout, synthetic
from letorbench.datasets.acquire import fetch as fetching
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.catalog import CATALOG, FileHash, Source, names
from letorbench.errors import DataError


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MQ2008.zip with a small synthetic content."""
    folder = tmp_path_factory.mktemp("served")
    made = synthetic.make("MQ2008", folder, scale=0.02)
    path = folder / "MQ2008.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(made.rglob("*.txt")):
            out.write(file, Path("MQ2008") / file.relative_to(made))
    return path


def source(path: Path, **changes: object) -> Source:
    data = path.read_bytes()
    facts = {
        "file": path.name,
        "url": path.as_uri(),
        "bytes": len(data),
        "hash": FileHash("sha256", hashlib.sha256(data).hexdigest()),
    }
    return Source(**(facts | changes))


def left(data: Path) -> list[str]:
    return sorted(path.name for path in data.iterdir())


def test_fetches_checks_and_imports(archive: Path, tmp_path: Path) -> None:
    assert fetching.fetch("mq2008", tmp_path, [source(archive)]) == ("MQ2008",)
    assert left(tmp_path) == ["MQ2008"]
    assert layout.present("MQ2008", tmp_path)
    assert fetching.fetch("MQ2008", tmp_path, []) == ("MQ2008",), "is there: no net needed"


def test_unpublished_sizes_are_not_asked(archive: Path, tmp_path: Path) -> None:
    plain = source(archive, bytes=None, hash=None)
    assert fetching.fetch("MQ2008", tmp_path, [plain]) == ("MQ2008",)


def test_next_address_when_one_fails(archive: Path, tmp_path: Path) -> None:
    gone = source(archive, url=(archive.parent / "gone.zip").as_uri())
    assert fetching.fetch("MQ2008", tmp_path, [gone, source(archive)]) == ("MQ2008",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hash": FileHash("sha256", "0" * 64)}, "found sha256 [0-9a-f]{64}, expected sha256 0000"),
        ({"bytes": 10}, "more bytes, expected 10"),
        ({"bytes": 10**9}, r"[0-9,]+ bytes, expected 1,000,000,000"),
        ({"url": "file:///nowhere/MQ2008.zip"}, "file:///nowhere/MQ2008.zip: "),
    ],
)
def test_what_is_wrong_is_not_imported(
    archive: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message) as error:
        fetching.fetch("MQ2008", tmp_path, [source(archive, **changes)])
    assert "datasets import PATH" in str(error.value) and "https://" in str(error.value)
    assert "\n" not in str(error.value)
    assert left(tmp_path) == []


def test_a_page_in_place_of_the_archive(tmp_path: Path) -> None:
    page = tmp_path / "MQ2008.zip"
    page.write_text("<html>sign in</html>")
    plain = source(page, bytes=None, hash=None)
    with pytest.raises(DataError, match="no archive"):
        fetching.fetch("MQ2008", tmp_path / "data", [plain])
    assert left(tmp_path / "data") == []


def test_rar_is_kept_and_explained(tmp_path: Path) -> None:
    rar = tmp_path / "Gov.rar"
    rar.write_bytes(b"Rar!")
    with pytest.raises(DataError, match="unrar x Gov.rar.*datasets import"):
        fetching.fetch("TD2003", tmp_path / "data", [source(rar)])
    assert left(tmp_path / "data") == ["Gov.rar"]


def test_by_request_and_generated(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="on request only; get it from https://.*YAHOO-SET1-twin"):
        fetching.fetch("YAHOO-SET1", tmp_path)
    with pytest.raises(DataError, match="datasets make TD2003-twin"):
        fetching.fetch("TD2003-twin", tmp_path)


def test_verify_twin_at_full_size(tmp_path: Path) -> None:
    synthetic.make("MQ2008", tmp_path)
    found = fetching.verify("MQ2008-twin", tmp_path)
    assert found.ok and {check.status for check in found.files} == {"unknown"}
    assert {check.fact: check.status for check in found.facts} == dict.fromkeys(
        ["queries", "documents", "features", "label 0", "label 1", "label 2"], "ok"
    )


def test_verify_sees_what_differs(archive: Path, tmp_path: Path) -> None:
    import_archive(archive, tmp_path)
    found = fetching.verify("MQ2008", tmp_path)
    facts = {check.fact: (check.status, check.published, check.loaded) for check in found.facts}
    assert not found.ok
    assert facts["queries"] == ("differs", 784, 16)
    assert facts["features"] == ("ok", 46, 46)


def test_verify_compares_published_hashes(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_archive(archive, tmp_path)
    right = hashlib.sha256((tmp_path / "MQ2008/Fold1/train.txt").read_bytes()).hexdigest()
    rows = {
        "fold1/TRAIN.txt": FileHash("sha256", right),
        "Fold1/vali.txt": FileHash("sha256", "0" * 64),
    }
    changed = replace(CATALOG["MQ2008"], hashes=rows)
    monkeypatch.setattr(names, "CATALOG", {"MQ2008": changed})
    found = fetching.verify("MQ2008", tmp_path)
    status = {check.path: check.status for check in found.files}
    assert len(status) == 15
    assert status.pop("Fold1/train.txt") == "ok"
    assert status.pop("Fold1/vali.txt") == "differs"
    assert set(status.values()) == {"unknown"}


@pytest.mark.parametrize("name", ["OHSUMED", "OHSUMED/Feature-min", "MQ2008"])
def test_the_real_ones_have_the_published_sizes(shared: Path, tmp_path: Path, name: str) -> None:
    import_archive(shared / "archives" / f"{name.split('/')[0]}.zip", tmp_path)
    found = fetching.verify(name, tmp_path)
    assert found.ok
    assert {check.status for check in found.facts} == {"ok"}
