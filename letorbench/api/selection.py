"""Which stored results, which of their algorithms, which measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from letorbench.choices import expanded, require_choice, split
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import BASELINES
from letorbench.measures import parse
from letorbench.results.paths import present
from letorbench.results.summary import Summary, read_summary


def words(asked: str | Iterable[str] | None) -> list[str]:
    """Return names as a list: of one text, of several, of comma lists.

    Examples
    --------
    >>> words("MQ2007, MQ2008"), words(["map", "p@5"]), words(None)
    (['MQ2007', 'MQ2008'], ['map', 'p@5'], [])
    """
    return split([asked] if isinstance(asked, str) else asked or ())


def stored_summaries(
    out: Path,
    datasets: str | Iterable[str] | None = None,
    algos: str | Iterable[str] | None = None,
    baseline: str | None = None,
) -> tuple[Summary, ...]:
    """Read the summaries of data sets with results, all by default, with the algorithms named.

    Parameters
    ----------
    out : Path
        The results folder.
    datasets : str or iterable of str, optional
        Names and comma lists; "all" is every data set that has results.
    algos : str or iterable of str, optional
        Names and comma lists; "all", and "baselines" for those of the seven that have results.
    baseline : str, optional
        An algorithm that is among them also where it is not named.

    Raises
    ------
    UsageError
        A name is unknown; the message suggests the nearest.
    DataError
        There are no results.
    """
    names = words(datasets) or ["all"]
    if "all" in names:
        names = present(out)
        if not names:
            raise DataError(f"{out}: no results there; `letorbench run` makes them")
    found = [read_summary(out, name) for name in dict.fromkeys(names)]
    have = sorted({row.algo for summary in found for row in summary.rows})
    seven = [algo for algo in BASELINES if algo in have] or BASELINES
    wanted = expanded(words(algos), {"all": have, "baselines": seven, "card": seven})
    if baseline is not None:
        require_choice(baseline, have, "algorithm")
    if wanted:
        wanted = wanted if baseline is None else [*wanted, baseline]
        wanted = [require_choice(algo, have, "algorithm") for algo in wanted]
        found = [summary.only(wanted) for summary in found]
    return tuple(summary for summary in found if summary.rows)


def measure_names(asked: object, summary: Summary) -> list[str]:
    """Return measures as text; also those that are not stored, where scores can be measured.

    Parameters
    ----------
    asked : str, Measure or sequence of them
        Names, comma lists and values; "all" is every stored measure.
    summary : Summary
        The results that have stored measures.

    Raises
    ------
    UsageError
        A name is no measure; the message suggests the nearest stored one.
    """
    several = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    names = [name.lower() for name in split(map(str, several))]
    if names == ["all"]:
        return list(summary.measures)
    families = {name.partition("@")[0] for name in summary.measures}
    for name in names:
        if name not in summary.measures:
            try:
                parse(name)
            except UsageError:
                if "@" in name and name.partition("@")[0] in families:
                    raise
                require_choice(name, summary.measures, "measure")
    return names
