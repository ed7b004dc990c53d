"""What the LambdaRank paper leaves open, as a specification curve of its lead over RankNet.

The cubic polynomial of the data is random, and so are the first weights; the paper chooses one of
several learning rates on validation, but does not print them, and does not say by which cut-off;
its gain over swaps may end at a rank. All of these are axes, on small draws of the artificial data.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.plan import ranker_identity
from letorbench.measures import parse
from letorbench.papers import checks
from letorbench.papers.claims import Claim
from letorbench.papers.paper import Findings
from letorbench.papers.permuted_cubic import permuted_cubic
from letorbench.papers.runs import Study
from letorbench.papers.specification import (
    Specification,
    measured_once,
    share_above,
    specification_figure,
    specification_tables,
)
from letorbench.rankers import ranker
from letorbench.solvers.stopping import Validation, best

NAME = "lambdarank-2006"
PART = "specification"
#: queries of the training, validation and test set, features and documents a query
SIZES, FEATURES, DOCUMENTS = (200, 100, 300), 20, 20
DRAWS = SEEDS = 2
NETS = {"linear": 1, "two-layer": 2}
#: rates among which validation chooses: of the paper's range, or beyond it
RATES = {"1e-4 to 1e-2": (1e-4, 1e-3, 1e-2), "1e-3 to 1e-1": (1e-3, 1e-2, 1e-1)}
CHOSEN = ("ndcg@1", "ndcg@10")
ENDS = {"whole list": 0, "first 10": 10}
EPOCHS = 40
OURS = {"net": "two-layer", "rates": "1e-3 to 1e-1", "chosen by": "ndcg@10", "gain": "whole list",
        "draw": "1", "start": "1"}  # fmt: skip
RULES = CONVENTIONS["standard"]

CLAIMS = (
    Claim(
        NAME, "lead-anywhere", PART, "LambdaRank clearly outperforms RankNet on the artificial "
        "data, whatever is left open", "artificial", "value", "share of the specifications (data, "
        "start, net, rates, what chooses, where the gain ends) in which its NDCG@10 is above",
        0.5, 0.0, "at least", check=checks.number("lead"),
    ),
)  # fmt: skip


def specification(study: Study) -> Findings:
    """The lead in NDCG@10 over all that is left open."""
    asked = {
        "sizes": SIZES, "draws": DRAWS, "seeds": SEEDS, "rates": RATES, "chosen": CHOSEN,
        "ends": ENDS, "epochs": EPOCHS, "seed": study.seed,
        "rankers": [ranker_identity(ranker(n), {}) for n in ("lambdarank", "ranknet")],
    }  # fmt: skip
    stem = study.folder(NAME) / PART
    found = measured_once(stem.with_suffix(".json"), asked, lambda: _measured(study))
    title = "lead of LambdaRank in NDCG@10"
    files = specification_tables(found, title, stem)
    files += specification_figure(found, title, 0.0, OURS, stem, "no lead")
    numbers = {"lead": share_above(found)}
    differs = (f"the specifications are trained on {SIZES[0]} queries for {EPOCHS} epochs",)
    return Findings(tuple(claim.judge(numbers) for claim in CLAIMS), tuple(files), differs)


def _measured(study: Study) -> list[Specification]:
    study.say(f"{NAME}: specifications")
    drawn = [
        permuted_cubic(np.random.default_rng([study.seed, d]), SIZES, FEATURES, DOCUMENTS)
        for d in range(DRAWS)
    ]
    asked = [(d, s, net) for d in range(DRAWS) for s in range(SEEDS) for net in NETS]

    def one(each: tuple[int, int, str]) -> list[Specification]:
        draw, start, net = each
        return _of_start(drawn[draw], draw, start, net, study.seed)

    with ThreadPoolExecutor(study.jobs) as pool:
        return [found for several in pool.map(one, asked) for found in several]


def _of_start(
    parts: tuple[QuerySet, ...], draw: int, start: int, net: str, seed: int
) -> list[Specification]:
    """The leads of one draw, start and net."""
    every = sorted({rate for rates in RATES.values() for rate in rates})
    own = [seed, start]
    runs = {
        (algo, end, chosen, rate): _trained(parts, algo, NETS[net], end, chosen, rate, own)
        for algo, ends in (("lambdarank", ENDS.values()), ("ranknet", (0,)))
        for end in ends
        for chosen in CHOSEN
        for rate in every
    }

    def level(algo: str, end: int, chosen: str, rates: tuple[float, ...]) -> float:
        """The test NDCG@10 at the rate whose validation measure is the highest."""
        return max(runs[algo, end, chosen, rate] for rate in rates)[1]

    return [
        Specification(
            {"net": net, "rates": named, "chosen by": chosen, "gain": gain,
             "draw": str(draw + 1), "start": str(start + 1)},
            level("lambdarank", end, chosen, rates) - level("ranknet", 0, chosen, rates),
        )
        for named, rates in RATES.items()
        for chosen in CHOSEN
        for gain, end in ENDS.items()
    ]  # fmt: skip


def _trained(
    parts: tuple[QuerySet, ...], algo: str, layers: int, end: int, chosen: str, rate: float,
    seed: list[int],
) -> tuple[float, float]:  # fmt: skip
    """The validation measure and the test NDCG@10 of one training."""
    train, validation, test = parts
    held = Validation(validation, parse(chosen), RULES, best)
    settings = {"layers": layers, "learning_rate": rate, "epochs": EPOCHS}
    if algo == "lambdarank":
        settings["truncation"] = end
    model = ranker(algo)(**settings).learn(train, held, np.random.default_rng(seed)).model
    judged = Validation(test, parse("ndcg@10"), RULES)
    return (
        float(held(model.predict(validation.features)).mean()),
        float(judged(model.predict(test.features)).mean()),
    )
