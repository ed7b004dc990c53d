"""docs/check.py sees what differs, masks what may, and writes what is new."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from letorbench.results import paths

ROOT = Path(__file__).parents[2]


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


check = load("check")


@pytest.fixture
def page(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def block(body: str, needs: str = "demo", language: str = "console") -> str:
    return f"words\n\n<!-- check: {needs} -->\n```{language}\n{body}```\n\nwords\n"


def test_what_is_printed_as_shown_does_not_differ(page) -> None:
    path = page(block("$ echo one; echo two\none\ntwo\n$ printf 'a  b\\n' \\\n    | cat\na  b\n"))
    checked = check.check(path, {"demo"})
    assert checked.differences == [] and checked.text == path.read_text()


def test_what_is_printed_otherwise_is_shown_and_put_in_place(page) -> None:
    path = page(block("$ echo one\ntwo\n"))
    checked = check.check(path, {"demo"})
    assert len(checked.differences) == 1
    assert "-two" in checked.differences[0] and "+one" in checked.differences[0]
    assert checked.text == block("$ echo one\none\n")
    assert check.main(["--needs", "demo", str(path)]) == 1
    assert check.main(["--needs", "demo", "--write", str(path)]) == 0
    assert check.main(["--needs", "demo", str(path)]) == 0


def test_an_empty_block_is_filled(page) -> None:
    assert check.check(page(block("$ echo one\n")), {"demo"}).text == block("$ echo one\none\n")


def test_a_command_that_fails_differs(page) -> None:
    checked = check.check(page(block("$ echo one; exit 3\none\n")), {"demo"})
    assert "+exit status 3" in checked.differences[0]


def test_a_hidden_command_that_fails_differs(page) -> None:
    checked = check.check(page("<!-- setup: demo\n$ exit 3\n-->\n"), {"demo"})
    assert "exit status 3" in checked.differences[0]


def test_blocks_share_one_folder_and_hidden_commands_run_in_their_place(page) -> None:
    text = block("$ echo one > file\n") + "<!-- setup: demo\n$ echo two >> file\n-->\n"
    assert check.check(page(text + block("$ cat file\none\ntwo\n")), {"demo"}).differences == []


def test_what_needs_missing_data_is_skipped(page) -> None:
    checked = check.check(page(block("$ echo one\ntwo\n", needs="shared")), {"demo"})
    assert checked.differences == [] and checked.skipped == 1


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("took 1.25 s", "took 13 s"),
        ("python          3.11.7 on Linux", "python          3.13.0 on Darwin"),
        ("numpy           2.4.6", "numpy           1.26.0"),
        ("lightgbm        4.7.0", "lightgbm        not installed (optional)"),
        ("x    98 ms    PyTorch: 2.18 s, 7.4 times ours", "x  102 ms  PyTorch: 4 s, 3 times ours"),
    ],
)
def test_times_and_machines_are_masked(shown: str, printed: str) -> None:
    assert check.masked(shown) == check.masked(printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("ndcgboost   0.4964   0.4567", "ndcgboost   0.4964   0.4568"),
        ("map        0.7545", "map        0.7546"),
        ("mean over 106 queries", "mean over 105 queries"),
        ("--set rounds=100  an integer", "--set rounds=200  an integer"),
    ],
)
def test_numbers_are_not_masked(shown: str, printed: str) -> None:
    assert check.masked(shown) != check.masked(printed)


def test_python_sessions_share_their_names(page) -> None:
    text = block(">>> x = 2\n>>> def twice(y):\n...     return 2 * y\n", language="pycon")
    text += block(">>> twice(x)\n4\n>>> 1 / 0\n", language="pycon")
    checked = check.check(page(text), {"demo"})
    assert len(checked.differences) == 1
    assert "4\n>>> 1 / 0\nZeroDivisionError: division by zero\n" in checked.text


def test_every_generated_text_is_a_table_of_its_registry() -> None:
    generated = load("generate").GENERATED
    assert "| `ndcg, ndcg@k` |" in generated["measures"]()
    assert "### ndcgboost\n" in generated["algorithm-details"]()
    assert "| `MQ2008` |" in generated["data-sets"]()


def test_a_generated_text_that_is_old_differs(page) -> None:
    checked = check.check(page("<!-- generated: papers -->\nold\n<!-- end -->\n"), set())
    assert "-old" in checked.differences[0] and "| `ndcgboost-2009` |" in checked.text


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_shown_session_is_checked(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    shown = text.count("\n```console\n") + text.count("\n```pycon\n")
    blocks = list(check.BLOCK.finditer(text))
    assert shown == sum(match["needs"] is not None for match in blocks)
    assert {match["needs"] or match["setup"] for match in blocks} <= {*check.NEEDS, None}
    assert text.count("<!-- ") == len(blocks) + text.count("<!-- end -->")


def test_every_result_file_is_on_the_page_of_their_format() -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    constants = {name: value for name, value in vars(paths).items() if name.isupper()}
    names = {value for value in constants.values() if isinstance(value, str)}
    assert len(names) >= 7
    assert not {name for name in names if name not in page}
