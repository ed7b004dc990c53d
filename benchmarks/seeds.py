"""How far seeds move what draws random numbers: `python -m benchmarks.seeds [FOLDER]`.

Each is run with ten seeds on OHSUMED and MQ2008; results stay in FOLDER, and are kept by a second
call. The table is what the default number of seeds is chosen by. R seeds have a standard error
below a third of the queries' from R = 9 (seed / queries)^2 on, where `seed` is the standard
deviation of one seed's mean and `queries` the standard error of a mean over the test queries. The
last columns are of the difference from ListNet, which draws nothing: a difference moves less from
query to query, and needs more seeds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import letorbench as lb
from letorbench.analysis.paired import seed_variances
from letorbench.analysis.tables import Column, columns, render, table
from letorbench.results.dataset_results import require_system
from letorbench.results.per_query import PerQuery

DATASETS, MEASURES, REPEATS = ("OHSUMED", "MQ2008"), ("ndcg@1", "ndcg@10", "map"), 10
#: a folder of results -> its algorithm and the settings that make it draw
DRAWN = {
    "ranknet": ("ranknet", ()),
    "lambdarank": ("lambdarank", ()),
    "sampled stumps": ("ndcgboost", ("stumps=sample",)),
    "random ties": ("wpl", ("ties=random",)),
    "sampled trees": (
        "lightgbm", ("docs=0.5", "columns=0.5", "leaves=7", "learning_rate=0.1"),
    ),
}  # fmt: skip
#: what draws nothing, and what differences are taken from
STEADY = "listnet"


def needed(seed: float, queries: float) -> float:
    """The number of seeds whose standard error is a third of the queries'; both as variances."""
    return 9.0 * seed / queries


def row(dataset: str, name: str, queries: PerQuery, steady: PerQuery, measure: str) -> tuple:
    """A measure of an algorithm: its deviations and the seeds that they ask for."""
    values = queries.tables[measure]
    variances = seed_variances(values, np.zeros((1, values.shape[1])), queries.folds)
    seed = len(values) * sum(variance for variance, _ in variances)
    mean = values.mean(axis=0)
    difference = mean - steady.values[measure]
    of_mean, of_difference = (each.var(ddof=1) / len(each) for each in (mean, difference))
    return (
        dataset, name, measure, seed**0.5, of_mean**0.5, needed(seed, of_mean),
        of_difference**0.5, needed(seed, of_difference),
    )  # fmt: skip


def main(folder: Path) -> None:
    """Run what is not there yet, and print the table."""
    lb.run(DATASETS, STEADY, out=folder / STEADY)
    rows = []
    for name, (algo, fixed) in DRAWN.items():
        out = folder / name.replace(" ", "-")
        lb.run(DATASETS, algo, out=out, fixed=fixed, repeats=REPEATS)
        for dataset in DATASETS:
            queries = require_system(out, dataset, algo).queries
            steady = require_system(folder / STEADY, dataset, STEADY).queries
            rows += [row(dataset, name, queries, steady, m) for m in MEASURES]
    needs = Column("seeds needed", form=".1f")
    by_mean = columns(["data set", "what is drawn", "measure"], {"seed": ".4f", "queries": ".4f"})
    shown = (*by_mean, needs, Column("difference", form=".4f"), needs)
    order = sorted(rows, key=lambda values: values[0])
    print(render(table("", shown, order), "text"), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results-of-seeds"))
