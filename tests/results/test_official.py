"""The official tools' own output, reproduced to the byte."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS, convention
from letorbench.measures import P, query_metrics
from letorbench.results.official import official
from letorbench.results.scores import read_scores

SETS = {
    "OHSUMED.Fold1.test": ("letor3", "OHSUMED.zip", "QueryLevelNorm/Fold1/test"),
    "MQ2008.Fold1.test": ("letor4", "MQ2008.zip", "Fold1/test.txt"),
    "MSLR-sample.test": ("mslr", "MSLR-sample.test.txt", ""),
}


def judged(text: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(labels, offsets, qids) of LETOR text, by a reader that is nobody else's."""
    rows = re.findall(rb"^(\d+) qid:(\d+) ", text, re.MULTILINE)
    labels, qid = np.array(rows).astype(np.int64).T
    starts = np.flatnonzero(np.diff(qid, prepend=-1))
    return labels.astype(np.int32), np.append(starts, len(qid)), qid[starts].astype(str)


def data(shared: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    _, archive, member = SETS[name]
    path = shared / "archives" / archive
    if not member:
        return judged(path.read_bytes())
    with zipfile.ZipFile(path) as opened:
        (found,) = [entry for entry in opened.namelist() if member in entry]
        return judged(opened.read(found))


@pytest.mark.parametrize("scores", ["bm25", "constant", "random", "ties"])
@pytest.mark.parametrize("name", SETS)
def test_prints_what_the_official_tool_prints(shared, name, scores):
    labels, offsets, qids = data(shared, name)
    values = read_scores(shared / "golden" / f"{name}.{scores}.scores.txt", len(labels))
    expected = (shared / "golden" / f"{name}.{scores}.official.txt").read_bytes().decode()
    convention = CONVENTIONS[SETS[name][0]]
    assert official(qids, labels, values, offsets, convention, per_query=True) == expected
    averages = [line for line in expected.splitlines(True) if not re.match(r"\d|.* of ", line)]
    assert official(qids, labels, values, offsets, convention) == "".join(averages)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_queries_are_printed_and_added_by_number_whatever_their_order(name):
    """The tools read queries into a table by qid and sort its keys as numbers."""
    qids, labels = ["30", "+9", "100", "-4"], [[2, 0, 1], [0, 1], [1], [0, 0, 2, 1]]
    scores = [[0.1, 0.7, 0.5], [0.4, 0.4], [0.0], [3.0, -1.0, 2.0, 0.5]]

    def printed(order: list[int]) -> str:
        lengths = [len(labels[q]) for q in order]
        return official(
            np.array([qids[q] for q in order]),
            np.concatenate([labels[q] for q in order]),
            np.concatenate([scores[q] for q in order]),
            np.append(0, np.cumsum(lengths)), CONVENTIONS[name], per_query=True,
        )  # fmt: skip

    by_number = printed([3, 1, 0, 2])
    for order in ([0, 1, 2, 3], [2, 0, 1, 3], [1, 3, 2, 0]):
        assert printed(order) == by_number
    if name == "letor3":
        first = re.search(r"^Map of query0:\t(.*)$", by_number, re.MULTILINE)
        assert float(first[1]) == pytest.approx((1 / 2 + 2 / 3) / 2)
        means = re.search(r"^NDCG:\t(.*)$", by_number, re.MULTILINE)
        assert len(means[1].split()) == 4  # they end with the longest list
    else:
        tables = by_number.count("qid")  # one where the library computes neither P nor MAP
        assert re.findall(r"^(\S*\d)\t", by_number, re.M) == ["-4", "+9", "30", "100"] * tables
        qids[0] = "WT04-30"  # no number: the file's order
        found = re.findall(r"^(\S*\d)\t", printed([2, 0, 1, 3]), re.MULTILINE)
        assert found == ["100", "WT04-30", "+9", "-4"] * tables


def test_weights_stay_with_their_queries_whatever_the_files_order():
    """By number query 2 is before query 10; the text's averages are those of `query_metrics`."""
    rules = convention("letor4,mean=weighted")
    queries = {"10": ([1, 0], [2.0, 1.0], 3.0), "2": ([1, 0], [1.0, 2.0], 1.0)}
    texts = set()
    for order in (["10", "2"], ["2", "10"]):
        labels, scores, weights = zip(*(queries[qid] for qid in order))
        rows = np.concatenate(labels), np.concatenate(scores), np.array([0, 2, 4])
        text = official(
            np.array(order), *rows, rules, weights=np.array(weights), per_query=True
        )  # fmt: skip
        texts.add(text)
        first = query_metrics(*rows, [P @ 1], rules)[:, 0]
        expected = np.average(first, weights=weights)
        assert expected == 0.75 and re.search(r"^Average\t0.7500", text, re.MULTILINE)
    assert len(texts) == 1
