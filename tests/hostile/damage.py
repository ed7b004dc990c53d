"""Random damage of stored results and of saved models: how much of it goes unnoticed.

``PYTHONPATH=.:tests python tests/hostile/damage.py --times 10000`` damages one byte, cuts, extends,
empties, removes or exchanges files of a small stored run. Damage is noticed when the fold is said
to be damaged and nothing of it is shown. A change of a fold that no line tells of, or a line about
another fold, is a miss. A damaged model is noticed when it is refused.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sample_models import SAMPLES

from letorbench.errors import DataError
from letorbench.models import load, save
from letorbench.results.paths import CHECKED, FIT
from letorbench.results.store import Store
from letorbench.results.summary import stored_summary

Damage = Callable[[bytes, np.random.Generator], bytes]


def flipped_bit(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    return (
        content[:place] + bytes([content[place] ^ 1 << int(rng.integers(8))]) + content[place + 1 :]
    )


def other_digit(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with a digit changed, as someone who edits a number would."""
    digits = [i for i, byte in enumerate(content) if chr(byte).isdigit()]
    place = digits[int(rng.integers(len(digits)))]
    new = (content[place] - 48 + 1 + int(rng.integers(9))) % 10 + 48
    return content[:place] + bytes([new]) + content[place + 1 :]


def cut_off(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def extended(content: bytes, rng: np.random.Generator) -> bytes:
    return content + [b"\n", b" ", b"0.5\n", b"\x00"][int(rng.integers(4))]


def without_a_piece(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = np.sort(rng.choice(len(content) + 1, 2, replace=False)).tolist()
    return content[:first] + content[last:]


DAMAGES: tuple[Damage, ...] = (flipped_bit, other_digit, cut_off, extended, without_a_piece)


def undetected(out: Path, dataset: str, times: int, seed: int = 0) -> Counter[str]:
    """Damage a file of a fold again and again; return how often each damage went unnoticed."""
    rng = np.random.default_rng(seed)
    folds = sorted(fit.parent for fit in out.glob(f"{dataset}/*/fold*/{FIT}"))
    whole = stored_summary(out, dataset)
    missed: Counter[str] = Counter()
    for _ in range(times):
        folder = folds[int(rng.integers(len(folds)))]
        names = [name for name in (FIT, *CHECKED) if (folder / name).is_file()]
        file = folder / names[int(rng.integers(len(names)))]
        other = folds[int(rng.integers(len(folds)))] / file.name
        content = file.read_bytes()
        kinds = [damage.__name__ for damage in DAMAGES] + ["exchanged", "removed"]
        kind = kinds[int(rng.integers(len(kinds)))]
        if kind == "exchanged":
            new = other.read_bytes()
        elif kind == "removed":
            new = b""
        else:
            new = next(d for d in DAMAGES if d.__name__ == kind)(content, rng)
        if new == content or (kind == "removed" and file.name == FIT):
            continue  # no damage; a fold without its fit.json is one that is not finished
        if kind == "removed":
            file.unlink()
        else:
            file.write_bytes(new)
        if not _noticed(out, folder, whole):
            missed[f"{kind} of {file.name}"] += 1
        file.write_bytes(content)
    assert stored_summary(out, dataset) == whole
    return missed


def _noticed(out: Path, folder: Path, whole: object) -> bool:
    """Whether one line names the fold, and every other fold counts as before."""
    dataset, algo, number = folder.parents[1].name, folder.parent.name, int(folder.name[4:])
    store = Store(out).look(dataset, algo)
    sound, damaged = store.of(dataset, algo), list(store.damaged.values())
    found = stored_summary(out, dataset)
    others = [row for row in found.rows if row.algo != algo]
    return (
        len(damaged) == 1
        and f"{algo}/{folder.name}/" in damaged[0]
        and number not in [fold.number for fold in sound]
        and others == [row for row in whole.rows if row.algo != algo]
    )


def undetected_of_models(folder: Path, times: int, seed: int = 0) -> Counter[str]:
    """Damage files of models of every kind; return how often each damage went unnoticed."""
    rng = np.random.default_rng(seed)
    whole = {}
    for kind, make in SAMPLES.items():
        with suppress(ImportError, pytest.skip.Exception):
            save(make(), folder / f"{kind}.npz")
            whole[kind] = (folder / f"{kind}.npz").read_bytes()
    missed: Counter[str] = Counter()
    for _ in range(times):
        kind = list(whole)[int(rng.integers(len(whole)))]
        damage = DAMAGES[int(rng.integers(len(DAMAGES)))]
        new = damage(whole[kind], rng)
        if new == whole[kind]:
            continue
        path = folder / f"{kind}.npz"
        path.write_bytes(new)
        try:
            load(path)
            missed[f"{damage.__name__} of {kind}"] += 1
        except DataError as error:
            assert str(error).isprintable()
    return missed


def stored_run(folder: Path) -> Path:
    """Run two algorithms on a toy set; return the results folder."""
    from toy_data import write_toy

    from letorbench.experiment.plan import Protocol
    from letorbench.experiment.runner import run

    write_toy(folder / "data")
    protocol = Protocol(folder / "data", folder / "results")
    run(["TOY"], {"regression": {}, "adarank-ndcg": {"rounds": 3}}, None, protocol)
    return protocol.out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp())
    try:
        found = undetected(stored_run(place), "TOY", options.times, options.seed)
        models = undetected_of_models(place, options.times, options.seed)
    finally:
        shutil.rmtree(place)
    for what, missed in (("results", found), ("models", models)):
        print(f"{options.times} damages of {what}, undetected: {missed.total()} {dict(missed)}")
