"""What the reader makes of numbers and options, and how it names mistakes in whatever blocks."""

import random
import struct
from pathlib import Path

import numpy as np
import plain_readers
import pytest

from letorbench.datasets import reader
from letorbench.datasets.reader import ReadOptions, read_letor, read_queries
from letorbench.errors import DataError


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


def test_numbers_have_the_bits_of_python_float(tmp_path):
    numbers = hard_cases(random.Random(3))
    path = tmp_path / "data.txt"
    path.write_text("".join(f"0 qid:1 1:{number}\n" for number in numbers))
    found = read_queries(path).features[:, 0].view(np.uint32)
    expected = np.array([float(number) for number in numbers]).astype(np.float32).view(np.uint32)
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), [numbers[i] for i in wrong[:5]]


def test_a_wider_line_far_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK", 64)
    monkeypatch.setattr(reader, "START", 200)
    lines = [f"1 qid:{i} 1:1 3:{i}" for i in range(50)] + ["0 qid:60 2:1 17:4"]
    path, text = tmp_path / "data.txt", "\n".join(lines)
    path.write_text(text)
    expected = plain_readers.read_letor(text.encode()).features
    np.testing.assert_array_equal(read_queries(path).features, expected)


def test_null_becomes_a_number_or_the_least_of_the_query(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(
        "0 qid:one 1:NULL 2:5 3:NULL\n1 qid:one 1:3 2:NULL#docid = a\n"
        "0 qid:one 1:-2 2:7 3:NULL\n0 qid:2 1:NULL 2:1 3:4\n"
    )
    assert read_queries(path, ReadOptions(null=0)).qids.tolist() == ["one", "2"]
    number = read_queries(path, ReadOptions(null=-1)).features
    np.testing.assert_array_equal(number, [[-1, 5, -1], [3, -1, 0], [-2, 7, -1], [-1, 1, 4]])
    kept, nan = read_queries(path).features, np.nan
    np.testing.assert_array_equal(kept, [[nan, 5, nan], [3, nan, 0], [-2, 7, nan], [nan, 1, 4]])
    least = read_queries(path, ReadOptions(null="min")).features
    np.testing.assert_array_equal(least, [[-2, 5, 0], [3, 5, 0], [-2, 7, 0], [0, 1, 4]])
    assert read_letor(str(path), null=-1).features.tolist() == number.tolist()
    words = ["NULL", "nan", "NaN", "NAN", "-nan", "+Nan"]
    path.write_text("".join(f"0 qid:1 1:{word} 2:1\n" for word in words))
    for null, expected in ((7, 7.0), ("min", 0.0)):
        assert read_queries(path, ReadOptions(null)).features[:, 0].tolist() == [expected] * 6


NUMBER, SIZE = "as the value of feature 2, expected a number", "at most 3.4028235e+38"
#: a bad third line, and what its message begins with and names
LINES = [
    ("qid:1 1:2", "'qid:1' as the label…from 0 to 9,999,999, or -1"),
    ("+ qid:1 1:2", "'+' as the label…from 0 to 9,999,999, or -1"),
    ("-2 qid:1 1:2", "'-2' as the label…--grades"),
    ("1.5 qid:1 1:2", "'1.5' as the label…--grades"),
    ("10000000 qid:1 1:2", "'10000000' as the label…--grades"),
    ("1\xa0qid:1 1:2", "a no-break space (U+00A0)…a blank"),
    ("1 \u200bqid:1 1:2", "a zero width space (U+200B)…nothing in its place"),
    ("\u22121 qid:1 1:2", "a minus sign (U+2212)…a plain minus"),
    ("0 1:2 2:3", "'1:2' after the label…qid:Q"),
    ("0", "no qid after the label…qid:Q"),
    ("0 qid: 1:2", "no query id after 'qid:'…qid:Q"),
    ("0 qid:a\x01b 1:2", "query id 'a\\x01b'…printable characters in UTF-8"),
    ("0 qid:\u0661\u2212 1:1 2:x", f"'x' {NUMBER}"),
    (f"0 qid:{'q' * 1001} 1:2", "a query id of 1,001 bytes…at most 1,000"),
    ("0 qid:1 2:1 1:1", "feature index 1 after 2…increasing order"),
    ("0 qid:1 1:1 2:1 2:1", "feature index 2 after 2…increasing order"),
    ("0 qid:1 0:1", "feature index 0…indices from 1"),
    ("0 qid:1 1:1 70000:1", "feature index 70000…at most 65536"),
    ("0 qid:1 0000011:1", "feature index 0000011…at most 6 digits"),
    (f"0 qid:1 1:1 {'x' * 41}", f"'{'x' * 40}...'…index:value"),
    ("0 qid:1 1:1 2", "'2'…index:value"),
    ("0 qid:1 1:1 2:abc", f"'abc' {NUMBER}"),
    ("0 qid:1 1:1 2:-Nan#c", f"-Nan {NUMBER}…--null min, --null 0"),
    ("0 qid:1 1:1 2: 3:4", f"'' {NUMBER}"),
    ("0 qid:1 1:1 2:1e39", f"'1e39' {NUMBER}…{SIZE}"),
    ("0 qid:1 1:1 2:-1e400#c", f"'-1e400' {NUMBER}…{SIZE}"),
    ("0 qid:1 1:1 2:3.4028235677973366e38 3:x", f"'3.4028235677973366e38' {NUMBER}…{SIZE}"),
    ("0 qid:1 1:1 2:1.2.3", f"'1.2.3' {NUMBER}"),
]


@pytest.fixture(params=[(1, "1"), (30, "3")])
def blocks(request, monkeypatch):
    monkeypatch.setattr(reader, "BLOCK", request.param[0])
    monkeypatch.setenv("LETORBENCH_THREADS", request.param[1])


def refused(path: Path, text: str | bytes, said: str, **options: object) -> None:
    """Check that the one line on a file's text begins and goes on as said."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DataError) as caught:
        read_queries(path, ReadOptions(**options))
    first, *nouns = said.split("…")
    line = str(caught.value)
    assert line.startswith(f"{path}:{first}") and all(each in line for each in nouns), line
    assert "\n" not in line and ("cut short" in line) == ("cut short" in nouns)


@pytest.mark.parametrize("line, said", LINES)
@pytest.mark.usefixtures("blocks")
def test_bad_line(line, said, tmp_path):
    path, said = tmp_path / "data.txt", f"3: found {said}"
    good, more = "0 qid:1 000001:1 2:2\n# words\n", "0 qid:1 1:1 2:2\n0 qid:1 2:x\n" * 5
    for ended in (f"{good}{line}\n{more}", f"{good}{line}\r\n{more}"):
        refused(path, ended, said, null="error")
    refused(path, good + line, f"{said}…cut short", null="error")


@pytest.mark.usefixtures("blocks")
def test_qid_that_comes_back(tmp_path):
    path, said = tmp_path / "data.txt", "6: found query '1' again…began at line 1"
    text = "0 qid:1 1:1\n\n1 qid:2 1:1\n0 qid:2 1:1\n#\n2 qid:1 1:1\n0 qid:2 1:1\n"
    # the first of two mistakes is the one that is told
    refused(path, text, said)
    refused(path, text + "0 qid:3 1:x\n", said)
    refused(path, "0 qid:5 1:x\n" + text, "1: found 'x'")


@pytest.mark.usefixtures("blocks")
def test_short_last_line(tmp_path):
    path, dense = tmp_path / "data.txt", "0 qid:1 1:1 2:2 3:3\n0 qid:2 1:1 2:2 3:3\n"
    for end in ("", " "):
        said = "3: found a last line of 2 features without a newline…expected 3 features"
        refused(path, f"{dense}0 qid:2 1:1 2:2{end}", said)
    refused(path, dense + "0 qid:2 1:1 2:", f"3: found '' {NUMBER}…cut short")
    path.write_text(dense + "0 qid:2 1:1 2:2\n")
    assert read_queries(path).features[2].tolist() == [1, 2, 0]
    for text, n_docs in ((dense + "0 qid:3 3:1\n0 qid:3 1:1", 4), (dense.rstrip(), 2)):
        path.write_text(text)
        assert read_queries(path).n_docs == n_docs


def test_files_that_are_no_data(tmp_path, monkeypatch):
    path, lines = tmp_path / "data.txt", "lines of label qid:Q index:value"
    monkeypatch.setattr(reader, "LONGEST_LINE", 20)
    for text, said in (
        ("", f" found an empty file…{lines}"),
        ("\n# a\n", f" found only blank lines and comments…{lines}"),
        ("  ", " found only blank lines and comments"),
        (b"\x1f\x8b\0", f" found a compressed file…{lines}"),
        (b"Rar!\0", " found a compressed file"),
        (b"\0", f" found a binary file…{lines}"),
        ("0 qid:1 1:1\r0 qid:1 1:2\r", " found lines that end in a carriage return alone…newlines"),
        (b"\xff\xc3\x28 qid:1\n", "1: found '\\xff\\xc3(' as the label"),
        ("0 qid:1 1:1\n0 qid:1 1:0.123456\n", " found a line of more than 64 MB"),
    ):
        refused(path, text, said)
    for wrong, said in (("absent.txt", "no such file"), (".", "Is a directory")):
        with pytest.raises(DataError, match=f"^{tmp_path / wrong}: .*{said}"):
            read_queries(tmp_path / wrong)


def test_a_file_that_shrinks_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    path.write_text("0 qid:1 1:1\n" * 100)
    cut = reader.cut_into_blocks

    def cut_and_shrink(*arguments):
        blocks = cut(*arguments)
        path.write_text("0 qid:1 1:1\n" * 50)
        return blocks

    monkeypatch.setattr(reader, "cut_into_blocks", cut_and_shrink)
    with pytest.raises(DataError, match=f"^{path}: found a file that changed while it was read"):
        read_queries(path)


@pytest.mark.usefixtures("blocks")
def test_a_file_that_is_cut_within_its_last_number(tmp_path):
    path = tmp_path / "data.txt"
    lines = "".join(f"{k % 3} qid:{k} 1:0.{k % 9}50 2:1.2{k % 9}5\n" for k in range(50))
    ids = lines.replace("\n", " #docid = D\n")
    for text in (lines + "1 qid:99 1:0.500 2:1.125", ids + "1 qid:99 1:0.5 2:1 #docid = D"):
        for end in ("", "\n", "\r\n"):
            path.write_text(text + end)
            assert read_queries(path).n_docs == 51
    for cut in ("1.12", "1.", "1"):
        text = f"{lines}1 qid:99 1:0.500 2:{cut}"
        path.write_text(text + "\n")
        assert read_queries(path).n_docs == 51
        path.write_text(text.replace("1:0.850", "1:0.85"))  # the values differ in their decimals
        assert read_queries(path).n_docs == 51
        path.write_text(text.partition("\n")[2])  # too few lines to tell
        assert read_queries(path).n_docs == 50
        path.write_text(text.replace("50 ", " ").replace("5\n", "\n").replace("0.500", "0.5"))
        assert read_queries(path).n_docs == 51  # two decimals, or one, may be chance
        said = f"52: found a last line without a newline that ends in 2:{cut}, expected 3 decimals"
        refused(path, "\n" + text, said)
    whole = "1 qid:99 1:0.500 2:1.125"
    refused(path, ids + whole, "51: found a last line without a newline and a comment")
    path.write_text(ids.replace(" #docid = D", "", 1) + whole)  # comments are not on all lines
    assert read_queries(path).n_docs == 51
