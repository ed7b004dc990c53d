"""One forged fold, whose check sums are right, costs that fold in every command: one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from damage import stored_run

from letorbench.cli import cli
from letorbench.results.paths import SEALED
from letorbench.seals import digest, sealed

#: what is put in a fold's fit.json, by the place of it
FORGED = {
    "a mean beyond floats": ("test.means.map", 10**400),
    "a mean that is NaN": ("test.means.map", float("nan")),
    "a mean of 1e999": ("test.means.map", float("inf")),
    "a value beyond floats": ("validation.value", 10**400),
    "a curve of words": ("validation.curve", ["a", "b"]),
    "a trial of words": ("validation.grid", ["a", "b"]),
    "many folds": ("test.n_folds", 10**400),
    "many repeats": ("repeats", 10**400),
    "a setting beyond floats": ("identity.settings.l2", 10**400),
    "settings of words": ("identity.settings", ["l2"]),
    "seconds of words": ("seconds", "many"),
    "a NULL beyond floats": ("identity.null", 10**400),
    "an unknown convention": ("test.convention", "../x"),
    "a convention that is a list": ("test.convention", ["letor3"]),
    "a device": ("files", {"/dev/zero": "0"}),
    "a file elsewhere": ("files", {"../fold2/scores.txt": "0"}),
    "files of words": ("files", "scores.txt"),
    "no files": ("files", None),
}
#: what is put in place of another file of a fold
FILES = {
    "a query of 1e999": ("per_query.csv", b",0.", b",1e999"),
    "a query that is NaN": ("per_query.csv", b",0.", b",nan"),
    "a column less": ("per_query.csv", b",0.", b"."),
    "other measures": ("per_query.csv", b"map", b"pam"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("forged")
    stored_run(folder)
    return folder


def forge(fit: Path, where: str, value: object) -> None:
    """Put a value in a fit.json, with a right check sum."""
    facts = json.loads(fit.read_text())
    del facts["seal"]
    *keys, last = where.split(".")
    inner = facts
    for key in keys:
        inner = inner[key]
    inner[last] = value
    fit.write_text(sealed(facts))


@pytest.mark.parametrize("name", [*FORGED, *FILES, "a file that is a device"])
def test_a_forged_fold_costs_that_fold(place: Path, tmp_path: Path, name: str) -> None:
    results = tmp_path / "results"
    shutil.copytree(place / "results", results)
    fold = results / "TOY" / "regression" / "fold2"
    fit = fold / "fit.json"
    if name in FORGED:
        forge(fit, *FORGED[name])
    elif name in FILES:
        file, before, after = FILES[name]
        content = (fold / file).read_bytes()
        assert before in content
        (fold / file).write_bytes(content.replace(before, after, 1))
        files = [fold / each for each in SEALED if (fold / each).exists()]
        forge(fit, "files", {each.name: digest(each.read_bytes()) for each in files})
    else:
        (fold / "scores.txt").unlink()
        (fold / "scores.txt").symlink_to("/dev/zero")
    folders = ["--out", str(results), "--data-dir", str(place / "data")]
    for words in ("table TOY --format csv", "compare TOY", "report TOY --out-file r.html"):
        command = words.replace("r.html", str(tmp_path / "r.html")).split()
        shown = CliRunner().invoke(cli, [*command, *folders])
        assert shown.exit_code == 0, (words, shown.output, shown.exception)
        assert shown.stderr.count("\n") == 1 and str(fold) in shown.stderr, shown.stderr
        if words.startswith("table"):
            assert "TOY,regression,standard,4," in shown.stdout
    merged = ["results", "merge", str(results), "--out", str(tmp_path / "merged")]
    shown = CliRunner().invoke(cli, merged)
    assert shown.exit_code == 0 and "9 folds copied" in shown.stdout, shown.output
    run = ["run", "--dataset", "TOY", "--algo", "regression", "--folds", "1,2", *folders]
    made = CliRunner().invoke(cli, run)
    assert made.exit_code == 0, (made.output, made.exception)
    again = CliRunner().invoke(cli, ["table", "TOY", "--format", "csv", *folders])
    assert "TOY,regression,standard,5," in again.stdout and not again.stderr
