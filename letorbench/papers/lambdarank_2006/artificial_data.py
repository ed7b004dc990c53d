"""Figure 2 of the LambdaRank paper: both methods on artificial data, several draws of it.

The sets need no files; runs on them are trained, stored and read back like any run.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.tables import write_table
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import REAL_SHARES
from letorbench.experiment.plan import ranker_identity
from letorbench.experiment.select import select
from letorbench.files import one_writer
from letorbench.measures import parse, query_metrics
from letorbench.papers.paper import Found
from letorbench.papers.permuted_cubic import outputs, permuted_cubic
from letorbench.papers.runs import CUTOFFS, Study, Values, Variant, sampled
from letorbench.rankers import ranker
from letorbench.results.scores import finite_scores
from letorbench.results.store import FoldResult, fold_scores, is_done, stored_fit, write_fold
from letorbench.solvers.stopping import Validation, best

NAME = "lambdarank-2006"
PART = "figure-2"
DRAWS = 5
#: queries of the training, validation and test set: the paper's, and, for 300 epochs at every
#: rate, what takes minutes
FULL, SMALL = (10_000, 5_000, 10_000), (2_000, 1_000, 2_000)
FEATURES = DOCUMENTS = 50
#: the labels 0, 2, 3, 4, 5, so that 2^r - 1 gives the gains that the paper prints: 0, 3, 7, 15, 31
SHARES = (REAL_SHARES[0], 0.0, *REAL_SHARES[1:])
#: "from as low as 1e-7 to as high as 1e-2"
RATES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
EPOCHS = 300
NETS = {1: "linear", 2: "two-layer"}
METHODS = tuple(f"{algo}-{net}" for net in NETS.values() for algo in ("lambdarank", "ranknet"))
#: the ends of the axis of the paper's Figure 2, left
PRINTED = (0.55, 0.75)
#: rows that the share of the variance which a linear model explains is measured on
ROWS = 50_000
#: what rates and epochs are chosen by, and how it is measured
CHOOSE, RULES = "ndcg@10", CONVENTIONS["standard"]


def sizes(study: Study) -> tuple[int, int, int]:
    """The queries of the sets."""
    return SMALL if study.setting == "published" and not study.full else FULL


def made(study: Study, draw: int) -> tuple[QuerySet, ...]:
    """The training, validation and test set of one draw of the artificial data."""
    rng = np.random.default_rng([study.seed, draw])
    return permuted_cubic(rng, sizes(study), FEATURES, DOCUMENTS, SHARES)


def runs(
    study: Study,
    folder: Path,
    sets: Sequence[QuerySet],
    variants: Sequence[Variant],
    measures: Sequence[str],
) -> dict[str, Values]:
    """Every variant's per-query values on the last of three sets, by label, by `standard`.

    Stored results in folder/<label> are kept where they were made in the same way. The variants are
    trained in as many threads as there are jobs; the results do not depend on it.
    """
    train, held_out, test = sets
    validation = Validation(held_out, parse(CHOOSE), RULES, best)
    data = [each.digest for each in sets]

    def one(variant: Variant) -> Values:
        own, facts = folder / variant.label, _identity(data, variant, study.seed)
        with one_writer(own):
            if not is_done(own, facts):
                study.say(f"{folder.name}: {variant.label}")
                write_fold(own, _fitted(variant, train, validation, test, facts, study.seed))
            scores = fold_scores(own, test.n_docs)
        asked = [parse(name) for name in measures]
        values = query_metrics(test.labels, scores, test.offsets, asked, RULES)
        return Values(tuple(measures), values[None], np.ones(len(values), dtype=np.int64))

    with ThreadPoolExecutor(study.jobs) as pool:
        return dict(zip([v.label for v in variants], pool.map(one, variants)))


def validated(folder: Path, label: str) -> float:
    """The validation measure that a variant's stored run has reached."""
    return float(stored_fit(folder / label)["validation"]["value"])


def _fitted(
    variant: Variant, train: QuerySet, validation: Validation, test: QuerySet,
    identity: Mapping[str, object], seed: int,
) -> FoldResult:  # fmt: skip
    """Train and select."""
    start = time.perf_counter()
    own = np.random.SeedSequence([seed, zlib.crc32(variant.label.encode())])
    selected = select(ranker(variant.algo), variant.settings, train, validation, own, grows=False)
    return FoldResult(
        identity,
        finite_scores(selected.ranker.predict(test.features)),
        ranker=selected.ranker,
        validation_scores=finite_scores(selected.validation_scores),
        validation=selected.as_json(CHOOSE),
        seconds=time.perf_counter() - start,
        warnings=selected.warnings,
    )


def _identity(data: Sequence[str], variant: Variant, seed: int) -> dict[str, object]:
    facts = {
        "data": data,
        "algo": variant.algo,
        **ranker_identity(ranker(variant.algo), variant.settings),
        "select": CHOOSE,
        "seed": seed,
    }
    return json.loads(json.dumps(facts))


def trained(study: Study) -> tuple[dict[str, Values], list[list[object]]]:
    """Every method's values on the test queries of all draws, and its rate and NDCG@10 by draw.

    The first draw's validation set chooses the rate for all: the paper has one draw.
    """
    published = study.setting == "published"
    how: dict[str, object] = {"epochs": EPOCHS, "patience": 0} if published else {}
    rates: dict[str, Any] = {
        method: RATES if published else ranker(method.partition("-")[0]).grid["learning_rate"]
        for method in METHODS
    }
    per_draw: list[dict[str, Values]] = []
    rows: list[list[object]] = []
    for draw in range(1, DRAWS + 1):
        folder = study.folder(NAME) / "artificial" / f"draw-{draw}"
        variants = [
            Variant(
                f"{method}@{rate:g}", method.partition("-")[0],
                {"layers": layers, "learning_rate": rate, **how},
            )
            for layers, net in NETS.items()
            for method in METHODS
            if method.endswith(f"-{net}")
            for rate in rates[method]
        ]  # fmt: skip
        found = runs(study, folder, made(study, draw), variants, CUTOFFS)
        for method, tried in rates.items():
            reached = {r: validated(folder, f"{method}@{r:g}") for r in tried}
            rates[method] = [max(reached, key=reached.__getitem__)]
        per_draw.append({method: found[f"{method}@{rate:g}"] for method, (rate,) in rates.items()})
        values = per_draw[-1].items()
        rows += [[draw, m, f"{rates[m][0]:g}", each.mean("ndcg@10")] for m, each in values]
    return {m: Values.of_draws([values[m] for values in per_draw]) for m in METHODS}, rows


def linear_share(seed: Sequence[int]) -> float:
    """The share of the outputs' variance that a linear model explains, of one polynomial."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (ROWS, FEATURES)).astype(np.float32)
    y = outputs(rng, x)
    design = np.column_stack([x, np.ones(ROWS)]).astype(np.float64)
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return 1.0 - float(left.var() / y.var())


def figure(study: Study) -> Found:
    """The left half of Figure 2: NDCG@1..10 on several draws of the artificial data."""
    from letorbench.papers.line_figures import Axis, Line, lines_figure

    found, chosen = trained(study)
    lines, rows = {}, []
    for method, values in found.items():
        bands = [sampled(values[each].reshape(DRAWS, -1).mean(axis=1)) for each in CUTOFFS]
        told = [[band.value, band.low, band.high] for band in bands]
        lines[method] = Line(range(1, 11), *map(list, zip(*told)))
        rows += [[method, cutoff, *band] for cutoff, band in zip(CUTOFFS, told)]
    stem = study.folder(NAME) / PART
    title = f"Cubic polynomial data, {DRAWS} draws"
    span = (*PRINTED, "the paper's axis")
    panel = Axis(title, "NDCG truncation level", "NDCG", lines, span=span)
    header = ["method", "measure", "mean", "low", "high"]
    files = [*lines_figure([panel], stem), *write_table(stem, f"Figure 2, {title}", header, rows)]
    files += write_table(
        study.folder(NAME) / "artificial", "Artificial data: rates and NDCG@10 by draw",
        ["draw", "method", "rate", "NDCG@10"], chosen,
    )  # fmt: skip
    shares = [linear_share([study.seed, draw]) for draw in range(1, DRAWS + 1)]
    asked = ", ".join(f"{n:,}" for n in sizes(study))
    differs = [
        "artificial data: the recipe of RankNet 2005 is from memory (a linear model explains "
        f"{min(shares):.2f} to {max(shares):.2f} of the outputs' variance); the label "
        "distribution is MSLR's, for \"real datasets'\" that are not printed",
        f"artificial data: {DRAWS} draws of {asked} queries, where the paper has one of 10,000, "
        "5,000, 10,000; its bars are over queries, ours over draws",
        "artificial data: the learning rate is chosen on the first draw's validation set and kept "
        "for the others",
    ]
    if study.setting != "published":
        differs.append("artificial data: learning rates are the rankers' grids, to 1e-1; training "
                       "ends 30 epochs after the best, before a restart can come")  # fmt: skip
    evidence = {str(study.setting): {"artificial": with_gap(found)}}
    return Found(evidence, {}, tuple(files), tuple(differs))


def with_gap(found: Mapping[str, Values]) -> dict[str, Values]:
    """The methods, and LambdaRank's lead over RankNet as one, whose growth is a claim too.

    The gap is the lead in NDCG@1, and in NDCG@10.
    """
    made = dict(found)
    for net in NETS.values():
        lead = found[f"lambdarank-{net}"].values - found[f"ranknet-{net}"].values
        folds = found[f"ranknet-{net}"].folds
        made[f"lead-{net} at the top"] = Values(("gap",), lead[:, :, :1], folds, True)
        made[f"lead-{net} at 10"] = Values(("gap",), lead[:, :, -1:], folds, True)
    return made
