"""Valizadegan, Jin, Zhang, Mao, "Learning to Rank by Optimizing NDCG Measure", NIPS 2009."""

from __future__ import annotations

from collections.abc import Sequence

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


def _value(dataset: str, method: str, number: float) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-value-{method}", PART,
        f"{method} reaches an NDCG@3 of {number} on {dataset}", dataset, "value",
        f"mean over the five folds' means of {method}'s NDCG@3, the 3.0 tool's", number,
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
        f"NDCG@3 of {other} against the highest of the other baselines', paired by query, "
        "Bonferroni's correction over those",
    )  # fmt: skip


def _best(dataset: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-best", PART,
        "NDCG Boost is almost always the best", dataset, "ordering",
        "mean of NDCG@1..10 of ndcgboost against the highest baseline's, paired by query, "
        "Bonferroni's correction over the baselines",
    )  # fmt: skip


def _order(dataset: str, upper: str, lower: str) -> Claim:
    return Claim(
        NAME, f"{dataset.lower()}-{upper}-above-{lower}", PART,
        f"{upper} is above {lower}", dataset, "ordering",
        f"mean of NDCG@1..10 of {upper} against {lower}'s, paired by query",
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
    """A claim on a data set that is at hand; found: what was not left out for an error."""
    kind, _, rest = claim.id.removeprefix(f"{claim.dataset.lower()}-").partition("-")
    if kind in ("best", "second"):
        return _against_best(claim, rest or "ndcgboost", found)
    if kind == "value":
        lacking = _lacking(claim, (rest,), found)
        return lacking or judge.value(claim, found[rest]["ndcg@3"], found[rest].folds)
    upper, lower = ("ndcgboost", rest) if kind == "above" else _pair(claim)
    lacking = _lacking(claim, (upper, lower), found)
    if lacking:
        return lacking
    top, other = found[upper], found[lower]
    if kind == "above":
        return judge.difference(claim, top["ndcg@3"], other["ndcg@3"], top.folds)
    return judge.ordering(claim, top.level, other.level, top.folds)


def _against_best(claim: Claim, method: str, found: dict[str, Values]) -> Verdict:
    """A method against the baseline that comes out highest, by the measure of the claim."""
    best = method == "ndcgboost"
    rest = [m for m in found if m not in (method, "ndcgboost")]
    lacking = _lacking(claim, (method,), found)
    if lacking or not rest:
        return lacking or judge.no_data(claim, "no result of any other baseline")
    values = {m: v.level if best else v["ndcg@3"] for m, v in found.items()}
    other = max(rest, key=lambda m: values[m].mean())
    note = f"best of the {'baselines' if best else 'others'}: {other}"
    if best:
        note += f"; ndcgboost is the best at {_best_at(found)} of {len(CUTOFFS)} cut-offs"
    return judge.ordering(
        claim, values[method], values[other], found[method].folds, note, len(rest)
    )


def _lacking(claim: Claim, asked: Sequence[str], found: dict[str, Values]) -> Verdict | None:
    """No data where a method has no result, else None."""
    absent = [method for method in asked if method not in found]
    return judge.no_data(claim, f"no result of {', '.join(absent)}") if absent else None


def _pair(claim: Claim) -> tuple[str, ...]:
    """The upper and the lower method of an ordering's name."""
    return tuple(claim.id.removeprefix(f"{claim.dataset.lower()}-").split("-above-"))


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
