"""Figure 2 of the LambdaRank paper: both methods on artificial data, several draws of it.

A draw is drawn with its training, so that its means are what is kept of a run.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.figures import Panel, draw, write
from letorbench.analysis.tables import write_table
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import REAL_SHARES, outputs, permuted_cubic
from letorbench.experiment.plan import ranker_identity
from letorbench.experiment.select import select
from letorbench.measures import parse, query_metrics
from letorbench.papers import paper
from letorbench.papers.lambdarank_2006.figure_1 import NAME
from letorbench.papers.paper import PartResult
from letorbench.papers.runs import CUTOFFS, Context, Method, kept, sampled
from letorbench.rankers import ranker
from letorbench.results.per_query import PerQuery
from letorbench.solvers.stopping import Validation, best

DRAWS = 5
#: queries of the training, validation and test set: the paper's, and, for 300 epochs at every
#: rate, what takes minutes
FULL, SMALL = (10_000, 5_000, 10_000), (2_000, 1_000, 2_000)
FEATURES = DOCUMENTS = 50
#: the labels 0, 2, 3, 4, 5, so that 2^r - 1 gives the gains that the paper prints: 0, 3, 7, 15, 31
SHARES = (REAL_SHARES[0], 0.0, *REAL_SHARES[1:])
#: "from as low as 1e-7 to as high as 1e-2"
RATES = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
#: the ends of the axis of the paper's Figure 2, left
PRINTED = (0.55, 0.75)
#: rows that the fraction of the variance which a linear model explains is measured on
ROWS = 50_000
#: what rates and epochs are chosen by, and how it is measured
CHOOSE, RULES = "ndcg@10", CONVENTIONS["standard"]


def sizes(context: Context) -> tuple[int, int, int]:
    """The queries of the sets."""
    return SMALL if context.setting == "published" and not context.full else FULL


def made(context: Context, number: int) -> tuple[QuerySet, ...]:
    """The training, validation and test set of one draw of the artificial data."""
    rng = np.random.default_rng([context.seed, number])
    return permuted_cubic(rng, sizes(context), FEATURES, DOCUMENTS, SHARES)


def runs(
    context: Context, folder: Path, number: int, methods: Iterable[Method]
) -> dict[str, dict[str, float]]:
    """Every method's NDCG@1..10 on the test queries of a draw, and on `validation`, by label."""
    train, held_out, test = sets = made(context, number)
    data, measures = [each.digest for each in sets], [parse(name) for name in CUTOFFS]
    validation = Validation(held_out, parse(CHOOSE), RULES, best)

    def one(method: Method) -> tuple[str, dict[str, float]]:
        cls, settings = ranker(method.algo), method.settings
        identity = ranker_identity(cls, settings)
        facts = {"data": data, "select": CHOOSE, "seed": context.seed, "ranker": identity}

        def trained() -> dict[str, float]:
            context.say(f"{folder.name}: {method.label}")
            seed = np.random.SeedSequence([context.seed, zlib.crc32(method.label.encode())])
            chosen = select(cls, settings, train, validation, seed, grows=False).chosen
            scores = chosen.ranker.predict(test.features)
            means = query_metrics(test.labels, scores, test.offsets, measures, RULES).mean(axis=0)
            return {"validation": chosen.value, **dict(zip(CUTOFFS, means.tolist()))}

        return method.label, kept(folder / f"{method.label}.json", facts, trained, code=())

    with ThreadPoolExecutor(context.jobs) as pool:
        return dict(pool.map(one, methods))


def trained(context: Context) -> tuple[dict[str, PerQuery], list[list[object]]]:
    """Every method's NDCG@1..10 on the draws, and its rate, of the first draw, and NDCG@10."""
    published = context.setting == "published"
    methods = {m: each for m, each in paper(NAME).methods.items() if each.table == "nets"}
    rates: dict[str, Any] = {
        method: RATES if published else ranker(each.algo).grid["learning_rate"]
        for method, each in methods.items()
    }
    means: dict[str, list[list[float]]] = {method: [] for method in methods}
    rows: list[list[object]] = []
    for number in range(1, DRAWS + 1):
        versions = [
            each.under(context.setting, f"{method}@{rate:g}", learning_rate=rate)
            for method, each in methods.items()
            for rate in rates[method]
        ]
        folder = context.folder(NAME) / "artificial" / f"draw-{number}"
        results = runs(context, folder, number, versions)
        for method, tried in rates.items():
            rate = max(tried, key=lambda rate: results[f"{method}@{rate:g}"]["validation"])
            rates[method] = [rate]
            values = results[f"{method}@{rate:g}"]
            means[method].append([values[cutoff] for cutoff in CUTOFFS])
            rows.append([number, method, f"{rate:g}", values["ndcg@10"]])
    folds = np.arange(1, DRAWS + 1)
    tables = {m: dict(zip(CUTOFFS, np.transpose(of_draws))) for m, of_draws in means.items()}
    return {m: PerQuery(m, folds, folds.astype(str), table) for m, table in tables.items()}, rows


def linear_fraction(seed: Sequence[int]) -> float:
    """The fraction of the outputs' variance that a linear model explains, of one polynomial."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (ROWS, FEATURES)).astype(np.float32)
    y = outputs(rng, x)
    design = np.column_stack([x, np.ones(ROWS)]).astype(np.float64)
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return 1.0 - float(left.var() / y.var())


def figure(context: Context) -> PartResult:
    """The left half of Figure 2: NDCG@1..10 on several draws of the artificial data, and leads."""
    by_net, chosen = trained(context)
    rows, numbers, leads, bands = [], {}, {}, {}
    curves = {m: [values.mean(cutoff) for cutoff in CUTOFFS] for m, values in by_net.items()}
    for net in ("linear", "two-layer"):
        upper, lower = (
            np.column_stack([*by_net[f"{method}-{net}"].values.values()])
            for method in ("lambdarank", "ranknet")
        )
        lead = (upper - lower) / lower.mean(axis=0)  # (draws, cut-offs)
        every = [sampled(100.0 * lead[:, k]) for k in range(len(CUTOFFS))]
        rows += [[net, at, of.value, of.low, of.high] for at, of in zip(CUTOFFS, every)]
        leads[f"{net} nets"] = [of.value for of in every]
        bands[f"{net} nets"] = [of.low for of in every], [of.high for of in every]
        top, bottom = 100.0 * lead[:, [0, -1]].mean(axis=0)
        note = f"the lead is {top:+.1f} % at NDCG@1 and {bottom:+.1f} % at NDCG@10"
        numbers[f"gap-{net}"] = sampled(lead[:, 0] - lead[:, -1], note)
    panels = [
        Panel("as the paper's Figure 2, on its axis", "NDCG", curves, meaning="95 % over draws"),
        Panel("LambdaRank's lead over RankNet on the same draws", "lead in %", leads, bands),
    ]
    drawn, folder = draw(panels), context.folder(NAME)
    drawn.axes[0].set_ylim(*PRINTED)
    drawn.axes[1].axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
    files = write(drawn, folder / "figure-2")
    header = ["nets", "measure", "lead in %", "low", "high"]
    title = f"Figure 2, Cubic polynomial data, {DRAWS} draws"
    files += write_table(folder / "figure-2", title, header, rows)
    header = ["draw", "method", "rate", "NDCG@10"]
    title = "Artificial data: rates and NDCG@10 by draw"
    files += write_table(folder / "artificial", title, header, chosen)
    shares = [linear_fraction([context.seed, number]) for number in range(1, DRAWS + 1)]
    counts = ", ".join(f"{n:,}" for n in sizes(context))
    differs = [
        "artificial data: the recipe of RankNet 2005 is from memory (a linear model explains "
        f"{min(shares):.2f} to {max(shares):.2f} of the outputs' variance); the distribution of "
        'labels is that of MSLR, as those of the paper\'s "real datasets" are not printed',
        f"artificial data: {DRAWS} draws of {counts} queries; the paper has one draw of 10,000, "
        "5,000, 10,000; its bars are over queries, ours over draws",
        "artificial data: the learning rate is chosen on the first draw's validation set for all "
        "draws",
    ]
    if context.setting != "published":
        differs.append("artificial data: learning rates are the rankers' grids, to 1e-1; training "
                       "ends 30 epochs after the best, before a restart can come")  # fmt: skip
    evidence = {str(context.setting): {"artificial": by_net}}
    return PartResult(evidence, numbers, tuple(files), tuple(differs))
