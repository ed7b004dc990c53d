"""Whether a data set is the published one: its files and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.datasets import layout
from letorbench.datasets.catalog import Name
from letorbench.datasets.load import load


@dataclass(frozen=True)
class Check:
    """A file or a number of a data set beside what is published of it.

    Its status is ok, differs, or unknown where nothing is published.
    """

    what: str
    status: str
    published: int | None = None
    loaded: int | None = None


def verify(name: str | Name, data_dir: Path, null: str | float = "error") -> list[Check]:
    """Hash every file, load all folds, and compare them with what is published."""
    data = load(name, data_dir, null=null)
    there = layout.find(name, data_dir)
    known = there.name.entry
    files = [(path, path.relative_to(there.folder).as_posix()) for path in there.files]
    checks = [
        Check(file, known.status_of(path, file) if known else "unknown") for path, file in files
    ]
    recipe = data.provenance["recipe"]
    if isinstance(recipe, dict) and recipe.get("scale") != 1.0:
        known = None
    labels = np.concatenate([part.labels for part in data.parts])
    published = known.label_counts if known else None
    counts = np.bincount(labels, minlength=len(published or ())).tolist()
    facts: list[tuple[str, int | None, int]] = [
        ("queries", known.queries if known else None, sum(part.n_queries for part in data.parts)),
        ("documents", known.documents if known else None, len(labels)),
        ("features", known.n_features if known else None, data.parts[0].n_features),
    ]
    for label, count in enumerate(counts):
        number = None if published is None else sum(published[label : label + 1])
        facts.append((f"label {label}", number, count))
    for what, number, loaded in facts:
        status = "unknown" if number is None else "ok" if number == loaded else "differs"
        checks.append(Check(what, status, number, loaded))
    return checks
