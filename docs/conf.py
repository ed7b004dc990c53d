"""How Sphinx builds these pages: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import letorbench  # noqa: E402

project = "letorbench"
author = "the letorbench developers"
version = release = letorbench.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",
    "numpydoc",
]
exclude_patterns = ["notebook.ipynb"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_title = f"letorbench {release}"
smartquotes = False  # the text quotes values

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False


def escape_bars(app, what, name, obj, options, lines) -> None:
    """Keep |x| in a docstring's formula from being read as a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith(">>>"):
            lines[i] = line.replace("|", r"\|")


def setup(app) -> None:
    # before numpydoc, which has the usual priority of 500
    app.connect("autodoc-process-docstring", escape_bars, priority=400)
