"""Random damage of the cache of data: how much of it reaches a benchmark.

``PYTHONPATH=.:tests python tests/hostile/cache_damage.py --times 10000`` damages, exchanges,
removes and restores files of a cache, some with their old times, and loads the data again. Damage
is noticed when the benchmark equals the first one in every array and fact, and the cache is whole
again. What differs is a miss, and every exception is a crash.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from damage import DAMAGES
from toy_data import write_toy

from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.datasets.cache import TICK_NS

#: what is done beyond a damage of bytes
MOVES = ("removed", "exchanged", "emptied", "folder removed", "folder exchanged", "made a folder")


def facts(data: Benchmark) -> dict[str, object]:
    """Return all that a benchmark holds, in a form that compares."""
    sets = [(fold.train, fold.validation, fold.test) for fold in data.folds]
    return {
        "name": data.name,
        "provenance": dict(data.provenance),
        "convention": repr(data.convention),
        "arrays": [_bytes(queries) for parts in sets for queries in parts],
    }


def _bytes(queries: QuerySet) -> list[object]:
    arrays = (queries.features, queries.labels, queries.offsets, queries.qids, queries.docids)
    return [None if a is None else (a.dtype.str, a.shape, a.tobytes()) for a in arrays]


def damage_cache(cache: Path, rng: np.random.Generator) -> str:
    """Do something to the cache; return what."""
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    path = files[int(rng.integers(len(files)))]
    other = files[int(rng.integers(len(files)))]
    kinds = [*(each.__name__ for each in DAMAGES), *MOVES]
    kind = kinds[int(rng.integers(len(kinds)))]
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    if kind == "removed":
        path.unlink()
    elif kind == "exchanged":
        mine = path.read_bytes()
        path.write_bytes(other.read_bytes())
        other.write_bytes(mine)
    elif kind == "emptied":
        path.write_bytes(b"")
    elif kind == "folder removed":
        shutil.rmtree(path.parent)
    elif kind == "folder exchanged":
        folders = sorted((cache / "entries").iterdir())
        one, two = (folders[int(i)] for i in rng.integers(len(folders), size=2))
        one.rename(cache / "held")
        if two != one:
            two.rename(one)
        (cache / "held").rename(two)
    elif kind == "made a folder":
        path.unlink()
        path.mkdir()
    else:
        content = path.read_bytes()
        made = next(each for each in DAMAGES if each.__name__ == kind)
        path.write_bytes(made(content, rng) if content else b"x")
    if path.is_file() and rng.random() < 0.5:
        os.utime(path, ns=times)
    place = path.parent.name
    return f"{kind} of {'a note' if place == 'notes' else path.name}"


def damaged_loads(times: int, seed: int = 0) -> tuple[Counter[str], Counter[str]]:
    """Return how often what was done, and how often it was missed or ended in a crash."""
    rng = np.random.default_rng(seed)
    data_dir = Path(tempfile.mkdtemp())
    done: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    names = ("TOY", "MQ2008")  # the second has 46 columns by the catalog
    try:
        for number, name in enumerate(names):
            write_toy(data_dir, name, seed=number)
        time.sleep(2 * TICK_NS / 1e9)  # facts are noted only of settled files
        whole = {name: facts(load(name, data_dir)) for name in names}
        cache = data_dir / ".cache"
        for _ in range(times):
            what = damage_cache(cache, rng)
            done[what] += 1
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    same = all(facts(load(name, data_dir)) == whole[name] for name in names)
                except Exception as error:
                    wrong[f"{what}: {error!r}"] += 1
                    shutil.rmtree(cache)
                    for name in names:
                        load(name, data_dir)
                else:
                    wrong[f"{what}: missed"] += not same
            unfinished = [p for p in cache.rglob(".*") if p != cache]
            wrong[f"{what}: left over"] += len(unfinished)
    finally:
        shutil.rmtree(data_dir)
    return done, +wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    done, wrong = damaged_loads(options.times, options.seed)
    print(f"{options.times} damages {dict(done)}")
    print(f"wrong: {sum(wrong.values())} {dict(wrong)}")
