"""Inputs that are no plain files, read once, and outputs that are none, written into."""

import bz2
import errno
import gzip
import lzma
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import call, places, printed, refused

import letorbench as lb
from letorbench import named_files
from letorbench.datasets import synthetic
from letorbench.files import write_atomically

DOCUMENTS = [(q, d, (q + d) % 3, round(0.1 * ((5 * d + q) % 7), 2)) for q in range(1, 7)
             for d in range(1, 5)]  # fmt: skip
FILES = {
    "d.txt": "".join(f"{r} qid:{q} 1:{x} 2:{d} #docid = {d}\n" for q, d, r, x in DOCUMENTS),
    "d.csv": "qid,label,a,b\n" + "".join(f"{q},{r},{x},{d}\n" for q, d, r, x in DOCUMENTS),
    "s.txt": "".join(f"{x}\n" for *_, x in DOCUMENTS),
    "q.qrels": "".join(f"{q} 0 {d} {r}\n" for q, d, r, _ in DOCUMENTS),
    "a.run": "".join(f"{q} Q0 {d} 1 {x} a\n" for q, d, _, x in DOCUMENTS),
    "b.run": "".join(f"{q} Q0 {d} 1 {-x} b\n" for q, d, _, x in DOCUMENTS),
    "by.csv": "query,half\n" + "".join(f"{q},{q % 2}\n" for q in range(1, 7)),
    "t.csv": "dataset,algorithm,measure,value\nD,a,map,.5\nD,b,map,1.2\n",
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip
#: commands with a file in braces where one is read
INPUTS = [
    "score --data {d.txt} --scores {s.txt} --measure ndcg@3",
    "score --data {d.csv} --scores {s.txt} --measure ndcg@3",
    "score --qrels {q.qrels} --run {a.run} --run {b.run}",
    "compare --qrels {q.qrels} --run {a.run} --run {b.run} --measure map,p@1",
    "compare --by {by.csv} --measure map,ndcg@1 --data-dir data --out results",
    "rank --model {m.npz} --input {d.txt} --output -",
    "external --dataset own --name e --scores {s1.txt} --folds 1 --data-dir data --out ext",
    "verify {t.csv}",
    "verify 0.5 --data {d.txt} --scores {s.txt}",
    "datasets split {d.csv} --name new --data-dir new",
]


@pytest.fixture
def folder(tmp_path, monkeypatch, no_figures) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    fitted = lb.Regression().fit(lb.read_letor("d.txt"))
    fitted.save("m.npz")
    printed("datasets", "split", "d.txt", "--name", "own", "--folds", "3", "--data-dir", "data")
    test = lb.load("own", "data").folds[0].test
    Path("s1.txt").write_text("".join(f"{x}\n" for x in fitted.predict(test)))
    return tmp_path


def piped(path: Path, place: Path) -> str:
    """Make a pipe that has what a file has, once."""
    place.parent.mkdir(exist_ok=True)
    os.mkfifo(place)
    threading.Thread(target=lambda: place.write_bytes(path.read_bytes()), daemon=True).start()
    return str(place)


def packed(ending: str, path: Path) -> str:
    place = path.with_name(f"{path.name}.{ending}")
    place.write_bytes(PACKED[ending](path.read_bytes()))
    return place.name


@pytest.mark.parametrize("line", INPUTS)
def test_a_pipe_and_a_compressed_file_are_read_as_the_file_is(folder, line):
    if "--by" in line:
        run = ["--dataset", "own", "--algo", "regression,random", "--repeats", "1"]
        assert call("run", *run, *places(folder)).exit_code == 0
    names = re.findall(r"\{(.*?)\}", line)
    found = []
    for kind in ("plain", "pipe", *PACKED):
        words = line
        for name in names:
            path = Path(name)
            place = {"plain": name}.get(kind) or (
                packed(kind, path) if kind in PACKED else piped(path, Path(kind, name))
            )
            words = words.replace(f"{{{name}}}", place)
        done = call(*words.replace("new", f"new{kind}").split())
        assert done.exit_code == {"verify {": 3, "verify 0": 1}.get(line[:8], 0), done.output
        text = done.stdout
        for name in names:  # which a command shows
            for shown in (f"pipe/{name}", *(f"{name}.{ending}" for ending in PACKED)):
                text = text.replace(shown, name)
        found.append(text.replace(f"new{kind}", "new"))
    assert found == found[:1] * len(found)


def test_copies_are_gone_and_errors_name_what_the_user_typed(folder, monkeypatch):
    monkeypatch.setattr(named_files.tempfile, "tempdir", str(folder / "temporary"))
    (folder / "temporary").mkdir()
    Path("bad.txt").write_text(FILES["d.txt"].replace("qid:6", "qld:6", 1))
    line = refused(1, "score", "--data", packed("gz", Path("bad.txt")), "--scores", "s.txt")
    assert line.startswith("letorbench: error: bad.txt.gz:21: found 'qld:6' after the label")
    place = Path(packed("xz", Path("d.txt")))
    for cut in (gzip.compress(FILES["d.txt"].encode())[:-9], place.read_bytes()[:60] + b"x" * 40):
        Path("cut").write_bytes(cut)
        with pytest.raises(lb.DataError, match="^cut: .* (cut off|damaged .*)$"):
            lb.read_letor("cut")
    two = gzip.compress(FILES["d.txt"].encode()) + gzip.compress(b"1 qid:7 1:2 2:3\n")
    for padding in (0, 1, 2 * named_files._CHUNK):
        Path("two.gz").write_bytes(two + bytes(padding))
        assert lb.read_letor("two.gz").n_docs == len(DOCUMENTS) + 1
    Path("two.gz").write_bytes(two + bytes(9) + b"no gzip")
    with pytest.raises(lb.DataError, match="^two.gz: .* damaged"):
        lb.read_letor("two.gz")
    monkeypatch.setattr(named_files, "MOST_BYTES", 100)
    with pytest.raises(lb.DataError, match="^d.txt.xz: found more than"):
        lb.read_letor(place)
    with pytest.raises(lb.DataError, match="^/dev/zero: found a device"):
        lb.read_letor("/dev/zero")
    assert lb.read_letor("d.txt").n_docs == len(DOCUMENTS)  # a plain file may be large
    assert list((folder / "temporary").iterdir()) == []


def test_a_file_of_zstandard_is_read_or_one_line_says_what_is_missing(folder):
    Path("d.zst").write_bytes(bytes.fromhex("28b52ffd"))
    try:
        from zstandard import compress
    except ImportError:
        if sys.version_info < (3, 14):
            with pytest.raises(lb.DataError, match="d.zst: found a file of zstandard.* pip"):
                lb.read_letor("d.zst")
        return
    whole = compress(FILES["d.txt"].encode())
    Path("d.zst").write_bytes(whole)
    assert lb.read_letor("d.zst").n_docs == len(DOCUMENTS)
    Path("d.zst").write_bytes(whole[:-8])
    with pytest.raises(lb.DataError, match="d.zst: .* cut off"):
        lb.read_letor("d.zst")


def shell(line: str) -> subprocess.CompletedProcess:
    """Run a line in which `lb` is the command."""
    command = f"lb() {{ '{sys.executable}' -m letorbench \"$@\"; }}; {line}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True)


def test_standard_input_and_standard_output_have_names(folder):
    rank = "lb rank --model m.npz --output"
    printed("rank", "--model", "m.npz", "--output", "plain.txt", "--input", "d.txt")
    scores = Path("plain.txt").read_text()
    for line in (
        f"cat d.txt | {rank} - --input -",
        f"{rank} /dev/fd/3 --input <(gzip < d.txt) 3>&1",
    ):
        done = shell(line)
        assert done.stdout == scores and done.returncode == 0, done.stderr
    done = shell(f"echo first > both; cat d.txt | {rank} /dev/stdout --input /dev/stdin >> both")
    assert Path("both").read_text() == f"first\n{scores}" and "24 scores" in done.stderr


def test_an_output_is_written_into_what_is_no_plain_file(folder):
    rank = ("rank", "--model", "m.npz", "--input", "d.txt", "--output")
    printed(*rank, "plain.txt")
    scores = Path("plain.txt").read_text()
    Path("there").mkdir()
    Path("there/target").write_text("old")
    for link, target in (("link", "there/target"), ("dangling", "there/new"), ("two", "link")):
        Path(link).symlink_to(target)
        Path("there/target").write_text("old")
        printed(*rank, link)
        assert Path(link).is_symlink() and Path(link).resolve().read_text() == scores
    assert sorted(each.name for each in Path("there").iterdir()) == ["new", "target"]
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()))
    reader.start()
    assert call(*rank, "pipe").exit_code == 0
    reader.join(10)
    assert read == [scores] and stat.S_ISFIFO(os.stat("pipe").st_mode)
    Path("circle").symlink_to("circle")
    assert "circle: cannot be written" in refused(1, *rank, "circle")
    Path("same").symlink_to("d.txt")
    assert "would be the input" in refused(2, *rank, "same")
    assert Path("d.txt").read_text() == FILES["d.txt"]
    for source in (packed("gz", Path("d.txt")), packed("xz", Path("d.txt"))):
        words = [*rank[:3], "--input", source, "--output", source]
        assert "would be the input" in refused(2, *words)
    try:
        os.mknod("nowhere", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        Path("nowhere").write_bytes(b"")
    except OSError:
        return  # devices are for root
    assert call(*rank, "nowhere").exit_code == 0 and stat.S_ISCHR(os.stat("nowhere").st_mode)


def test_reports_and_figures_go_there_too(folder):
    assert call("run", "--dataset", "own", "--algo", "regression", *places(folder)).exit_code == 0
    for words, start in (
        (("report", "--out-file"), "<!"),
        (("plot", *places(folder), "--format", "png", "--to"), "png"),
    ):
        place = Path(f"pipe-{words[0]}")
        os.mkfifo(place)
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append(place.read_bytes()))  # noqa: B023
        reader.start()
        done = call(*words, str(place))
        assert done.exit_code == 0 and done.stdout == "", done.output
        reader.join(10)
        assert read[0].decode().startswith(start)
    assert "expected one --format" in refused(2, "plot", *places(folder), "--to", "-")
    figure = folder / "results" / "own" / "ndcg.png"  # a stranger's folder is not followed
    figure.unlink(missing_ok=True)
    figure.symlink_to(folder / "d.txt")
    printed("plot", "own", "--format", "png", *places(folder))
    assert not figure.is_symlink() and Path("d.txt").read_text() == FILES["d.txt"]


def test_with_closed_streams_the_work_is_done_all_the_same(folder):
    run = "lb run --dataset own --algo regression,random --repeats 1 --folds 1,2 --jobs 2"
    done = shell(f"{run} --out out >&- 2>&-")
    assert done.returncode == 0, done.stderr
    assert len(list(Path("out").rglob("fit.json"))) == 4
    assert "regression" in shell("lb table --out out 2>&-").stdout


def test_a_full_disk_or_too_little_memory_is_one_line(folder, monkeypatch):
    def fails(error: BaseException) -> Callable:
        def fail(*args: object) -> None:
            raise error

        return fail

    monkeypatch.setattr(synthetic, "write_text", fails(OSError(errno.ENOSPC, "No space left")))
    line = refused(1, "datasets", "make", "DEMO", "--data-dir", "made")
    assert line.startswith("letorbench: error: made/") and "cannot be written: No space" in line
    for error, found in (
        (MemoryError("Unable to allocate 9 TiB"), "the memory is not enough: Unable"),
        (OSError(errno.EMFILE, "Too many open files"), "error: Too many open files"),
        (OSError("libgomp.so.1: cannot open shared object file"), "error: libgomp.so.1: cannot"),
    ):
        monkeypatch.setattr("letorbench.datasets.layout.installed", fails(error))
        assert found in refused(1, "datasets", "list")
    with pytest.raises(OSError), write_atomically(folder / "d.txt") as file:
        file.write("half")
        raise OSError
    assert Path("d.txt").read_text() == FILES["d.txt"]


def test_a_matplotlibrc_that_is_no_text_is_one_line(folder):
    Path("matplotlibrc").write_bytes(b"\xff\xfe: 1\n")
    done = shell("lb run --dataset own --algo random --folds 1 --repeats 1")
    assert "Traceback" not in done.stderr and "matplotlib cannot read a matplotlibrc" in done.stderr


def test_learning_curves_of_a_named_data_set_find_its_shares(folder):
    run = ["run", "--dataset", "own", "--algo", "regression", "--share", "0.5,1", *places(folder)]
    assert call(*run).exit_code == 0
    named = lb.load_results("results", "own", data_dir="data").learning_curves()
    assert sorted(named["share"]) == [0.5, 1.0] and named["ndcg@10"].notna().all()
