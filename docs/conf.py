"""How Sphinx builds these pages: `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import rendered  # noqa: E402

import letorbench  # noqa: E402

project = "letorbench"
author = "The letorbench authors"
version = release = letorbench.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "numpydoc",
]
NOTEBOOK = HERE / "notebook.ipynb"
exclude_patterns = [NOTEBOOK.name]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_show_copyright = False
html_title = f"letorbench {release}"
# a paper's page unfolds its raw rows below smaller headings
suppress_warnings = ["myst.header"]
smartquotes = False  # the text quotes values

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False


def escape_signs(app, what, name, obj, options, lines) -> None:
    """Keep |x| in a docstring's formula from being a substitution, and ndcg@10 a mail address."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            # what is in double backquotes is as it stands
            parts = line.split("``")
            parts[::2] = [re.sub(r"(?<=\w)@(?=\w)", r"\@", part) for part in parts[::2]]
            lines[i] = "``".join(parts).replace("|", r"\|")


def link_notebook(app, name, source) -> None:
    """Link the notebook's page, where the files themselves link the notebook."""
    source[0] = source[0].replace("](notebook.ipynb)", "](notebook/index.md)")


def setup(app) -> None:
    app.connect("builder-inited", lambda app: rendered.notebook(NOTEBOOK, NOTEBOOK.with_suffix("")))
    app.connect("builder-inited", lambda app: rendered.commands(HERE / "commands.md"))
    app.connect("build-finished", lambda app, error: rendered.pages(Path(app.outdir) / "shown"))
    app.connect("source-read", link_notebook)
    # before numpydoc, which has the usual priority of 500
    app.connect("autodoc-process-docstring", escape_signs, priority=400)
