"""The reader against a plain one, on generated files and on the real ones."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from letorbench.datasets import reader
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_letor, read_queries
from letorbench.errors import UsageError


def read_plainly(lines: list[bytes], n_features: int | None = None) -> QuerySet:
    rows, labels, qids, docids = [], [], [], []
    for line in lines:
        body, _, comment = line.partition(b"#")
        if not body.strip():
            continue
        label, qid, *pairs = body.split()
        labels.append(int(label))
        qids.append(qid[4:].decode())
        rows.append({int(i): np.float32(float(v)) for i, v in (p.split(b":") for p in pairs)})
        name, equals, rest = comment.partition(b"=")
        known = name.strip() == b"docid" and equals and rest.split()
        docids.append(rest.split()[0] if known else b"")
    width = n_features or max(max(row, default=1) for row in rows)
    features = np.zeros((len(rows), width), dtype=np.float32)
    for i, row in enumerate(rows):
        for index, value in row.items():
            features[i, index - 1] = value
    first = [i for i, q in enumerate(qids) if i == 0 or q != qids[i - 1]]
    return QuerySet(
        features,
        np.array(labels, dtype=np.int32),
        np.array([*first, len(rows)], dtype=np.int64),
        np.array([qids[i] for i in first]),
        np.array(docids) if any(docids) else None,
    )


def assert_same(ours: QuerySet, plain: QuerySet) -> None:
    assert ours.qids.tolist() == plain.qids.tolist()
    for name in ("features", "labels", "offsets"):
        mine, other = getattr(ours, name), getattr(plain, name)
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape), name
        np.testing.assert_array_equal(
            np.ascontiguousarray(mine).view(np.uint8), other.view(np.uint8), err_msg=name
        )
    assert type(ours.features) is np.ndarray
    assert ours.features.flags.c_contiguous
    if plain.docids is None:
        assert ours.docids is None
    else:
        assert ours.docids is not None and ours.docids.tolist() == plain.docids.tolist()


digits = st.text("0123456789", min_size=1, max_size=12)
numbers = st.one_of(
    st.sampled_from(
        "0 -0 1 0.5 .5 5. +3 -28.428486 1e-3 2E+4 0.666667 853 0.30000000000000004 "
        "0.50000002980232238769531250".split()
    ),
    st.tuples(st.sampled_from(["", "-"]), digits, digits).map(lambda t: f"{t[0]}{t[1]}.{t[2]}"),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.25f}"),
)
gaps = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
comments = st.sampled_from(
    ["", "", " ", "\t", "#docid = G-12 inc = 1", " # docid=X", " #docid = ", " # 3:4 words", "#",
     " #docid = " + "long" * 9]
)  # fmt: skip
filler = st.sampled_from(["\n", "\r\n", "  \n", "# only a comment\n", "\t# 1 qid:1 9:9\r\n"])


@st.composite
def files(draw: st.DrawFn) -> str:
    width = draw(st.integers(1, 12))
    dense = draw(st.booleans())
    text = ""
    for query in range(draw(st.integers(1, 5))):
        qid = draw(st.sampled_from(["{}", "0{}", "WT04-{}", "2003/td/{}", "é{}", "q" * 200 + "{}"]))
        qid = qid.format(query * 7 - 3)
        for _ in range(draw(st.integers(1, 4))):
            chosen = range(1, width + 1)
            if not dense:
                chosen = sorted(draw(st.sets(st.integers(1, width), max_size=width)))
            if draw(st.integers(0, 5)) == 0:
                text += draw(filler)
            text += draw(st.sampled_from(["", " "])) + str(draw(st.integers(0, 4)))
            text += draw(gaps) + "qid:" + qid
            text += "".join(f"{draw(gaps)}{i}:{draw(numbers)}" for i in chosen)
            text += draw(comments) + draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return text + draw(st.sampled_from(["", "\n", "# end", "# end\n"]))


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("block", [1, 37, 400, 1 << 20])
def test_generated_files(
    block: int, threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BLOCK", block)
    monkeypatch.setenv("LETORBENCH_THREADS", threads)
    path = tmp_path / "data.txt"

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(text=files(), ended=st.booleans())
    def check(text: str, ended: bool) -> None:
        width = read_plainly(text.encode().split(b"\n")).n_features
        if not ended:
            text += "\n0 qid:99" + "".join(f" {i}:1" for i in range(1, width + 1))
        path.write_bytes(text.encode())
        lines = text.encode().split(b"\n")
        assert_same(read_queries(path), read_plainly(lines))
        wider = ReadOptions(n_features=width + 2)
        assert_same(read_queries(path, wider), read_plainly(lines, width + 2))

    check()


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
    lines = [f"1 qid:{i} 1:1 3:{i}".encode() for i in range(50)] + [b"0 qid:60 2:1 17:4"]
    path = tmp_path / "data.txt"
    path.write_bytes(b"\n".join(lines))
    ours = read_queries(path)
    assert ours.n_features == 17
    assert_same(ours, read_plainly(lines))


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
