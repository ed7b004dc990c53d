"""The names of result files stand in one module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import letorbench
from letorbench.results import paths

ROOT = Path(letorbench.__file__).parent
#: what only `results/paths.py` may spell out
NAMES = re.compile(
    r"per_query\.csv|folds\.csv|summary\.csv|fit\.json|scores\.txt|validation\.txt|model\.npz"
    r"|ndcg\.(png|svg|pdf)|(^|/)fold\*"
)


def literals(path: Path) -> list[str]:
    """The text constants of a module that are no docstrings, f-strings' parts among them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
        and isinstance(node.body[0], ast.Expr)
    }  # fmt: skip
    plain = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs
    ]
    return (
        plain
        + [
            f"{part.value}*"  # what stands before a value: f"fold{number}" is fold*
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part, follows in zip(node.values, node.values[1:])
            if isinstance(part, ast.Constant) and isinstance(follows, ast.FormattedValue)
        ]
    )


def test_no_other_module_names_a_result_file() -> None:
    naming = {
        path.relative_to(ROOT).as_posix(): found
        for path in ROOT.rglob("*.py")
        if (found := [text for text in literals(path) if NAMES.search(text)])
    }
    assert list(naming) == ["results/paths.py"], naming


def test_the_scan_finds_what_it_looks_for() -> None:
    found = [text for text in literals(ROOT / "results" / "paths.py") if NAMES.search(text)]
    assert {"scores.txt", "fit.json", "per_query.csv", "folds.csv", "fold*"} <= set(found)


def test_places(tmp_path: Path) -> None:
    folder = paths.fold_folder(tmp_path, "S", "a", 3)
    assert folder == tmp_path / "S" / "a" / "fold3"
    folder.mkdir(parents=True)
    assert paths.finished(tmp_path) == {}
    assert paths.present(tmp_path) == paths.algorithms(tmp_path, "S") == []
    later = paths.fold_folder(tmp_path, "S", "b", 1, repeat=2)
    later.mkdir(parents=True)
    for place in (later, folder):
        (place / "fit.json").touch()
    found = {("S", "a", 1, 3): folder, ("S", "b", 2, 1): later}
    assert paths.finished(tmp_path) == found
    assert list(paths.finished(tmp_path, "S", "b")) == [("S", "b", 2, 1)]
    assert paths.present(tmp_path) == ["S"] and paths.algorithms(tmp_path, "S") == ["a", "b"]
    assert paths.models(tmp_path, "S", "a") == []
    (folder / "model.npz").touch()
    assert paths.models(tmp_path, "S", "a") == [folder / "model.npz"]
    assert paths.figure_stem(tmp_path, "S") == tmp_path / "S" / "ndcg"
    assert paths.figure_stem(tmp_path, measure="p") == tmp_path / "p"
    assert list(paths.listing(tmp_path, "S")) == ["table", "plot", "scores", "values"]
