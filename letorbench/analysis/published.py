"""Results as papers and sites print them, to be put beside ours.

`published.csv` holds a mean a row, `published_by_fold.csv` the folds that some sources print too,
and `sources.csv` where they were printed. A row says with what name its source calls the data set
and the algorithm; which of ours they are is said here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from types import MappingProxyType

from letorbench.datasets.catalog import CATALOG, normalized, parse
from letorbench.rankers import places

#: the data set of a name as printed, where it is not the catalog's but for case and punctuation.
#: MSLR-WEB30K-Fold1 is not here: the numbers of one fold are not the data set's.
DATASETS: Mapping[str, str] = MappingProxyType(
    {printed: entry.name for entry in CATALOG.values() for printed in entry.published_as}
)

#: a printed name that is not ours but for case and punctuation -> our ranker of the same method.
#: Those with another are not here: lgrz's "GBDT (XGBoost)" is multiple classification, jforests and
#: QuickRank are other programs, and MQ2007's plain "AdaRank" does not say what it boosts on.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "RankSVM-Struct": "ranksvm",
        "LightGBM(2020 log)": "lightgbm",
        "LambdaRank (LightGBM)": "lightgbm",
        "xgboost(log)": "xgboost",
        "xgboost_hist": "xgboost",
        "xgboost_hist(log)": "xgboost",
    }
)


@dataclass(frozen=True)
class Published:
    """One printed number.

    dataset, algorithm: the names its source uses.
    measure:   in our spelling (`ndcg@10`, `map`), also of what is no measure of ours.
    value, printed: the number, and its digits as printed ("0.320").
    note:      what else the source says, such as another convention.
    reference: the source, as one cites it; `source` is its short name.
    folds:     from "train", "validation" and "test" to the numbers of the folds 1, 2, ... there;
               empty where the source prints no folds.
    """

    source: str
    dataset: str
    algorithm: str
    measure: str
    value: float
    printed: str
    note: str
    reference: str
    folds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def ours(self) -> str | None:
        """The name of our ranker of that method, or None."""
        known = {_letters(name): name for name in places()}
        return ALIASES.get(self.algorithm) or known.get(_letters(self.algorithm))


@cache
def published() -> tuple[Published, ...]:
    """Every printed number, in the file's order."""
    references = {row["source"]: row["reference"] for row in _rows("sources.csv")}
    folds: dict[tuple[str, ...], dict[str, tuple[float, ...]]] = {}
    for row in _rows("published_by_fold.csv"):
        numbers = tuple(float(row[str(k)]) for k in range(1, 6))
        folds.setdefault(_key(row), {})[row["part"]] = numbers
    return tuple(
        Published(
            *_key(row),
            float(row["value"]),
            row["value"],
            row["note"],
            references[row["source"]],
            MappingProxyType(folds.get(_key(row), {})),
        )
        for row in _rows("published.csv")
    )


def lookup(dataset: str, measure: str, algo: str | None = None) -> tuple[Published, ...]:
    """What is printed of a data set at a measure, of all algorithms or of ours named `algo`.

    dataset: as a user names it; a variant or a twin of a data set has numbers of its own, and
    none are published. measure: text such as `ndcg@10`, in any case. Empty where there is none.
    """
    label, measure = normalized(parse(dataset).label), measure.strip().lower()
    return tuple(
        row
        for row in published()
        if row.measure == measure
        and normalized(DATASETS.get(row.dataset, row.dataset)) == label
        and (algo is None or row.ours == algo)
    )


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _key(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Return the source, the data set, the algorithm and the measure of a row."""
    measure = row["metric"].lower() + (f"@{row['cutoff']}" if row["cutoff"] else "")
    return row["source"], row["dataset"], row["algorithm"], measure


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = resources.files("letorbench.analysis") / name
    with path.open("r", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
