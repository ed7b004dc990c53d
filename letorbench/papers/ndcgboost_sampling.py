"""What NDCG Boost's paper leaves open, as a specification curve: the weak learner's sample.

The paper draws documents and fits the weak classifier to them, but says neither how many nor how
often the whole was repeated. Here every sample size has several seeds, beside the stump that
needs no sample; the printed number is drawn into the distribution.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from letorbench.files import write_atomically
from letorbench.measures import parse, query_metrics
from letorbench.papers import checks
from letorbench.papers.claims import Claim, Measured
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study
from letorbench.rankers.ndcgboost import NDCGBoost

NAME = "ndcgboost-2009"
PART = "sampling"
DATASET, MEASURE, PRINTED = "OHSUMED", "ndcg@3", 0.50
#: documents that a round draws; 0 for as many as the training set has
SIZES = (50, 200, 1_000, 3_000, 0)
SEEDS = 20

CLAIMS = (
    Claim(
        NAME, "ohsumed-value-anywhere", PART, "ndcgboost reaches an NDCG@3 of 0.5 on OHSUMED, "
        "with some sample size and seed", DATASET, "value",
        "the range of NDCG@3 over sample sizes, seeds and the exact stump", PRINTED, 0.005,
        check=checks.number("range"),
    ),
    Claim(
        NAME, "ohsumed-value-sampled", PART, "ndcgboost reaches an NDCG@3 of 0.5 on OHSUMED, with "
        "samples as large as the training set", DATASET, "value",
        "the 95 % interval of NDCG@3 over seeds", PRINTED, 0.005, check=checks.number("whole"),
    ),
)  # fmt: skip


def sampling(study: Study) -> Findings:
    """NDCG@3 over sample sizes and seeds, with the printed number marked."""
    from letorbench.papers.paper_figures import Axis, Line, lines_figure

    if not study.has(DATASET):
        return Findings(checks.on_datasets(CLAIMS, {}, study))
    found = _measured(study)
    exact, sampled = found.pop("exact")[0], found
    stem = study.folder(NAME) / PART
    rows: list[list[object]] = [["exact", 1, exact]]
    rows += [[size, seed, v] for size, vs in sampled.items() for seed, v in enumerate(vs)]
    files: tuple[Path, ...] = write_table(
        stem, f"NDCG@3 on {DATASET}", ["sample", "seed", "NDCG@3"], rows
    )
    lines = {
        f"sample of {size}": Line(range(1, SEEDS + 1), sorted(vs))
        for size, vs in sampled.items()
    }
    lines["exact stump"] = Line([1, SEEDS], [exact, exact])
    lines["printed"] = Line([1, SEEDS], [PRINTED, PRINTED])
    files += tuple(
        lines_figure([Axis(DATASET, "seed, the lowest result first", "NDCG@3", lines)], stem)
    )
    every = [exact, *(value for values in sampled.values() for value in values)]
    share = float(np.mean(np.array(every) < PRINTED))
    note = f"{len(every)} settings, {100 * share:.0f} % of them below the printed number"
    whole = np.array(sampled["all"])
    half = 1.96 * whole.std(ddof=1)
    numbers = {
        "range": Measured(float(np.mean(every)), min(every), max(every), note),
        "whole": Measured(
            float(whole.mean()), float(whole.mean() - half), float(whole.mean() + half)
        ),
    }
    return Findings(tuple(claim.judge(numbers) for claim in CLAIMS), files)


def _measured(study: Study) -> dict[str, list[float]]:
    """NDCG@3 of every size and seed, measured once and kept in sampling.json."""
    path = study.folder(NAME) / f"{PART}.json"
    asked = {"sizes": list(SIZES), "seeds": SEEDS, "seed": study.seed}
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if stored.get("asked") == asked:
        return stored["found"]
    benchmark = study.benchmark(DATASET)

    def one(setting: tuple[int | None, int]) -> float:
        size, seed = setting
        means = []
        for fold in benchmark.folds:
            chosen = {} if size is None else {"stumps": "sample", "sample": size or None}
            rng = np.random.default_rng([study.seed, seed, fold.number])
            model = NDCGBoost(**chosen).learn(fold.train, None, rng).model
            scores, test = model.predict(fold.test.features), fold.test
            values = query_metrics(
                test.labels, scores, test.offsets, [parse(MEASURE)], benchmark.convention
            )
            means.append(float(values.mean()))
        return float(np.mean(means))

    study.say(f"{NAME}: {len(SIZES) * SEEDS + 1} settings of the sample")
    settings = [(None, 0), *((size, seed) for size in SIZES for seed in range(SEEDS))]
    with ThreadPoolExecutor(study.jobs) as pool:
        values = list(pool.map(one, settings))
    found: dict[str, list[float]] = {}
    for (size, _), value in zip(settings, values):
        name = "exact" if size is None else str(size or "all")
        found.setdefault(name, []).append(value)
    with write_atomically(path) as file:
        file.write(json.dumps({"asked": asked, "found": found}, indent=1) + "\n")
    return found
