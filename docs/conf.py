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
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["notebook.ipynb"]
html_theme = "furo"
html_title = f"letorbench {release}"

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
