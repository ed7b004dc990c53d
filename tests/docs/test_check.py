"""docs/check.py sees what differs; the commands, targets, files and figures of pages exist.

What the commands print is compared by docs/check.py.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from matplotlib.image import imsave

from letorbench.analysis.leaderboard import files, shipped
from letorbench.cli import cli
from letorbench.papers import PAPERS
from letorbench.rankers import names, ranker
from letorbench.results import paths

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs"))
check, generate = import_module("check"), import_module("generate")


@pytest.fixture
def page(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def block(body: str, needs: str = "demo", language: str = "console") -> str:
    return f"words\n\n<!-- check: {needs} -->\n```{language}\n{body}```\n\nwords\n"


def test_a_block_that_shows_what_is_printed_stays_as_it_is(page):
    path = page(block("$ echo one; echo two\none\ntwo\n$ printf 'a  b\\n' \\\n    | cat\na  b\n"))
    assert check.check(path, {"demo"}) == (path.read_text(), [], 0)


def test_another_output_is_reported_and_written(page):
    path = page(block("$ echo one\ntwo\n"))
    text, (difference,), _ = check.check(path, {"demo"})
    assert "+one" in difference and text == block("$ echo one\none\n")
    assert check.main(["--needs", "demo", str(path)]) == 1
    assert check.main(["--needs", "demo", "--write", str(path)]) == 0
    assert check.main(["--needs", "demo", str(path)]) == 0
    _, (difference,), _ = check.check(page(block("$ echo one; exit 3\none\n")), {"demo"})
    assert "exit status 3" in difference


def test_blocks_share_one_folder_and_what_lacks_its_data_is_skipped(page):
    text = block("$ echo one > file\n") + "<!-- setup: demo\n$ echo two >> file\n-->\n"
    text += block("$ cat file\none\ntwo\n")
    text += block("$ echo one\ntwo\n", needs="shared")
    assert check.check(page(text), {"demo"}) == (text, [], 1)


def test_another_picture_is_reported_and_written(page, tmp_path):
    """One that a page's commands draw, by what it shows; others are left alone."""
    shown = "<!-- setup: demo\n$ cp {} a.png\n-->\n![white](pictures/a.png)\n![b](b.png)\n"
    white, black = (shown.format(tmp_path / f"{kind}.png") for kind in ("1.0", "0.0"))
    for kind in (1.0, 0.0):
        imsave(tmp_path / f"{kind}.png", [[kind] * 9] * 9, vmin=0, vmax=1)
    path = page(white)
    assert check.main(["--needs", "demo", str(path)]) == 1  # there is none
    assert check.main(["--needs", "demo", "--write", str(path)]) == 0
    assert check.main(["--needs", "demo", str(path)]) == 0
    assert [each.name for each in (path.parent / "pictures").iterdir()] == ["a.png"]
    _, (difference,), _ = check.check(page(black), {"demo"})
    assert "another picture" in difference


def test_python_sessions_share_their_names(page):
    text = block(">>> x = 2\n>>> def twice(y):\n...     return 2 * y\n", language="pycon")
    text += block(">>> twice(x)\n4\n>>> 1 / 0\n", language="pycon")
    text, differences, _ = check.check(page(text), {"demo"})
    assert len(differences) == 1
    assert "4\n>>> 1 / 0\nZeroDivisionError: division by zero\n" in text


def test_times_and_machines_are_masked_and_numbers_are_not():
    for shown, printed, equal in (
        ("took 1.25 s", "took 13 s", True),
        ("python          3.11.7 on Linux", "python          3.13.0 on Darwin", True),
        ("lightgbm        4.7.0", "lightgbm        not installed (optional)", True),
        ("ndcgboost   0.4964   0.4567", "ndcgboost   0.4964   0.4568", False),
        ("mean over 106 queries", "mean over 105 queries", False),
        ("--set rounds=100  an integer", "--set rounds=200  an integer", False),
    ):
        assert (check.masked(shown) == check.masked(printed)) is equal


def test_an_old_generated_text_differs(page):
    text = "<!-- generated: parameters ranksvm -->\nold\n<!-- end -->\n"
    text, (difference,), _ = check.check(page(text), set())
    assert "-old" in difference
    row = next(line for line in text.splitlines() if line.startswith("| `C` | `1.0` | 0.001, "))
    assert row.endswith("| *float, more than 0* The weight of the pairs against the margin. |")


@pytest.mark.parametrize("name", [name for name in check.generators() if name != "speed"])
def test_what_is_generated_is_in_the_pages(name):
    """Options, defaults, parameters and definitions: none changes without its page."""
    if name == "chosen":  # it fits every ranker
        pytest.importorskip("lightgbm", reason="no lightgbm")
        pytest.importorskip("xgboost", reason="no xgboost")
    for path in (ROOT / "docs").rglob("*.md"):
        for part in check.BLOCK.finditer(path.read_text(encoding="utf-8")):
            if part["generated"] and part["generated"].split()[0] == name:
                made = check.generators()[name](*part["generated"].split()[1:])
                # click 8.2 has the word without its brackets
                made, shown = (
                    each.replace("[COMMAND]", "COMMAND") for each in (made, part["table"])
                )
                assert made.strip() == shown.strip(), path


def test_every_ranker_has_one_page_with_all_of_its_numbers():
    described = [name for page in generate.heads() for name in generate.losses_of(page)]
    assert sorted(described) == sorted(names())
    for name in described:
        if ranker(name).published or name == "ideal":
            assert all(generate.numbers(dataset, name, "map")[0] for dataset in generate.SETS)


def test_pictures_are_of_these_commands_and_this_code():
    """`make pictures` renews them where this fails."""
    drawn: dict[Path, str] = {}
    for path in check.pages():
        text = path.read_text(encoding="utf-8")
        for name in check.drawn_here(text):
            assert (path.parent / name).resolve() not in drawn
            drawn[(path.parent / name).resolve()] = check.made_by(text)
    assert {*drawn} == {*(ROOT / "docs" / "pictures").iterdir()}
    assert [path.name for path, code in drawn.items() if check.stamped(path) != code] == []
    for path in (ROOT / "docs" / "speed").glob("*.svg"):
        assert import_module("speed").made_by() in path.read_text(encoding="utf-8")


def test_the_leaderboard_and_the_papers_are_of_this_code():
    """`make leaderboard` and `make papers` renew what fails here."""
    assert [line for path in check.pages() for line in check.old_code(path)] == []


def test_what_other_code_made_is_named(monkeypatch):
    monkeypatch.setattr("letorbench.source.is_current", lambda identity: False)
    monkeypatch.setattr("letorbench.results.dataset_results.is_current", lambda identity: False)
    [line] = check.old_code(ROOT / "docs" / "leaderboard.md")
    rows = sum(len(shipped(name).rows) for name in files())
    assert f"{rows} rows" in line and "`make leaderboard`" in line
    monkeypatch.setattr("letorbench.papers.paper_page.code_digest", lambda papers: "0" * 16)
    for name in ("papers", *(f"papers/{name}" for name in PAPERS)):
        [line] = check.old_code(ROOT / "docs" / f"{name}.md")
        assert "0" * 16 in line and "`make papers`" in line
    assert check.old_code(ROOT / "README.md") == []


def test_what_made_a_picture_is_its_commands_and_their_code(monkeypatch):
    import letorbench.source as source

    page = block("$ letorbench run --algo mart\nx\n") + block(
        ">>> lb.RankNet()\n1\n", language="pycon"
    )
    digests = dict.fromkeys(("letorbench.rankers.mart", "letorbench.rankers.ranknet"), "1")
    monkeypatch.setattr(source, "scoring_digest", lambda module: digests.get(module, module))
    before = check.made_by(page)
    assert before == check.made_by(page.replace("\nx\n", "\ny\n"))  # what is printed is not asked
    assert before != check.made_by(page.replace("run --algo", "run --seed 1 --algo"))
    for module in digests:
        monkeypatch.setitem(digests, module, "2")
        assert check.made_by(page) != before
        monkeypatch.setitem(digests, module, "1")
    monkeypatch.setattr(source, "source_digest", str)
    assert check.made_by(page) != before


def test_every_shown_session_is_checked():
    for path in check.pages():
        text = path.read_text(encoding="utf-8")
        shown = text.count("\n```console\n") + text.count("\n```pycon\n")
        blocks = list(check.BLOCK.finditer(text))
        assert shown == sum(match["check"] is not None for match in blocks), path
        assert {match["check"] or match["setup"] for match in blocks} <= {*check.NEEDS, None}
        others = text.count("<!-- end -->") + text.count("answers -->")
        assert text.count("<!-- ") == len(blocks) + others, path


def test_the_files_that_pages_name_are_there():
    named = re.compile(r"`((?:letorbench|tests|benchmarks|docs)/[\w./-]+\.\w+)`")
    for path in check.pages():
        for file in named.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / file).is_file() or "PAPER" in file, (path, file)


def test_the_way_from_the_command_to_the_files_is_as_the_page_says():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| `(\w+/\w+\.py)` \| `(\w+)` \|", page, re.MULTILINE)
    assert 10 <= len(steps) == len(dict(steps)) <= 16
    for file, function in steps:
        source = (ROOT / "letorbench" / file).read_text(encoding="utf-8")
        assert re.search(rf"^ *def {function}\(", source, re.MULTILINE), (file, function)


def test_every_result_file_is_on_the_page_of_their_format():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    constants = {name: value for name, value in vars(paths).items() if name.isupper()}
    files = {value for value in constants.values() if isinstance(value, str)}
    assert len(files) >= 7
    assert not {name for name in files if name not in page}


PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
COMMANDS = {
    text
    for page in PAGES.values()
    for pattern in (r"^\$ (letorbench (?:.*\\\n)*.*)$", r"`(letorbench [^`…]*)`")
    for text in re.findall(pattern, page, re.MULTILINE)
}


def declared(words: list[str]) -> tuple[click.Command, list[str]]:
    """The subcommand that the words name, and what follows it."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("text", sorted(COMMANDS))
def test_the_command_and_its_options_exist(text):
    words = shlex.split(text.replace("\\\n", " "), comments=True)[1:]
    words = words[: words.index("|")] if "|" in words else words
    command, rest = declared(words)
    assert command is not cli or rest in ([], ["--help"], ["--debug"], ["--cite"]), text
    known = {name for each in (command, cli) for param in each.params for name in param.opts}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known | {"--help"}, text


def test_every_target_exists():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^(?:PAPERS :=|)([\w.%\- ]+)(?::|$)", makefile, re.MULTILINE)
    known = {name.replace("%", ".+") for line in targets for name in line.split()}
    for page, text in PAGES.items():
        for target in re.findall(r"`make ([a-z][\w.-]*)", text):
            assert any(re.fullmatch(pattern, target) for pattern in known), (page, target)


def test_every_figure_and_page_that_is_linked_exists_and_is_in_the_index():
    for page, text in PAGES.items():
        for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert ((ROOT / page).parent / path).is_file(), path
    trees = re.findall(r"```\{toctree\}\n(.*?)```", PAGES["docs/index.md"], re.DOTALL)
    listed = " ".join(trees).split()
    assert {Path(page).stem for page in PAGES} <= {*listed, "README", "index"}
    assert len(PAGES["README.md"].splitlines()) <= 200


#: a Python that says it is 3.10
OLD = """#!/bin/sh
exec python3 -c 'import sys; sys.version_info = (3, 10, 13); exec(sys.argv[1])' "$2"
"""


def test_make_refuses_an_older_python_in_one_line(tmp_path):
    for name in ("Makefile", "setup.py", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / "python"
    old.write_text(OLD)
    old.chmod(0o755)
    # under `make test`, the variables of that make would be handed on
    variables = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    for target in ("demo", "wheel-check"):
        made = subprocess.run(
            ["make", target, f"PYTHON={old}"],
            cwd=tmp_path, env=variables, capture_output=True, text=True,
        )  # fmt: skip
        (line,) = (made.stdout + made.stderr).splitlines()
        assert made.returncode and "found Python 3.10, expected 3.11 or newer" in line
    assert len(list(tmp_path.iterdir())) == 4
