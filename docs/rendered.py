"""What Sphinx needs that no file here holds: the notebook as a page, a report, the leaderboard.

All three are made when the pages are built, by the package itself, in a folder that is thrown away.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: the pages that a reader clicks: the words of their commands; each ends with --out-file NAME
PAGES = {
    "report.html": ("report", "DEMO", "--baseline", "regression"),
    "leaderboard.html": ("leaderboard",),
}
RUN = ("run", "--dataset", "DEMO", "--algo", "regression,listnet,rankboost,ndcgboost,mart")


def pages(folder: Path) -> None:
    """Write the report of a run on DEMO and the leaderboard into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _letorbench(scratch, *RUN)
        for name, words in PAGES.items():
            _letorbench(scratch, *words, "--out-file", name)
            (folder / name).write_bytes((Path(scratch) / name).read_bytes())


def _letorbench(folder: str, *words: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "letorbench", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def notebook(source: Path, folder: Path) -> None:
    """Run the cells of a notebook; write them and their outputs as a page, index.md."""
    folder.mkdir(exist_ok=True)
    parts, namespace = [], {"__name__": "__main__"}
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        for number, cell in enumerate(cells):
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                parts.append(text.replace("](", "](../") if "://" not in text else text)
                continue
            printed, value = _run(text, namespace)
            parts.append(f"```python\n{text}\n```")
            parts += [f"```text\n{printed.rstrip()}\n```"] * bool(printed.strip())
            parts += _shown(value, folder / f"output-{number}.png")
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


def _shown(value: object, image: Path) -> list[str]:
    """Return a value as a notebook shows it."""
    if value is None:
        return []
    if hasattr(value, "_repr_png_"):
        image.write_bytes(value._repr_png_())
        return [f"![the output of the cell above]({image.name})"]
    if hasattr(value, "_repr_html_"):
        return [f'```{{raw}} html\n<div class="output">{value._repr_html_()}</div>\n```']
    return [f"```text\n{value!r}\n```"]
