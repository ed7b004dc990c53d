"""SIGKILL at random moments of commands: the next run must end with the same bytes.

`make kills TIMES=300` kills `run` (in one process and in two), `reproduce`, `datasets import` and
`datasets make` with all their processes. The same command is killed a few times in the same folder,
then runs to its end. Every file must be that of a run without a kill, none may stay that is not
finished, and no finished fold may run again.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from toy_data import content, write_toy  # noqa: E402

LETORBENCH = (sys.executable, "-m", "letorbench")
RUN = (
    *LETORBENCH, "run", "--dataset", "TOY", "--algo", "regression,adarank-ndcg,ranknet",
    "--set", "rounds=3", "--set", "epochs=2", "--set", "learning_rate=0.01", "--repeats", "1",
)  # fmt: skip
REPRODUCE = (*LETORBENCH, "reproduce", "ndcgboost-2009", "--part", "figure-1")
#: a command ends in so many seconds, or hangs
HANGS = 600.0
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}


#: a command line, the toy sets FOLDER/NAME that it needs, and the most kills in a row
Command = tuple[tuple[str, ...], tuple[str, ...], int]
COMMANDS: dict[str, Command] = {
    "run": (RUN, ("data/TOY",), 6),
    "run --jobs 2": ((*RUN, "--jobs", "2"), ("data/TOY",), 4),
    "reproduce": (REPRODUCE, ("data/MQ2008", "data/OHSUMED"), 8),
    "import": ((*LETORBENCH, "datasets", "import", "other"), ("other/MQ2008",), 1),
    "make": ((*LETORBENCH, "datasets", "make", "DEMO"), (), 1),
}


def contents(place: Path) -> dict[str, object]:
    """Return the content of every file of data and results, without what clocks say."""
    return {
        f"{folder}/{name}": value
        for folder in ("data", "results")
        for name, value in content(place / folder).items()
        if ".cache/notes/" not in name and not name.endswith("meta.json")
    }


def leftovers(place: Path) -> list[str]:
    """Return the unfinished files and folders that are there, and what is in `tmp`."""
    paths = [path for path in place.rglob(".*") if path.name not in (".cache", ".jobs")]
    return [str(path.relative_to(place)) for path in (*paths, *(place / "tmp").rglob("*"))]


def started(place: Path, words: tuple[str, ...]) -> subprocess.Popen:
    """Start a command in its own group, with temporary files in `tmp`, printing to NAME.said."""
    (place / "tmp").mkdir(exist_ok=True)
    with place.with_suffix(".said").open("wb") as output:
        return subprocess.Popen(
            words, cwd=place, start_new_session=True, stdout=output, stderr=output,
            stdin=subprocess.DEVNULL, env={**ENVIRONMENT, "TMPDIR": str(place / "tmp")},
        )  # fmt: skip


def ended(process: subprocess.Popen, after: float = HANGS) -> bool:
    """Kill a command and its processes if it has not ended after some seconds; return if so."""
    try:
        process.wait(after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def finished(place: Path) -> dict[Path, int]:
    """Return the scores of each finished fold: its file's inode, which a new run changes."""
    fits = [path for path in place.rglob("fit.json") if path.is_file()]
    return {fit.parent: (fit.parent / "scores.txt").stat().st_ino for fit in fits}


def reference(work: Path, name: str, command: Command) -> tuple[dict[str, object], float]:
    """Run a command without a kill; return its files and its seconds."""
    place = work / "reference" / name
    place.mkdir(parents=True)
    words, sets, _ = command
    for toy in sets:
        write_toy(place / Path(toy).parent, Path(toy).name)
    shutil.copytree(place, work / "before" / name)
    start, process = time.monotonic(), started(place, words)
    assert not ended(process) and not process.returncode, name
    seconds, files = time.monotonic() - start, contents(place)
    assert files and not leftovers(place), (name, leftovers(place))
    return files, seconds


def chain(
    place: Path, command: Command, expected: Mapping[str, object], seconds: float,
    rng: np.random.Generator,
) -> Counter[str]:  # fmt: skip
    """Kill a command once or a few times, let it end; return the kills and what was wrong."""
    done, result, (words, _, most) = finished(place), Counter[str](), command
    for number in range(most + 1):
        last, process = number == most, started(place, words)
        killed = ended(process, HANGS if last else rng.uniform(0.2, 0.9) * seconds)
        result["run again"] += len(done.items() - finished(place).items())
        done = finished(place)
        if last or not killed:
            result["hangs"] += killed
            said = place.with_suffix(".said").read_text()[-300:]
            result[f"fails: {said}"] += not killed and process.returncode != 0
            break
        result["kills"] += 1
    files = contents(place)
    for name in files.keys() | expected.keys():
        result[f"{name} differs"] += files.get(name) != expected.get(name)
    for name in leftovers(place):
        result[f"{name} is left over"] += 1
    return +result


def kills(times: int, seed: int, names: list[str]) -> dict[str, Counter[str]]:
    """Kill commands in turn until there are so many kills; return what came of each command."""
    rng, result = np.random.default_rng(seed), {name: Counter[str]() for name in names}
    with tempfile.TemporaryDirectory(prefix="letorbench-kills-") as folder:
        work = Path(folder)
        expected = {name: reference(work, name, COMMANDS[name]) for name in names}
        while sum(each["kills"] for each in result.values()) < times:
            name = min(names, key=lambda each: result[each]["kills"])
            place = work / "trial"
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(work / "before" / name, place)
            result[name] += chain(place, COMMANDS[name], *expected[name], rng)
            print(f"{time.strftime('%X')} {name}: {dict(result[name])}", flush=True)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=COMMANDS, help="repeatable")
    options = parser.parse_args()
    outcomes = kills(options.times, options.seed, options.only or list(COMMANDS)).values()
    sys.exit(any(each.keys() - {"kills"} for each in outcomes))
