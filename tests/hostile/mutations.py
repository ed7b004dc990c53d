"""Random changes of bytes, made so that many of them are still nearly right."""

from __future__ import annotations

import random
from collections.abc import Sequence

#: what is put into texts of any kind
WORDS = (
    b"0", b"1", b"-1", b"+1", b"-0", b"00", b"1.5", b".5", b"5.", b".", b"-", b"1e", b"1e5",
    b"1E-5", b"1e38", b"3.4028235e38", b"3.4028235677973366e38", b"3.4028236e38", b"1e39", b"-1e39",
    b"1e400",
    b"1e-50", b"1e-400", b"1e99999999999999999999", b"nan", b"NaN", b"inf", b"-inf", b"Infinity",
    b"NULL", b"null", b"0x10", b"0x1p3", b"1_0", b"1,5", "\u0661".encode(), "\uff11".encode(),
    "\u00b2".encode(), b"2147483647", b"2147483648", b"-2147483649", b"999999999999999999",
    b"1000000000000000000", b"9223372036854775807", b"9223372036854775808", b"1" * 5000,
    b"0." + b"3" * 60, b"16777217", b"0.1234567890123456789", b"9007199254740993",
    b" ", b"  ", b"\t", b"\r", b"\r\n", b"\n", b"\n\n", b"\v", b"\f", b"\0", b"\x1b[31m", b"\x7f",
    b"\x85", b"\xa0", b"\xff", "\u202e".encode(), "\ufeff".encode(), b"#", b"# ", b":", b"=", b"_",
    b'"', b"'", b"\\", b",", b";", b"[", b"]", b"{", b"}", b"(", b")", b"/", b"../", b"%", b"&",
    b"<", b"=cmd|' /C calc'!A0", b"@", b"true", b"false", b"None",
)  # fmt: skip


def mutated(
    data: bytes, other: bytes, rng: random.Random, words: Sequence[bytes], most: int
) -> bytes:
    """Return the data after one to four changes, at most `most` bytes; `other` lends pieces."""
    new = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        rng.choice(CHANGES)(new, other, rng, words)
    return bytes(new[:most])


def _flip(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    if new:
        new[rng.randrange(len(new))] ^= 1 << rng.randrange(8)


def _byte(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    if new:
        new[rng.randrange(len(new))] = rng.randrange(256)


def _insert(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    place = rng.randrange(len(new) + 1)
    new[place:place] = rng.choice(words)


def _remove(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    place = rng.randrange(len(new) + 1)
    del new[place : place + rng.choice((1, 1, 2, 4, 20))]


def _word(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    """Put another word for one between blanks, colons, commas or line ends."""
    place = rng.randrange(len(new) + 1)
    start = stop = place
    while start > 0 and new[start - 1] not in b" \t\r\n:=,\"'#":
        start -= 1
    while stop < len(new) and new[stop] not in b" \t\r\n:=,\"'#":
        stop += 1
    new[start:stop] = rng.choice(words)


def _digit(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    places = [i for i, byte in enumerate(new) if 48 <= byte <= 57]
    if places:
        new[rng.choice(places)] = 48 + rng.randrange(10)


def _line(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    """Repeat, remove, swap or take over a line."""
    lines = bytes(new).split(b"\n")
    place, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines.insert(second, lines[place])
    elif kind == 1:
        del lines[place]
    elif kind == 2:
        lines[place], lines[second] = lines[second], lines[place]
    else:
        lines.insert(place, rng.choice(other.split(b"\n")))
    new[:] = b"\n".join(lines)


def _piece(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    """Put a piece of the other text in place of one of this."""
    start, taken = rng.randrange(len(new) + 1), rng.randrange(len(other) + 1)
    length = rng.randrange(1, 60)
    new[start : start + rng.choice((0, length))] = other[taken : taken + length]


def _cut(new: bytearray, other: bytes, rng: random.Random, words: Sequence[bytes]) -> None:
    if rng.randrange(4) == 0:
        del new[rng.randrange(len(new) + 1) :]
    else:
        _digit(new, other, rng, words)


CHANGES = (_flip, _byte, _insert, _remove, _word, _word, _digit, _line, _piece, _cut)
