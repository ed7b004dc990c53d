"""The reader against a plain one, on generated files and on the real ones."""

from __future__ import annotations

import random
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
        [
            "0",
            "-0",
            "1",
            "0.5",
            ".5",
            "5.",
            "+3",
            "-28.428486",
            "1e-3",
            "2E+4",
            "0.666667",
            "853",
            "0.30000000000000004",
            "0.50000002980232238769531250",
        ]
    ),
    st.tuples(st.sampled_from(["", "-"]), digits, digits).map(lambda t: f"{t[0]}{t[1]}.{t[2]}"),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.25f}"),
)
gaps = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])
comments = st.sampled_from(
    [
        "",
        "",
        " ",
        "\t",
        "#docid = G-12 inc = 1",
        " # docid=X",
        " #docid = ",
        " # 3:4 words",
        "#",
        " #docid = " + "long" * 9,
    ]
)
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


def test_numbers_that_python_must_round(tmp_path: Path) -> None:
    choose = random.Random(5)
    lines = []
    for i in range(300):
        value = np.float32(choose.uniform(-100, 100))
        middle = (float(value) + float(np.nextafter(value, np.float32(200)))) / 2
        lines.append(f"0 qid:{i} 1:{middle:.70f} 2:{middle:.70f}1#docid = {i}".encode())
    path = tmp_path / "data.txt"
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert_same(read_queries(path), read_plainly(lines))


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


@pytest.mark.parametrize("options", [{"null": "max"}, {"null": float("nan")}, {"n_features": 0}])
def test_options_are_checked(options: dict) -> None:
    with pytest.raises(UsageError, match="expected"):
        ReadOptions(**options)


REAL = [f"OHSUMED/QueryLevelNorm/Fold{k}/test.txt" for k in (1, 3)]
REAL += ["OHSUMED/Feature-min/Fold2/testset.txt", "OHSUMED/Feature-min/ALL/OHSUMED.txt"]
REAL += ["MQ2008/S1.txt", "MQ2008/Fold4/train.txt"]


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import zipfile

    folder = tmp_path_factory.mktemp("real")
    for name in ("OHSUMED.zip", "MQ2008.zip"):
        with zipfile.ZipFile(shared / "archives" / name) as archive:
            names = [n for n in archive.namelist() if n in REAL]
            archive.extractall(folder, names)
    return folder


@pytest.mark.parametrize("name", REAL)
def test_real_files(name: str, real: Path) -> None:
    path = real / name
    if not path.exists():
        pytest.skip(f"{name} is not in the archives under this name")
    assert_same_beginning(path)


def test_real_mslr(shared: Path) -> None:
    assert_same_beginning(shared / "archives" / "MSLR-sample.test.txt")


def assert_same_beginning(path: Path, most: int = 2000) -> None:
    lines = path.read_bytes().split(b"\n")
    lines = [line for line in lines if line.strip()]
    ours = read_queries(path)
    assert ours.n_docs == len(lines)
    plain = read_plainly(lines[:most], ours.n_features)
    whole = int(np.searchsorted(ours.offsets, most, side="right")) - 1
    whole = min(whole, ours.n_queries)
    assert_same(ours.queries(0, whole), plain.queries(0, whole))


def test_read_letor_takes_a_path_as_text(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:NULL 2:5\n0 qid:2 2:1\n")
    assert read_letor(str(path), null=3, n_features=3).features.tolist() == [[3, 5, 0], [0, 1, 0]]
