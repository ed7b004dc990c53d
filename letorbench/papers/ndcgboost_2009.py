"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from letorbench.papers import judge
from letorbench.papers.claims import Claim, Verdict
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.study import CUTOFFS, Study, Values, Variant

NAME = "ndcgboost-2009"
PART = "figure-1"
#: Figure 1's panels; the paper leaves NP2004 out for lack of space
PANELS = ("OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003")
#: the lines of the panels, in the order of the paper's legend
BASELINES = ("regression", "frank", "listnet", "ranksvm", "adarank-ndcg", "svmmap")
METHODS = (*BASELINES, "ndcgboost")


def _against_best(
    claim: Claim, found: Mapping[str, Values], method: str, measure: str | None, note: str = ""
) -> Verdict:
    """A method against the other baseline that comes out highest, by the measure."""
    rest = [name for name in found if name not in (method, "ndcgboost")]
    if not rest:
        return judge.no_data(claim, "no result of any other baseline")
    values = {name: judge.column(each, measure) for name, each in found.items()}
    best = max(rest, key=lambda name: values[name].mean())
    said = f"best of the {'baselines' if method == 'ndcgboost' else 'others'}: {best}{note}"
    return judge.ordering(
        claim, values[method], values[best], found[method].folds, said, len(rest)
    )


def _best_of_all(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """NDCG Boost against the highest baseline, and at how many cut-offs it is the best."""
    note = f"; ndcgboost is the best at {_best_at(found)} of {len(CUTOFFS)} cut-offs"
    return _against_best(claim, found, "ndcgboost", None, note)


def _best_at(found: Mapping[str, Values]) -> int:
    """At how many cut-offs ndcgboost has the highest mean."""
    return sum(
        max(found, key=lambda m, c=cutoff: found[m].mean(c)) == "ndcgboost" for cutoff in CUTOFFS
    )


def _value(dataset: str, method: str, number: float) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-value-{method}", PART,
        f"{method} reaches an NDCG@3 of {number} on {dataset}", dataset, "value",
        f"mean over the five folds' means of {method}'s NDCG@3, the 3.0 tool's", number,
        check=judge.value_of(method, "ndcg@3"),
    )  # fmt: skip


def _above(dataset: str, other: str, share: float) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-above-{other}", PART,
        f"NDCG Boost's NDCG@3 is {100 * share:g} % above that of {other}, the second best",
        dataset, "difference", f"NDCG@3 of ndcgboost over {other}'s, paired by query", share,
        check=judge.above_by("ndcgboost", other, "ndcg@3"),
    )  # fmt: skip


def _second(dataset: str, other: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-second-{other}", PART,
        f"{other} is the best of the baselines at NDCG@3", dataset, "ordering",
        f"NDCG@3 of {other} against the highest of the other baselines', paired by query, "
        "Bonferroni's correction over those",
        check=judge.needing((other,), partial(_against_best, method=other, measure="ndcg@3")),
    )  # fmt: skip


def _best(dataset: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-best", PART,
        "NDCG Boost is almost always the best", dataset, "ordering",
        "mean of NDCG@1..10 of ndcgboost against the highest baseline's, paired by query, "
        "Bonferroni's correction over the baselines",
        check=judge.needing(("ndcgboost",), _best_of_all),
    )  # fmt: skip


def _order(dataset: str, upper: str, lower: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-{upper}-above-{lower}", PART,
        f"{upper} is above {lower}", dataset, "ordering",
        f"mean of NDCG@1..10 of {upper} against {lower}'s, paired by query",
        check=judge.above(upper, lower),
    )  # fmt: skip


#: the last three sets' pairs are where the text says that FRank and AdaRank fail
ORDERS = {
    "OHSUMED": (("ndcgboost", "listnet"), ("ndcgboost", "ranksvm")),
    "TD2003": (("regression", "adarank-ndcg"), ("regression", "frank")),
    "TD2004": (("ndcgboost", "listnet"), ("ndcgboost", "ranksvm")),
    "HP2003": (("ndcgboost", "frank"), ("ndcgboost", "adarank-ndcg")),
    "HP2004": (("ndcgboost", "frank"),),
    "NP2003": (("ndcgboost", "adarank-ndcg"),),
}
CLAIMS = (
    _value("OHSUMED", "ndcgboost", 0.50),
    _above("OHSUMED", "frank", 0.04), _second("OHSUMED", "frank"),
    _value("TD2003", "ndcgboost", 0.375), _value("TD2003", "ranksvm", 0.34),
    _above("TD2003", "ranksvm", 0.10), _second("TD2003", "ranksvm"),
    _value("HP2004", "ndcgboost", 0.80), _value("HP2004", "svmmap", 0.75),
    _above("HP2004", "svmmap", 0.06), _second("HP2004", "svmmap"),
    *(_best(dataset) for dataset in PANELS),
    *(_order(dataset, *pair) for dataset, pairs in ORDERS.items() for pair in pairs),
)  # fmt: skip


def figure(study: Study) -> Findings:
    """Figure 1: NDCG@1..10 of seven methods, a panel for each LETOR 3.0 set at hand."""
    from letorbench.analysis.figures import Panel, draw, write
    from letorbench.papers.records import write_table

    found = {
        dataset: study.runs(NAME, dataset, [Variant(m, m) for m in METHODS], CUTOFFS)
        for dataset in PANELS
        if study.has(dataset)
    }
    panels, rows = [], []
    for dataset, methods in found.items():
        means = {m: [values.mean(c) for c in CUTOFFS] for m, values in methods.items()}
        panels.append(Panel(f"{dataset} dataset", "NDCG (letor3)", means))
        rows += [[dataset, m, *curve] for m, curve in means.items()]
    files = []
    if panels:
        stem = study.folder(NAME) / PART
        files += write(draw(panels), stem)
        files += write_table(stem, "Figure 1, NDCG@n", ["dataset", "method", *CUTOFFS], rows)
    absent = [dataset for dataset in PANELS if not study.has(dataset)]
    differs = (f"no panel for {', '.join(absent)}: not at hand",) if absent else ()
    return Findings(judge.on_datasets(CLAIMS, found, study), tuple(files), differs)


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
