"""The names that a shell completes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.catalog import CATALOG
from letorbench.datasets.layout import installed
from letorbench.features import AUTO, TRANSFORMATIONS
from letorbench.rankers import names
from letorbench.results.paths import algorithms as with_folds
from letorbench.results.paths import present


def algorithm_names() -> list[str]:
    """Return every algorithm and the groups."""
    return [*names(), "all", "baselines"]


def catalog_names() -> list[str]:
    """Return every known data set."""
    return list(CATALOG)


def installed_names(data_dir: Path) -> list[str]:
    """Return the data sets that a run can use."""
    return list(dict.fromkeys([*installed(data_dir), "DEMO", "all"]))


def result_names(out: Path) -> list[str]:
    """Return the data sets that have results."""
    return [*present(out), "all"]


def run_names(out: Path, datasets: Iterable[str]) -> list[str]:
    """Return the algorithms that have results, on any data set where none is named."""
    asked = list(datasets) or present(out)
    return sorted({algo for name in asked for algo in with_folds(out, name)})


def convention_names() -> list[str]:
    """Return the measuring conventions."""
    return list(CONVENTIONS)


def features_names() -> list[str]:
    """Return the transformations of features, and the word that leaves the choice to the data."""
    return [AUTO, *TRANSFORMATIONS]
