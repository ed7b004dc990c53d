"""The reader against a plain one, on generated files and on the real ones."""

import random
import struct
from pathlib import Path

import numpy as np
import plain_readers
import pytest

from letorbench.datasets import reader
from letorbench.datasets.reader import ReadOptions, read_letor, read_queries
from letorbench.errors import UsageError


def check(path: Path, text: bytes, n_features: int | None = None) -> None:
    """Compare what is read of a text with what a plain reader reads, bit by bit."""
    path.write_bytes(text)
    plain = plain_readers.read_letor(text, n_features=n_features)
    ours = read_queries(path, ReadOptions(n_features=n_features))
    assert (ours.labels.dtype, ours.offsets.dtype) == (np.int32, np.int64)
    assert ours.labels.tolist() == plain.labels
    assert np.repeat(ours.qids, np.diff(ours.offsets)).tolist() == plain.qids
    assert type(ours.features) is np.ndarray and ours.features.flags.c_contiguous
    assert ours.features.dtype == np.float32 and ours.features.shape == plain.features.shape
    assert ours.features.tobytes() == plain.features.tobytes()
    names = None if ours.docids is None else ours.docids.tolist()
    assert names == (plain.docids if any(plain.docids) else None)


GAPS = (" ", " ", " ", "  ", "\t", " \t ")
COMMENTS = ("", "", " ", "\t", "#docid = G-12 inc = 1", " # docid=X", " #docid = ", " # 3:4 words",
            "#", " #docid = " + "long" * 9)  # fmt: skip
FILLER = ("\n", "\r\n", "  \n", "# only a comment\n", "\t# 1 qid:1 9:9\r\n")
QIDS = ("{}", "0{}", "WT04-{}", "2003/td/{}", "é{}", "q" * 200 + "{}")


def generated(rng: random.Random, numbers: list[str]) -> bytes:
    """Draw the text of a file of a few queries."""
    width, dense, text = rng.randint(1, 12), rng.random() < 0.5, ""
    for query in range(rng.randint(1, 5)):
        qid = rng.choice(QIDS).format(query * 7 - 3)
        for _ in range(rng.randint(1, 4)):
            chosen = sorted(
                rng.sample(range(1, width + 1), width if dense else rng.randint(0, width))
            )
            text += rng.choice(FILLER) if rng.random() < 0.2 else ""
            text += f"{rng.choice(['', ' '])}{rng.randint(0, 4)}{rng.choice(GAPS)}qid:{qid}"
            text += "".join(f"{rng.choice(GAPS)}{i}:{rng.choice(numbers)}" for i in chosen)
            text += rng.choice(COMMENTS) + rng.choice(["\n", "\n", "\r\n"])
    return (text + rng.choice(["", "\n", "# end", "# end\n"])).encode()


def test_generated_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    numbers = hard_cases(rng)
    for _ in range(200):
        monkeypatch.setattr(reader, "BLOCK", rng.choice([1, 37, 400, 1 << 20]))
        monkeypatch.setenv("LETORBENCH_THREADS", rng.choice("13"))
        text = generated(rng, numbers)
        width = plain_readers.read_letor(text).features.shape[1]
        if rng.random() < 0.5:  # a last line that does not end
            text += b"\n0 qid:99" + b"".join(b" %d:1" % i for i in range(1, width + 1))
        check(tmp_path / "data.txt", text)
        check(tmp_path / "data.txt", text, width + 2)


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
    check(tmp_path / "data.txt", "\n".join(lines).encode())


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
