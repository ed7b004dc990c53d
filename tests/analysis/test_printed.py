"""What is printed, drawn and reported of made-up results, number for number.

printed.txt has the commands, and below each the numbers that it prints or, behind a `>`, that it
writes there, of which `|` takes the lines with a pattern. Floats have five digits; versions,
digests, the page's style and script are left out.
"""

import re
import shutil
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from conftest import call, numbers, parts_of, printed, refused, same
from toy_data import store_fold, write_toy, write_uneven

import letorbench as lb
from letorbench.escaping import TEMPLATES
from letorbench.results import paths
from letorbench.results.dataset_results import write_tables
from letorbench.results.environment import versions
from letorbench.results.store import Store
from letorbench.solvers.fit_warnings import FitWarning

PRINTED = Path(__file__).with_name("printed.txt")
CASES = parts_of(PRINTED)
MEASURES = ("ndcg@1", "ndcg@2", "ndcg@3", "ndcg@10", "map", "p@3")
FAR = FitWarning("not converged", "the descent ended after 500 iterations")
WARNINGS = [FitWarning("ties", "60% of the test documents share their score"),
            FitWarning("not converged", "stopped after 5 iterations")]  # fmt: skip
#: a printed table with a slip of each kind
TABLE = """Dataset,algorithm,part,fold,metric,cutoff,value
TOY,a,testing,Fold1,NDCG,10,99.5
TOY,a,testing,Fold2,NDCG,10,70.25
TOY,a,testing,Average,NDCG,10,84
TOY,a,training,Fold1,Precision,2,36
TOY,a,training,Fold2,Precision,10,99
TOY,a,vali,Fold1,MeanNDCG,,70
TOY,b,testing,Fold1,NDCG,10,-
TOY,b,testing,Fold1,MAP,,150
TOY,b,testing,Fold1,NDCG,1,33.1
TOY,b,testing,Fold1,RMSE,,1.5
"""
#: what makes it unreadable
WRONG = {
    "head.csv": ("value", "number"), "part.csv": ("vali", "dev"), "number.csv": ("150", "x"),
    "fold.csv": ("Average", "some"), "twice.csv": ("Fold2,NDCG", "Fold1,NDCG"),
}  # fmt: skip


def store(dataset: str, algo: str, level: float, folds=(1, 2, 3), repeats=None, **facts) -> None:
    """Four queries a fold, mostly in eighths; each measure is a sixteenth less than the last."""
    for repeat in range(1, (repeats or 1) + 1):
        for fold in folds:
            rng = np.random.default_rng([len(algo), fold, repeat])
            own = np.random.default_rng(fold).integers(0, 5, 4) / 8 + level
            values = own + rng.integers(0, 3, 4) / 64
            columns = {name: list(values * (1 - i / 16)) for i, name in enumerate(MEASURES)}
            store_fold(Path("results"), dataset, algo, fold, columns, n_folds=3, repeat=repeat,
                       repeats=repeats, **{"data": "d1", "seed": 0, **facts})  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The results of four data sets, of one of them at two shares."""
    folder = tmp_path_factory.mktemp("made")
    fitted, boosted = (each.fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
                       for each in (lb.Regression(l2=0.5), lb.NDCGBoost(rounds=2)))  # fmt: skip
    grid = [{"settings": {"l2": l2 / 8}, "value": l2 / 8} for l2 in (1, 4, 2, 3, 0, 2.5, 3.5)]
    tried = {"measure": "map", "value": 0.5, "curve": [], "best": None, "grid": grid}
    rounds = {"measure": "map", "value": 0.5, "curve": [0.25, 0.5, 0.375], "best": 2, "grid": []}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        raw = {"features": "raw", "select": "map"}
        store("OHSUMED", "regression", 0.25, validation=tried, grid={"l2": [0.125, 0.5, 0.25]},
              seconds=1.5, ranker=fitted, **raw)  # fmt: skip
        store("OHSUMED", "ndcgboost", 0.27, seconds=2.5, validation=rounds, ranker=boosted,
              **raw)  # fmt: skip
        store("OHSUMED", "listnet", 0.15, repeats=3, warnings=WARNINGS, seconds=1.0, **raw)
        store("OHSUMED", "one-seed", 0.2, repeats=1, features="zscore", warnings=[FAR])
        store("OHSUMED", "slow", 0.1, (1, 3), cut_off={"time_limit": 1.0}, warnings=WARNINGS[:1])
        store("OHSUMED", "ideal", 0.5)
        store("OHSUMED", "old", 0.2, code="1234567890", module="letorbench.rankers.regression",
              letorbench="0.9", external={"file": "x"})  # fmt: skip
        levels = {"lambdamart": 0.4, "listnet": 0.2, "ndcgboost": 0.1, "old": 0.05}
        for algo, level in levels.items():
            store("MQ2008", algo, level, data="d2", **raw)
        store("MQ2008", "regression", 0.3, (1, 2), data="d2", seed=7, **raw)
        for share, less in ((0.1, 0.125), (0.5, 0.0625)):
            store(f"OHSUMED@{share}", "regression", 0.25 - less, (2, 3), warnings=WARNINGS[:1])
        store("OHSUMED@0.5", "listnet", 0.1, repeats=2)
        mine, columns = (Path("results"), "MINE"), {"map": [0.25, 0.5], "ndcg@1": [0.5, 0.75]}
        store_fold(*mine, "listnet", 1, columns, "standard", warnings=WARNINGS[1:])
        columns["ndcg@2"] = [0.25, 0.5]
        store_fold(*mine, "regression", 1, columns)
        for name, algo, fold, less in (
            ("S", "a", 1, 0.0), ("S@0.5", "a", 2, 0.0), ("S", "ideal", 1, 0.0),
            ("S", "ideal", 2, 0.0), ("BIG", "a", 1, 0.0), ("BIG", "bb", 1, 0.01),
            ("BIG", "c", 1, 0.001),
        ):  # fmt: skip
            many = np.random.default_rng(len(algo)).integers(0, 9, 1_234) / 8 - less
            store_fold(Path("few"), name, algo, fold, {"map": list(many)})
            store_fold(Path("few"), "ONE", algo, 1, {"map": [less]})
        for i in range(15):
            store("MANY", f"a{i:02}", 0.02 * i, (1, 2), repeats=2 if 5 < i < 12 else None,
                  validation=rounds, **raw)  # fmt: skip
        for out in (Path("results"), Path("few")):
            for name in paths.present(out):
                stored = Store(out, name).look()
                write_tables(stored, stored.rows())
        write_toy(Path("data"))
        words = "run --dataset TOY --folds 1-2 --convention letor4,empty=drop --algo".split()
        for out, step in (("toy", 13), ("other", 5)):
            printed(*words, "best-feature=best-feature,random=random", "--out", out)
            for fold in (1, 2):
                lines = [f"{(step * i) % 7 + i % 5 / 4}\n" for i in range(56)]
                Path(f"{out}{fold}.txt").write_text("".join(lines))
            printed(*"external --dataset TOY --folds 1-2 --name theirs --out".split(), out,
                    "--scores", out + "{fold}.txt")  # fmt: skip
        Path("printed.csv").write_text(TABLE)
        for name, (old, new) in WRONG.items():
            Path(name).write_text(TABLE.replace(old, new))
        scores = "theirs/fold2/scores.txt"
        for out, file in (("broken", "theirs/folds.csv"), ("damaged", scores), ("spoilt", scores)):
            shutil.copytree("toy/TOY", f"{out}/TOY")
            path = Path(out, "TOY", file)
            path.write_text(re.sub(r"\d\.", "9.", path.read_text(), count=1))
        write_uneven(Path("data"))
        printed(*"run --dataset UNEVEN --algo best-feature,random,ideal --out toy".split())
        for more in ("best-feature", "random --folds 2"):
            printed(*f"run --dataset UNEVEN --out parts --algo {more}".split())
        n_docs = Path("data/UNEVEN/Fold2/test.txt").read_text().count("\n")
        Path("uneven.txt").write_text("".join(f"{5 * i % 7}\n" for i in range(n_docs)))
    return folder


def plain(text: str) -> str:
    """A text without long numbers, versions, style and script."""
    for file in ("page.css", "page.js"):
        content = (TEMPLATES / file).read_text("utf-8")
        text = text.replace(content, f"({file})\n")
    text = re.sub('base64,([^"]*)', lambda image: f"\n{b64decode(image[1]).decode()}", text)
    for name, version in versions().items():
        text = re.sub(rf"({name}(?:<[^>]*>|\W)+){re.escape(version)}", rf"\1({name})", text)
    text = re.sub(r"\d+\.\d{5,}(e-\d+)?", lambda number: f"{float(number[0]):.5g}", text)
    text = re.sub(r"\b[0-9a-f]{8,}\b", "(digest)", text)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("command", CASES)
def test_every_number_is_as_before(made, monkeypatch, command):
    monkeypatch.chdir(made)
    line, _, rest = command.partition(" > ")
    file, _, pattern = rest.partition(" | ")
    done = call(*line.split())
    lines = plain(Path(file).read_text() if file else done.output).splitlines(keepends=True)
    found = "".join(each for each in lines if re.search(pattern, each))
    same(PRINTED, f"$ {command}\n{CASES[command]}", f"$ {command}\n{numbers(found)}")


#: commands that are refused: the exit status, and what the one line must name
REFUSED = {
    "table NONE": (1, "NONE", "results there"),
    "table OHSUMED --algo listnets": (2, "listnets", "listnet"),
    "table TOY --out toy --shares": (2, "several", "share"),
    "compare OHSUMED --algo slow": (2, "found slow", "two"),
    "compare OHSUMED --baseline ideals": (2, "ideals", "listnet"),
    "compare OHSUMED --correction tukey --test t": (2, "tukey", "randomization"),
}  # fmt: skip


def test_what_is_refused_is_named_in_one_line(made, monkeypatch):
    monkeypatch.chdir(made)
    for command, (status, *words) in REFUSED.items():
        line = refused(status, *command.split())
        assert all(word in line for word in words), (command, line)
