"""Fuzz every kind of input: nothing may crash, nothing may be misread.

``make fuzz SECONDS=600`` shares the time among the targets, each in a process of its own, which a
crash may end. An input that is misread, or that ends the process, stays in the folder fuzz-found;
put it into the target's corpus, and the suite tries it from then on.

Inputs are random changes of a target's corpus, of which many are nearly right; what is right
among them joins it.
"""

import argparse
import importlib
import os
import random
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from letorbench.errors import LetorError  # noqa: E402

#: the modules that have the targets' classes
TARGETS = {
    **dict.fromkeys(("Letor", "Scores", "RankLib", "Run", "Qrels"), "fuzz_text"),
    **dict.fromkeys(("Model", "Archive", "LightGBMText", "XGBoostJSON"), "fuzz_files"),
}
#: where inputs go that a target did not survive
FOUND = Path("fuzz-found")
CORPUS = Path(__file__).with_name("corpus")


class Misread(AssertionError):
    """Something was taken for what it is not."""


class Target(ABC):
    """A kind of input; `words` are likely to be understood, `most` bytes is the longest."""

    words: ClassVar[Sequence[bytes]] = ()
    most: ClassVar[int] = 4096
    #: how many inputs the suite tries
    short: ClassVar[int] = 200

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def seeds(self) -> list[bytes]:
        """Return inputs to begin with: by default the corpus."""
        return [
            path.read_bytes() for path in sorted((CORPUS / type(self).__name__.lower()).glob("*"))
        ]

    @abstractmethod
    def taken(self, data: bytes) -> bool:
        """Return whether the input is taken or refused; raise Misread, or whatever crashed."""


def one_line(error: LetorError) -> None:
    """Raise Misread unless the message is one line that a terminal shows as it is."""
    if not str(error).isprintable():
        raise Misread(f"a message that is not one line: {error}")


#: what is put into texts of any kind
WORDS = (
    b"0", b"1", b"-1", b"+1", b"-0", b"00", b"1.5", b".5", b"5.", b".", b"-", b"1e", b"1e5",
    b"1E-5", b"1e38", b"3.4028235e38", b"3.4028235677973366e38", b"3.4028236e38", b"1e39", b"-1e39",
    b"1e400", b"1e-50", b"1e-400", b"1e99999999999999999999", b"nan", b"NaN", b"inf", b"-inf",
    b"Infinity", b"NULL", b"null", b"0x10", b"0x1p3", b"1_0", b"1,5", "\u0661".encode(),
    "\uff11".encode(), "\u00b2".encode(), b"2147483647", b"2147483648", b"-2147483649",
    b"999999999999999999", b"1000000000000000000", b"9223372036854775808", b"1" * 5000,
    b"0." + b"3" * 60, b"16777217", b"0.1234567890123456789", b"9007199254740993",
    b" ", b"  ", b"\t", b"\r", b"\r\n", b"\n", b"\n\n", b"\v", b"\f", b"\0", b"\x1b[31m", b"\x7f",
    b"\x85", b"\xa0", b"\xff", "\u202e".encode(), "\ufeff".encode(), b"#", b"# ", b":", b"=", b"_",
    b'"', b"'", b"\\", b",", b";", b"[", b"]", b"{", b"}", b"(", b")", b"/", b"../", b"%", b"&",
    b"<", b"=cmd|' /C calc'!A0", b"@", b"true", b"false", b"None",
)  # fmt: skip
#: what ends a word
BETWEEN = b" \t\r\n:=,\"'#"


def mutated(
    data: bytes, other: bytes, rng: random.Random, words: Sequence[bytes], most: int
) -> bytes:
    """Return the data after one to four changes, at most `most` bytes; `other` lends pieces."""
    new = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        _change(new, other, rng, words)
    return bytes(new[:most])


def _change(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    start = rng.randrange(len(new) + 1)
    kinds = ("bit", "byte", "insert", "remove", "word", "word", "digit", "line", "piece", "cut")
    kind = rng.choice(kinds)
    if kind in ("bit", "byte") and new:
        place = start % len(new)
        new[place] = new[place] ^ 1 << rng.randrange(8) if kind == "bit" else rng.randrange(256)
    elif kind == "insert":
        new[start:start] = rng.choice(words)
    elif kind == "remove":
        del new[start : start + rng.choice((1, 1, 2, 4, 20))]
    elif kind == "word":
        stop = start
        while start > 0 and new[start - 1] not in BETWEEN:
            start -= 1
        while stop < len(new) and new[stop] not in BETWEEN:
            stop += 1
        new[start:stop] = rng.choice(words)
    elif kind == "line":
        lines = bytes(new).split(b"\n")
        place = rng.randrange(len(lines))
        line = rng.choice(rng.choice((lines, other.split(b"\n"))))
        lines[place : place + rng.randrange(2)] = rng.choice(([], [line], [line]))
        new[:] = b"\n".join(lines)
    elif kind == "piece":
        length, place = rng.randrange(1, 60), rng.randrange(len(other) + 1)
        new[start : start + rng.choice((0, length))] = other[place : place + length]
    elif kind == "cut" and rng.randrange(4) == 0:
        del new[start:]
    elif digits := [i for i, byte in enumerate(new) if 48 <= byte <= 57]:
        new[rng.choice(digits)] = 48 + rng.randrange(10)


def target_class(name: str) -> type[Target]:
    """Return the class of a target."""
    return getattr(importlib.import_module(TARGETS[name]), name)


def by_mutations(
    made: Target, seconds: float, seed: int, last: Path, most: int = sys.maxsize
) -> int:
    """Try random changes of the corpus, each kept in a file first; return how many."""
    rng, known, words = random.Random(seed), made.seeds(), (*WORDS, *made.words * 4)
    tried, end = 0, time.monotonic() + seconds
    while tried < most and time.monotonic() < end:
        data = mutated(rng.choice(known), rng.choice(known), rng, words, made.most)
        last.write_bytes(data)
        if made.taken(data) and len(known) < 1000 and rng.random() < 0.02:
            known.append(data)
        tried += 1
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, help="one alone, in this process")
    parser.add_argument("--seconds", type=float, default=110.0, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    FOUND.mkdir(exist_ok=True)
    if options.target is None:
        words = [sys.executable, __file__, "--seed", str(options.seed), "--seconds"]
        words += [str(options.seconds / len(TARGETS)), "--target"]
        failed = [name for name in TARGETS if subprocess.run([*words, name]).returncode]
        print("".join(f"{name}: failed, its input is in {FOUND}\n" for name in failed), end="")
    else:
        failed, last = [], FOUND / f"{options.target}-{options.seed}"
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="letorbench-fuzz-", dir=memory) as folder:
            made = target_class(options.target)(Path(folder))
            tried = by_mutations(made, options.seconds, options.seed, last)
        last.unlink()
        print(f"{options.target}: {tried:,} inputs, 0 crashes, 0 misread", flush=True)
    with suppress(OSError):  # an input is left
        FOUND.rmdir()
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
