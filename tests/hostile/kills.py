"""SIGKILL at random moments of six commands: the next run must end with the same bytes.

``PYTHONPATH=.:tests python tests/hostile/kills.py --times 300`` kills `run` (in one process and in
two), `datasets import`, `fetch`, `make`, `reproduce` and `report` with all their processes, runs
the same command again, and compares every file with that of an uninterrupted run. It counts the
files that differ, the unfinished files that stay, and the finished folds that were run again.
"""

from __future__ import annotations

import argparse
import functools
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.results.paths import FIT, SCORES

LETORBENCH = (sys.executable, "-m", "letorbench")
RUN = (
    *LETORBENCH, "run", "--dataset", "TOY", "--algo", "regression,adarank-ndcg,ranknet",
    "--set", "rounds=3", "--set", "epochs=2", "--set", "learning_rate=0.01", "--repeats", "1",
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


@dataclass(frozen=True)
class Command:
    """A command line, what must be there before it, and the folders that it writes.

    `before` are commands, or "toy" for a toy set in the data folder and "other" for one in
    the folder `other`.
    """

    words: tuple[str, ...]
    before: tuple[object, ...]
    writes: tuple[str, ...]


def commands(address: str) -> dict[str, Command]:
    """Return the commands by name."""
    return {
        "run": Command(RUN, ("toy",), ("results", "data")),
        "run --jobs 2": Command((*RUN, "--jobs", "2"), ("toy",), ("results", "data")),
        "import": Command((*LETORBENCH, "datasets", "import", "other"), ("other",), ("data",)),
        "fetch": Command((sys.executable, "-c", FETCH, address), (), ("data",)),
        "make": Command((*LETORBENCH, "datasets", "make", "DEMO"), (), ("data",)),
        "reproduce": Command(
            (*LETORBENCH, "reproduce", "consistency-2011", "--part", "example"), (), ("results",)
        ),
        "report": Command((*LETORBENCH, "report", "TOY"), ("toy", RUN), ("results", ".")),
    }


def prepare(place: Path, command: Command) -> None:
    """Put what a command needs into an empty folder."""
    from toy_data import write_toy

    place.mkdir(parents=True)
    for need in command.before:
        if need == "toy":
            write_toy(place / "data")
        elif need == "other":
            write_toy(place / "other" / "MQ2008", "MQ2008")
        else:
            subprocess.run(need, cwd=place, check=True, capture_output=True)


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
    """Return the unfinished files and folders that are there."""
    hidden = [p for p in place.rglob(".*") if p.name not in (".cache", ".jobs")]
    return [p.relative_to(place).as_posix() for p in hidden]


def killed(place: Path, command: Command, after: float) -> None:
    """Start the command in its own session; kill it with all its processes after some seconds."""
    process = subprocess.Popen(
        command.words, cwd=place, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finished(place: Path) -> dict[Path, int]:
    """Return the scores of each finished fold: its file's inode, which a new run changes."""
    fits = [path for path in place.rglob(FIT) if path.is_file()]
    return {fit.parent: (fit.parent / SCORES).stat().st_ino for fit in fits}


@dataclass
class Reference:
    """What an uninterrupted run gave, and how long it took."""

    files: Mapping[str, bytes]
    seconds: float


def prepared(work: Path, name: str) -> Path:
    return work / "prepared" / name.replace(" ", "")


def reference(work: Path, name: str, command: Command) -> Reference:
    place = work / "reference" / name.replace(" ", "")
    prepare(prepared(work, name), command)
    shutil.copytree(prepared(work, name), place)
    start = time.monotonic()
    subprocess.run(command.words, cwd=place, check=True, capture_output=True)
    seconds = time.monotonic() - start
    found = Reference(contents(place, command), seconds)
    assert found.files and not leftovers(place), (name, leftovers(place))
    return found


def kill_once(
    work: Path, name: str, command: Command, expected: Reference, rng: np.random.Generator
) -> Counter[str]:
    """Kill, run again, compare; return the counts of what is wrong."""
    place = work / "trial"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(prepared(work, name), place)  # the same times in it as in the reference
    killed(place, command, float(rng.uniform(0.2, 1.05)) * expected.seconds)
    done = finished(place)
    again = subprocess.run(command.words, cwd=place, capture_output=True, text=True)
    found = contents(place, command)
    names = found.keys() | expected.files.keys()
    wrong = Counter(
        {
            f"{name}: differs": sum(found.get(n) != expected.files.get(n) for n in names),
            f"{name}: left over": len(leftovers(place)),
            f"{name}: run again": len(done.items() - finished(place).items()),
            f"{name}: failed": int(again.returncode != 0),
        }
    )
    for line in sorted(n for n in names if found.get(n) != expected.files.get(n)):
        print(f"  {name}: {line} differs", file=sys.stderr)
    for line in leftovers(place):
        print(f"  {name}: {line} is left over", file=sys.stderr)
    return wrong + Counter({"kept": len(done)})


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve an archive of a toy set; yield its address."""
    from toy_data import write_toy

    write_toy(folder / "zip" / "MQ2008", "MQ2008")
    with zipfile.ZipFile(folder / "MQ2008.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((folder / "zip").rglob("*.txt")):
            archive.write(path, path.relative_to(folder / "zip" / "MQ2008"))
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/MQ2008.zip"
    finally:
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


def kills(times: int, seed: int, only: tuple[str, ...] = ()) -> tuple[Counter[str], Counter[str]]:
    """Kill commands in turn; return how often each was killed, and what was wrong."""
    rng = np.random.default_rng(seed)
    wrong: Counter[str] = Counter()
    count: Counter[str] = Counter()
    work = Path(tempfile.mkdtemp())
    try:
        with served(work / "served") as address:
            known = {k: v for k, v in commands(address).items() if not only or k in only}
            expected = {name: reference(work, name, known[name]) for name in known}
            for number in range(times):
                name = list(known)[number % len(known)]
                wrong += kill_once(work, name, known[name], expected[name], rng)
                count[name] += 1
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return count, wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    count, wrong = kills(options.times, options.seed, tuple(options.only))
    kept = wrong.pop("kept", 0)
    print(f"kills {dict(count)}; finished folds found by the next run {kept}; wrong {dict(wrong)}")
