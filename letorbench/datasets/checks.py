"""Checks of data: are they the published ones, is their convention theirs, is there a leak."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from letorbench.datasets import LARGEST_GRADE, UNJUDGED, layout
from letorbench.datasets.catalog import CATALOG, Entry, Name
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark

#: the convention of data sets that no official LETOR tool measures
STANDARD = "standard"


def check_convention(n_features: int, max_label: int, convention: str, chosen: bool) -> str | None:
    """Return a line for the user if data of this shape have another official convention."""
    if convention == STANDARD and chosen:
        return None
    for entry in look_alike(n_features, max_label):
        if entry.convention not in (STANDARD, convention):
            return (
                f"found {n_features} features and labels up to {max_label}, as {entry.name} has; "
                f"--convention {entry.convention} may be meant"
            )
    return None


def look_alike(n_features: int, max_label: int) -> Iterator[Entry]:
    """Yield the data sets of the catalog whose shape data have."""
    for entry in CATALOG.values():
        # the shapes that twins have are of nothing else; 21 or 25 features may be anybody's
        alike = entry.twin is not None and n_features == entry.n_features
        if alike and 0 < max_label <= (entry.max_label or 0):
            yield entry


def leak(benchmark: Benchmark) -> str:
    """Return a line on the first fold that has a query in two of its parts, "" for none."""
    for fold in benchmark.folds:
        for (one, left), (other, right) in combinations(fold.parts.items(), 2):
            # each file may number its own queries, and then their names tell
            both = np.intersect1d(left.qids, right.qids)
            if left.query_names is not None and right.query_names is not None:
                both = np.intersect1d(left.query_names, right.query_names)
            if len(both):
                queries = "1 query" if len(both) == 1 else f"{len(both)} queries"
                return (
                    f"fold {fold.number} has {queries} (such as {both[0]}) in its {one} and its "
                    f"{other} part; this is a leak, unless each file numbers its own queries"
                )
    return ""


@dataclass(frozen=True)
class Check:
    """A file or a number of a data set compared with the published one."""

    what: str
    status: str  # ok, differs, or unknown if nothing is published
    published: int | None = None
    loaded: int | None = None


def verify(name: str | Name, data_dir: Path, null: str | float = "keep") -> list[Check]:
    """Hash every file, load all folds, and compare them with the published facts."""
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
    judged = labels[labels != UNJUDGED]
    counts = np.bincount(judged, minlength=len(published or ())).tolist()
    facts: list[tuple[str, int | None, int]] = [
        ("queries", known.queries if known else None, sum(part.n_queries for part in data.parts)),
        ("documents", known.documents if known else None, len(labels)),
        ("features", known.n_features if known else None, data.parts[0].n_features),
    ]
    if len(counts) > LARGEST_GRADE + 1:
        facts.append(("different labels", None, sum(map(bool, counts))))
        counts = []
    for label, count in enumerate(counts):
        number = None if published is None else sum(published[label : label + 1])
        facts.append((f"label {label}", number, count))
    if len(judged) < len(labels):
        facts.append(("not judged", None, len(labels) - len(judged)))
    for what, number, loaded in facts:
        status = "unknown" if number is None else "ok" if number == loaded else "differs"
        checks.append(Check(what, status, number, loaded))
    return checks
