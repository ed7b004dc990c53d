"""Regenerate what README.md and docs/*.md paste from runs, and compare it with what they show.

    python docs/check.py [--needs demo,shared] [--write] [PAGE ...]

A page marks what is checked in comments that a reader does not see:

    <!-- check: demo -->         above a ```console block (`$ command`, then its output) or a
                                 ```pycon block (`>>> code`, then its output)
    <!-- setup: demo             commands that run at this place without being shown, up to -->
    <!-- generated: NAME -->     a function of docs/generate.py writes the text up to <!-- end -->

The word after `check:` and `setup:` says what the block needs: `demo` nothing, `shared` the real
data in ../shared, `bench` the benchmarks, `large` hours and sets of gigabytes. The blocks of a page
run in order in one empty folder.
Commands see the variables ROOT (the repository) and SHARED. `--write` puts the new output in the
page where it differs. MASKS lists what may differ: times, sizes, versions and the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
NEEDS = ("demo", "shared", "bench", "large")

#: the packages that `letorbench doctor` lists
PACKAGES = (
    "numpy|scipy|numba|click|pandas|matplotlib|tqdm|loky|threadpoolctl|packaging|filelock|"
    "scikit-learn|lightgbm|xgboost|distributed|pytest"
)
#: what differs from machine to machine and run to run, and what stands for it in a comparison
MASKS: tuple[tuple[str, str], ...] = (
    (r"\b\d[\d.,]* ?(?:ns|us|ms|s|min|MB/s|MB|GB|x)\b", "<amount>"),
    (r"\bratio [\d.]+|[\d.]+ times\b", "<ratio>"),
    (r"(?m)^(python|cores|threads|kernels|cache)  .*$", r"\1 <machine>"),
    (rf"(?m)^({PACKAGES})  .*$", r"\1 <version>"),
    (r"(?m)^((?:speed|slope)-\S+) .*$", r"\1 <measured in seconds>"),
    (r"(?m)^(\S.*?)  .*  (?:holds|MISSED)$", r"\1 <measured>"),
    (r"/tmp/[\w./-]+", "<path>"),
    (r"(?m) +$", ""),
    (r"\n{2,}", "\n"),
    (r" {2,}", "  "),
)

BLOCK = re.compile(
    r"^<!-- check: (?P<needs>\w+) -->\n```(?P<language>console|pycon)\n(?P<body>.*?)^```$"
    r"|^<!-- setup: (?P<setup>\w+)\n(?P<hidden>.*?)^-->$"
    r"|^<!-- generated: (?P<generated>[\w-]+) -->\n(?P<table>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Page:
    """One page: its new text, and what differs or could not be checked."""

    path: Path
    text: str
    differences: list[str] = field(default_factory=list)
    skipped: int = 0


def masked(text: str) -> str:
    """The text without what may differ between two right runs."""
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def commands(body: str) -> Iterator[str]:
    """The commands of a console block: lines after `$ `, with their continuation lines."""
    for match in re.finditer(r"^\$ ((?:.*\\\n)*.*)$", body, re.MULTILINE):
        yield match.group(1)


def run_console(body: str, folder: Path) -> str:
    """The console block as it is printed now; an error stands where a command fails."""
    environment = os.environ | {
        "ROOT": str(ROOT), "SHARED": str(SHARED), "LC_ALL": "C.UTF-8", "COLUMNS": "100",
        "PYTHONPATH": str(ROOT), "PATH": f"{folder / '.bin'}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    lines = []
    for command in commands(body):
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, text=True, capture_output=True
        )
        lines += [f"$ {command}", *done.stdout.rstrip("\n").splitlines()]
        if done.returncode and "2>&1" not in command:
            lines.append(f"exit status {done.returncode}: {done.stderr.strip()}")
    return "".join(f"{line.rstrip()}\n" for line in lines)


def run_python(body: str, folder: Path, namespace: dict[str, object]) -> str:
    """The Python session as it is printed now."""
    parts = []
    with _inside(folder):
        for example in doctest.DocTestParser().get_examples(body):
            source = example.source.rstrip("\n").split("\n")
            prompts = [">>> ", *["... "] * (len(source) - 1)]
            parts += [f"{p}{line}".rstrip() for p, line in zip(prompts, source, strict=True)]
            with contextlib.redirect_stdout(io.StringIO()) as out:
                try:
                    exec(compile(example.source, "<docs>", "single"), namespace)
                except Exception as error:  # a page may show an error; any other differs
                    print(f"{type(error).__name__}: {error}")
            parts += [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n") if line]
    return "".join(f"{line}\n" for line in parts)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def generate(name: str) -> str:
    """The Markdown that docs/generate.py writes for the marker NAME."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module.GENERATED[name]().strip("\n") + "\n"


def check(path: Path, needs: set[str]) -> Page:
    """Run the page's blocks in a new folder, and note what differs."""
    page = Page(path, path.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _provide_command(folder)

        def renew(match: re.Match[str]) -> str:
            if name := match["generated"]:
                group, new = "table", generate(name)
            elif (match["needs"] or match["setup"]) not in needs:
                page.skipped += match["needs"] is not None
                return match[0]
            elif match["setup"]:
                new = run_console(match["hidden"], folder)
                failed = [line for line in new.splitlines() if line.startswith("exit status")]
                page.differences += [f"{path}: setup: {line}" for line in failed]
                return match[0]
            else:
                group = "body"
                if match["language"] == "console":
                    new = run_console(match["body"], folder)
                else:
                    new = run_python(match["body"], folder, namespace)
            if masked(match[group]) == masked(new):
                return match[0]
            page.differences.append(_difference(path, match[group], new))
            start, stop = (at - match.start() for at in match.span(group))
            return match[0][:start] + new + match[0][stop:]

        page.text = BLOCK.sub(renew, page.text)
    return page


def _provide_command(folder: Path) -> None:
    """Put a `letorbench` into the folder that runs this repository's package."""
    (folder / ".bin").mkdir()
    for name, module in (("letorbench", "-m letorbench"), ("python", "")):
        command = folder / ".bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        command.chmod(0o755)


def _difference(path: Path, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        masked(old).splitlines(), masked(new).splitlines(), f"{path} shows", "a run prints",
        lineterm="", n=1,
    )  # fmt: skip
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: README.md and docs/*.md")
    parser.add_argument("--needs", default="demo,shared", help=f"of {', '.join(NEEDS)}")
    parser.add_argument("--write", action="store_true", help="put the new output in the pages")
    options = parser.parse_args(arguments)
    needs = set(options.needs.split(","))
    if unknown := needs - set(NEEDS):
        parser.error(f"found --needs {', '.join(unknown)}, expected some of {', '.join(NEEDS)}")
    if not SHARED.is_dir() and "shared" in needs:
        print(f"no {SHARED}: blocks that need real data are skipped")
        needs.discard("shared")
    sys.path.insert(0, str(ROOT))
    differences = 0
    for path in options.pages or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        page = check(path, needs)
        differences += len(page.differences)
        print(f"{path}: {len(page.differences)} differ, {page.skipped} skipped", flush=True)
        print("".join(f"{text}\n" for text in page.differences), end="")
        if options.write and page.differences:
            path.write_text(page.text, encoding="utf-8")
    return 1 if differences and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
