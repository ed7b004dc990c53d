"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009."""

from __future__ import annotations

import numpy as np

from letorbench.papers import judge
from letorbench.papers.claims import Claim, Verdict
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.study import Study, Values, Variant

NAME = "ndcgboost-2009"
PART = "figure-1"
#: Figure 1's panels; the paper leaves NP2004 out for lack of space
PANELS = ("OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003")
#: the lines of the panels, in the order of the paper's legend
BASELINES = ("regression", "frank", "listnet", "ranksvm", "adarank-ndcg", "svmmap")
METHODS = (*BASELINES, "ndcgboost")
CUTOFFS = tuple(f"ndcg@{k}" for k in range(1, 11))


def _value(dataset: str, number: float) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-value", PART,
        f"NDCG Boost reaches an NDCG@3 of {number} on {dataset}", dataset, "value",
        "mean over the five folds' means of ndcgboost's NDCG@3, the 3.0 tool's", number,
    )  # fmt: skip


def _above(dataset: str, other: str, share: float) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-above-{other}", PART,
        f"NDCG Boost's NDCG@3 is {100 * share:g} % above that of {other}, the second best",
        dataset, "difference", f"NDCG@3 of ndcgboost over {other}'s, paired by query", share,
    )  # fmt: skip


def _second(dataset: str, other: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-second-{other}", PART,
        f"{other} is the best of the baselines at NDCG@3", dataset, "ordering",
        f"NDCG@3 of {other} against the highest of the other baselines', paired by query",
    )  # fmt: skip


def _best(dataset: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-best", PART,
        "NDCG Boost is almost always the best", dataset, "ordering",
        "mean of NDCG@1..10 of ndcgboost against the highest baseline's, paired by query",
    )  # fmt: skip


def _order(dataset: str, upper: str, lower: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-{upper}-above-{lower}", PART,
        f"{upper} is above {lower}", dataset, "ordering",
        f"mean of NDCG@1..10 of {upper} against {lower}'s, paired by query",
    )  # fmt: skip


SECONDS = {"OHSUMED": "frank", "TD2003": "ranksvm", "HP2004": "svmmap"}
ORDERS = {
    "OHSUMED": (("ndcgboost", "listnet"), ("ndcgboost", "ranksvm")),
    "TD2003": (("regression", "adarank-ndcg"), ("regression", "frank")),
    "TD2004": (("ndcgboost", "listnet"), ("ndcgboost", "ranksvm")),
}
CLAIMS = (
    _value("OHSUMED", 0.50), _above("OHSUMED", "frank", 0.04), _second("OHSUMED", "frank"),
    _value("TD2003", 0.375), _above("TD2003", "ranksvm", 0.10), _second("TD2003", "ranksvm"),
    _value("HP2004", 0.80), _above("HP2004", "svmmap", 0.06), _second("HP2004", "svmmap"),
    *(_best(dataset) for dataset in PANELS),
    *(_order(dataset, *pair) for dataset, pairs in ORDERS.items() for pair in pairs),
)  # fmt: skip


def figure(study: Study) -> Findings:
    """Figure 1: NDCG@1..10 of seven methods, a panel for each LETOR 3.0 set at hand."""
    from letorbench.analysis.plots import Panel, draw, write
    from letorbench.papers.records import write_table

    verdicts: list[Verdict] = []
    panels, rows = [], []
    for dataset in PANELS:
        claims = [claim for claim in CLAIMS if claim.dataset == dataset]
        if not study.has(dataset):
            verdicts += [judge.no_data(claim, study.missing(dataset)) for claim in claims]
            continue
        found = study.runs(NAME, dataset, [Variant(m, m) for m in METHODS], CUTOFFS)
        verdicts += [_judge(claim, found) for claim in claims]
        means = {m: [values.mean(c) for c in CUTOFFS] for m, values in found.items()}
        panels.append(Panel(f"{dataset} dataset", "NDCG (letor3)", means))
        rows += [[dataset, m, *curve] for m, curve in means.items()]
    files = []
    if panels:
        stem = study.folder(NAME) / PART
        files += write(draw(panels), stem)
        files += write_table(stem, "Figure 1, NDCG@n", ["dataset", "method", *CUTOFFS], rows)
    absent = [dataset for dataset in PANELS if not study.has(dataset)]
    differs = (f"no panel for {', '.join(absent)}: not at hand",) if absent else ()
    return Findings(tuple(verdicts), tuple(files), differs)


def _judge(claim: Claim, found: dict[str, Values]) -> Verdict:
    """A claim on a data set that is at hand."""
    kind = claim.id.removeprefix(f"{claim.dataset.lower()}-")
    asked = {"value": ("ndcgboost",), "best": ("ndcgboost",)}.get(
        kind, tuple(m for m in METHODS if m in kind)
    )
    if not set(asked) <= set(found):
        return judge.no_data(claim, f"no result of {', '.join(set(asked) - set(found))}")
    top = found.get("ndcgboost")
    if kind == "value":
        return judge.value(claim, top["ndcg@3"], top.folds)
    if kind == "best":
        other = max((m for m in found if m != "ndcgboost"), key=lambda m: _level(found[m]).mean())
        best_at = _best_at(found)
        note = f"best baseline: {other}; ndcgboost is the best at {best_at} of 10 cut-offs"
        return judge.ordering(claim, _level(top), _level(found[other]), top.folds, note)
    if kind.startswith("above-"):
        other = found[kind.removeprefix("above-")]
        return judge.difference(claim, top["ndcg@3"], other["ndcg@3"], top.folds)
    if kind.startswith("second-"):
        named = kind.removeprefix("second-")
        rest = [m for m in found if m not in (named, "ndcgboost")]
        other = max(rest, key=lambda m: found[m].mean("ndcg@3"))
        pair = (found[named]["ndcg@3"], found[other]["ndcg@3"])
        return judge.ordering(claim, *pair, found[named].folds, f"best of the others: {other}")
    upper, lower = kind.split("-above-")
    return judge.ordering(claim, _level(found[upper]), _level(found[lower]), found[upper].folds)


def _level(values: Values) -> np.ndarray:
    """(n_queries,) the mean of NDCG@1..10."""
    return values.values.mean(axis=1)


def _best_at(found: dict[str, Values]) -> int:
    """At how many cut-offs ndcgboost has the highest mean."""
    return sum(
        max(found, key=lambda m, c=cutoff: found[m].mean(c)) == "ndcgboost" for cutoff in CUTOFFS
    )


PAPER = Paper(
    NAME,
    "Valizadegan, Jin, Zhang, Mao: Learning to Rank by Optimizing NDCG Measure, NIPS 2009",
    CLAIMS,
    {PART: figure},
    (
        "baselines are trained here; the paper took the LETOR 3.0 release's results",
        "baselines choose their settings by NDCG@10 on validation; most of LETOR's chose by MAP",
        "NDCG Boost takes the stump of the largest eta; the paper's fits a sample (stumps=sample)",
    ),
)
