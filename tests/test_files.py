"""Files that are whole or not there, what killed writers leave, and one writer at a time."""

import errno
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import drawing, places, printed

from letorbench.errors import DataError, WriteError
from letorbench.files import one_writer, unfinished_folder, write_atomically


def test_a_file_is_the_old_one_until_it_is_whole(tmp_path):
    path = tmp_path / "sub" / "a.txt"
    with write_atomically(path) as file:
        file.write("old")
    with pytest.raises(FileNotFoundError), write_atomically(path) as file:
        file.write("half")
        (tmp_path / "absent").read_text()  # its error stays what it is
    assert path.read_text() == "old" and os.listdir(path.parent) == ["a.txt"]
    with write_atomically(path, binary=True) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new" and os.listdir(path.parent) == ["a.txt"]
    assert path.stat().st_mode & 0o777 == (tmp_path / "sub").stat().st_mode & 0o666


WRITER = """
import os, signal, sys
from pathlib import Path
from letorbench.files import one_writer, unfinished_folder, write_atomically
place = Path(sys.argv[1])
with one_writer(place, place), unfinished_folder(place / "new") as folder, \\
        write_atomically(place / "a.txt") as file:
    (folder / "half").write_text("x")
    file.write("half")
    file.flush()
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    print("there", flush=True)
    sys.stdin.readline()
"""


def write_all(place: Path) -> None:
    with one_writer(place, place), unfinished_folder(place / "new") as folder:
        assert os.listdir(folder) == []
        with write_atomically(place / "a.txt") as file:
            file.write("mine")


def test_what_a_killed_writer_left_is_replaced_by_the_next_one(tmp_path):
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path), "kill"])
    assert "a.txt" not in os.listdir(tmp_path) and "new" in os.listdir(tmp_path)
    write_all(tmp_path)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_second_writer_waits_for_the_first(tmp_path):
    other = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path), "wait"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout.readline() == "there\n"
    mine = threading.Thread(target=write_all, args=[tmp_path])
    mine.start()
    mine.join(0.2)
    assert mine.is_alive() and "a.txt" not in os.listdir(tmp_path)
    other.communicate("\n")
    mine.join(10)
    assert os.listdir(tmp_path) == ["a.txt"] and (tmp_path / "a.txt").read_text() == "mine"


@pytest.fixture
def no_flock(monkeypatch):
    """A system without locks, as some network file systems are: the file names its holder."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("fcntl.flock", flock)
    monkeypatch.setattr("letorbench.files.SILENCE", 0.2)
    monkeypatch.setattr("letorbench.files.PATIENCE", 0.3)


def holder(process: int, machine: str) -> str:
    return f"{process}\n{machine}\n"


@pytest.mark.filterwarnings("ignore:flock")
@pytest.mark.parametrize("text", ["", "no number\nhost\n", holder(1, "elsewhere")])
def test_without_flock_a_lock_of_nobody_here_is_not_waited_for_for_ever(
    text, tmp_path, no_flock, capsys
):
    lock = tmp_path / ".lock"
    lock.write_text(text)
    who = "process 1 on elsewhere" if "elsewhere" in text else "an unknown process"
    with pytest.raises(WriteError) as caught, one_writer(tmp_path, tmp_path):
        pass
    assert str(caught.value).endswith(f"{lock} stays; remove it if {who} does not run any more")
    assert capsys.readouterr().err == (f"letorbench: note: waiting for {lock}, which {who} holds\n")
    assert lock.read_text() == text
    lock.unlink()
    write_all(tmp_path)
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.filterwarnings("ignore:flock")
def test_without_flock_a_live_process_is_waited_for_and_a_dead_one_is_not(
    tmp_path, no_flock, capsys
):
    lock, here = tmp_path / ".lock", socket.gethostname()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        lock.write_text(holder(other.pid, here))
        mine = threading.Thread(target=write_all, args=[tmp_path])
        mine.start()
        mine.join(1.0)  # longer than for one that may be dead
        assert mine.is_alive() and os.listdir(tmp_path) == [".lock"]
        who = f"process {other.pid} on {here}"
        said = f"letorbench: note: waiting for {lock}, which {who} holds\n"
        assert capsys.readouterr().err == said
        lock.unlink()  # as its holder does
        mine.join(10)
    assert os.listdir(tmp_path) == ["a.txt"]
    lock.write_text(holder(other.pid, here))  # it has ended
    write_all(tmp_path)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_cannot_be_written_is_named_with_the_reason(tmp_path):
    (tmp_path / "file").touch()
    for attempt in (write_atomically, lambda place: one_writer(place, tmp_path)):
        with pytest.raises(WriteError) as caught, attempt(tmp_path / "file" / "x"):
            pass
        said = f"{tmp_path / 'file' / 'x'}: cannot be written: "
        assert str(caught.value) in (said + "Not a directory", said + "File exists")
        assert isinstance(caught.value, (DataError, OSError)) and caught.value.errno
    with pytest.raises(WriteError) as caught, unfinished_folder(tmp_path / "file"):
        pass
    assert str(caught.value) == f"{tmp_path / 'file'}: cannot be written: File exists"
    with pytest.raises(ValueError, match="half"), unfinished_folder(tmp_path / "new") as folder:
        (folder / "a.txt").touch()
        raise ValueError("half")
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_names_the_file(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(WriteError, match="a.txt: cannot be written: No space left on device"):
        with write_atomically(path) as file:
            os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
            file.write("x")
    assert os.listdir(tmp_path) == []


#: runs a command as on a system without what only POSIX has
ELSEWHERE = """
import os, sys
for name in ("fcntl", "grp", "posixshmem", "pwd", "resource", "syslog", "termios"):
    sys.modules[name] = None
for name in ("fchmod", "fork", "getuid", "killpg", "memfd_create", "sched_getaffinity", "sysconf"):
    if hasattr(os, name):
        delattr(os, name)
from letorbench.cli import main
main()
"""


def test_the_demo_needs_nothing_of_its_surroundings(tmp_path):
    """Neither POSIX, nor a reader, nor settings of Matplotlib that may name what is not there.

    What it prints goes to a pipe that is closed, as by `| head`; a figure has the same bytes here.
    """
    words = ["run", "--dataset", "DEMO", "--algo", "regression"]
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, *words]
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfont.size: 40\n")
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    odd = os.environ | {"MPLBACKEND": "nonsense"}
    with subprocess.Popen(command, cwd=tmp_path, env=odd, **pipe) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert (tmp_path / "results" / "DEMO" / "regression" / "fold5" / "fit.json").exists()
    assert [path for path in tmp_path.rglob(".*") if path.name != ".cache"] == []
    with drawing():
        printed("plot", "DEMO", "--to", str(tmp_path / "here"), *places(tmp_path))
    here = tmp_path / "here"
    for ending, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        drawn = here.with_suffix(ending).read_bytes()
        assert drawn.startswith(start) and b"<dc:date>" not in drawn
    of_run = tmp_path / "results" / "DEMO" / "ndcg.png"
    assert of_run.read_bytes() == here.with_suffix(".png").read_bytes()
