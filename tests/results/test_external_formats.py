"""Scores and models in the forms of other systems: read back as written, or refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.measures import default_measures
from letorbench.results.export import write_qrels, write_run
from letorbench.results.external import detect, measure_runs, read_any, read_qrels, read_scores_of

RUN = "1 Q0 a 1 3.5 t\n1 Q0 b 2 2.5 t\n2 Q0 a 1 1e3 t\n2 Q0 c 2 -1 t\n2 Q0 d 3 -2 t\n"
RANKLIB = "1\t0\t3.5\n1\t1\t2.5\n2\t0\t1e3\n2\t1\t-1\n2\t2\t-2\n"
QRELS = "1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 c 0\n2 0 d 0\n"
RANKS = (
    "found other ranks than 1 to",
    "expected each once (qid pid rank), or 6 columns: qid Q0 docno rank score tag",
)


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    named = np.array([b"a", b"b", b"a", b"c", b"d"])
    return replace(random_queries(rng, [2, 3]), docids=named)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.txt"
    path.write_bytes(text.encode(errors="surrogateescape"))
    return path


def shuffled(text: str, rng: np.random.Generator) -> str:
    return "".join(rng.permutation(text.splitlines(keepends=True)))


@pytest.mark.parametrize(
    "form, text", [("scores", "3.5\n2.5 \r\n1e3\n-1\n-2\n\n"), ("ranklib", RANKLIB), ("trec", RUN)]
)
def test_formats_and_their_recognition(tmp_path, queries, rng, form, text):
    expected = [3.5, 2.5, 1e3, -1.0, -2.0]
    assert detect(written(tmp_path, text.replace(" a ", f" {'a' * 99} "))) == form
    path = written(tmp_path, "\n" + text if form != "scores" else text)
    assert detect(path) == form
    assert read_any(path, queries).tolist() == expected
    assert read_any(path, queries, form).tolist() == expected
    if form != "scores":
        assert read_any(written(tmp_path, shuffled(text, rng)), queries).tolist() == expected
        ended = written(tmp_path, text.replace("\n", " \r\n"))
        assert read_any(ended, queries).tolist() == expected


def test_scores_alone_stand_in_the_order_of_the_rows_and_named_documents_do_not(tmp_path):
    """The rows 0, 3, 1, 4, 2, 5 of the queries' documents are not the inverse of themselves."""
    scattered = QuerySet.from_arrays(np.zeros((6, 1)), [0] * 6, qid=list("bcabca"))
    assert scattered.rows.tolist() == [0, 3, 1, 4, 2, 5]
    alone = written(tmp_path, "0\n1\n2\n3\n4\n5\n")
    assert read_scores_of(alone, scattered).tolist() == [0, 3, 1, 4, 2, 5]
    named = written(tmp_path, "a\t1\t5\nb\t0\t0\nc\t1\t4\nb\t1\t3\na\t0\t2\nc\t0\t1\n")
    assert read_scores_of(named, scattered).tolist() == [0, 3, 1, 4, 2, 5]


def test_ms_marco_ranks_and_beir_names_mean_what_their_publishers_say(tmp_path, queries, rng):
    """Rank 1 is the best; a tab-separated first line of names makes three columns qrels."""
    ranks, qrels = "1\tb\t1\n1\ta\t2\n2\td\t3\n2\ta\t2\n2\tc\t1\n", tmp_path / "beir.tsv"
    for text in (ranks, ranks.replace("\n", "\r\n"), shuffled(ranks, rng)):
        path = written(tmp_path, text)
        assert detect(path) == "trec"
        assert read_any(path, queries).tolist() == [-2.0, -1.0, -2.0, -1.0, -3.0]
    # RankLib's indices from 0 are told apart from documents, also with scores like ranks
    assert detect(written(tmp_path, "1\t0\t2\n1\t1\t1\n")) == "ranklib"
    for head in ("query-id\tcorpus-id\tscore", "\ufeffQuery-ID\tcorpus-id\tscore\r"):
        qrels.write_text(f"{head}\n1\ta\t2\n1\tb\t0\n2\ta\t1\n2\tc\t0\n2\td\t0\n")
        found = read_qrels(qrels)
        for name in ("labels", "offsets", "qids", "docids"):
            expected = getattr(read_qrels(written(tmp_path, QRELS)), name)
            assert np.array_equal(getattr(found, name), expected), name
    run = written(
        tmp_path, "1 Q0 b 7 9 t\n1 Q0 a 9 8 t\n2 Q0 c 5 7 t\n2 Q0 a 1 6 t\n2 Q0 d 1 5 t\n"
    )
    by_rank = tmp_path / "marco.tsv"
    by_rank.write_text(ranks)
    rules = CONVENTIONS["trec_eval"]
    (one, other), _ = measure_runs(qrels, [run, by_rank], default_measures(rules), rules)
    assert one.values.keys() == other.values.keys()
    for name, values in one.values.items():
        assert np.array_equal(values, other.values[name]), name


def test_documents_without_ids_go_by_their_position(tmp_path, queries):
    text = "2 Q0 3 1 5 t\n2 Q0 1 2 4 t\n1 Q0 2 1 9 t\n1 Q0 1 2 8 t\n2 Q0 2 9 1 t\n"
    path = written(tmp_path, text)
    expected = [8.0, 9.0, 4.0, 1.0, 5.0]
    assert read_any(path, replace(queries, docids=None)).tolist() == expected
    empty = replace(queries, docids=np.zeros(5, "S1"))
    assert read_any(path, empty).tolist() == expected


@pytest.mark.parametrize(
    "text, words",
    [
        (RUN.replace("2 Q0 c", "2 Q0 x"),
         ":4: found document x of query 2, which the data do not have"),
        (RUN.replace("2 Q0 c", "7 Q0 c"), ":4: found query 7, which the data do not have"),
        (RUN.replace("2 Q0 c", "2 Q0 a"),
         ":4: found document a of query 2 again, expected it once (line 3)"),
        (RUN.replace("2 Q0 d 3 -2 t\n", ""), ": found no score for document d of query 2, "
         "expected one for each of the 5 documents (1 have none)"),
        (RUN.replace(" -2 t", " x t"), ":5: found 'x', expected a finite number"),
        (RUN.replace(" -2 t", " nan t"), ":5: found 'nan', expected a finite number"),
        (RUN.replace(" -2 t", " -2 \0"), ":5: found a zero byte, expected text"),
        (RUN.replace(" -2 t", " 1_0 t"), ":5: found '1_0', expected a finite number"),
        (RUN.replace(" -2 t", " -2"),
         ":5: found 5 columns, expected 6: qid Q0 docno rank score tag"),
        ("1 a 1\n1 b 2\n2 a 1\n2 b 3\n", f": {RANKS[0]} 2 in query 2, {RANKS[1]}"),
        ("1 a 2\n1 b 2\n", f": {RANKS[0]} 2 in query 1, {RANKS[1]}"),
        ("1 a 0\n", f": {RANKS[0]} 1 in query 1, {RANKS[1]}"),
        ("1 a 0.9\n", f": {RANKS[0]} 1 in query 1, {RANKS[1]}"),
        (RANKLIB.replace("2\t1", "2\t3"),
         ":4: found document 3 of query 2, which the data do not have"),
        (RANKLIB.replace("1\t0\t3.5\n1\t1\t2.5\n", ""), ": found no score for document 0 of "
         "query 1, expected one for each of the 5 documents (2 have none)"),
        (RANKLIB.replace("-2", "-2\t7"), ":5: found 4 columns, expected 3: qid index score"),
        (RANKLIB.replace("\t-2", ""), ":5: found 2 columns, expected 3: qid index score"),
        ("1\n2\n3\n4\n", ":5: found 4 scores, expected 5, one for each document"),
        ("1\n2\n3\n4\n5\n6\n", ":6: found 6 scores, expected 5, one for each document"),
        ("", ":1: found 0 scores, expected 5, one for each document"),
        ("1\nx\n3\n4\n5\n", ":2: found 'x', expected a finite number"),
        ("1\n2_5\n3\n4\n5\n", ":2: found '2_5', expected a finite number"),
        ("1\n2\nnan\n4\n5\n", ":3: found 'nan', expected a finite number"),
        ("1\n1e309\n3\n4\n5\n", ":2: found '1e309', expected a finite number"),
        ("1 2\n3\n4\n5\n6\n", ":1: found '1 2', expected a finite number"),
    ],
)  # fmt: skip
def test_wrong_files(tmp_path, queries, text, words):
    with pytest.raises(DataError) as error:
        read_any(written(tmp_path, text), queries, "trec" if RANKS[0] in words else "auto")
    assert str(error.value) == f"{tmp_path / 'file.txt'}{words}"


def test_a_run_reads_back_to_the_last_bit(tmp_path, rng):
    queries = random_queries(rng, [1, 30, 7])
    scores = rng.normal(size=38)
    scores[3:9] = scores[3]
    path = tmp_path / "a.run"
    write_run(path, queries, scores, "mine")
    again = read_any(path, queries)
    assert np.array_equal(np.delete(again, range(3, 9)), np.delete(scores, range(3, 9)))
    np.testing.assert_allclose(again[3:9], scores[3], rtol=1e-6)  # ties in the order of trec_eval
    write_run(path, queries, scores, "mine", CONVENTIONS["trec_eval"])
    assert np.array_equal(read_any(path, queries), scores)
    write_run(path, queries, scores, "mine")
    rows = [line.split() for line in path.read_text().splitlines()]
    assert [int(row[3]) for row in rows[1:31]] == list(range(1, 31))
    second = [float(row[4]) for row in rows[1:31]]
    assert second == sorted(second, reverse=True) and rows[0][5] == "mine"
    tied = [int(row[2]) for row in rows[1:31] if abs(float(row[4]) - scores[3]) < 1e-6]
    assert tied == [3, 4, 5, 6, 7, 8]  # ties in file order


def test_qrels_read_back(tmp_path, queries, rng):
    write_qrels(tmp_path / "qrels", queries)
    again = read_qrels(tmp_path / "qrels")
    for name in ("labels", "offsets", "qids", "docids"):
        assert np.array_equal(getattr(again, name), getattr(queries, name)), name
    long = "07" * 500
    mixed = read_qrels(written(tmp_path, f"WT04-2 0 a -2\n{long} 0 b 1\nWT04-2 0 c 1000000\n"))
    assert mixed.qids.tolist() == ["WT04-2", long] and mixed.labels.tolist() == [-1, 1_000_000, 1]
    assert mixed.docids.tolist() == [b"a", b"c", b"b"]


@pytest.mark.parametrize(
    "text, words",
    [
        (QRELS + "2 0 a 1\n", ":6: found document a of query 2 again, expected it once"),
        (QRELS.replace("1 0 b", "q\x7f 0 b"), ":2: found query id 'q\\x7f', expected printable "
         "characters in UTF-8, at most 1,000 bytes"),
        (QRELS.replace("1 0 b", "q\udcff 0 b"), ":2: found query id 'q\ufffd', expected printable "
         "characters in UTF-8, at most 1,000 bytes"),
        (QRELS.replace("1 0 b", "7" * 1001 + " 0 b"), f":2: found query id '{'7' * 40}', expected "
         "printable characters in UTF-8, at most 1,000 bytes"),
        (QRELS.replace("a 2", "a 0.5"), ":1: found '0.5', expected a whole number"),
        (QRELS.replace("a 2", "a 1000001"), ":1: found label 1000001, expected at most 1000000"),
        ("1 a 2\n", ":1: found 3 columns, expected 4: qid iter docno label, or BEIR's names "
         "query-id corpus-id score first"),
        ("", ": found no lines, expected lines of qid iter docno label"),
    ],
)  # fmt: skip
def test_wrong_qrels(tmp_path, text, words):
    with pytest.raises(DataError) as error:
        read_qrels(written(tmp_path, text))
    assert str(error.value) == f"{tmp_path / 'file.txt'}{words}"
