"""What the functionals paper leaves open, as specification curves of two printed gains.

The paper does not say how the prior's strength was chosen, in which order equal labels are taken,
nor where the search started. Its features were standardised. Every combination is run on the data
at hand; what a weight gains in ERR is drawn, with the printed gain in the distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import Fold
from letorbench.experiment.plan import ranker_identity
from letorbench.measures import parse
from letorbench.papers import checks, judge
from letorbench.papers.claims import Claim
from letorbench.papers.paper import Findings
from letorbench.papers.runs import Study
from letorbench.papers.specification import (
    Specification,
    measured_once,
    span,
    specification_figure,
    specification_tables,
)
from letorbench.rankers import ranker
from letorbench.solvers.stopping import Validation

NAME = "functionals"
PART = "specification"
PLACES = ("OHSUMED", "MQ2008")
#: the strengths of the prior; each is fixed, or validation chooses among them by a measure
PRIORS = (1e-4, 1e-2, 1.0)
CHOSEN = ("ndcg@10", "err")
FEATURES = {"standardised": True, "as they are": False}
RULES = CONVENTIONS["standard"]


@dataclass(frozen=True)
class Gain:
    """A printed gain in ERR of a weight over weight 1, and the rules for ties that it has."""

    algo: str
    weight: str
    printed: float
    ties: tuple[str, ...]


#: Table 8's WPL, .4845 and .5017, and Table 9's logistic loss, .4801 and .4979
GAINS = {
    "wpl": Gain("wpl", "1/pi", 0.5017 / 0.4845 - 1.0, ("breslow", "random 1", "random 2", "file")),
    "logistic": Gain("pairwise", "(Ri-Rj)/m", 0.4979 / 0.4801 - 1.0, ("none",)),
}
OURS = {"data": "OHSUMED", "prior": "by ndcg@10", "features": "standardised"}

CLAIMS = tuple(
    Claim(
        NAME, f"{name}-gain-anywhere", PART, f"{name}: weight {gain.weight} gains "
        f"{100.0 * gain.printed:.1f} % of ERR over weight 1, with some setting of what the paper "
        "leaves open", "Yahoo-C14 subset", "value",
        "the range of the gain over priors, ties and features", round(gain.printed, 4), 0.0001,
        check=checks.number(name),
    )
    for name, gain in GAINS.items()
)  # fmt: skip


def specification(study: Study) -> Findings:
    """The gains of Tables 8 and 9 over all that is left open, on the data at hand."""
    here = [place for place in PLACES if study.has(place)]
    reason = "the paper's queries are not named; the part asks for OHSUMED or MQ2008 instead"
    absent = tuple(judge.no_data(claim, reason) for claim in CLAIMS)
    if not here:
        return Findings(absent)
    files: list[Path] = []
    others = []
    for claim, (name, gain) in zip(CLAIMS, GAINS.items()):
        found = _measured(study, name, gain, here)
        stem = study.folder(NAME) / f"specification-{name}"
        title = f"gain in ERR of {name}, weight {gain.weight}"
        files += specification_tables(found, title, stem)
        ours = {**OURS, "data": here[0], "ties": gain.ties[0]}
        files += specification_figure(found, title, gain.printed, ours, stem, "printed, {:.4f}")
        others.append(claim.judge({name: span(found, gain.printed)}).at(" and ".join(here)))
    return Findings(absent, tuple(files), (), tuple(others))


def _measured(study: Study, name: str, gain: Gain, here: list[str]) -> list[Specification]:
    """The gain of every specification, measured once and kept."""
    asked = {
        "data": here, "priors": PRIORS, "chosen": CHOSEN, "ties": gain.ties, "seed": study.seed,
        "ranker": ranker_identity(ranker(gain.algo), {"weight": gain.weight}),
    }  # fmt: skip
    path = study.folder(NAME) / f"specification-{name}.json"

    def measure() -> list[Specification]:
        study.say(f"{NAME}: specifications of {name}")
        asked_for = [(d, t, f) for d in here for t in gain.ties for f in FEATURES]

        def one(each: tuple[str, str, str]) -> list[Specification]:
            return list(_trained(study, gain, *each))

        with ThreadPoolExecutor(study.jobs) as pool:
            return [found for several in pool.map(one, asked_for) for found in several]

    return measured_once(path, asked, measure)


def _trained(
    study: Study, gain: Gain, dataset: str, ties: str, features: str
) -> Iterator[Specification]:
    """The gain by each way to the prior, the mean of the folds."""
    ways = (*(f"{prior:g}" for prior in PRIORS), *(f"by {measure}" for measure in CHOSEN))
    errs = {}
    for weight in ("1", gain.weight):
        settings: dict[str, object] = {"weight": weight, "standardise": FEATURES[features]}
        if ties != "none":
            settings["ties"] = ties.split()[0]
        folds = [
            _errs(study, fold, gain.algo, settings, ties) for fold in study.benchmark(dataset).folds
        ]
        errs[weight] = np.mean(folds, axis=0)
    for way, before, after in zip(ways, errs["1"], errs[gain.weight]):
        settings = {"data": dataset, "prior": way, "features": features, "ties": ties}
        yield Specification(settings, float(after / before - 1.0))


def _errs(
    study: Study, fold: Fold, algo: str, settings: dict[str, object], ties: str
) -> list[float]:
    """The test ERR with each prior, then with those that validation chooses."""
    test = Validation(fold.test, parse("err"), RULES)
    judges = [Validation(fold.validation, parse(measure), RULES) for measure in CHOSEN]
    found, held = [], []
    for prior in PRIORS:
        rng = np.random.default_rng([study.seed, int(ties[-1]) if ties[-1].isdigit() else 0])
        chosen: dict[str, Any] = {**settings, "l2": prior}
        model = ranker(algo)(**chosen).learn(fold.train, None, rng).model
        found.append(float(test(model.predict(fold.test.features)).mean()))
        scores = model.predict(fold.validation.features)
        held.append([float(each(scores).mean()) for each in judges])
    return [*found, *(found[int(np.argmax(column))] for column in zip(*held))]
