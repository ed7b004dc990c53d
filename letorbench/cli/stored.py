"""What `table`, `plot`, `compare` and `report` share: which stored results, which measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import completion

if TYPE_CHECKING:
    from letorbench.results.summary import Summary

datasets = click.argument(
    "datasets", nargs=-1, metavar="DATASET…", shell_complete=completion.with_results
)
algos = click.option(
    "--algo", "algos", multiple=True, metavar="NAME…", shell_complete=completion.run_algorithms,
    help="Which algorithms; `baselines`: those of the seven that have results.  [default: all]",
)  # fmt: skip


def summaries(
    datasets: Sequence[str], algos: Sequence[str], out: Path, baseline: str | None = None
) -> list[Summary]:
    """The stored results of the data sets (all that have any by default), of these algorithms.

    A baseline is one of them also where it is not named; UsageError for an unknown name.
    """
    from letorbench.choices import expanded, require_choice, split
    from letorbench.errors import DataError
    from letorbench.experiment.plan import BASELINES
    from letorbench.results.paths import present
    from letorbench.results.summary import read_summary

    names = split(datasets) or ["all"]
    if "all" in names:
        names = present(out)
        if not names:
            raise DataError(f"{out}: no results there; `letorbench run` makes them")
    found = [read_summary(out, name) for name in dict.fromkeys(names)]
    have = sorted({row.algo for summary in found for row in summary.rows})
    baselines = [algo for algo in BASELINES if algo in have] or BASELINES
    groups = {"all": have, "baselines": baselines, "card": baselines}
    wanted = expanded(algos, groups)
    if baseline is not None:
        require_choice(baseline, have, "algorithm")
    if wanted:
        wanted = wanted if baseline is None else [*wanted, baseline]
        wanted = [require_choice(algo, have, "algorithm") for algo in wanted]
        found = [summary.only(wanted) for summary in found]
    return [summary for summary in found if summary.rows]


def columns(words: Sequence[str], summary: Summary) -> list[str]:
    """The measures named; also one that is not stored, if scores can be measured by it.

    UsageError suggests the nearest stored measure for a name that is none at all.
    """
    from letorbench.choices import require_choice, split
    from letorbench.errors import UsageError
    from letorbench.measures import parse

    asked = [name.lower() for name in split(words)]
    if asked == ["all"]:
        return list(summary.measures)
    for name in asked:
        if name not in summary.measures:
            try:
                parse(name)
            except UsageError:
                if "@" in name and name.partition("@")[0] in _families(summary):
                    raise
                require_choice(name, summary.measures, "measure")
    return asked


def _families(summary: Summary) -> set[str]:
    return {name.partition("@")[0] for name in summary.measures}
