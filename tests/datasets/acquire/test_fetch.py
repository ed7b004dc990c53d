"""Downloading and verifying, against files served from this machine."""

from __future__ import annotations

import hashlib
import io
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import hostile_server as served
import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets import layout, synthetic
from letorbench.datasets.acquire import download, examine, web
from letorbench.datasets.acquire import fetch as fetching
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.verify import FactCheck, verify
from letorbench.datasets.catalog import CATALOG, FileHash, Source, describe, git_blobs, names
from letorbench.datasets.catalog.git_blobs import git_blob, known_blobs
from letorbench.datasets.load import load
from letorbench.datasets.text.text_writer import TextFormat, write_text
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


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(download, "STALL", 1.0)


def published(url: str, data: bytes, **changes: object) -> Source:
    facts = {
        "file": "MQ2008.zip",
        "url": url,
        "bytes": len(data),
        "hash": FileHash("sha256", hashlib.sha256(data).hexdigest()),
    }
    return Source(**(facts | changes))


def unknown(url: str, **changes: object) -> Source:
    """An address of which neither size nor hash is published."""
    return Source(**({"url": url, "file": "MQ2008.zip"} | changes))


def left(data: Path) -> list[str]:
    return sorted(path.name for path in data.iterdir())


def fetched(data_dir: Path, *sources: Source, seconds: float = 20.0) -> tuple[str, ...]:
    return fetching.fetch("MQ2008", data_dir, sources, seconds)


def test_fetches_checks_and_imports(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    with served.server(data, whole=served.whole) as (address, asked):
        at = f"{address}/whole"
        assert fetching.fetch("mq2008", tmp_path, [published(at, data)]) == ("MQ2008",)
        assert left(tmp_path) == ["MQ2008"] and layout.present("MQ2008", tmp_path)
        assert fetching.fetch("MQ2008", tmp_path, []) == ("MQ2008",), "is there: no net needed"
        assert fetched(tmp_path / "plain", unknown(at)) == ("MQ2008",)
        assert asked == [None, None]


def test_next_address_when_one_fails(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    with served.server(data, whole=served.whole, gone=served.status(404)) as (address, asked):
        sources = [published(f"{address}/{name}", data) for name in ("gone", "whole", "whole")]
        assert fetched(tmp_path, *sources) == ("MQ2008",)
        assert left(tmp_path) == ["MQ2008"] and len(asked) == 2


def test_sent_in_chunks(archive: Path, tmp_path: Path) -> None:
    with served.server(archive.read_bytes(), chunks=served.chunks) as (address, _):
        assert fetched(tmp_path, unknown(f"{address}/chunks")) == ("MQ2008",)


REFUSED = {
    "gone": (served.status(404, "Not Found"), "answers HTTP 404 Not Found"),
    "escape": (served.status(403, "\x1b[31mno"), r"answers HTTP 403 \\x1b\[31mno"),
    "page": (served.page, "found a web page, expected a file; a licence, a sign-in or a form"),
    "disguise": (served.page_in_disguise, "found a web page, expected a file"),
    "garbage": (served.garbage, "http://127"),
    "silent": (served.silent, "sent nothing for 1 seconds"),
    "file": (served.to("file:///etc/passwd"), "HTTP 302 .*'file:///etc/passwd' is not allowed"),
    "ftp": (served.to("ftp://127.0.0.1/a"), "ftp://127.0.0.1/a: is no address on the web"),
    "circle": (served.to("/circle", 307), "answers HTTP 307 .*infinite loop"),
    "large": (served.length("99999999999999"), "99,999,999,999,999 bytes, expected"),
    "wrong": (served.wrong_byte, "damaged|found another"),
    "drips": (served.drips, "took longer than the time limit"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(archive: Path, tmp_path: Path, name: str) -> None:
    behaviour, message = REFUSED[name]
    data = archive.read_bytes()
    with served.server(data, **{name: behaviour}) as (address, _):
        with pytest.raises(DataError, match=message) as error:
            fetched(tmp_path, unknown(f"{address}/{name}"), seconds=0.5 if name == "drips" else 20)
    said = str(error.value)
    assert "datasets import PATH" in said and "https://" in said and said.isprintable()
    assert left(tmp_path) == ([".downloads"] if name == "drips" else [])


def test_no_redirect_from_https_to_http() -> None:
    request = urllib.request.Request("https://a/")
    with pytest.raises(DataError, match="https://a/: leads to http://a/b; expected https"):
        web._Redirects().redirect_request(request, None, 302, "Found", {}, "http://a/b")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hash": FileHash("sha256", "0" * 64)}, "found sha256 [0-9a-f]{64}, expected sha256 0000"),
        ({"bytes": 10}, "found [0-9,]+ bytes, expected 10"),
        ({"bytes": 10**9}, r"found [0-9,]+ bytes, expected 1,000,000,000"),
    ],
)
def test_another_size_or_hash_than_is_published(
    archive: Path, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    data = archive.read_bytes()
    with served.server(data, whole=served.whole, length=served.length("x")) as (address, _):
        for name in ("whole", "length"):
            with pytest.raises(DataError, match=message.replace("[0-9,]+", "(more|[0-9,]+)")):
                fetched(tmp_path, published(f"{address}/{name}", data, **changes))
    assert left(tmp_path) == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.b/c", "//a", "http://"])
def test_addresses_that_are_none_of_the_web(tmp_path: Path, url: str) -> None:
    with pytest.raises(DataError, match="is no address on the web; expected http or https"):
        fetched(tmp_path, unknown(url))
    assert left(tmp_path) == []


def test_an_endless_file_ends_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MOST_BYTES", 1 << 20)
    with served.server(b"", endless=served.endless) as (address, _):
        with pytest.raises(DataError, match="found more bytes, expected 1,048,576"):
            fetched(tmp_path, unknown(f"{address}/endless"))
        with pytest.raises(DataError, match="found more bytes, expected 5,000"):
            fetched(tmp_path, unknown(f"{address}/endless", bytes=5000))
    assert left(tmp_path) == []


@pytest.mark.parametrize("now", [served.with_ranges, served.whole])
def test_the_next_run_continues(archive: Path, tmp_path: Path, now: served.Behaviour) -> None:
    """A server that sends no parts sends the whole again."""
    data = archive.read_bytes()
    behaviours = iter([served.cut_into(2), now])
    with served.server(data, cut=lambda *of: next(behaviours)(*of)) as (address, asked):
        source = published(f"{address}/cut", data)
        with pytest.raises(DataError, match="ended after .*the same command continues"):
            fetched(tmp_path, source)
        assert left(tmp_path) == [".downloads"] and not layout.present("MQ2008", tmp_path)
        assert fetching.unfinished(tmp_path) == {"MQ2008": -(-len(data) // 2)}
        assert fetched(tmp_path, source) == ("MQ2008",)
        assert asked == [None, f"bytes={-(-len(data) // 2)}-"] and left(tmp_path) == ["MQ2008"]


def test_the_pieces_of_two_versions_are_refused(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    with served.server(data, whole=served.with_ranges) as (address, _):
        source = unknown(f"{address}/whole")
        part = tmp_path / ".downloads" / "MQ2008" / "MQ2008.zip.part"
        for kept in (b"?" * (len(data) // 2), b"?" * len(data)):
            part.parent.mkdir(parents=True)
            part.write_bytes(kept)
            with pytest.raises(DataError, match="damaged"):
                fetched(tmp_path, source)
            assert left(tmp_path) == []
        assert fetched(tmp_path, source) == ("MQ2008",)


@pytest.mark.parametrize("ended", [KeyboardInterrupt, SystemExit])
def test_a_run_that_is_ended_while_it_imports_downloads_once(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: type[BaseException]
) -> None:
    data, imported = archive.read_bytes(), fetching.import_archive

    def end(*about: object) -> None:
        raise ended

    with served.server(data, whole=served.whole) as (address, asked):
        monkeypatch.setattr(fetching, "import_archive", end)
        with pytest.raises(ended):
            fetched(tmp_path, published(f"{address}/whole", data))
        assert fetching.unfinished(tmp_path) == {"MQ2008": len(data)}
        monkeypatch.setattr(fetching, "import_archive", imported)
        assert fetched(tmp_path, published(f"{address}/whole", data)) == ("MQ2008",)
        assert asked == [None] and left(tmp_path) == ["MQ2008"]


def test_another_data_set_than_was_asked_for(tmp_path: Path) -> None:
    made = synthetic.make("MQ2008", tmp_path / "made", scale=0.02)
    path = tmp_path / "OHSUMED.zip"
    with zipfile.ZipFile(path, "w") as out:
        for file in sorted(made.rglob("*.txt")):
            out.write(file, Path("MQ2008") / file.relative_to(made))
    with served.server(path.read_bytes(), whole=served.whole) as (address, _):
        source = unknown(f"{address}/whole", file="OHSUMED.zip")
        with pytest.raises(DataError, match="found MQ2008 inside, expected OHSUMED"):
            fetching.fetch("OHSUMED", tmp_path / "data", [source])
    assert left(tmp_path / "data") == []


def test_files_with_other_hashes_than_are_published(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"Fold1/vali.txt": FileHash("sha256", "0" * 64)}
    changed = replace(CATALOG["MQ2008"], hashes=rows)
    monkeypatch.setattr(names, "CATALOG", {"MQ2008": changed})
    with served.server(archive.read_bytes(), whole=served.whole) as (address, _):
        with pytest.raises(DataError, match="Fold1/vali.txt: found another file than is published"):
            fetched(tmp_path, unknown(f"{address}/whole"))
    assert left(tmp_path) == []


def test_rar_is_kept_and_explained_and_not_downloaded_again(tmp_path: Path) -> None:
    with served.server(b"Rar!", whole=served.whole, page=served.page) as (address, asked):
        source = unknown(f"{address}/whole", file="Gov.rar")
        for _ in range(2):
            with pytest.raises(DataError, match="Gov.rar: .*unrar x Gov.rar.*datasets import"):
                fetching.fetch("TD2003", tmp_path, [source])
            assert left(tmp_path) == ["Gov.rar"] and len(asked) == 1


def test_by_request_and_generated(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="on request only; get it from https://.*YAHOO-SET1-twin"):
        fetching.fetch("YAHOO-SET1", tmp_path)
    with pytest.raises(DataError, match="datasets make TD2003-twin"):
        fetching.fetch("TD2003-twin", tmp_path)
    assert left(tmp_path) == []


def in_parts(address: str) -> Source:
    """A source as the catalog's of CLUEWEB09, at another address."""
    [source] = CATALOG["CLUEWEB09"].sources
    parts = [replace(part, url=f"{address}/{part.file[:-4]}") for part in source.parts]
    return replace(source, parts=tuple(parts))


def texts_of_parts(rng: np.random.Generator) -> list[bytes]:
    """Five test parts of two queries each; the third ends without a newline."""
    texts = []
    for number in range(1, 6):
        out = io.BytesIO()
        queries = random_queries(rng, [3, 4], n_features=42, levels=5)
        qids = np.arange(2) + 10 * number
        write_text(out, replace(queries, qids=qids), TextFormat())
        texts.append(out.getvalue().rstrip(b"\n") if number == 3 else out.getvalue())
    return texts


def serving(texts: list[bytes]) -> dict[str, served.Behaviour]:
    def send(text: bytes) -> served.Behaviour:
        return lambda handler, _: served.whole(handler, text)

    return {f"part{number}": send(text) for number, text in enumerate(texts, 1)}


def test_folds_are_composed_of_their_test_parts(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = texts_of_parts(rng)
    with served.server(b"", **serving(texts)) as (address, asked):
        found = fetching.fetch("clueweb09", tmp_path, [in_parts(address)])
        assert found == ("CLUEWEB09",) and len(asked) == 5 and left(tmp_path) == ["CLUEWEB09"]
    for number, text in enumerate(texts, 1):
        path = tmp_path / "CLUEWEB09" / f"Fold{number}" / "test.txt"
        assert path.read_bytes().rstrip() == text.rstrip()
    bench = load("CLUEWEB09", tmp_path)
    assert bench.provenance["rotation"] and bench.provenance["normalised"]
    for fold in bench.folds:
        parts = [{int(qid) // 10 for qid in part.qids} for part in fold.parts.values()]
        assert [len(part) for part in parts] == [3, 1, 1] and set.union(*parts) == {1, 2, 3, 4, 5}
        assert parts[2] == {fold.number}


@pytest.mark.parametrize("wrong", ["gone", "page", "a line", "features"])
def test_a_part_that_is_wrong_leaves_nothing(
    tmp_path: Path, rng: np.random.Generator, wrong: str
) -> None:
    texts = texts_of_parts(rng)
    bad = {
        "gone": served.status(404),
        "page": served.page,
        "a line": lambda handler, _: served.whole(handler, texts[3] + b"x qid:1\n"),
        "features": lambda handler, _: served.whole(handler, b"1 qid:9 43:1\n"),
    }[wrong]
    with served.server(b"", **{**serving(texts), "part4": bad}) as (address, _):
        with pytest.raises(DataError, match="CLUEWEB09: no download succeeded.*CC BY-SA") as error:
            fetching.fetch("CLUEWEB09", tmp_path, [in_parts(address)])
        assert left(tmp_path) == [] and "twin" not in str(error.value)
    with served.server(b"", **serving(texts)) as (address, _):
        assert fetching.fetch("CLUEWEB09", tmp_path, [in_parts(address)])


def test_parts_that_are_there_are_not_asked_for_again(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    texts = texts_of_parts(rng)

    def cut(handler: served.Handler, _: bytes) -> None:
        handler.head(Content_Length=len(texts[3]))
        handler.wfile.write(texts[3][:50])

    with served.server(b"", **{**serving(texts), "part4": cut}) as (address, _):
        source = in_parts(address)
        with pytest.raises(DataError, match="the same command continues"):
            fetching.fetch("CLUEWEB09", tmp_path, [source])
    with served.server(b"", **serving(texts)) as (address, asked):
        assert fetching.fetch("CLUEWEB09", tmp_path, [in_parts(address)])
        assert len(asked) == 2


def test_the_parts_addresses_are_told_and_examined() -> None:
    told = [text for what, text in describe(CATALOG["CLUEWEB09"]) if what == "source"]
    assert len(told) == 5 and all(text.endswith("/test.txt") for text in told)


def test_two_at_once_download_once(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    with served.server(data, whole=served.whole) as (address, asked):
        source = published(f"{address}/whole", data)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: fetched(tmp_path, source), range(4)))
        assert found == [("MQ2008",)] * 4 and len(asked) == 1
    assert left(tmp_path) == ["MQ2008"]


def test_examination(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive.read_bytes()
    good = {"whole": served.whole, "ranges": served.with_ranges}
    bad = {"gone": served.status(400), "page": served.page, "silent": served.silent}
    monkeypatch.setattr(examine, "LONGEST", 2.0)
    with served.server(data, **good, **bad) as (address, _):
        sources = [published(f"{address}/{name}", data) for name in (*good, *bad)]
        sources += [published(f"{address}/whole", data, bytes=7), Source(f"{address}/page")]
        changed = replace(CATALOG["MQ2008"], sources=tuple(sources))
        monkeypatch.setattr(names, "CATALOG", {"MQ2008": changed})
        found = examine.examine(["MQ2008"], tmp_path)
        assert [each.ok for each in found] == [None, True, True, *[False] * 4, None]
        assert [each.place for each in found[1:]] == [source.url for source in sources]
        assert "HTTP 400" in found[3].status and "web page" in found[4].status
        fetched(tmp_path, sources[0])
    monkeypatch.setattr(names, "CATALOG", {"MQ2008": replace(changed, sources=())})
    (found,) = examine.examine(["MQ2008"], tmp_path)
    assert found.ok is True
    for damage in (Path.unlink, Path.touch):  # one file is missing, then empty
        damage(tmp_path / "MQ2008/Fold2/test.txt")
        (found,) = examine.examine(["MQ2008"], tmp_path)
        assert found.ok is False
    assert found.place.endswith("Fold2/test.txt")


def test_verify_twin_at_full_size(tmp_path: Path) -> None:
    synthetic.make("MQ2008", tmp_path)
    found = verify("MQ2008-twin", tmp_path)
    assert found.ok and {check.status for check in found.files} == {"unknown"}
    assert {check.fact: check.status for check in found.facts} == dict.fromkeys(
        ["queries", "documents", "features", "label 0", "label 1", "label 2"], "ok"
    )


@pytest.mark.parametrize(
    "published, status", [(6, "differs"), (7, "ok"), (8, "differs"), (None, "unknown")]
)
def test_a_fact_is_that_which_is_published_or_differs(published: int | None, status: str) -> None:
    assert FactCheck("queries", published, 7).status == status


def test_verify_sees_what_differs(archive: Path, tmp_path: Path) -> None:
    import_archive(archive, tmp_path)
    found = verify("MQ2008", tmp_path)
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
    found = verify("MQ2008", tmp_path)
    status = {check.path: check.status for check in found.files}
    assert len(status) == 15
    assert status.pop("Fold1/train.txt") == "ok"
    assert status.pop("Fold1/vali.txt") == "differs"
    assert set(status.values()) == {"unknown"}


@pytest.mark.parametrize(
    "content, name",
    [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ],
)
def test_a_file_is_named_as_git_names_it(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / "file").write_bytes(content)
    assert git_blob(tmp_path / "file") == name


def test_git_names_of_official_files() -> None:
    for name, forms in (("MQ2007", {"CRLF", "LF"}), ("TD2003", {""}), ("HP2003", {""})):
        parts = {}
        for fold in range(1, 6):
            for part in ("train", "vali", "test"):
                blobs = known_blobs(name, f"fold{fold}/{part.upper()}.txt")
                assert set(blobs.values()) == forms and all(len(blob) == 40 for blob in blobs)
                parts[fold, part] = set(blobs)
        for fold in range(1, 6):  # LETOR's rotation shows in the names
            assert parts[fold, "test"] == parts[fold % 5 + 1, "vali"]
    assert not known_blobs("MQ2008", "Fold1/test.txt")


def test_verify_knows_the_copies_of_git_repositories(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_archive(archive, tmp_path)
    folder = tmp_path / "MQ2008"
    lines = (folder / "Fold1/test.txt").read_bytes()
    (folder / "Fold1/test.txt").write_bytes(lines.replace(b"\n", b"\r\n"))
    crlf, lf = git_blob(folder / "Fold1/test.txt"), git_blob(folder / "Fold2/vali.txt")
    both = {crlf: "CRLF", lf: "LF"}
    known = {
        ("MQ2008", "fold1/test.txt"): both,
        ("MQ2008", "fold2/vali.txt"): both,
        ("MQ2008", "fold3/test.txt"): both,
        ("MQ2008", "fold4/test.txt"): {lf: ""},
    }
    monkeypatch.setattr(git_blobs, "_blobs", lambda: known)
    found = verify("MQ2008", tmp_path)
    status = {check.path: check.status for check in found.files if check.status != "unknown"}
    assert status == {"Fold1/test.txt": "ok", "Fold2/vali.txt": "ok", "Fold3/test.txt": "differs"}


def test_another_mq2007_differs(tmp_path: Path) -> None:
    made = synthetic.make("MQ2007", tmp_path / "made", scale=0.01)
    made.rename(tmp_path / "MQ2007")
    (tmp_path / "MQ2007" / "synthetic.json").unlink(missing_ok=True)
    assert {check.status for check in verify("MQ2007", tmp_path).files} == {"differs"}


@pytest.mark.parametrize("name", ["OHSUMED", "OHSUMED/Feature-min", "MQ2008"])
def test_the_real_ones_have_the_published_sizes(shared: Path, tmp_path: Path, name: str) -> None:
    import_archive(shared / "archives" / f"{name.split('/')[0]}.zip", tmp_path)
    found = verify(name, tmp_path)
    assert found.ok
    assert {check.status for check in found.facts} == {"ok"}
