"""Random damage of archives: how much of it is imported in silence.

``PYTHONPATH=.:tests python tests/hostile/archive_damage.py --times 10000`` damages archives of
every kind that has check sums, imports them, and compares. Damage is noticed when the import ends
with one line and leaves nothing. It is harmless when every file inside has the bytes that it had.
What is neither is a miss, and every other exception is a crash.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
from damage import DAMAGES

from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.members import blocks, opened
from letorbench.errors import DataError

KINDS = ("zip", "stored.zip", "tar.gz", "tar.bz2", "tar.xz")


def zeroed(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with up to 4,096 bytes as a disk leaves them that lost a block."""
    start = int(rng.integers(len(content)))
    length = min(1 << int(rng.integers(13)), len(content) - start)
    return content[:start] + bytes(length) + content[start + length :]


def exchanged_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with two stretches of equal length exchanged."""
    length = 1 << int(rng.integers(8))
    one, other = np.sort(rng.choice(len(content) // length, 2, replace=False)).tolist()
    pieces = [content[i : i + length] for i in range(0, len(content), length)]
    pieces[one], pieces[other] = pieces[other], pieces[one]
    return b"".join(pieces)


ARCHIVE_DAMAGES = (*DAMAGES, zeroed, exchanged_bytes)


def files(rng: np.random.Generator) -> dict[str, bytes]:
    """Return the files of a small data set in five folds, and one that is no part of it."""
    found = {"MQ2008/readme.txt": b"what this is\n" * 20}
    for fold in range(1, 6):
        for part in ("train", "vali", "test"):
            rows = [f"{i % 3} qid:{i // 4} 1:{rng.random():.6f} 2:{i}\n" for i in range(8)]
            found[f"MQ2008/Fold{fold}/{part}.txt"] = "".join(rows).encode()
    return found


def archive(kind: str, content: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    if kind.endswith("zip"):
        method = zipfile.ZIP_STORED if kind == "stored.zip" else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(out, "w", method) as made:
            for name, data in content.items():
                made.writestr(name, data)
    else:
        with tarfile.open(fileobj=out, mode=f"w:{kind[4:]}") as made:
            for name, data in content.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                made.addfile(info, io.BytesIO(data))
    return out.getvalue()


def outcome(path: Path, data_dir: Path, whole: dict[str, bytes]) -> str:
    """Import an archive into a new folder; return noticed, harmless, missed or the crash."""
    try:
        import_archive(path, data_dir)
    except DataError as error:
        one_line = "\n" not in str(error) and str(path) in str(error)
        return "noticed" if one_line and not list(data_dir.glob("*")) else f"left over: {error}"
    except Exception as error:
        return f"crash: {error!r}"
    placed = {p.relative_to(data_dir).as_posix(): p.read_bytes() for p in data_dir.rglob("*.txt")}
    with opened(path) as source:
        inside = {str(each.path): b"".join(blocks(source, each)) for each in source.members}
    expected = {name: data for name, data in whole.items() if "/Fold" in name}
    return "harmless" if inside == whole and placed == expected else "missed"


def damaged_imports(times: int, seed: int = 0) -> dict[str, Counter[str]]:
    """Return, by the kind of archive, how often each outcome came."""
    rng = np.random.default_rng(seed)
    whole = files(rng)
    sound = {kind: archive(kind, whole) for kind in KINDS}
    counts = {kind: Counter() for kind in KINDS}
    work = Path(tempfile.mkdtemp())
    try:
        for kind in KINDS:
            (work / f"a.{kind}").write_bytes(sound[kind])
            assert outcome(work / f"a.{kind}", work / "data", whole) == "harmless"
            shutil.rmtree(work / "data")
        for number in range(times):
            kind = KINDS[number % len(KINDS)]
            damage = ARCHIVE_DAMAGES[int(rng.integers(len(ARCHIVE_DAMAGES)))]
            path = work / f"a.{kind}"
            path.write_bytes(damage(sound[kind], rng))
            found = outcome(path, work / "data", whole)
            shutil.rmtree(work / "data", ignore_errors=True)
            fine = found in ("noticed", "harmless")
            counts[kind][found if fine else f"{damage.__name__}: {found}"] += 1
    finally:
        shutil.rmtree(work)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for kind, found in damaged_imports(options.times, options.seed).items():
        print(f"{kind}: {dict(found)}")
