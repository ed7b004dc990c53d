"""Downloading and verifying, against a server on this machine that is good or bad."""

import csv
import gzip
import hashlib
import http.server
import io
import re
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from letorbench import __version__
from letorbench.datasets import fetch as fetching
from letorbench.datasets import layout, synthetic
from letorbench.datasets.archive import import_archive
from letorbench.datasets.catalog import CATALOG, FileHash, Source
from letorbench.datasets.load import load
from letorbench.datasets.releases import verify
from letorbench.errors import DataError, WriteError

Behaviour = Callable[["Handler"], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every GET with the behaviour that its path names."""

    protocol_version = "HTTP/1.1"
    behaviours: dict[str, Behaviour]
    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        assert self.headers["User-Agent"] == f"letorbench/{__version__}"
        try:
            self.behaviours[self.path[1:]](self)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def answer(self, body: bytes = b"", status: int = 200, **headers: object) -> None:
        self.send_response(status)
        for name, value in ({"Content_Length": len(body)} | headers).items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def server(**behaviours: Behaviour) -> Iterator[tuple[str, list[str]]]:
    """Serve behaviours by their names; yield the address, and the paths that were requested."""
    requests: list[str] = []
    kind = type("H", (Handler,), {"behaviours": behaviours, "requests": requests})
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_address[1]}", requests
    finally:
        running.shutdown()
        running.server_close()


def sending(body: bytes, status: int = 200, **headers: object) -> Behaviour:
    return lambda handler: handler.answer(body, status, **headers)


def raw(answer: str) -> Behaviour:
    return lambda handler: handler.wfile.write(answer.encode())


def dribbling(head: bytes, each: bytes, last: bytes = b"Content-Length: 999\r\n\r\n") -> Behaviour:
    """A start that comes at once, and then a byte every 0.1 seconds, without an end."""

    def send(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + (head or last))
        for _ in range(100):
            time.sleep(0.1)
            handler.wfile.write(each)

    return send


def redirecting(address: str, code: int = 302) -> Behaviour:
    return sending(b"", code, Location=address)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> bytes:
    """MQ2008.zip with a small synthetic content."""
    made = synthetic.make("MQ2008", tmp_path_factory.mktemp("made"), scale=0.02)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(made.rglob("*.txt")):
            out.write(file, Path("MQ2008") / file.relative_to(made))
    return content.getvalue()


@pytest.fixture(autouse=True)
def on_this_machine(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "STALL", 1.0)
    monkeypatch.setattr(fetching, "FEWEST_BYTES", 20)


def unknown(url: str, file: str = "MQ2008.zip", **published: object) -> Source:
    """An address of which no size and no hash is published, unless they are given."""
    return Source(url, file, **published)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_good_address_is_fetched_checked_and_imported(archive, tmp_path):
    bare = sending(archive, Content_Length=None)  # it ends where the connection does
    answers = {"gone": sending(b"", 404), "moved": redirecting("good"), "good": sending(archive)}
    with server(**answers, bare=bare) as (address, requests):
        digest = FileHash("sha256", hashlib.sha256(archive).hexdigest())
        facts = {"bytes": len(archive), "hash": digest}
        sources = [unknown(f"{address}/{name}", **facts) for name in ("gone", "moved", "moved")]
        by_hand = [Source(f"{address}/a", "a.rar"), Source(f"{address}/page")]
        assert fetching.fetch("mq2008", tmp_path, [*by_hand, *sources]) == ("MQ2008",)
        assert names_in(tmp_path) == ["MQ2008"] and layout.present("MQ2008", tmp_path)
        assert requests == ["/gone", "/moved", "/good"]
        assert fetching.fetch("MQ2008", tmp_path, sources) == ("MQ2008",)
        assert len(requests) == 3, "it is there: no net needed"
        assert fetching.fetch("MQ2008", tmp_path / "b", [unknown(f"{address}/bare")])
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "MQ2008").touch()
        with pytest.raises(WriteError, match=f"^{tmp_path}/c/MQ2008/.*: cannot be written: Not a"):
            fetching.fetch("MQ2008", tmp_path / "c", sources)


SLOW = "{url}: sent fewer than 20 bytes in 1 seconds"
#: an answer, the message, and the published facts of the address
REFUSED: dict[str, tuple] = {
    "gone": (sending(b"", 404), "{url}: answers HTTP 404 Not Found"),
    "escape": (raw("HTTP/1.1 403 \x1b[31mno\r\nContent-Length: 0\r\n\r\n"),
               r"{url}: answers HTTP 403 \x1b[31mno"),
    "page": (sending(b"<html>licence</html>", Content_Type="text/html; charset=utf-8"),
             "{url}: found a web page, expected a file; a licence, a sign-in or a form"),
    "silent": (lambda handler: time.sleep(3), SLOW), "slow": (dribbling(b"", b"a"), SLOW),
    "slow-headers": (dribbling(b"", b"a", b"X: "), SLOW),
    "ftp": (redirecting("ftp://127.0.0.1/a"),
            "ftp://127.0.0.1/a: is no address on the web; expected http or https"),
    "large": (sending(b"", Content_Length=10**14),
              "{url}: found 100,000,000,000,000 bytes, expected 17,179,869,184"),
    "hash": (sending(b"abc"),
             "{url}: found md5 900150983cd24fb0d6963f7d28e17f72, expected md5 " + "0" * 32,
             {"hash": FileHash("md5", "0" * 32), "bytes": 3}),
    "larger": (sending(b"a" * 11), "{url}: found 11 bytes, expected 10", {"bytes": 10}),
    "smaller": (sending(b"a" * 9), "{url}: found 9 bytes, expected 10", {"bytes": 10}),
    "cut": (sending(b"a" * 9, Content_Length=99), "{url}: found 9 bytes, expected 99"),
}  # fmt: skip
ELSEWHERE = re.compile(
    "; get it from https://.* in a browser .*datasets import PATH.*MQ2008-twin` "
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_and_leaves_nothing(name, tmp_path):
    behaviour, said, *facts = REFUSED[name]
    with server(**{name: behaviour}) as (address, _):
        url = f"{address}/{name}"
        with pytest.raises(DataError) as error:
            fetching.fetch("MQ2008", tmp_path, [unknown(url, **dict(*facts))])
    found = str(error.value)
    assert found.startswith(f"MQ2008: no download succeeded: {said.format(url=url)}")
    assert ELSEWHERE.search(found)
    assert names_in(tmp_path) == []


def test_addresses_that_are_not_on_the_web(tmp_path):
    for url in ("file:///etc/passwd", "//a", "http://"):
        with pytest.raises(DataError, match="is no address on the web; expected http or https"):
            fetching.fetch("MQ2008", tmp_path, [unknown(url)])
    answer = urllib.request.Request("https://a/"), None, 302, "Found", {}
    assert fetching._Redirects().redirect_request(*answer, "https://b/").full_url == "https://b/"
    with pytest.raises(DataError, match="https://a/: leads to http://a/b; expected https"):
        fetching._Redirects().redirect_request(*answer, "http://a/b")


def test_what_is_inside_must_be_what_was_wanted(archive, tmp_path, monkeypatch):
    with server(good=sending(archive)) as (address, _):
        with pytest.raises(DataError, match="found MQ2008 inside, expected OHSUMED"):
            fetching.fetch("OHSUMED", tmp_path, [unknown(f"{address}/good", "OHSUMED.zip")])
        hashes = {("MQ2008", "fold1/vali.txt"): {FileHash("sha256", "0" * 64): ""}}
        monkeypatch.setattr("letorbench.datasets.catalog._published_hashes", lambda: hashes)
        with pytest.raises(DataError, match="Fold1/vali.txt: found another file than the publish"):
            fetching.fetch("MQ2008", tmp_path, [unknown(f"{address}/good")])
    assert names_in(tmp_path) == []


def test_by_request_by_hand_and_generated(tmp_path):
    by_hand, sources = Source("http://a.b/Gov.rar", "Gov.rar"), [unknown("ftp://a"), unknown("//b")]
    no = "is no address on the web; expected http or https"
    for name, addresses, said in (
        ("TD2003", [by_hand], "Gov.rar: an archive .* by hand; .*datasets import PATH`, or `letor"),
        ("YAHOO-SET1", None, "on request only; get it from https://.*YAHOO-SET1-twin"),
        ("TD2003-twin", None, "datasets make TD2003-twin"),
        ("CLUEWEB09", [], "on request only; get it from .* `letorbench datasets import PATH`$"),
        ("ohsumed/feature_min", sources, "^OHSUMED-Feature-min: no download succeeded: ftp://a: "
         f"{no}; //b: {no}; get it from "),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            fetching.fetch(name, tmp_path, addresses)


@pytest.fixture
def mq2008(archive, tmp_path) -> Path:
    """A data folder with the small MQ2008."""
    (tmp_path / "MQ2008.zip").write_bytes(archive)
    import_archive(tmp_path / "MQ2008.zip", tmp_path / "data")
    return tmp_path / "data"


def test_verify_compares_hashes(mq2008, monkeypatch):
    folder = mq2008 / "MQ2008"
    lines = (folder / "Fold1/test.txt").read_bytes()
    (folder / "Fold1/test.txt").write_bytes(lines.replace(b"\n", b"\r\n"))
    crlf = FileHash.of(folder / "Fold1/test.txt", "git")
    lf = FileHash.of(folder / "Fold2/vali.txt", "git")
    train = FileHash.of(folder / "Fold1/train.txt", "md5")
    hashes = {
        "fold1/train.txt": {train: ""},
        "fold1/vali.txt": {FileHash("sha256", "0" * 64): ""},
        "fold1/test.txt": {crlf: "CRLF", lf: "LF"},
        "fold2/vali.txt": {crlf: "CRLF", lf: "LF"},
        "fold3/test.txt": {crlf: "CRLF", lf: "LF"},
        "fold4/test.txt": {lf: ""},  # other line ends may be right too
    }
    known = {("MQ2008", file): each for file, each in hashes.items()}
    monkeypatch.setattr("letorbench.datasets.catalog._published_hashes", lambda: known)
    files = [check for check in verify("MQ2008", mq2008) if check.what.endswith(".txt")]
    assert len(files) == 15
    found = {check.what: check.status for check in files if check.status != "unknown"}
    differ = {"Fold1/vali.txt", "Fold3/test.txt"}
    same = {"Fold1/train.txt", "Fold1/test.txt", "Fold2/vali.txt"}
    assert found == dict.fromkeys(differ, "differs") | dict.fromkeys(same, "ok")


def test_folds_are_composed_of_their_test_parts(tmp_path):
    [source] = CATALOG["CLUEWEB09"].sources
    texts = {f"Fold{k}": f"0 qid:{k} 42:1\n1 qid:{k} 42:2".encode() for k in range(1, 6)}
    with server(**{name: sending(text) for name, text in texts.items()}) as (address, requests):
        parts = [replace(part, url=f"{address}/{part.file[:5]}") for part in source.parts]
        source = replace(source, parts=tuple(parts))
        assert fetching.fetch("clueweb09", tmp_path, [source]) == ("CLUEWEB09",)
        assert len(requests) == 5 and names_in(tmp_path) == ["CLUEWEB09"]
    bench = load("CLUEWEB09", tmp_path)
    assert bench.provenance["rotation"]
    assert [fold.test.qids.tolist() for fold in bench.folds] == [[str(k)] for k in range(1, 6)]


def fetched(name: str, files: dict[str, bytes], tmp_path: Path) -> list:
    """Fetch a release without folds whose files are these; return its folds' test parts."""
    served = {file.partition(".")[0]: sending(text) for file, text in files.items()}
    with server(**served, other=sending(b"")) as (address, requests):
        parts = [
            Source(f"{address}/{file.partition('.')[0]}", file, len(text),
                   FileHash("sha256", hashlib.sha256(text).hexdigest()))
            for file, text in files.items()
        ]  # fmt: skip
        source = parts[0] if len(parts) == 1 else Source("http://a/", "folder", parts=tuple(parts))
        other = Source(f"{address}/other", "other.txt", variant="min")
        fetching.fetch(name, tmp_path, [other, source])
        assert "/other" not in requests
    return [fold.test for fold in load(name, tmp_path).folds]


def test_tables_without_folds_are_cut_into_folds(shared, tmp_path):
    """Every cell of two published tables is where it belongs; a file of another name is found."""
    text = (shared / "archives/table-search.csv").read_bytes()
    tests = fetched("table-search", {"features.csv": text}, tmp_path)
    (tmp_path / "any.csv").write_bytes((shared / "archives/algolia.csv").read_bytes())
    assert import_archive(tmp_path / "any.csv", tmp_path) == ("ALGOLIA",)
    tests += [fold.test for fold in load("ALGOLIA", tmp_path).folds]
    for name, folds, (qid, docid, label), words, missing in (
        ("table-search", tests[:5], ("query", "table_id", "rel"), ["query_id"], 0),
        ("algolia", tests[5:], ("normalized_query", "id", "score"),
         ["type", "age_certification"], 329),
    ):  # fmt: skip
        with (shared / f"archives/{name}.csv").open(newline="") as file:
            rows = csv.DictReader(file)
            cells = {(" ".join(row[qid].split()), row[docid]): row for row in rows}
        assert sum(part.n_docs for part in folds) == len(cells)
        for part in folds:
            queries, names = np.repeat(part.query_names, part.lengths), part.feature_names
            rows = [cells[q, d.decode()] for q, d in zip(queries, part.docids)]
            assert part.labels.tolist() == [int(row[label]) for row in rows]
            numbers = [set(names) & {*row} for row in rows[:1]][0]
            assert numbers == {*rows[0]} - {qid, docid, label, *words}
            for k, feature in enumerate(names):
                column, _, word = feature.partition("=")
                expected = [
                    float(row[column] == word if word else row[column] or "nan") for row in rows
                ]
                np.testing.assert_array_equal(part.features[:, k], np.float32(expected))
        assert sum(np.isnan(part.features).sum() for part in folds) == missing
        assert {each.status for each in verify(name, tmp_path)} == {"ok", "unknown"}


def test_judgements_of_several_users_are_joined_with_what_they_judge(tmp_path):
    """Made up in the form that MSRD's readme describes, for its files cannot be had here."""
    texts = "title overview tags genres director actors characters"
    movies = "\t".join(
        ["id", *texts.split(), "year votes rating popularity budget".replace(" ", "\t")]
    )
    movies += "".join(
        f"\n{k}\tRed Sun {k}\tA sun, red.\tred\twar,drama\tX\tY,Z\tQ\t19{k}0\t9\t7.5\t.5\t"
        for k in range(6)
    )  # fmt: skip
    judged = "query\tid\tuser\tlabel\tbm25\tplatform" + "".join(
        f"\nred moon {q}\t{k}\tu{u}\t{int(k > 3 or k + u > 3)}\t{k}.5\tdesktop"
        for q in range(5) for u in range(2) for k in range(6)
    )  # fmt: skip
    files = {"queries.csv.gz": judged, "movies.csv.gz": movies}
    packed = {name: gzip.compress(text.encode()) for name, text in files.items()}
    (part, *rest) = fetched("MSRD", packed, tmp_path)
    assert sum(each.n_docs for each in (part, *rest)) == 30 and part.n_features == 13
    assert part.labels.tolist() == [0, 0, 0, 2, 4, 4]
    assert part.feature_names[:2] == ("bm25", "year") and part.docids[4] == b"4"
    title, budget = (part.feature_names.index(n) for n in ("query words in title", "budget"))
    asked = part.query_names[0].split()
    shares = [np.mean([w in f"red sun {k}".split() for w in asked]) for k in range(6)]
    np.testing.assert_allclose(part.features[:, title], shares, rtol=1e-6)
    assert part.features[3, :2].tolist() == [3.5, 1930] and np.isnan(part.features[:, budget]).all()
    for old, new, said in (
        ("label", "stars", "the columns query, id, user, stars, bm25, .*expected the label as"),
        ("\t1\tu0", "\t9\tu0", "gz:3: found '9' as the id, expected a movie of movies.csv.gz"),
        ("\t0\t0.5", "\tno\t0.5", "queries.csv.gz:2: found 'no' as the label"),
    ):
        packed["queries.csv.gz"] = gzip.compress(judged.replace(old, new, 1).encode())
        with pytest.raises(DataError, match=said):
            fetched("MSRD", packed, tmp_path / "other")


def test_a_text_without_folds_is_cut_into_folds(tmp_path):
    """Made up in the form of Webis' raw features, for they cannot be had here."""
    text = "".join(
        f"{q % 3} qid:{q} 1:{q}.5 2:NaN 42:{d} # docid = d{d}\n" for q in range(9) for d in (1, 2)
    )
    tests = fetched("webtracks/2009-null", {"NULL.txt": text.encode()}, tmp_path)
    assert names_in(tmp_path) == [".cache", "WEBTRACKS"]
    assert names_in(tmp_path / "WEBTRACKS") == ["2009-NULL"]
    assert sorted(q for part in tests for q in part.qids.tolist()) == [*map(str, range(9))]
    for part in tests:
        assert part.features[:, 0].tolist() == [float(q) + 0.5 for q in part.qids for _ in (1, 2)]
        assert part.n_features == 42 and np.isnan(part.features[:, 1]).all()
