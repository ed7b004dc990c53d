"""Every option makes a difference, a session prints its numbers, an error is one line.

options.txt has a command without an indent, or several that differ in their first words. A line
below it has what must differ, and the options, each of which makes it differ by itself: the files
of a pattern, what is printed (`out`), or the error (`err`).
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import Result
from conftest import call as called
from conftest import commands, forget_user_code, numbers, parts_of, same
from toy_data import store_fold, without_clock, write_toy

from letorbench.analysis.tables import FORMATS
from letorbench.cli import cli
from letorbench.conventions import convention
from letorbench.datasets import fetch as fetching
from letorbench.errors import UsageError
from letorbench.experiment import backends
from letorbench.experiment.plan import systems_of

running = import_module("letorbench.cli.run")
boards = import_module("letorbench.api.leaderboard")
paper_runs = import_module("letorbench.papers.reproduction")

#: the rows of the leaderboard, of which a page of all algorithms takes seconds
two_algorithms = cache(
    lambda name, every, whole=boards.shipped: whole(name, every).only(["mart", "ranknet"])
)

TABLE = Path(__file__).with_name("options.txt").read_text(encoding="utf-8")

EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"
#: what stands in braces in the table
PLACES = {
    "scores": "stored/STORED/regression/fold{fold}/scores.txt",
    "other": "stored/STORED/ndcgboost/fold{fold}/scores.txt",
    "model": "stored/STORED/regression/fold1/model.npz",
    "second": "stored/STORED/regression/fold2/model.npz",
}
#: numbers of a printed table that are better on test than on training data
PARTS = {"test": ".6", "train": ".5"}
#: small files of TREC, most of them with a mistake
FILES = {
    "letor": "2 qid:1 1:0.5\n", "qrels": "301 0 a 1\n301 0 c 5\n", "great": "301 0 a 100000\n",
    "zero": "301 0 a 0\n", "run": "301 Q0 a 1 2 x\n301 Q0 c 2 1 x\n", "inf": "301 Q0 a 1 inf x\n",
    "twice": "301 Q0 a 1 2 x\n301 Q0 a 2 1 x\n", "apart": "7 Q0 a 1 1 x\n",
}  # fmt: skip
#: what the commands print or write without their options
WITHOUT: dict[tuple[str, str], object] = {}
#: the folder of the template that a command writes to, which is copied
WRITES = {
    "datasets": "data", "run": "stored", "plot": "stored", "export": "stored",
    "external": "stored", "results": "stored",
}  # fmt: skip


def rows() -> Iterator[tuple[str, str, str]]:
    """The command, the option with its value, and what must differ."""
    for line in TABLE.splitlines():
        if not line.startswith(" "):
            words, _, rest = line.partition(" ")
            lines = [f"{word} {rest}".strip() for word in words.split("|")]
            continue
        what, _, options = line.strip().partition(": ")
        yield from product(lines, options.split(" | "), [what])


def call(line: str) -> Result:
    for name, place in PLACES.items():
        line = line.replace(f"{{{name}}}", place)
    return called(*line.split())


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A folder with data, results, scores and models."""
    folder = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(running, "write_figures", lambda results: None)
        forget_user_code(patch)
        sets = ("data/TOY", "data/OTHER", "data/STORED", "other/TOY", "other/MINE", "third/STORED",
                "wrong/OHSUMED/QueryLevelNorm")  # fmt: skip
        for seed, place in enumerate(map(Path, sets)):
            write_toy(place.parent, place.name, seed)
        shutil.copytree("data/STORED", "data/NULLS")
        shutil.copytree("data/STORED", "data/REAL")
        for path in Path("data/NULLS").rglob("*.txt"):
            path.write_text(re.sub(" 2:[^ ]*", " 2:NULL", path.read_text(), count=1))
        for path in Path("data/REAL").rglob("*.txt"):
            path.write_text(re.sub("^(.)", r"\1.25", path.read_text(), flags=re.MULTILINE))
        first = "\n\ndef first(y_true, y_score):\n    return float(y_true[0])\n"
        Path("mine.py").write_text(EXAMPLE.read_text() + first)
        raising = "    def predict(self, X):\n        raise ArithmeticError('no\\nnumber')\n"
        Path("raises.py").write_text(EXAMPLE.read_text() + "\n" + raising)
        head = "dataset,algorithm,fold,measure,value\n"
        Path("printed.csv").write_text(f"{head}STORED,a,1,ndcg@10,0.9\n")
        better = [f"OWN,{p},c,1,ndcg@{k},{v}\n" for p, v in PARTS.items() for k in range(1, 21)]
        odd = ["dataset,part,algorithm,fold,measure,value\n", *better, "OWN,test,a,1,map,1.5\n"]
        Path("odd.csv").write_text("".join(odd))
        lines = [f"{i % 3},{i // 9},{i % 7},{i},d{i}" for i in range(90)]
        Path("table.csv").write_text("\n".join(["label,qid,x,y,name", *lines, ""]))
        Path("table.scores").write_text("".join(f"{i % 11}\n" for i in range(90)))
        run = "".join(f"{i // 9} Q0 d{i} 1 {i % 11} t\n" for i in range(90))
        Path("table.run").write_text(run)
        one = Path("data/STORED/Fold1/test.txt").read_text()
        Path("one.txt").write_text(one)
        Path("two.txt").write_text(Path("data/STORED/Fold2/test.txt").read_text())
        for name, odd in {"null": "NULL", "huge": "1e39"}.items():
            Path(f"{name}.txt").write_text(re.sub(" 2:[^ ]*", f" 2:{odd}", one, count=1))
        Path("wide.txt").write_text(one.replace("\n", " 46:1\n"))
        Path("narrow.txt").write_text(re.sub(" 4:.*", "", one))
        Path("flat.txt").write_text(re.sub(":[^ ]*[.][^ ]*", ":1", one.replace("\n", " \n")))
        for name, form in (("one", "{}"), ("two", "-{}"), ("flat1", "0.5")):
            Path(f"{name}.scores").write_text("".join(f"{form.format(i)}\n" for i in range(56)))
        qrels = re.sub(r"^(.) qid:(\d+) .*", r"\2 0 d \1", one, flags=re.MULTILINE)
        Path("one.qrels").write_text(qrels)
        judged = [f"{q} 0 d{i} {i % 3}\n" for q in range(4) for i in range(5)]
        Path("groups.csv").write_text("feature,group\n1,a b\n2,a b\n3,c\n")
        Path("groups2.csv").write_text("feature,group\n1,a\n")
        Path("whole.csv").write_text("".join(f"{k},w\n" for k in (1, 2, 3, 4)))
        Path("three.qrels").write_text("".join(judged))
        for name, q, sign in (("one", 3, 1), ("two", 4, -1)):
            ranked = [f"{q} Q0 d{i} 0 {sign * i} x\n" for q in range(q) for i in range(2, 7)]
            Path(f"{name}.run").write_text("".join(ranked))
        call("run --dataset STORED --out stored --algo regression,ndcgboost --set rounds=3")
        call("run --dataset STORED --out others --data-dir third --algo regression")
        call("run --dataset TOY --algo centroid --plugin mine.py --out own --folds 1")
        call("run --dataset TOY --algo random --out stored --folds 1 --convention letor4")
        call(
            "run --dataset OTHER,TOY --algo regression,ndcgboost --set rounds=1 --out own --folds 1"
        )
        call("run --dataset OTHER --algo ndcgboost --set rounds=9 --out again --folds 1")
        shutil.copytree("own/TOY", "again/TOY")
        Path("own/TOY/centroid/fold1/model.npz").rename("centroid.npz")
        for fold, printed in {1: 0.4504, 3: 0.4523}.items():  # MQ2008's ListNet, MAP
            mean = {"map": printed + 0.01 * fold}
            store_fold(Path("stored"), "MQ2008", "listnet", fold, mean)
        Path("lone/TOY/theirs/fold1").mkdir(parents=True)
        shutil.copy("own/TOY/regression/fold1/scores.txt", "lone/TOY/theirs/fold1")
        for name, text in FILES.items():
            Path(name).write_text(text)
        os.link("one.txt", "linked.txt")
        call("datasets split table.csv --columns x,y --name NAMED --folds 3 --data-dir named")
        rng = np.random.default_rng(5)
        base = rng.random((5, 8))
        for algo, gain in {"x": 0.06, "y": 0.04, "z": 0.0}.items():
            for fold, values in enumerate(base + gain + rng.normal(0, 0.15, (5, 8)), 1):
                measured = {f"ndcg@{k}": list(values) for k in range(1, 11)}
                store_fold(Path("stored"), "MADE", algo, fold, {**measured, "map": list(values**2)})
                store_fold(Path("stored"), "MADE@0.5", algo, fold, {"ndcg@10": list(values - 0.1)})
                rules = "letor4" if algo == "x" else "letor3"
                store_fold(Path("stored"), "MIXED", algo, fold, {"map": 1.0}, rules)
                store_fold(Path("stored"), "PAIR", algo, fold, {"ndcg@10": list(values**3)})
                if algo == "x":
                    printed = {**measured, "map": [0.4] * 8}
                    store_fold(Path("stored"), "OHSUMED", "ndcgboost", fold, printed)
    return folder


@pytest.fixture
def outcome(template, tmp_path, monkeypatch) -> Callable[[str, str], object]:
    """What a command prints or writes, where it may change no file of the template."""

    def stop(*values: object, **named: object) -> None:
        raise UsageError(repr((values, named)))  # what would take too long says what it was given

    monkeypatch.setattr(running, "write_figures", lambda results: None)
    monkeypatch.setattr(backends, "in_processes", stop)
    monkeypatch.setattr(fetching, "fetch", stop)
    monkeypatch.setattr(paper_runs, "reproduce", stop)
    monkeypatch.setattr(boards, "shipped", two_algorithms)

    def run(line: str, what: str) -> object:
        forget_user_code(monkeypatch)
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        written = WRITES.get(line.split()[0])
        for each in template.iterdir():
            if each.name == written:  # no file is changed in place
                shutil.copytree(each, folder / written, copy_function=os.link)
            else:
                (folder / each.name).symlink_to(each)
        monkeypatch.chdir(folder)
        done = call(line)
        assert isinstance(done.exception, SystemExit | None), done.exception
        if what == "all":
            return done.output + f"status {done.exit_code}\n" * (done.exit_code != 0)
        if what in ("out", "err"):
            return done.stdout if what == "out" else re.sub("0x[0-9a-f]+", "", done.stderr)
        files = [path for path in folder.glob(what) if path.is_file()]
        return {
            path.relative_to(folder): without_clock(json.loads(path.read_text()))
            if path.suffix == ".json"
            else re.sub(b"made by <code>.*?</code>", b"", path.read_bytes())
            for path in files
        }

    return run


@pytest.mark.parametrize(("command", "option", "what"), list(rows()))
def test_every_option_makes_a_difference(outcome, command, option, what):
    if (command, what) not in WITHOUT:
        WITHOUT[command, what] = outcome(command, what)
    assert outcome(f"{command} {option}", what) != WITHOUT[command, what]


SESSION = Path(__file__).with_name("session.txt")
COMMANDS = parts_of(SESSION)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_prints_what_the_session_shows(outcome, line):
    """Its numbers, and how it ends; digests of data and code are left out."""
    said = re.sub(r"\(/.*/", "(", outcome(line.removeprefix("letorbench "), "all"))
    said = re.sub(r"\b[0-9a-f]{8}([0-9a-f]{24})?\b", "", said)
    same(SESSION, f"$ {line}\n{COMMANDS[line]}", f"$ {line}\n{numbers(said)}")


#: a row has the exit status, the command, and what its one line on stderr must name
ERRORS = Path(__file__).with_name("errors.txt").read_text(encoding="utf-8").splitlines()


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file's size and time, but those of the cache, in which reading leaves notes."""
    places = [each for each in os.walk(folder, followlinks=True) if ".cache" not in each[0]]
    files = [os.path.join(place, name) for place, _, names in places for name in names]
    every = {file: os.stat(file) for file in files}
    return {file: (each.st_size, each.st_mtime_ns) for file, each in every.items()}


@pytest.mark.parametrize("row", ERRORS)
def test_an_error_is_one_line_that_names_what_is_wrong(template, outcome, row):
    """It comes before any file is written or changed, but for those of the folds of a run."""
    start, nouns = row.split(" | ")
    status, command = start.split(" ", 1)
    before = states(template)
    error, end = outcome(command, "all").splitlines()
    assert error.startswith("letorbench: error: ") and end == f"status {status}"
    assert all(noun.replace("; ", ", ") in error for noun in nouns.split(", "))
    assert states(template) == before
    if not command.startswith("run "):
        assert {os.path.relpath(file) for file in states(Path())} == {
            os.path.relpath(file, template) for file in before
        }


def test_every_option_is_in_the_table():
    rowed = {(line, option.split()[0]) for line, option, _ in rows()}
    missing = [
        (path, each.opts[0])
        for path, command in commands(cli)
        if not isinstance(command, click.Group)
        for each in command.params
        if isinstance(each, click.Option)
        and not any(line.split()[: len(path)] == list(path) and each.opts[0] == option
                    for line, option in rowed)
    ]  # fmt: skip
    assert missing == []


def test_every_command_prints_its_tables_in_the_same_formats():
    options = [option for _, each in commands(cli) for option in each.params]
    forms = [option.type.choices for option in options if option.name == "form"]
    assert all({*FORMATS} <= {*each} for each in forms if "text" in each)
    assert sum("latex" in each for each in forms) == 7


def test_every_example_of_every_help_is_understood():
    """Command lines, algorithms with settings, conventions with rules."""
    lines, settings, rules = set[str](), set[str](), set[str]()
    for _, command in commands(cli):
        helps = [command.help or "", *(getattr(each, "help", "") or "" for each in command.params)]
        for text in helps:
            lines |= {*re.findall(r"letorbench (\w+(?: --\S+ \S+)+)", text)}
            settings |= {*re.findall(r"[\w=]+\[\S*\]", text)}
            rules |= {*re.findall(r"\b[a-z_\d]+,[a-z_]+=\w+\b", text)}
    assert lines and settings and len(rules) > 2
    for line in lines:
        name, command, rest = cli.resolve_command(click.Context(cli), line.split())
        command.make_context(name, rest)
        settings |= set(re.findall(r"--algo (\S+)", line))
    assert all(systems_of(text, []) for text in settings)
    assert all(map(convention, rules))
