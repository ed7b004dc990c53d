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


@pytest.fixture
def queries(rng) -> QuerySet:
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
    lines = "1 Q0 b 7 9 t\n1 Q0 a 9 8 t\n2 Q0 c 5 7 t\n2 Q0 a 1 6 t\n2 Q0 d 1 5 t\n"
    run = written(tmp_path, lines)
    by_rank = tmp_path / "marco.tsv"
    by_rank.write_text(ranks)
    rules = CONVENTIONS["trec_eval"]
    (one, other), _ = measure_runs(qrels, [run, by_rank], default_measures(rules), rules)
    assert one.values.keys() == other.values.keys()
    for name, values in one.values.items():
        assert np.array_equal(values, other.values[name]), name


SCORED = "1 b 2.5\n1 a 3.5\n2 d -2\n2 a 1e3\n2 c -1\n"
RANKED = "1 b 2.0\n1 a 1.0\n2 d 3.0\n2 a 1.0\n2 c 2.0\n"
JSON = '{"1": {"b": 2.5, "a": 3.5}, "2": {"d": -2, "a": 1e3, "c": -1}}'
RANKLIB_RUN = RUN.replace(" Q0 ", " Q0 docid = ").replace("a 1", "a inc = 1 prob = 0.1 1")
HEAD = "# ir_metadata.start\n# schema-version: 0.1\n# ir_metadata.end\n"


@pytest.mark.parametrize("text", [SCORED, RANKED, JSON, RANKLIB_RUN, HEAD + RUN])
def test_runs_of_other_forms_have_the_order_of_the_plain_one(tmp_path, queries, text):
    path = written(tmp_path, text)
    assert detect(path) == "trec"
    expected = [-1, -2, -1, -2, -3] if text is RANKED else [3.5, 2.5, 1e3, -1.0, -2.0]
    assert read_any(path, queries).tolist() == expected


@pytest.mark.parametrize("text", [
    QRELS.replace("\n", ".0\n"), '{"1": {"a": 2, "b": 0}, "2": {"a": 1.0, "c": 0, "d": 0}}',
    "1 a L2\n1 b L0\n2 a L1\n2 c L0\n2 d L0\n",
])  # fmt: skip
def test_qrels_of_other_forms_have_the_same_labels(tmp_path, text):
    (tmp_path / "plain").write_text(QRELS)
    found, plain = read_qrels(written(tmp_path, text)), read_qrels(tmp_path / "plain")
    for name in ("labels", "offsets", "qids", "docids"):
        assert np.array_equal(getattr(found, name), getattr(plain, name)), name


def test_documents_without_ids_go_by_their_position(tmp_path, queries):
    text = "2 Q0 3 1 5 t\n2 Q0 1 2 4 t\n1 Q0 2 1 9 t\n1 Q0 1 2 8 t\n2 Q0 2 9 1 t\n"
    path = written(tmp_path, text)
    expected = [8.0, 9.0, 4.0, 1.0, 5.0]
    assert read_any(path, replace(queries, docids=None)).tolist() == expected
    empty = replace(queries, docids=np.zeros(5, "S1"))
    assert read_any(path, empty).tolist() == expected


GONE, FINITE = "which its test file does not have", "expected a finite number"
SIX, THREE = "expected 6: qid Q0 docno rank score tag", "expected 3: qid index score"
RANK, QID = "each once (qid pid rank), or 6 columns", "printable characters in UTF-8, at most 1,000"
#: files, the line that the error names, and its nouns
WRONG = [
    (RUN.replace("2 Q0 c", "2 Q0 x"), 4, f"document x of query 2, {GONE}"),
    (RUN.replace("2 Q0 c", "7 Q0 c"), 4, f"query 7, {GONE}"),
    (RUN.replace("2 Q0 c", "2 Q0 a"), 4, "document a of query 2 again…(line 3)"),
    (RUN.replace("2 Q0 d 3 -2 t\n", ""), 0, "no score for document d of query 2…5…(1 have none)"),
    (RUN.replace(" -2 t", " x t"), 5, f"'x', {FINITE}"),
    (RUN.replace(" -2 t", " nan t"), 5, f"'nan', {FINITE}"),
    (RUN.replace(" -2 t", " -2 \0"), 5, "a zero byte, expected text"),
    (RUN.replace(" -2 t", " 1_0 t"), 5, f"'1_0', {FINITE}"),
    (RUN.replace(" -2 t", " -2"), 5, f"5 columns, {SIX}"),
    ("1 a 1\n1 b 2\n2 a 1\n2 b 3\n", 0, f"ranks than 1 to 2 in query 2…{RANK}"),
    ("1 a 2\n1 b 2\n", 0, f"ranks than 1 to 2 in query 1…{RANK}"),
    ("1 a 0\n", 0, f"ranks than 1 to 1 in query 1…{RANK}"),
    ("1 a 3\n1 b 2\n", 0, f"ranks than 1 to 2 in query 1…{RANK}"),
    ('{"1": {"a": 2, "b": 1, "a": 2}}', 1, "document a of query 1 again"),
    ('{"1": {"a": NaN}}', 1, f"'NaN', {FINITE}"),
    ('{"error": "not found"}', 0, "JSON that is no object of objects…{query: {document: number}}"),
    ('{"1": {"a"', 0, "JSON that is no object of objects"),
    (RANKLIB.replace("2\t1", "2\t3"), 4, f"document 3 of query 2, {GONE}"),
    (RANKLIB[16:], 0, "no score for document 0 of query 1…5…(2 have none)"),
    (RANKLIB.replace("-2", "-2\t7"), 5, f"4 columns, {THREE}"),
    (RANKLIB.replace("\t-2", ""), 5, f"2 columns, {THREE}"),
    ("1\n2\n3\n4\n", 5, "4 scores, expected 5"),
    ("1\n2\n3\n4\n5\n6\n", 6, "6 scores, expected 5"),
    ("", 1, "0 scores, expected 5"),
    ("1\nx\n3\n4\n5\n", 2, f"'x', {FINITE}"),
    ("1\n2_5\n3\n4\n5\n", 2, f"'2_5', {FINITE}"),
    ("1\n2\nnan\n4\n5\n", 3, f"'nan', {FINITE}"),
    ("1\n1e309\n3\n4\n5\n", 2, f"'1e309', {FINITE}"),
    ("1 2\n3\n4\n5\n6\n", 1, f"'1 2', {FINITE}"),
]
WRONG_QRELS = [
    (QRELS + "2 0 a 1\n", 6, "document a of query 2 again"),
    (QRELS.replace("1 0 b", "q\x7f 0 b"), 2, f"query id 'q\\x7f'…{QID}"),
    (QRELS.replace("1 0 b", "q\udcff 0 b"), 2, f"query id 'q\ufffd'…{QID}"),
    (QRELS.replace("1 0 b", "7" * 1001 + " 0 b"), 2, f"query id '{'7' * 40}'…{QID}"),
    (QRELS.replace("a 2", "a 0.5"), 1, "'0.5', expected a whole number"),
    (QRELS.replace("a 2", "a 1000001"), 1, "label 1000001, expected at most 1000000"),
    ("1 a 2\n", 1, "3 columns, expected 4: qid iter…BEIR's names query-id corpus-id score first"),
    ("", 0, "no lines, expected lines of qid iter docno label"),
]


@pytest.mark.parametrize(("text", "line", "nouns"), WRONG + WRONG_QRELS)
def test_what_is_wrong_in_a_file_is_named(tmp_path, queries, text, line, nouns):
    path = written(tmp_path, text)
    with pytest.raises(DataError) as error:
        if (text, line, nouns) in WRONG_QRELS:
            read_qrels(path)
        else:
            read_any(path, queries, "trec" if RANK in nouns else "auto")
    assert str(error.value).startswith(f"{path}{f':{line}' * bool(line)}: found ")
    assert all(each in str(error.value) for each in nouns.split("…"))


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
