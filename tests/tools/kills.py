"""SIGKILL at random moments of six commands: the next run must end with the same bytes.

``PYTHONPATH=.:tests python tests/hostile/kills.py --times 300`` kills `run` (in one process and in
two), `datasets import`, `fetch`, `make`, `reproduce` and `report` with all their processes. The
same command is killed up to eight times in the same folder, then runs to its end. Every file must
be that of a run without a kill, and none may stay that is not finished.

Work is counted in what a command does one after the other: folds for `run` and `reproduce`, bytes
sent for `fetch`. What was begun when a kill came counts as done, and again when it is done again.
`import`, `make` and `report` do one thing in one piece, which a kill costs as far as it was: there
the work is processor time after the start of Python. The total weighs the commands by the
processor time of their work without a kill. With `--forked` the commands but `fetch` start without
the start of Python, so that more of the kills meet work.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from forked import Forked, fork, warm

from letorbench.results.paths import FIT, SCORES

LETORBENCH = (sys.executable, "-m", "letorbench")
RUN = (
    *LETORBENCH, "run", "--dataset", "TOY", "--algo", "regression,adarank-ndcg,ranknet",
    "--set", "rounds=3", "--set", "epochs=2", "--set", "learning_rate=0.01", "--repeats", "1",
)  # fmt: skip
#: forty folds, of which most take a tenth of a second
LONG_RUN = (
    *LETORBENCH, "run", "--dataset", "TOY", "--repeats", "1", "--set", "rounds=100",
    "--set", "epochs=200", "--algo",
    "regression,adarank-map,adarank-ndcg,ranknet,lambdarank,rankboost,ndcgboost,listnet",
)  # fmt: skip
REPRODUCE = (
    *LETORBENCH, "reproduce", "ndcgboost-2009", "--part", "figure-1", "--set", "rounds=30",
    "--set", "epochs=100",
)  # fmt: skip
FETCH = """
import sys
from functools import partial
from letorbench.api import data_sets
from letorbench.cli import cli
from letorbench.datasets.catalog import Source
sources = [Source(sys.argv[1], "MQ2008.zip")]
data_sets.fetch_data = partial(data_sets.fetch_data, addresses=sources)
cli(["datasets", "fetch", "MQ2008", *sys.argv[2:]])
"""
#: a command ends in so many seconds, or hangs
HANGS = 600


@dataclass(frozen=True)
class Command:
    """A command line, what must be there before it, and the folders that it writes.

    `before` are commands, or a folder and the name of a toy set in it. `piece` says what work is
    counted in, and `most` how often the command is killed before it may end. `forked` lets it
    start as a child of this process, which has imported everything.
    """

    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    writes: tuple[str, ...]
    piece: str = "seconds"
    most: int = 1
    forked: bool = False


def commands(
    address: str, run: tuple[str, ...] = LONG_RUN, reproduce: tuple[str, ...] = REPRODUCE
) -> dict[str, Command]:
    """Return the commands by name."""
    toy, results = ("toy", "data", "TOY"), ("results", "data")
    two_sets = (("toy", "data", "MQ2008"), ("toy", "data", "OHSUMED"))
    return {
        "run": Command(run, (toy,), results, "folds", 6),
        "run --jobs 2": Command((*run, "--jobs", "2"), (toy,), results, "folds", 4),
        "import": Command(
            (*LETORBENCH, "datasets", "import", "other"), (("toy", "other", "MQ2008"),), ("data",)
        ),
        "fetch": Command((sys.executable, "-c", FETCH, address), (), ("data",), "bytes", 5),
        "make": Command((*LETORBENCH, "datasets", "make", "DEMO"), (), ("data",)),
        "reproduce": Command(reproduce, two_sets, results, "folds", 8),
        "report": Command((*LETORBENCH, "report", "TOY"), (toy, RUN), ("results", ".")),
    }


def prepare(place: Path, command: Command) -> None:
    """Put what a command needs into an empty folder."""
    from toy_data import write_toy

    place.mkdir(parents=True)
    for need in command.before:
        if need[0] == "toy":
            _, folder, name = need
            write_toy(place / folder, name)
        else:
            subprocess.run(need, cwd=place, check=True, capture_output=True, timeout=HANGS)


def contents(place: Path, command: Command) -> dict[str, bytes]:
    """Return the content of every file that the command wrote, without what clocks say."""
    found = {}
    for folder in command.writes:
        for path in sorted((place / folder).rglob("*")):
            name = path.relative_to(place).as_posix()
            if path.is_file() and "/.cache/notes/" not in name and path.name != "meta.json":
                found[name] = timeless(path)
    return found


def timeless(path: Path) -> bytes:
    if path.name != FIT:
        return path.read_bytes()
    fit = json.loads(path.read_text())
    for key in ("seconds", "seal"):
        del fit[key]
    for trial in fit["validation"]["grid"]:
        del trial["seconds"]
    return json.dumps(fit).encode()


def leftovers(place: Path) -> list[str]:
    """Return the unfinished files and folders that are there, and what is in `tmp`."""
    found = [p for p in place.rglob(".*") if p.name not in (".cache", ".jobs")]
    found += (place / "tmp").rglob("*")
    return [p.relative_to(place).as_posix() for p in found]


def started(place: Path, command: Command) -> subprocess.Popen | Forked:
    """Start the command in its own group, with temporary files in the folder `tmp`."""
    (place / "tmp").mkdir(exist_ok=True)
    if command.forked:
        return fork(command.words[len(LETORBENCH) :], place, place.parent / "said")
    with (place.parent / "said").open("wb") as said:
        return subprocess.Popen(
            command.words, cwd=place, start_new_session=True, stdout=said, stderr=said,
            stdin=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(place / "tmp")},
        )  # fmt: skip


def ended(process: subprocess.Popen | Forked, after: float = HANGS) -> tuple[bool, float]:
    """Kill a command with all its processes after some seconds, where it has not ended.

    Returns
    -------
    killed : bool
        Whether it had to be killed.
    seconds : float
        Its processor time, that of its processes included where they ended before it.
    """
    end, killed, there = time.monotonic() + after, False, 0
    while not there:
        if not killed and time.monotonic() > end:
            os.killpg(process.pid, signal.SIGKILL)
            killed = True
        there, status, usage = os.wait4(process.pid, 0 if killed else os.WNOHANG)
        time.sleep(0.002)
    process.returncode = os.waitstatus_to_exitcode(status)
    return killed, usage.ru_utime + usage.ru_stime


def finished(place: Path) -> dict[Path, int]:
    """Return the scores of each finished fold: its file's inode, which a new run changes."""
    fits = [path for path in place.rglob(FIT) if path.is_file()]
    return {fit.parent: (fit.parent / SCORES).stat().st_ino for fit in fits}


def begun(place: Path) -> int:
    """Return how many folds are begun and not finished."""
    return sum(not (folder / FIT).is_file() for folder in place.rglob("fold[1-9]"))


@dataclass
class Reference:
    """What a run without a kill gives.

    Attributes
    ----------
    files : mapping
        The content of each file.
    seconds : float
        How long the run takes.
    begins : float
        How long it takes where nothing is left to do.
    processor : float
        The processor time of its work.
    work : float
        Its work, in what the command counts.
    """

    files: Mapping[str, bytes]
    seconds: float
    begins: float = 0.0
    processor: float = 1.0
    work: float = 1.0


def prepared(work: Path, name: str) -> Path:
    return work / "prepared" / name.replace(" ", "")


def start_up(work: Path, forked: bool) -> float:
    """Return the processor time in which Python and what every command needs are there."""
    place = work / "start"
    place.mkdir()
    words = (*LETORBENCH, "datasets", "list")
    return min(ended(started(place, Command(words, (), (), forked=forked)))[1] for _ in range(3))


def reference(work: Path, name: str, command: Command, server: Server, start: float) -> Reference:
    place = work / "reference" / name.replace(" ", "")
    prepare(prepared(work, name), command)
    shutil.copytree(prepared(work, name), place)
    files, seconds, processor, sent = _uninterrupted(place, name, command, server)
    processor -= start
    done = {"folds": len(finished(place)), "bytes": sent, "seconds": processor}
    return Reference(files, seconds[0], min(seconds), processor, done[command.piece])


def _uninterrupted(
    place: Path, name: str, command: Command, server: Server
) -> tuple[dict[str, bytes], list[float], float, int]:
    """Run the command, and again where all is done.

    Return the files, the seconds of both runs, the first one's processor time and bytes sent.
    """
    seconds, spent, sent = [], [], server.sent
    for _ in range(2):
        start, process = time.monotonic(), started(place, command)
        spent.append(ended(process)[1])
        assert process.returncode == 0, (place.parent / "said").read_text()
        seconds.append(time.monotonic() - start)
        if len(seconds) == 1:
            files, sent = contents(place, command), server.sent - sent
        assert files and contents(place, command) == files and not leftovers(place), name
    return files, seconds, spent[0], sent


@dataclass
class Found:
    """What kills of one command came to."""

    kills: int = 0
    ends: int = 0
    kept: int = 0
    work: float = 0.0
    asked: float = 0.0
    wrong: Counter[str] = field(default_factory=Counter)

    @property
    def factor(self) -> float:
        """Work in all, over that of runs without a kill."""
        return self.work / self.asked if self.asked else 1.0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.ends} ends, {self.kept} finished folds found, "
            f"work {self.factor:.3f}, wrong {sum(self.wrong.values())} {dict(self.wrong)}"
        )


def chain(
    place: Path,
    command: Command,
    expected: Reference,
    rng: np.random.Generator,
    server: Server,
    begins: float,
) -> Found:
    """Kill the command in the folder, once or a few times, let it end; compare.

    begins: the processor time of the start.
    """
    found = Found(ends=1, asked=expected.work)
    sent, done = server.sent, {}
    length = 2 * (expected.seconds - expected.begins) / (command.most + 1)
    for _ in range(command.most):
        after = rng.uniform(0.3 * expected.begins, expected.begins + length)
        if command.most == 1:
            after = rng.uniform(0.2, 1.05) * expected.seconds
        killed, processor = ended(started(place, command), after)
        if not killed:  # the machine has less else to do than when the reference was made
            expected.seconds = expected.begins + 0.8 * (expected.seconds - expected.begins)
            expected.begins *= 0.95
            break
        found.kills += 1
        again = len(done.items() - finished(place).items())
        done = finished(place)
        in_flight = {
            "folds": begun(place), "bytes": 0, "seconds": max(0.0, processor - begins)
        }  # fmt: skip
        found.work += in_flight[command.piece] + (again if command.piece == "folds" else 0)
        found.wrong["run again"] += again
    found.kept = len(done)
    process = started(place, command)
    if ended(process)[0]:
        found.wrong["hangs"] += 1
    found.wrong["fails"] += process.returncode != 0
    again = len(done.items() - finished(place).items())
    found.wrong["run again"] += again
    found.work += server.sent - sent if command.piece == "bytes" else expected.work
    found.work += again if command.piece == "folds" else 0
    files = contents(place, command)
    for name in sorted(files.keys() | expected.files.keys()):
        if files.get(name) != expected.files.get(name):
            found.wrong[f"{name} differs"] += 1
    for name in leftovers(place):
        found.wrong[f"{name} is left over"] += 1
    found.wrong = +found.wrong
    return found


class Server(http.server.ThreadingHTTPServer):
    """Sends one file slowly, from where it is asked to; counts the bytes."""

    daemon_threads = True
    block, pause = 4096, 0.05

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Sender)
        self.content = content
        self.sent = 0

    def handle_error(self, *about: object) -> None:
        """Say nothing: the other end was killed."""


class _Sender(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content = self.server.content
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if first else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(content) - first))
        if first:
            span = f"bytes {first}-{len(content) - 1}/{len(content)}"
            self.send_header("Content-Range", span)
        self.end_headers()
        for start in range(first, len(content), self.server.block):
            sent = self.wfile.write(content[start : start + self.server.block])
            self.server.sent += sent
            time.sleep(self.server.pause)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """Serve an archive of a toy set; yield the server."""
    from toy_data import write_toy

    write_toy(folder / "zip" / "MQ2008", "MQ2008")
    with zipfile.ZipFile(folder / "MQ2008.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((folder / "zip").rglob("*.txt")):
            archive.write(path, path.relative_to(folder / "zip" / "MQ2008"))
    server = Server((folder / "MQ2008.zip").read_bytes())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


def address_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/MQ2008.zip"


def short_kills(times: int, seed: int, only: tuple[str, ...]) -> dict[str, Found]:
    """Kill short commands, and do not care for times: what the suite tries."""
    return kills(times, seed, only, run=RUN, most=1)


def kills(
    times: int,
    seed: int,
    only: tuple[str, ...] = (),
    forked: bool = False,
    log: bool = False,
    run: tuple[str, ...] = LONG_RUN,
    most: int = 8,
) -> dict[str, Found]:
    """Kill commands in turn until there are so many kills; return what came of each command."""
    rng = np.random.default_rng(seed)
    work = Path(tempfile.mkdtemp(prefix="letorbench-kills-"))
    found: dict[str, Found] = {}
    try:
        with Server(b"") if forked else served(work / "served") as server:
            known = {
                name: replace(command, forked=forked, most=min(command.most, most))
                for name, command in commands(address_of(server), run).items()
                if (not only or name in only) and not (forked and name == "fetch")
            }
            if log:
                _warm(work / "warm", known)
            start = start_up(work, forked)
            expected = {name: reference(work, name, known[name], server, start) for name in known}
            found = {name: Found() for name in known}
            while sum(each.kills for each in found.values()) < times:
                name = min(known, key=lambda each: found[each].kills)
                place = work / "trial"
                shutil.rmtree(place, ignore_errors=True)
                # the same times in it as in the reference
                shutil.copytree(prepared(work, name), place)
                found[name] = _sum(
                    found[name], chain(place, known[name], expected[name], rng, server, start)
                )
                if log:
                    so_far = f"total work {total(found, expected):.3f}"
                    print(f"{time.strftime('%X')} {name}: {found[name]}; {so_far}", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return found


def _warm(place: Path, known: Mapping[str, Command]) -> None:
    """Run each command once: kernels may be compiled then, which is not what is timed."""
    for name, command in known.items():
        prepare(place / name, command)
        if command.forked:
            warm(command.words[len(LETORBENCH) :], place / name)
        else:
            ended(started(place / name, command))


def _sum(one: Found, two: Found) -> Found:
    pairs = zip(vars(one).values(), vars(two).values())
    return Found(*(a + b for a, b in pairs))


def total(found: Mapping[str, Found], expected: Mapping[str, Reference]) -> float:
    """Return the work of all commands over that without kills, in processor time."""
    asked = {name: each.ends * expected[name].processor for name, each in found.items()}
    done = sum(asked[name] * each.factor for name, each in found.items())
    return done / (sum(asked.values()) or 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], help="a command; repeatable")
    parser.add_argument("--forked", action="store_true", help="start commands without a start")
    options = parser.parse_args()
    kills(options.times, options.seed, tuple(options.only), options.forked, log=True)
