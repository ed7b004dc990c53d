"""Regenerate what README.md and the pages paste from runs, and compare it with what they show.

    python docs/check.py [--needs demo,dask,shared] [--write] [PAGE ...]

A page marks what is checked in comments that a reader does not see:

    <!-- check: demo -->         above a ```console block (`$ command`, then its output) or a
                                 ```pycon block (`>>> code`, then its output)
    <!-- setup: demo             commands that run at this place without being shown, up to -->
    <!-- generated: NAME ... --> a function of docs/generate.py writes the text up to <!-- end -->

A picture of a page, `![...](pictures/NAME.png)`, is compared with the file NAME.png that the page's
commands leave in that folder, where they leave one. It holds a digest of what made it: the commands
of its page, and the code that they run. A page of papers has a line with one. Both are compared
also where nothing is run.

The word after `check:` and `setup:` says what the block needs: `demo` nothing, `dask` the package
distributed, `shared` the real data in ../shared, `bench` minutes and the packages of the
benchmarks. The blocks of a page run in order in one empty folder, where commands see the variables
ROOT (the repository) and SHARED. With `--needs ''` no block is run, and the generated texts alone
are compared. `--write` puts the new output in the page. MASKS lists what may
differ: times, sizes, versions and the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import io
import os
import re
import runpy
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
NEEDS = ("demo", "dask", "shared", "bench")

#: what differs from machine to machine and run to run, and what stands for it in a comparison
MASKS: tuple[tuple[str, str], ...] = (
    (r"\b\d[\d.,]* ?(?:ns|us|ms|s|min|MB/s|MB|GB|x)\b", "<amount>"),
    # of `letorbench doctor`: the machine, then a line for each package
    (r"(?m)^(python|cores|threads|kernels|cache)  .*$", r"\1 <machine>"),
    (r"(?m)^([a-z-]+)  +(?:\d+\.\d+\.\d\S*|[1-9]\d*\.\d+|not installed.*)$", r"\1 <version>"),
    (r"/tmp/[\w./-]+", "<path>"),
    (r"\b[0-9a-f]{8}\b(?=  )", "<digest>"),  # of code, which any change of it changes
    (r"(?m) +$", ""),
    (r"\n{2,}", "\n"),
    (r" {2,}", "  "),
)

#: a picture that a page's commands draw
PICTURE = re.compile(r"^!\[[^]]*\]\(((?:docs/)?pictures/[\w-]+\.png)\)$", re.MULTILINE)
#: the key of a PNG under which it holds the digest of what made it
KEY = "letorbench-code"
#: a longer line of a notebook is a picture
LONGEST_LINE = 5_000
#: what draws pictures and makes the data of DEMO; the rankers that a page names count, too
DRAWING = (
    "analysis/figures.py", "analysis/curves.py", "analysis/importance.py", "analysis/paired.py",
    "analysis/published.py", "analysis/ranks.py", "datasets/synthetic",
)  # fmt: skip
#: a command of a console block
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
#: the mean difference of two pictures, of 0 to 1, below which they show the same
ALIKE = 0.002

BLOCK = re.compile(
    r"^<!-- check: (?P<check>\w+) -->\n```(?P<language>console|pycon)\n(?P<body>.*?)^```$"
    r"|^<!-- setup: (?P<setup>\w+)\n(?P<hidden>.*?)^-->$"
    r"|^<!-- generated: (?P<generated>[\w -]+) -->\n(?P<table>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


def masked(text: str) -> str:
    """Return the text without what may differ between two right runs."""
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def run_console(body: str, folder: Path) -> str:
    """Return the console block as it is printed now; an error stands where a command fails."""
    environment = os.environ | {
        "ROOT": str(ROOT), "SHARED": str(SHARED), "LC_ALL": "C.UTF-8", "COLUMNS": "100",
        "PYTHONPATH": str(ROOT), "PATH": f"{folder / '.bin'}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    lines = []
    for command in COMMAND.findall(body):
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, text=True, capture_output=True
        )
        lines += [f"$ {command}", *done.stdout.rstrip("\n").splitlines()]
        if done.returncode and "2>&1" not in command:
            lines.append(f"exit status {done.returncode}: {done.stderr.strip()}")
    return "".join(f"{line.rstrip()}\n" for line in lines)


def run_python(body: str, folder: Path, namespace: dict[str, object]) -> str:
    """Return the Python session as it is printed now."""
    lines = []
    for example in doctest.DocTestParser().get_examples(body):
        source = example.source.rstrip("\n").split("\n")
        lines += [f"{'...' if n else '>>>'} {line}".rstrip() for n, line in enumerate(source)]
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                exec(compile(example.source, "<docs>", "single"), namespace)
            except Exception as error:  # a page may show an error; any other differs
                print(f"{type(error).__name__}: {error}")
        lines += [line.rstrip() for line in out.getvalue().split("\n") if line]
    return "".join(f"{line}\n" for line in lines)


@cache
def generators() -> dict:
    """Return what docs/generate.py can write, by its marker's first word."""
    return runpy.run_path(str(ROOT / "docs" / "generate.py"))["GENERATED"]


def picture(shown: Path, drawn: Path) -> bool:
    """Whether a picture shows what is drawn now, but for what other fonts and versions change."""
    import numpy as np
    from matplotlib.image import imread

    if not shown.is_file():
        return False
    one, other = (imread(path)[..., :3] for path in (shown, drawn))
    return one.shape == other.shape and float(np.abs(one - other).mean()) < ALIKE


def commands(text: str) -> str:
    """Return what the blocks of a page run, without what they print."""
    lines: list[str] = []
    for block in BLOCK.finditer(text):
        if block["language"] == "pycon":
            lines += [each.source for each in doctest.DocTestParser().get_examples(block["body"])]
        else:
            lines += COMMAND.findall(block["hidden"] or block["body"] or "")
    return "\n".join(lines)


def drawn_here(text: str) -> list[str]:
    """Return the pictures of a page that its own commands draw."""
    ran = commands(text)
    stems = {name: Path(name).stem for name in PICTURE.findall(text)}
    return [name for name, stem in stems.items() if re.search(rf"--to {stem}\b|\b{stem}\.png", ran)]


def made_by(text: str) -> str:
    """Return a digest of what makes a page's pictures: its commands, and the code that they run."""
    from letorbench.analysis.leaderboard import files
    from letorbench.experiment.plan import BASELINES
    from letorbench.files import digest
    from letorbench.rankers import names, ranker
    from letorbench.source import PACKAGE, scoring_digest, source_digest

    ran = commands(text)
    words = {*re.findall(r"[\w-]+", ran)}
    words |= {*BASELINES} if "baselines" in words else set()
    rankers = [cls for cls in map(ranker, names()) if {cls.name, cls.__name__} & words]
    paths = [path for name in DRAWING for path in (PACKAGE / name, *(PACKAGE / name).glob("*.py"))]
    drawing = [path.relative_to(PACKAGE).as_posix() for path in paths if path.is_file()]
    parts = [ran, source_digest(drawing)]
    parts += sorted({scoring_digest(cls.__module__) for cls in rankers})
    if "leaderboard" in words:
        parts += [digest(path.read_bytes()) for path in files().values()]
    return digest("\n".join(parts).encode())[:16]


def stamp(drawn: Path, shown: Path, code: str) -> None:
    """Copy a picture, with the digest of what made it."""
    from PIL import Image, PngImagePlugin

    facts = PngImagePlugin.PngInfo()
    facts.add_text(KEY, code)
    shown.parent.mkdir(exist_ok=True)
    with Image.open(drawn) as image:
        image.save(shown, pnginfo=facts, dpi=image.info.get("dpi"))


def stamped(shown: Path) -> str:
    """Return the digest that a picture holds; "" for none."""
    from PIL import Image

    if not shown.is_file():
        return ""
    with Image.open(shown) as image:
        return str(image.info.get(KEY, ""))


def check(path: Path, needs: set[str], write: bool = False) -> tuple[str, list[str], int]:
    """Run the page's blocks; return its new text, what differs, and how many were skipped.

    write: whether a picture that differs is replaced.
    """
    if path.suffix == ".ipynb":
        return check_notebook(path)
    differences: list[str] = []
    skipped = 0
    namespace: dict[str, object] = {"__name__": "__main__"}

    def renew(match: re.Match[str]) -> str:
        nonlocal skipped
        if match["generated"]:
            name, *words = match["generated"].split()
            group, new = "table", generators()[name](*words)
        elif (match["check"] or match["setup"]) not in needs:
            skipped += match["check"] is not None
            return match[0]
        elif match["setup"]:
            output = run_console(match["hidden"], folder).splitlines()
            failed = [line for line in output if line.startswith("exit status")]
            differences.extend(f"{path}: setup: {line}" for line in failed)
            return match[0]
        elif match["language"] == "console":
            group, new = "body", run_console(match["body"], folder)
        else:
            group, new = "body", run_python(match["body"], folder, namespace)
        comparable = str.strip if match["generated"] else masked
        new = new.replace(str(ROOT), "…")  # where the repository is on this machine
        before, after = comparable(match[group]), comparable(new)
        if before == after:
            return match[0]
        names = (f"{path} shows", "a run prints")
        lines = (before.splitlines(), after.splitlines())
        differences.append("\n".join(difflib.unified_diff(*lines, *names, lineterm="", n=1)))
        start, stop = (at - match.start() for at in match.span(group))
        return match[0][:start] + new.strip("\n") + "\n" + match[0][stop:]

    differences += old_code(path)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / ".bin").mkdir()
        for name, module in (("letorbench", "-m letorbench"), ("dask", "-m dask"), ("python", "")):
            command = folder / ".bin" / name  # runs this repository's package
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            command.chmod(0o755)
        text = BLOCK.sub(renew, path.read_text(encoding="utf-8"))
        for name in drawn_here(text):
            shown, drawn, code = path.parent / name, folder / Path(name).name, made_by(text)
            if drawn.is_file() and not (stamped(shown) == code and picture(shown, drawn)):
                differences.append(f"{shown}: another picture, or by other code, is drawn now")
                if write:
                    stamp(drawn, shown, code)
            elif stamped(shown) != code:
                differences.append(f"{shown}: by other commands or code: run `make pictures`")
    return text, differences, skipped


def check_notebook(path: Path) -> tuple[str, list[str], int]:
    """Run a notebook; return its new text, and what its outputs differ in, pictures aside."""
    import rendered

    texts = path.read_text(encoding="utf-8"), rendered.run(path)
    before, after = (
        [line for line in masked(text).splitlines() if len(line) < LONGEST_LINE] for text in texts
    )
    names = (f"{path} shows", "a run gives")
    difference = "\n".join(difflib.unified_diff(before, after, *names, lineterm="", n=1))
    return texts[1], [difference] * bool(difference), 0


def old_code(path: Path) -> list[str]:
    """Return a line where a page of papers, or the leaderboard's numbers, are of other code.

    A page of papers may be of other data, too, where these are at hand.
    """
    from letorbench.analysis.leaderboard import files, shipped
    from letorbench.papers import PAPERS, paper
    from letorbench.papers.paper_page import code_digest, origin
    from letorbench.papers.runs import Context

    if path.parent.name == "papers" and path.stem in PAPERS:
        made_by = origin(paper(path.stem), Context(ROOT / "data", ROOT / "results"))
    elif path == ROOT / "docs" / "papers.md":
        made_by = f"From code `{code_digest([*map(paper, PAPERS)])}`"
    elif path == ROOT / "docs" / "leaderboard.md":
        rows = [row for name in files() for row in shipped(name).rows if row.version]
        return [f"{path}: {len(rows)} rows are of other code: run `make leaderboard`"] * bool(rows)
    else:
        return []
    expected = made_by.rstrip(".").split("; ")
    found = re.findall("^From code .*$", path.read_text(encoding="utf-8"), re.MULTILINE)
    old = [each for each in expected if not found or each not in found[-1]]
    return [f"{path}: expected {'; '.join(old)}: run `make papers`"] if old else []


def pages() -> list[Path]:
    """Return README.md and the pages."""
    folders = (ROOT / "docs" / name for name in (".", "algorithms", "papers"))
    return [ROOT / "README.md", *(page for each in folders for page in sorted(each.glob("*.md")))]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: README.md and all pages")
    parser.add_argument("--needs", default="demo,dask,shared", help=f"of {', '.join(NEEDS)}")
    parser.add_argument("--write", action="store_true", help="put the new output in the pages")
    options = parser.parse_args(arguments)
    needs = {each for each in options.needs.split(",") if each}
    if unknown := needs - set(NEEDS):
        parser.error(f"found --needs {', '.join(unknown)}, expected some of {', '.join(NEEDS)}")
    if not SHARED.is_dir() and "shared" in needs:
        print(f"no {SHARED}: blocks that need real data are skipped")
        needs.discard("shared")
    if find_spec("distributed") is None and "dask" in needs:
        print("no package distributed: blocks that need dask are skipped")
        needs.discard("dask")
    sys.path.insert(0, str(ROOT))
    total = 0
    chosen = options.pages or [*pages(), ROOT / "docs" / "notebook.ipynb"]
    with ProcessPoolExecutor() as pool:  # pages share nothing; each has a folder of its own
        checked = pool.map(check, chosen, repeat(needs), repeat(options.write))
        for path, (text, differences, skipped) in zip(chosen, checked, strict=True):
            total += len(differences)
            print(f"{path}: {len(differences)} differ, {skipped} skipped", flush=True)
            print("".join(f"{difference}\n" for difference in differences), end="")
            if options.write and differences:
                path.write_text(text, encoding="utf-8")
    return 1 if total and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
