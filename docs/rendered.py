"""The pages that are made when Sphinx runs: the notebook, the commands, a report, the leaderboard.

The package itself makes the last two, in a folder that is thrown away. The notebook is stored with
its outputs, which docs/check.py compares and renews.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import click

from letorbench.cli import cli

ROOT = Path(__file__).resolve().parents[1]
#: the pages that a reader clicks: the words of their commands; each ends with --out-file NAME
PAGES = {
    "report.html": ("report", "DEMO", "--baseline", "regression"),
    "leaderboard.html": ("leaderboard", "--format", "csv"),
}
RUN = ("run", "--dataset", "DEMO", "--algo", "regression,listnet,rankboost,ndcgboost,mart")


def pages(folder: Path) -> None:
    """Write the report of a run on DEMO and the leaderboard into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _letorbench(scratch, *RUN)
        for name, words in PAGES.items():
            printed = _letorbench(scratch, *words, "--out-file", name)
            (folder / name).write_bytes((Path(scratch) / name).read_bytes())
            if "csv" in words:
                (folder / name).with_suffix(".csv").write_bytes(printed)


def _letorbench(folder: str, *words: str) -> bytes:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "letorbench", *words]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout


def run(source: Path) -> str:
    """Run the cells of a notebook in an empty folder; return its text with what they give."""
    whole = json.loads(source.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "__main__"}
    cells = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        for number, cell in enumerate(cells, 1):
            printed, value = _run("".join(cell["source"]), namespace)
            stream = {"name": "stdout", "output_type": "stream", "text": _lines(printed)}
            result = {"data": _shown(value), "execution_count": number, "metadata": {}}
            cell["execution_count"] = number
            cell["outputs"] = [stream] * bool(printed)
            if value is not None:
                cell["outputs"].append(result | {"output_type": "execute_result"})
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def commands(page: Path) -> None:
    """Write a page of what every command's `--help` prints."""
    sections = "\n".join(_help(cli, "letorbench"))
    page.write_text(f"# Commands\n\n{sections}", encoding="utf-8")


def _help(command: click.Command, path: str) -> list[str]:
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": 90}
    context = click.Context(command, info_name=path, **settings)
    sections = [f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sections += _help(command.get_command(context, name), f"{path} {name}")
    return sections


def notebook(source: Path, folder: Path) -> None:
    """Write the cells of a notebook and their stored outputs as a page, index.md."""
    folder.mkdir(exist_ok=True)
    parts = []
    for number, cell in enumerate(json.loads(source.read_text(encoding="utf-8"))["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text.replace("](", "](../") if "://" not in text else text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            data = {kind: "".join(of) for kind, of in output.get("data", {}).items()}
            if image := data.get("image/png"):
                name = f"output-{number}.png"
                (folder / name).write_bytes(base64.b64decode(image))
                parts.append(f"![the output of the cell above]({name})")
            elif html := data.get("text/html"):
                parts.append(f'```{{raw}} html\n<div class="output">{html}</div>\n```')
            else:
                plain = data.get("text/plain") or "".join(output["text"])
                parts.append(f"```text\n{plain.rstrip()}\n```")
    (folder / "index.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _run(text: str, namespace: dict[str, object]) -> tuple[str, object]:
    """Return what a cell prints, and the value of the expression that ends it."""
    body = ast.parse(text).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.Module(body, []), "<notebook>", "exec"), namespace)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<notebook>", "eval"), namespace)
    return out.getvalue(), value


def _shown(value: object) -> dict[str, list[str]]:
    """Return a value in the forms in which a notebook stores it."""
    data = {"text/plain": _lines("a figure" if hasattr(value, "_repr_png_") else repr(value))}
    if hasattr(value, "_repr_png_"):
        data["image/png"] = _lines(base64.b64encode(value._repr_png_()).decode())
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = _lines(value._repr_html_())
    return data
