"""What the reader makes of numbers and options; tests/tools/fuzz_text.py compares whole files."""

import random
import struct
from pathlib import Path

import numpy as np
import plain_readers
import pytest

from letorbench.datasets import reader
from letorbench.datasets.reader import ReadOptions, read_letor, read_queries
from letorbench.errors import UsageError


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
        # exactly half-way between two float32, and a little to either side of that
        pattern = rng.randint(0x2F000000, 0x4F000000)
        value, above = struct.unpack("<ff", struct.pack("<II", pattern, pattern + 1))
        exact = f"{(value + above) / 2:.60f}".rstrip("0")
        numbers += [exact, exact + "1", exact[:-1] + "4", f"{value:.17g}", f"{value:.9g}"]
    return [number for number in numbers if abs(float(number)) < 3.4028235677973366e38]


def test_numbers_have_the_bits_of_python_float(tmp_path: Path) -> None:
    numbers = hard_cases(random.Random(3))
    path = tmp_path / "data.txt"
    path.write_text("".join(f"0 qid:1 1:{number}\n" for number in numbers))
    found = read_queries(path).features[:, 0].view(np.uint32)
    expected = np.array([float(number) for number in numbers]).astype(np.float32).view(np.uint32)
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), [numbers[i] for i in wrong[:5]]


def test_a_wider_line_far_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    lines = [f"1 qid:{i} 1:1 3:{i}" for i in range(50)] + ["0 qid:60 2:1 17:4"]
    path, text = tmp_path / "data.txt", "\n".join(lines)
    path.write_text(text)
    expected = plain_readers.read_letor(text.encode()).features
    np.testing.assert_array_equal(read_queries(path).features, expected)


def test_null_becomes_a_number_or_the_least_of_the_query(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text(
        "0 qid:1 1:NULL 2:5 3:NULL\n1 qid:1 1:3 2:NULL#docid = a\n0 qid:1 1:-2 2:7 3:NULL\n"
        "0 qid:2 1:NULL 2:1 3:4\n"
    )
    number = read_queries(path, ReadOptions(null=-1)).features
    np.testing.assert_array_equal(number, [[-1, 5, -1], [3, -1, 0], [-2, 7, -1], [-1, 1, 4]])
    least = read_queries(path, ReadOptions(null="min")).features
    np.testing.assert_array_equal(least, [[-2, 5, 0], [3, 5, 0], [-2, 7, 0], [0, 1, 4]])


def test_values_beyond_float32_are_clipped_where_that_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text(f"0 qid:1 1:1.7976931348623157e308 2:-{10**300}\n0 qid:1 1:NULL 2:-1e400\n")
    clipped = read_queries(path, ReadOptions(null="min", clip=True)).features
    np.testing.assert_array_equal(clipped, np.finfo(np.float32).max * np.array([[1, -1]] * 2))


def test_read_letor_takes_a_path_as_text_and_checks_options(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:NULL 2:5\n0 qid:2 2:1\n")
    assert read_letor(str(path), null=3, n_features=3).features.tolist() == [[3, 5, 0], [0, 1, 0]]
    for wrong in ({"null": "max"}, {"null": float("nan")}, {"n_features": 0}):
        with pytest.raises(UsageError, match="expected"):
            read_letor(str(path), **wrong)
