"""The text kernels against plain Python."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from letorbench.datasets.text import lines as kernels
from letorbench.datasets.text import text_scan
from letorbench.datasets.text.numbers import PADDING


def padded(text: bytes) -> np.ndarray:
    return np.frombuffer(text + bytes(PADDING), dtype=np.uint8).copy()


def prefixes(width: int) -> tuple[np.ndarray, np.ndarray]:
    words = [f" {i}:".encode() for i in range(1, width + 1)]
    rows = [(int.from_bytes(w, "little"), 256 ** len(w) - 1) for w in words] + [(1, 0)]
    return np.array(rows, dtype=np.uint64), np.array([len(w) for w in words] + [0])


def parse_numbers(numbers: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of a column of numbers, which of them were left to Python, and the state."""
    text = "".join(f"0 qid:1 1:{number}\n" for number in numbers).encode()
    n = len(numbers)
    features = np.full((n, 1), np.nan, dtype=np.float32)
    docids, hard = np.zeros((n, 2), np.int64), np.zeros((n, 3), np.int64)
    labels, state = np.zeros(n, np.int32), np.zeros(kernels.STATE, np.int64)
    kernels.parse(
        padded(text), len(text), 0, n,
        kernels.Syntax(*prefixes(1), 10, np.float32(0), False),
        kernels.Rows(features, labels),
        kernels.Notes(docids, hard.copy(), hard, state),
    )  # fmt: skip
    return features[:, 0], hard[: state[kernels.HARDS], 0], state


def bits(values: object) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).view(np.uint32)


def hard_cases(rng: random.Random) -> list[str]:
    cases = "0 -0 +0 .5 5. -.5 -5. +1 00012 0.0 1e5 1E-5 -1e+5 1e0 0e999 1e-46 7e-46 7.1e-46 "
    cases += "1e38 3.4028235e38 3.402823567797336e38 1e-400 1e-50 12345678 123456789 "
    cases += "0.12345678 0.123456789 12345678.12345678 1234567.12345678 123456.123456789 "
    cases += "9007199254740991 9007199254740992 9007199254740993 16777217 16777219 "
    cases += "1.17549435e-38 1.4e-45 2.1019476964872256e-45 0.000000000000000000000000000001 "
    cases += f"{'9' * 40} 0.{'0' * 60}1 1{'0' * 30} 0.{'0' * 20}{'7' * 30}e10"
    numbers = cases.split()
    for _ in range(4000):
        digits = "".join(rng.choices("0123456789", k=rng.randint(1, 25)))
        dot = rng.randint(0, len(digits))
        number = rng.choice(["", "", "-"]) + digits[:dot] + "." + digits[dot:]
        numbers.append(number + rng.choice(["", "", f"e{rng.randint(-60, 45)}"]))
    for _ in range(1000):
        numbers.append(f"{rng.choice(['', '-'])}{rng.randint(0, 99)}.{rng.randint(0, 999999):06}")
    for _ in range(1000):
        # exactly half-way between two float32, and a little to either side of that
        pattern = rng.randint(0x2F000000, 0x4F000000)
        value, above = struct.unpack("<ff", struct.pack("<II", pattern, pattern + 1))
        exact = f"{(value + above) / 2:.60f}".rstrip("0")
        numbers += [exact, exact + "1", exact[:-1] + "4", f"{value:.17g}", f"{value:.9g}"]
    return [number for number in numbers if abs(float(number)) < 3.4028235677973366e38]


def test_numbers_have_the_bits_of_python_float() -> None:
    numbers = hard_cases(random.Random(3))
    values, hard, state = parse_numbers(numbers)
    assert state[kernels.CODE] == kernels.DONE and state[kernels.ROWS] == len(numbers)
    easy = np.ones(len(numbers), dtype=bool)
    easy[hard] = False
    expected = bits([float(number) for number in numbers])
    wrong = np.flatnonzero(easy & (values.view(np.uint32) != expected))
    assert not len(wrong), [numbers[i] for i in wrong[:5]]
    # only numbers too near to the middle of two float32 may be left to Python
    assert len(hard) < 0.4 * len(numbers)
    assert all(len(numbers[i]) > 16 or "e" in numbers[i] for i in hard)


@pytest.mark.parametrize(
    "number",
    [
        "",
        ".",
        "-",
        "+",
        "1e",
        "1e+",
        "1.2.3",
        "nan",
        "inf",
        "1x",
        "-.e3",
        "0x10",
        "1e39",
        "-1e39",
        "1e400",
        "3.4028236e38",
        "1" + "0" * 39,
        "infinity",
        "0x1p3",
        "\u0661",
        "\uff11",
        "1\u00b2",
        "1e99999999999999999999",
        "1_0",
        "--1",
        "1,5",
        "1-",
        "NULL",
        "é",
    ],
)
def test_what_is_no_number_stops(number: str) -> None:
    _, _, state = parse_numbers(["1", number, "2"])
    assert (state[kernels.CODE], state[kernels.ROWS]) == (kernels.VALUE, 1)
    assert state[kernels.POSITION] == len("0 qid:1 1:1\n0 qid:1 1:")


def test_lines_and_rows_are_counted(rng: np.random.Generator) -> None:
    pieces = [b"1 qid:1 1:2\n", b"\n", b" \r\n", b"# c\n", b"\t#\n", b"2 qid:3\r\n", b"0 qid:1 #\n"]
    for _ in range(200):
        lines = [pieces[i] for i in rng.integers(0, len(pieces), rng.integers(1, 12))]
        text = b"".join(lines)
        rows = sum(line.split(b"#")[0].strip() != b"" for line in lines)
        assert text_scan.count_rows(padded(text), len(text)) == rows
        size = int(rng.integers(1, len(text) + 1))
        found = np.zeros(3, dtype=np.int64)
        text_scan.count_lines(padded(text), size, found)
        assert found[0] == text[:size].count(b"\n")
        assert found[1] == text[:size].rfind(b"\n") + 1
        odd = sum(text[i] == 10 and padded(text)[i + 1] <= 35 for i in range(size))
        assert found[2] == odd


def test_widest_looks_at_indices_only() -> None:
    text = b"0 qid:99 1:5 7:1e9\n0 qid:98 3:77 # 50:1 docid = 9\n1 qid:1 12:1 9000:2\n"
    assert text_scan.widest(padded(text), len(text), 9000) == 9000
    assert text_scan.widest(padded(text), len(text), 8999) == 12


def test_gather_copies_and_pads() -> None:
    spans = np.array([[0, 2], [3, 3], [2, 5]])
    out = np.full((3, 3), 9, dtype=np.uint8)
    kernels.gather(padded(b"abcde"), spans, out)
    assert out.view("S3")[:, 0].tolist() == [b"ab", b"", b"cde"]
