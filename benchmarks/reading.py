"""Reading speed and memory, against other readers: `python -m benchmarks reading`.

A file of about 300 MB with the shape and the number formats of MSLR (136 features, small
integers, counts, six decimals, negative logarithms) is written to a temporary folder. All
times are medians with a warm page cache.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks.table import Row, seconds, show  # noqa: E402

FEATURES = 136
MEGABYTE = 1_000_000
REPEATS = 7
SMALL = 10 * MEGABYTE

PEAK = """
import resource, sys
from pathlib import Path
from letorbench.datasets.reader import read_queries
read_queries(Path(sys.argv[2]))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
output = read_queries(Path(sys.argv[1])).features.nbytes
print((peak() - before) / output)
"""
#: a process counts the peak of the one that started it, so a small one stands between
BETWEEN = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"


def write_file(path: Path, size: int, rng: np.random.Generator) -> None:
    """A file of at least `size` bytes: queries of 120 documents, values of MSLR's kinds."""
    lines = [_line(rng) for _ in range(4000)]
    written = query = 0
    with open(path, "w", encoding="ascii") as file:
        while written < size:
            query += 1
            chosen = rng.integers(0, len(lines), 120)
            labels = rng.integers(0, 5, 120)
            written += file.write(
                "".join(f"{r} qid:{query} {lines[i]}\n" for r, i in zip(labels, chosen))
            )


def _line(rng: np.random.Generator) -> str:
    kinds = np.arange(FEATURES) % 5
    zero = rng.random(FEATURES) < 0.4
    values = []
    for kind, is_zero in zip(kinds, zero):
        if is_zero:
            values.append("0")
        elif kind == 0:
            values.append(str(rng.integers(1, 6)))
        elif kind == 1:
            values.append(str(int(rng.lognormal(5, 2))))
        elif kind == 2:
            values.append(f"{rng.random():.6f}".rstrip("0").rstrip("."))
        elif kind == 3:
            values.append(f"{rng.uniform(1, 40):.6f}")
        else:
            values.append(f"{-rng.uniform(1, 40):.6f}")
    return " ".join(f"{j}:{value}" for j, value in enumerate(values, 1)) + " "


def peak_over_output(path: Path, small: Path) -> float:
    """Memory at its peak over the output's bytes, in a new process, after a small file."""
    python = [sys.executable, "-c"]
    command = [*python, BETWEEN, *python, PEAK, str(path), str(small)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def sklearn(path: str) -> None:
    from sklearn.datasets import load_svmlight_file

    load_svmlight_file(path, query_id=True)


def xgboost(path: str) -> None:
    import xgboost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it will be dropped
        xgboost.DMatrix(f"{path}?format=libsvm")


#: other libraries -> how they read the file
READERS: dict[str, Callable[[str], None]] = {
    "scikit-learn load_svmlight_file": sklearn,
    "XGBoost DMatrix": xgboost,
}


def reader_seconds(read: Callable[[str], None], path: Path, small: Path) -> float | None:
    """Time of another library's reader, None without it.

    Once, on the whole file: scikit-learn's speed falls with the file's size (19 MB/s at 10 MB, 13
    at 100), so a time on a part cannot be scaled.
    """
    try:
        read(str(small))
    except ImportError:
        return None
    start = time.perf_counter()
    read(str(path))
    return time.perf_counter() - start


def rows(size: int = 300 * MEGABYTE) -> list[Row]:
    """Reading from text and from the cache, its memory, and other readers' times."""
    from letorbench.datasets.cache import Cache
    from letorbench.datasets.reader import ReadOptions, read_queries

    with tempfile.TemporaryDirectory() as name:
        path, small = Path(name) / "all.txt", Path(name) / "small.txt"
        rng = np.random.default_rng(0)
        write_file(path, size, rng)
        write_file(small, SMALL, rng)
        ours = seconds(lambda: read_queries(path), REPEATS)
        others = {name: reader_seconds(read, path, small) for name, read in READERS.items()}
        peak = peak_over_output(path, small)
        cache = Cache(Path(name) / "cache")
        cached = seconds(lambda: cache.queries([path], ReadOptions()), REPEATS)
        return [
            _speed(path.stat().st_size, ours),
            *(_ratio(ours, name, theirs) for name, theirs in others.items()),
            Row(
                "peak memory of reading over its output (a new process, after a small file)",
                f"{peak:.2f}",
                "-",
                "<= 2.5",
                peak <= 2.5,
            ),
            Row(
                "the same file from the cache",
                f"{cached * 1e3:.1f} ms",
                f"text {ours * 1e3:.0f} ms",
                "< 10 ms",
                cached < 0.01,
            ),
        ]


def _speed(size: int, ours: float) -> Row:
    from letorbench.compiled.threads import thread_count

    speed = size / ours / MEGABYTE
    return Row(
        f"reading {size / MEGABYTE:.0f} MB of text, {FEATURES} features, {thread_count()} threads",
        f"{speed:.0f} MB/s",
        "-",
        ">= 1000 MB/s",
        speed >= 1000,
    )


def _ratio(ours: float, name: str, theirs: float | None) -> Row:
    what = f"reading 300 MB of text, beside {name}"
    if theirs is None:
        return Row(what, f"{ours:.2f} s", "not installed", "-", None)
    text = f"{theirs:.1f} s: {theirs / ours:.0f} x"
    holds, target = (theirs >= 100 * ours, ">= 100 x") if "scikit" in name else (None, "-")
    return Row(what, f"{ours:.2f} s", text, target, holds, {"letorbench": ours, name: theirs})


def main() -> None:
    show(rows())


if __name__ == "__main__":
    main()
