"""What `datasets` makes of small files, and the nouns that its errors name."""

import re
import shlex
from itertools import product
from pathlib import Path

import pytest
from conftest import call, printed
from test_archive import as_folder, contents

PAIR = "0 qid:{0} 1:1\n1 qid:{0} 1:2\n"
ROWS, SVM = "label,qid,x\n0,1,2\n", "1 0:1\n0 0:2\n2 0:4\n"

Files = dict[str, str]


def pairs(*paths: str) -> Files:
    """Files of one query with two documents."""
    return {path: PAIR.format(1) for path in paths}


def folds(root: str, *numbers: object) -> Files:
    parts = product(numbers, enumerate(("train", "vali", "test")))
    return {f"{root}/Fold{k}/{name}.txt": PAIR.format(f"{k}{p}1") for k, (p, name) in parts}


def alone(root: str, *lines: str, numbers: tuple[int, ...] = (1, 2, 3)) -> Files:
    return {f"{root}/Fold{k}/test.txt": f"{line}\n" for k, line in zip(numbers, lines)}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


OWN = "--folds 3 --label y --qid q --docid id --columns bm25,n --grades auto --name own"
GRADES = "--folds 3 --grades 0.07,0.14,0.41,0.61 --seed 1"
#: files, a command, the files that it makes below data/ (test parts joined as "tests"), and what
#: it says
TAKEN: list[tuple[Files, str, Files, str]] = [
    (
        {"m.csv": "label,qid,x\n1,NA,3\n0,07,NA\n1,7,\n"}, "split m.csv --folds 3",
        {"m/tests": "0 qid:07 1:NULL\n1 qid:7 1:NULL\n1 qid:NA 1:3\n", "m/features.txt": "x\n"},
        "m  data/m",
    ), (
        {"m.csv": "label,qid,x\n1,red shoes,3\n0,#1,5\n1,red shoes,4\n2,c,6\n"},
        "split m.csv --folds 3",
        {"m/tests": "0 qid:2 1:5\n2 qid:3 1:6\n1 qid:1 1:3\n1 qid:1 1:4\n"},
        "m.csv: a table; queries are numbered…together: 1 of 3",
    ), (
        {"m.csv": "label,qid,a,b\nTRUE,1,0.5,false\nFalse,2,,True\ntrue,3,1,\n"},
        "split m.csv --folds 3",
        {"m/tests": "0 qid:2 1:NULL 2:1\n1 qid:3 1:1 2:NULL\n1 qid:1 1:0.5 2:0\n"}, "",
    ), (
        {"m/train.csv": "TRUE,0.5,false\n", "m/train.csv.query": "1\n",
         "m/test.csv": "0,1,true\n", "m/test.csv.query": "1\n"}, "import m",
        {"m/train.txt": "1 qid:2 1:0.5 2:0\n", "m/test.txt": "0 qid:1 1:1 2:1\n"}, "by .query",
    ), (
        {"m.txt": "0.07 qid:b 1:1\n0 qid:a 1:2 # A\n0.41 qid:b 1:3 2:nan\n0.61 qid:c 1:4\n"
                  "0.14 qid:a 1:5\n"}, f"split m.txt {GRADES}",
        {"m/tests": "4 qid:c 1:4\n1 qid:b 1:1\n3 qid:b 1:3 2:NULL\n0 qid:a 1:2 # A\n"
                    "2 qid:a 1:5\n"},
        "features from 1, queries by qid:…grade 0: below 0.07: 1…grade 3: 0.41 to below 0.61: 1…"
        "grade 4: 0.61 or more: 1…together: 2 of 3",
    ), (
        {"a.txt": "0.07 1:1 # b\n0 1:2 # a\n0.41 1:3 # b\n0.61 1:4 # c\n0.14 1:5 # a\n"},
        "split a.txt --folds 3 --grades 0.2",
        {"a/tests": "0 qid:a 1:2\n0 qid:a 1:5\n1 qid:c 1:4\n0 qid:b 1:1\n1 qid:b 1:3\n"},
        "by each line's comment…grade 0: below 0.2: 3…grade 1: 0.2 or more: 2",
    ), (
        {"a.tsv": "q\ty\tid\tn\tbm25\nb\t0.07\tx\t1e3\t-1.50\nb\t.5\ty\t1\t0.1\na\t2\tz\t-0\t7\n"
                  "c\t2\tv\t1\t16777217\n"}, f"split a.tsv {OWN}",
        {"own/tests": "2 qid:a 1:7 2:-0 #docid = z\n2 qid:c 1:16777216 2:1 #docid = v\n"
                      "0 qid:b 1:-1.5 2:1000 #docid = x\n1 qid:b 1:0.100000001 2:1 #docid = y\n",
         "own/features.txt": "bm25\nn\n"}, "grade 0: 0.07: 1…grade 2: 2: 2",
    ), (
        {"m/train.txt": "1 qid:a 1:1\n0.5 qid:a 1:2\n", "m/vali.txt": "3 qid:b 1:1\n",
         "m/test.txt": "-1 qid:c 1:1\n"}, "import m --grades 0,1,2",
        {"m/train.txt": "2 qid:a 1:1\n1 qid:a 1:2\n", "m/vali.txt": "3 qid:b 1:1\n",
         "m/test.txt": "0 qid:c 1:1\n"}, "grade 0: below 0: 1…grade 3: 2 or more: 1",
    ), (
        {"m/train.txt": "5 qid:1 1:1\n7 qid:1 1:2\n", "m/test.txt": "9 qid:2 1:1\n5 qid:2 1:3\n"},
        "import m --grades auto",
        {"m/train.txt": "0 qid:1 1:1\n1 qid:1 1:2\n", "m/test.txt": "2 qid:2 1:1\n0 qid:2 1:3\n"},
        "grade 0: 5: 2…grade 1: 7: 1…grade 2: 9: 1…the last fifth of the training queries",
    ), (
        {"m/train.csv": "label,qid,x\nbad,1,1\ntop one ,1,2\n",
         "m/test.csv": "label,qid,x\nok,2,3\n"},
        "import m --grades bad,ok,top\\ one",
        {"m/train.txt": "0 qid:1 1:1\n2 qid:1 1:2\n", "m/test.txt": "1 qid:2 1:3\n"},
        "grade 0: bad: 1…grade 1: ok: 1…grade 2: top one: 1",
    ), (
        alone("m", "1 qid:1 1:1", "1 qid:2 1:NULL", "1 qid:3 1:3"), "import m",
        {"m/Fold2/train.txt": "1 qid:3 1:3\n", "m/Fold2/vali.txt": "1 qid:1 1:1\n",
         "m/Fold2/test.txt": "1 qid:2 1:NULL\n"}, "each fold trains on 1 of them",
    ), (
        pairs("m/train.txt", "m/test.txt", "m/b.train.txt", "m/b.test.txt"), "import m",
        pairs("m/train.txt", "m/test.txt"), "test.txt, train.txt: LETOR text…no validation part",
    ), (
        pairs("m/train.txt", "m/test.txt") | {"m/more/readme.txt": ""}, "import m/more/..",
        pairs("m/train.txt", "m/test.txt"), "m  data/m",
    ), (
        {"x.csv": "qid,label,a,b,name\n1,0,NA,2,D1\n2,1,3,,D2\n3,2,4,5,D3\n"},
        "split x.csv --folds 3 --docid name --columns b,a",
        {"x/tests": "1 qid:2 1:NULL 2:3 #docid = D2\n2 qid:3 1:5 2:4 #docid = D3\n"
                    "0 qid:1 1:2 2:NULL #docid = D1\n"}, "",
    ), (
        {"a.csv": 'label;qid;"page; rank"\n0;"2;1";3\n1;4;"5"\n2;7;6\n'}, "split a.csv --folds 3",
        {"a/tests": "1 qid:4 1:5\n2 qid:7 1:6\n0 qid:2;1 1:3\n", "a/features.txt": "page; rank\n"},
        "",
    ), (
        {"b.csv": "\ufeff label qid   x\n1  2 3\n\n0 3  4\n2 4 5\n"}, "split b.csv --folds 3",
        {"b/tests": "0 qid:3 1:4\n2 qid:4 1:5\n1 qid:2 1:3\n"}, "",
    ), (
        {"m/train.tsv": "1\t5\n0\t6\n", "m/train.CD": "0\tLabel\n1\tNum\tlength\n",
         "m/train.tsv.group": "1\n", "m/train.tsv.query": "2\n", "m/test.tsv": "1\t7\n",
         "m/test.CD": "0\tNum\n", "m/test.tsv.cd": "0\tTarget\n1\tNum\tlength\n",
         "m/test.tsv.Group": "1\n"}, "import m",
        {"m/train.txt": "1 qid:2 1:5\n0 qid:2 1:6\n", "m/test.txt": "1 qid:1 1:7\n",
         "m/features.txt": "length\n"}, "test.tsv.cd…by .Group…train.CD…by .query",
    ), (
        {"m/train.txt": "# below 0\n-1 qid:1 1:2\n1 qid:1 1:1\n", "m/test.txt": PAIR.format(2)},
        "import m", {"m/train.txt": "# below 0\n-1 qid:1 1:2\n1 qid:1 1:1\n"},
        "m, fold 1: 1 of 4 documents are not judged (label -1)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "words", "made", "said"), TAKEN)
def test_what_is_made_of_files(files, words, made, said):
    as_folder(Path(), files)
    result = call("datasets", *shlex.split(words))
    assert result.exit_code == 0 and all(each in result.output for each in said.split("…"))
    for path, text in made.items():
        place = Path("data", path)
        parts = sorted(place.parent.glob("Fold*/test.txt")) if place.name == "tests" else [place]
        assert "".join(part.read_text(encoding="utf-8") for part in parts) == text


NUMBER, SIZES = "expected numbers (--columns", "expected a query's number of rows"
BY = "expected qid: after each label, or in no row and x.svm.query"
#: one file's ending and text, the files beside it, options, and the nouns of the error, behind
#: its status if that is not 1
SPLIT: list[tuple[str, str, Files, str, str]] = [
    ("svm", SVM, {}, "", f"x.svm:1: found '0:1'…{BY}"),
    ("svm", "1 0:1 # a b\n", {}, "", f"x.svm:1: found '0:1'…{BY}"),
    ("svm", "# rows\n1 qid:1 0:1\n0 0:1 2:3\n", {}, "", f"x.svm:3: found '0:1'…{BY}"),
    ("svm", "\n1 qid:1 0:1\n0 qid:1 0:y\n", {}, "", "x.svm:3: found 'y' as the value of feature 1"),
    ("svm", "nan qid:1 1:1\n", {}, "", "x.svm:1: found 'nan' as the label…expected a number"),
    ("svm", "1.5 qid:1 1:1\n", {}, "", "x.svm:1: found 1.5…an integer from 0…--grades 0.5"),
    ("svm", "1 1:1 # 7\n-1 1:1 # 7\n", {}, "", "x.svm: found 1 queries…expected at least 3"),
    ("svm", "1 qid:1 1:1\n", {}, "--grades 2,1", "2…found '2,1'…expected auto, numbers"),
    ("svm", "1 qid:1 1:1\n", {}, "--grades a,1", "2…found 'a,1'…expected auto, numbers"),
    ("svm", "1 qid:1 1:1\n", {}, "--grades a,b,a", "2…found 'a,b,a'…words from the lowest"),
    ("svm", "1 qid:1 1:1\n", {}, "--grades a,b", "x.svm: found text…expected a table"),
    ("csv", "label,qid,x\n" + "".join(f"1,{q},{q}\n" for q in range(1001)), {}, "--one-hot x",
     "x.csv: column 'x': found 1,001 words…at most 1,000…--categories…--columns"),
    ("csv", ROWS, {}, "--grades a,b", "x.csv:2: column 'label': found '0'…expected one of a, b"),
    ("csv", "label,qid,x\na,1,2\nB,1,2\n", {}, "--grades a,b", "x.csv:3:…found 'B'…of a, b"),
    ("csv", "label,qid,x\n1,1,2\nB,1,2\n", {}, "", "x.csv:3:…found 'B'…--grades bad,good"),
    ("svm", "1 qid:1 1:1\n", {}, f"--grades {','.join(map(str, range(32)))}",
     "2…found 32 bounds…expected at most 31"),
    ("svm", "1 qid:\1 0:1\n", {}, "", "x.svm:1: found query id '\\x01'…printable characters"),
    ("svm", "1e999 qid:1 0:1\n", {}, "--grades auto", "x.svm:1: found inf…a finite number"),
    ("svm", SVM, {"x.svm.group": "2\n2\n"}, "", "x.svm.group: found 2 queries of 4 rows"),
    ("svm", SVM, {"x.svm.group": "\n"}, "", "x.svm.group: found an empty file…expected lines"),
    ("svm", SVM, {"x.svm.query": "1\n0\n2\n"}, "", f"x.svm.query:2: found '0'…{SIZES}"),
    ("csv", "1,2\n0,2\n", {"x.csv.query": "1\n²\n"}, "", f"x.csv.query:2: found '²'…{SIZES}"),
    ("csv", "label,qid,x\n1,2,3\n\n1,2\n", {}, "", "x.csv:4: found 2 columns…expected 3"),
    ("csv", "label,qid,x\n1,2,3\n1,,3\n", {}, "", "x.csv:3: column 'qid': found no query id"),
    ("csv", "label,qid,x,y\n1,2,1,2\n1,2,1,-1e39\n1,2,1e39,2\n", {}, "",
     "x.csv:3: column 'y': found -1e+39…at most 3.4e+38"),
    ("csv", "label,qid,x,x\n1,2,3,4\n", {}, "", "x.csv: found the column 'x' twice…each name once"),
    ("csv", ROWS, {}, "--qid q", "2…unknown column of x.csv (--qid) 'q'…one of label, qid, x"),
    ("csv", ROWS, {}, "--docid id", "2…unknown column of x.csv 'id'…did you mean qid?"),
    ("csv", ",label,qid\n0,1,2\n", {}, "", "x.csv: found no features…at least 1"),
    ("csv", "label,qid\n0,1\n", {}, "", "x.csv: found no features…expected at least 1 column"),
    ("csv", "label,qid,a\ab\n0,1,2\n", {}, "", "found the column 'a\\x07b'…a name in one line"),
    ("csv", "label,qid,x,id\n0,1,2,a\n0,1,2,a b\n", {}, "--docid id",
     "x.csv:3: column 'id': found the name 'a b'…expected one word"),
    ("csv", ROWS, {"x.csv.query": "4\n"}, "--qid q", "2…unknown column of x.csv (--qid) 'q'"),
    ("svm", SVM, {"x.svm.query": "4\n"}, "--qid q", "x.svm: found text…with names (--qid)"),
    ("svm", "1 qid:1 1:1\n", {}, "--columns 1", "x.svm: found text…with names (--columns)"),
    ("csv", "1,2\n0,2\n", {"x.csv.query": "2\n"}, "--label y", "found columns of…(--label)"),
    ("tsv", "1\t2\n", {"x.cd": "0\tLabel\n"}, "--docid 1 --weight 1", "(--docid, --weight)"),
    ("tsv", "word\t1\t2\n", {"x.cd": "0\tLabel\n1\tGroupId\n"}, "", "x.tsv:1:…found 'word'"),
    ("csv", "label,qid,x\n", {}, "", "x.csv: found no rows…expected at least 1"),
    ("csv", "", {}, "", "x.csv: no table: found an empty file…expected rows"),
    ("csv", 'label,qid,x\n1,1,"2\n0,1,3\n', {}, "", "x.csv:2: found unexpected end…quotes around"),
    ("json", "[1, 2]", {}, "", "x.json: no table: found '1'…an object for each row"),
    ("csv", "label,qid,x\n1,1,\n", {}, "--one-hot x", "x.csv: found no words in x…at least 1"),
    ("svm", "1 1:1 # 7#8\n", {}, "", "x.svm:1: found query id '7#8'…and no #"),
    ("csv", "label;qid;x\n1;1;2,5\n", {}, "", f"x.csv:2: column 'x': found '2,5'…{NUMBER}"),
    ("csv", "label,qid,x\nb,1,2\n", {}, "", "x.csv:2: column 'label': found 'b'…expected numbers"),
    ("csv", "label,qid,x\n1,1,1_0\n", {}, "", f"x.csv:2: column 'x': found '1_0'…{NUMBER}"),
    ("csv", ROWS, {}, "", "x.csv: found 1 queries…expected at least 3, the folds"),
    ("csv", ROWS, {}, "--name ../x", "2…'../x' cannot name a data set…letters, digits"),
    ("csv", ROWS, {}, "--name ohsumed", "2…'ohsumed' cannot name a data set…no published set's"),
    ("csv", ROWS, {"data/x/a": ""}, "", "data/x: is there already…--name gives"),
    ("csv", "0,1,0.5\n1,1,2.5\n", {}, "--label 0 --qid 1", "x.csv:1: found numbers only…names"),
    ("csv", "1,2,3\n", {}, "", "x.csv:1: found numbers only…the columns' names, or x.csv.query"),
    ("csv", "label,qid,x\n" + "".join(f"{q}.5,{q},2\n" for q in range(33)), {}, "--grades auto",
     "x.csv:2: found 33 different labels…expected at most 32"),
    ("txt", "# nothing\n\n", {}, "", "x.txt: found only blank lines…lines of label qid:Q"),
    ("txt", "# nothing\n\n", {}, "--grades auto", "x.txt: found no rows…label index:value"),
    ("tsv", "0\t1\n", {"x.cd": "0\tNum\n"}, "", "x.cd: found no column of type Label…expected 1"),
    ("tsv", "0\t1\n", {"x.cd": "0\tLabel\n"}, "", "x.cd: found no column of type GroupId"),
    ("tsv", "0\t1\n", {"x.cd": f"0\tLabel\n{41 * '2'}\tNum\n"}, "",
     f"x.cd:2: found column '{40 * '2'}'…from 0 to 1"),
    ("tsv", "0\t1\n", {"x.cd": "0\tLabel\n0\tNum\n"}, "", "x.cd:2: found column '0'…from 0 to 1"),
    ("tsv", "0\t1\ta\n", {"x.cd": "0\tLabel\n\n2\tCateg\tbrand\n"}, "",
     "x.cd:3: found column 2 'brand' of type Categ…expected one of Label, Target"),
]  # fmt: skip
NONE, OTHER = "no data set inside…expected folders Fold1, Fold2", "found a file of other content"
#: files, the words of a command, and the nouns of the error
REFUSED: list[tuple[Files, str, str]] = [
    (pairs("m/a.train.txt", "m/a.test.txt", "m/b.train.txt", "m/b.test.txt"), "import m",
     "found m twice…a.test.txt and b.test.txt"),
    (pairs("m/Fold2/x.train.txt", "m/Fold2/x.test.txt"), "import m", "m: found Fold2…to Fold2"),
    (pairs("m/train.txt"), "import m", NONE),
    ({"m/train.csv": ROWS, "m/test.csv": "qid,x\n2,3\n"}, "import m",
     "m/test.csv: found the columns qid, x…label and qid among them"),
    (pairs("data/MQ2008/train.txt", "data/MQ2008/vali.txt", "data/MQ2008/test.txt"),
     "verify MQ2008", "no such data set on disk…looked in data/MQ2008…make MQ2008-twin"),
    (pairs("data/m/train.txt"), "verify m", "data/m: no test file…test.txt, testset.txt"),
    ({"m/train.csv": ROWS, "m/test.csv": ROWS.replace("x", "y"), "m/a.cd": "0\tLabel\n"},
     "import m", "test.csv: found other columns…the other parts"),
    ({"m/train.txt": "0 qid:1 1:1\n", "m/test.txt": "0 qid:2 1:NULL\n",
      "data/m/train.txt": "1 qid:1 1:1\n"}, "import m --grades 0.5", f"data/m/train.txt: {OTHER}"),
    (pairs("m/train.txt", "data/m/test.txt") | {"m/test.txt": PAIR.format(2)}, "import m",
     f"data/m/test.txt: {OTHER}"),
    (folds("MQ2008", 1, 2, 3, 4, 5), "import MQ2008 --grades auto", "2…--grades: found MQ2008"),
    (pairs("x/m/train.txt", "x/m/test.txt", "y/m/train.txt", "y/m/test.txt"), "import .",
     "found m twice…x/m/test.txt and y/m/test.txt"),
    (pairs("ohsumed/f1.train.a.txt", "ohsumed/f1.test.a.txt"), "import ohsumed",
     "'ohsumed' is the name of a published set…f1.test.a.txt"),
    ({"ohsumed/train.csv": "1,2\n", "ohsumed/test.csv": "1,2\n", "ohsumed/train.csv.query": "1\n"},
     "import ohsumed", "ohsumed/test.csv:1: found numbers only"),
    (folds("OHSUMED", 1, 2, 3, 4, 5), "import OHSUMED", "found OHSUMED in ….…QueryLevelNorm"),
    (pairs("a b!/train.txt", "a b!/test.txt"), "import 'a b!'", "'a b!' cannot name a data set"),
    ({"x/a.tar.bz2": "hello"}, "import x", f"{NONE}…found a.tar.bz2"),
    ({"x.rar": "hello"}, "import x.rar", "damaged, or no archive of .tar.gz…`unrar x x.rar`"),
    (folds("data/MQ2008", 1, 2, 3, 5), "verify MQ2008", "found Fold1, Fold2, Fold3, Fold5…Fold5"),
    *(({}, f"verify '{name}'", "2…is no data set's name…the name of a folder")
      for name in ("", "..", "a/../b", "a//b", "a\\b")),
    ({}, "verify 'a\u200bb'", "2…'a\\u200bb' is no data set's name…characters that are seen"),
    ({}, "verify ohsumed/x", "2…OHSUMED has no variant 'x'…QueryLevelNorm"),
    (folds("data/m", 1, 2, 3) | {"data/m/synthetic.json": "[1]"}, "verify m",
     "data/m/synthetic.json: damaged…the JSON"),
    ({}, "show mq20008", "2…unknown data set 'mq20008'…did you mean MQ2008"),
    *(({}, f"{words} mine", "2…unknown data set 'mine'…OHSUMED") for words in ("make", "fetch")),
    ({}, "make clueweb09", "2…CLUEWEB09 has no synthetic twin…no `twin` shape"),
    ({}, "fetch DEMO", "DEMO: `letorbench datasets make DEMO`"),
    ({}, "fetch td2003-twin", "TD2003-twin: `letorbench datasets make TD2003-twin`"),
    ({"a/train.svm": "1.5 qid:1 1:1\n", "a/test.svm": "0 qid:2 1:1\n2,5 qid:2 1:1\n"}, "import a",
     "a/test.svm:2: found '2,5' as the label…expected a number"),
    ({"b/train.svm": "1 qid:1 1:1\n", "b/test.svm": "1 qid:2 0:1\n2 qid:2 1:1\n3 qid:2 0:1 0:2\n"},
     "import b", "b/test.svm:3: found feature index 1 after 1…indices from 1"),
    (alone("c", "1 qid:1 1:1", "1 qid:2 1:1", "1 qid:2 1:1"), "import c",
     "c/Fold3/test.txt: found query 2 of c/Fold2/test.txt"),
    (alone("d", "1 qid:1 1:1", "1 qid:2 2:1", "1 qid:3 3:1"), "import d",
     "d/Fold2/test.txt: found 2 features…expected 1"),
    (alone("e", "1 qid:1 1:x", "1 qid:2 1:x", "1 qid:3 1:x"), "import e",
     "e/Fold1/test.txt:1: found 'x' as the value of feature 1"),
    (alone("f", "1 qid:1 1:1", "1 qid:2 1:1"), "import f", NONE),
    (alone("g", "1 qid:1 1:1", "1 qid:2 1:1", "1 qid:4 1:1", numbers=(1, 2, 4)), "import g",
     "g: found Fold1, Fold2, Fold4…Fold1 to Fold4"),
    (pairs("h/f1.train.a.txt", "h/f1.test.a.txt", "h/f1.training.a.txt"), "import h",
     "h: found f1.test.a.txt, f1.train.a.txt, f1.training.a.txt…each part once"),
    (pairs("i/f10.my-train.txt", "i/f10.my-test.txt"), "import i", "found Fold10…Fold1 to Fold10"),
    *((folds("data/m", *numbers), "verify m", f"data/m: found {found}…expected {last}, one folder")
      for numbers, found, last in (
          ((2, 10), "Fold2, Fold10", "Fold1 to Fold10"), ((0, 2), "Fold0, Fold2", "Fold1 to Fold3"),
          (("01", 1), "Fold01, Fold1", "Fold1 to Fold1"),
          ((99999,), "Fold99999", "Fold1 to Fold1000"),
      )),
    (pairs(*(f"data/g/Fold{k}/{part}.txt" for k in (1, 2, 3) for part in ("train", "vali"))),
     "verify g", "data/g/Fold1: no test file…test.txt, testset.txt"),
    (pairs(*(f"data/h/Fold{k}/{part}.txt" for k in (1, 2, 3) for part in ("train", "test")),
           "data/h/Fold1/valid.txt"), "verify h", "data/h/Fold2: no validation file…vali.txt"),
    (folds("data/i", 1, 2, 3) | pairs("data/i/Fold2/TrainingSet.txt"), "verify i",
     "data/i/Fold2: two train files…TrainingSet.txt and train.txt"),
    ({"data/j/readme.txt": ""}, "verify j", "j: no such data set on disk…Fold1, Fold2, ... there"),
    (folds("data/k", 1, 2, 3) | {"data/k/features.txt": "a\nb\n"}, "verify k",
     "data/k/features.txt: found 2 lines…expected 1"),
    (folds("data/k", 1, 2, 3) | {"data/k/Fold3/test.txt": "1 qid:1 1:1 2:NULL\n"},
     "verify k --null error", "data/k/Fold3/test.txt:1: found NULL as the value of feature 2"),
    ({"data/DEMO/synthetic.json": "{}"}, "make DEMO", "data/DEMO: found a folder that was made in"),
]  # fmt: skip
ALL = [({f"x.{end}": text} | beside, f"split x.{end} --folds 3 {words}", said)
       for end, text, beside, words, said in SPLIT] + REFUSED  # fmt: skip


@pytest.mark.parametrize(("files", "words", "said"), ALL, ids=[row[2] for row in ALL])
def test_what_is_refused_is_named_and_nothing_is_left(files, words, said):
    as_folder(Path(), files)
    before, result = contents(Path()), call("datasets", *shlex.split(words))
    error = result.stderr.splitlines()[-1]
    status, *nouns = said.split("…") if said.startswith("2…") else ("1", *said.split("…"))
    assert error.startswith("letorbench: error: ") and all(each in error for each in nouns)
    assert result.exit_code == int(status) and contents(Path()) == before


def numbers_of(*words: str, status: int = 0) -> list[list[str]]:
    """The cells of a table that a command prints, without its head."""
    result = call("datasets", *words)
    assert result.exit_code == status, result.output
    return [re.split(r" {2,}", line) for line in result.stdout.splitlines()][1:]


def test_published_numbers_are_compared_with_those_of_the_files():
    parts = {"train": "1 qid:1 1:1\n0 qid:2 1:1\n", "valid": "1 qid:3 700:1\n"}
    parts |= {"test": "4 qid:4 1:1\n"}
    as_folder(Path("y"), {f"set1.{part}.txt": text for part, text in parts.items()})
    assert printed("datasets", "import", "y") == "YAHOO-SET1  data/Yahoo\n"
    rows = numbers_of("verify", "YAHOO-SET1", status=1)
    assert rows[3:7] == [
        ["queries", "29,921", "4", "differs"], ["documents", "709,877", "4", "differs"],
        ["features", "700", "700", "ok"], ["label 0", "185,192", "1", "differs"],
    ]  # fmt: skip
    assert [row[2] for row in rows[6:]] == ["1", "2", "0", "0", "1"]
    assert (
        "is not the data set that is published" in call("datasets", "verify", "YAHOO-SET1").stderr
    )
    train, page = "0 qid:1 1:1\n1 qid:1 220:1e39\n0 qid:2 1:3\n", "What is in the release\n"
    files = {"Train.txt": train, "test.txt": "4 qid:3 2:1\n", "features.txt": page}
    as_folder(Path("data/istella"), files)
    assert [row[-1] for row in numbers_of("verify", "ISTELLA", status=1)][:5] == (
        ["differs"] * 4 + ["ok"]
    )


#: words of a page, and facts of it
SHOWN = {
    "ohsumed": "queries     106\n…labels      0: 70.03%, 1: 16.02%, 2: 13.95%\n…letor3"
               "…Feature-min…(the first is the default)\n…OHSUMED/QueryLevelNorm\n…OHSUMED.zip",
    "YAHOO-SET1": "29,921\n…folds       1 (fixed split)\n…by request to Yahoo Webscope only",
    "istella": "0 to 4, distribution not published\n…on scales of their own, clipped to float32\n…"
               "(1,288,401,248 bytes, sha256 d45899d9a6a0e48afb250aac7ee3dc50e73e263687f15761d754",
    "msrd": "28,320\n…5, by query, made here: the release has none\n…CC BY-SA 4.0…queries.csv.gz "
            "(6,723,008 bytes, sha256 1acfecad",
    "DEMO": "queries     200\ndocuments   not published\n…none: generated on first use",
    "ohsumed-twin": "synthetic, in the shape of OHSUMED\n…" "16,140\n…made-up data",
}  # fmt: skip


def test_pages_of_data_sets_and_their_list():
    for name, facts in SHOWN.items():
        page = printed("datasets", "show", name)
        for fact in facts.replace("OHSUMED\n…", "OHSUMED…").split("…"):
            assert fact in page, (name, fact)
    for known in ("OHSUMED/Feature-min", "gov/QueryLevelNorm/2003-TD-dataset", "MQ2008-twin"):
        as_folder(Path(), folds(f"data/{known}", 1, 2, 3, 4, 5))
    as_folder(Path(), folds("data/mine", 1, 2, 3))
    as_folder(Path("data"), {"DEMO/Fold1/train.txt": "", "mslr_web10k/a": ""})
    rows = {row[0]: row[1:] for row in numbers_of("list")}
    assert rows["OHSUMED"] == ["106", "16,140", "45", "0-2", "letor3", "OHSUMED-Feature-min"]
    assert rows["MQ2007-semi"][:4] == ["1,692", "?", "46", "0-2 or -1"]
    here = {name: row[-1] for name, row in rows.items() if row[-1] not in ("-", "made on demand")}
    assert here | {"DEMO": ""} == {
        "OHSUMED": "OHSUMED-Feature-min", "TD2003": "TD2003", "DEMO": "",
        **{name: name for name in ("MQ2008-twin", "mine")},
    }  # fmt: skip
    page = printed("datasets", "show", "mine")
    assert re.findall(r"(?m)^(\w+) +(\S+)$", page)[:6] == [
        ("name", "mine"), ("folder", "data/mine"), ("folds", "3"), ("queries", "3"),
        ("documents", "6"), ("features", "1"),
    ]  # fmt: skip
    assert numbers_of("verify", "ohsumed/feature_min", status=1)[15][1:] == ["106", "5", "differs"]
