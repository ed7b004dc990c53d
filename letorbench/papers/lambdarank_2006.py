"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace

import numpy as np

from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.papers import (
    checks,
    judge,
    lambda_rules,
    lambdarank_artificial,
    lambdarank_specification,
    lambdarank_timing,
    poincare,
)
from letorbench.papers.checks import Check
from letorbench.papers.claims import Claim, Verdict, exactly, of_part
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.records import write_table
from letorbench.papers.runs import CUTOFFS, Study, Values, Variant, titled

NAME = "lambdarank-2006"
#: the lambda function that the paper picked, over all pairs
PICKED = "ranknet-ndcg, all"
NETS = lambdarank_timing.NETS
#: sets at hand that stand in for the web and the intranet data, the sample of MSLR among them
PLACES = ("MSLR-WEB10K", "MSLR-sample", "OHSUMED", "MQ2008", "MSLR-WEB10K-twin", "DEMO")
#: random starts of the nets on these, with --full
STARTS = 5
#: "the larger truncation values", of ten
LARGER = (8, 9, 10)
WEB = "the web search data were never published"
INTRANET = "the intranet search data were never published"


def _nets_alike(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """The distance of the two methods' means, of linear nets against that of two-layer nets."""

    def distance(net: str) -> np.ndarray:
        lead = found[f"lambdarank-{net}"].level - found[f"ranknet-{net}"].level
        return lead * np.sign(lead.mean())

    upper, lower = map(distance, NETS.values())
    return judge.superiority(claim, judge.Pair(upper, lower, found["ranknet-linear"].folds))


def _best_of_ten(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """The paper's pick against the best of the other lambda functions."""
    rest = [name for name in found if name != PICKED]
    if not rest:
        return judge.no_data(claim, "no result of any other lambda function")
    best = max(rest, key=lambda name: found[name].mean("ndcg@10"))
    both = judge.pair(found[PICKED], found[best], "ndcg@10")
    return judge.superiority(
        claim, replace(both, candidates=len(rest)), f"the best of the others: {best}"
    )


def _lead(name: str, part: str, dataset: str, net: str, kind: str = "superiority") -> Claim:
    """LambdaRank above RankNet with one kind of net."""
    rule = judge.indistinct if kind == "indistinct" else judge.superiority
    ending = ", not significantly" if kind == "indistinct" else ""
    return Claim(
        NAME, f"{name}-{net}", part, f"LambdaRank is above RankNet with {net} nets{ending}",
        dataset, kind, "NDCG@10 of the test queries, paired",
        check=checks.by_pair(rule, f"lambdarank-{net}", f"ranknet-{net}", "ndcg@10"),
    )  # fmt: skip


ALL_NETS = tuple(f"{algo}-{net}" for net in NETS.values() for algo in ("lambdarank", "ranknet"))
CLAIMS = (
    *lambdarank_timing.CLAIMS,
    *lambdarank_artificial.CLAIMS,
    *(_lead("intranet", "figure-2", "Intranet", net, "indistinct") for net in NETS.values()),
    Claim(
        NAME, "intranet-closer", "figure-2",
        "LambdaRank and RankNet are closer with two-layer nets than with linear ones", "Intranet",
        "superiority", "their distance in the mean of NDCG@1..10, linear against two-layer nets",
        check=Check(ALL_NETS, _nets_alike),
    ),
    *(_lead("web", "figure-3", "Web", net) for net in NETS.values()),
    *(
        Claim(
            NAME, f"web-on-top-{k}", "figure-3",
            "linear LambdaRank lies on top of two-layer RankNet at the larger cut-offs", "Web",
            "equivalence", f"NDCG@{k} of the test queries, paired",
            check=checks.alike("lambdarank-linear", "ranknet-two-layer", f"ndcg@{k}"),
        )
        for k in LARGER
    ),
    Claim(
        NAME, "ranknet-symmetric", "jacobian", "lambdas of a cost have a symmetric Jacobian",
        "none", "value", "RankNet's largest |J - J^T| / |J|, 20 random queries", 1e-6, 0.0,
        "at most", "own code", check=checks.number("ranknet-symmetric"),
    ),
    Claim(
        NAME, "ranknet-convex", "jacobian", "RankNet's cost is convex in the scores", "none",
        "value", "smallest eigenvalue of RankNet's -J over the largest", -1e-6, 0.0, "at least",
        "theory", check=checks.number("ranknet-convex"),
    ),
    Claim(
        NAME, "lambdarank-no-cost", "jacobian", "LambdaRank's lambdas are the gradient of no cost",
        "none", "value", "|work around a closed path| of ranknet-ndcg over the work's absolute "
        "sum, the largest of 20 random paths", 1e-3, 0.0, "at least", "theory",
        check=checks.number("lambdarank-no-cost"),
    ),
    *lambda_rules.CLAIMS,
    Claim(
        NAME, "best-of-ten", "lambdas", "of ten lambda functions RankNet's cost scaled by the "
        "NDCG of a swap is the best on validation", "Web", "superiority",
        "NDCG@10 of the validation queries, ranknet-ndcg over all pairs against the highest of the "
        "other nine, paired by query, Bonferroni's correction over those",
        check=Check((PICKED,), _best_of_ten),
    ),
    *lambdarank_specification.CLAIMS,
    Claim(
        NAME, "local-optimum", "lambdas", "training by ranknet-ndcg ends at a local maximum of "
        "NDCG", "generated", "value", "share of 200 random directions in which a move of 1 % of "
        "the weights' size raises the training NDCG@10, linear nets; not in the paper's text: "
        "Donmez, Svore, Burges, SIGIR 2009 (memory)", 0.05, 0.0, "at most",
        check=checks.number("local-optimum"),
    ),
)  # fmt: skip


def ranking(study: Study) -> Findings:
    """Figure 2: NDCG@1..10 on the artificial data, and claims on the intranet data elsewhere."""
    verdicts, files, differs = lambdarank_artificial.figure(study)
    intranet = [claim for claim in of_part(CLAIMS, "figure-2") if claim.dataset == "Intranet"]
    absent = tuple(judge.no_data(claim, INTRANET) for claim in intranet)
    missing = f"no right half of Figure 2: {INTRANET}"
    others = checks.elsewhere(intranet, _stand_ins(study))
    return Findings((*verdicts, *absent), tuple(files), (*differs, missing), others)


def web(study: Study) -> Findings:
    """Figure 3 on other data than the web's."""
    from letorbench.analysis.figures import Panel, draw, write

    claims, found = of_part(CLAIMS, "figure-3"), _stand_ins(study)
    panels, rows = [], []
    for dataset, methods in found.items():
        means = {m: [values.mean(c) for c in CUTOFFS] for m, values in methods.items()}
        panels.append(Panel(titled(dataset), "NDCG", means))
        rows += [[dataset, m, *curve] for m, curve in means.items()]
    stem = study.folder(NAME) / "figure-3"
    title = "Figure 3's methods on other data"
    files = [
        *(write(draw(panels), stem) if panels else ()),
        *write_table(stem, title, ["dataset", "method", *CUTOFFS], rows),
    ]
    verdicts = tuple(judge.no_data(claim, WEB) for claim in claims)
    differs = f"Figure 3 is on {', '.join(map(titled, found))}: {WEB}"
    return Findings(verdicts, tuple(files), (differs,), checks.elsewhere(claims, found))


def _stand_ins(study: Study) -> dict[str, dict[str, Values]]:
    """Both methods with both nets on the sets at hand."""
    if study.full:
        study = replace(study, repeats=STARTS)
    variants = [
        Variant(f"{algo}-{net}", algo, {"layers": layers}, {"epochs": 300, "patience": 0})
        for layers, net in NETS.items()
        for algo in ("lambdarank", "ranknet")
    ]
    return {
        dataset: study.runs(NAME, dataset, variants, CUTOFFS, "standard")
        for dataset in PLACES
        if study.has(dataset)
    }


def jacobian(study: Study) -> Findings:
    """Section 4's test of every lambda function: is it the gradient of a cost?"""
    rows, kept = [], {}
    for name, function in LAMBDAS.items():
        for neighbours in (False, True):
            chosen = Lambda(name, neighbours, 0.1 if name == "ndcg-difference" else 0.0)
            found = poincare.diagnose(chosen, np.random.default_rng(study.seed))
            kept[name, neighbours] = found
            rows.append([name, "neighbours" if neighbours else "all", *astuple(found)])
    header = ["lambda", "pairs", "asymmetry", "lowest eigenvalue", "circulation", "sum"]
    files = write_table(
        study.folder(NAME) / "jacobian", "Section 4: a cost exists where the Jacobian is "
        "symmetric and no closed path does work", header, rows,
    )  # fmt: skip
    plain, ndcg = kept["ranknet", False], kept["ranknet-ndcg", False]
    note = (
        f"work around closed paths: ranknet {plain.circulation:.0e}, ranknet-ndcg "
        f"{ndcg.circulation:.2f} of its size: LambdaRank's lambdas have a symmetric Jacobian "
        "within each order, but jump between orders, and are no cost's gradient"
    )
    numbers = {
        "ranknet-symmetric": exactly(plain.asymmetry, note),
        "ranknet-convex": exactly(plain.lowest),
        "lambdarank-no-cost": exactly(ndcg.circulation),
        **lambda_rules.measured(study.seed),
    }
    verdicts = tuple(claim.judge(numbers) for claim in of_part(CLAIMS, "jacobian"))
    return Findings(verdicts, files)


def lambdas(study: Study) -> Findings:
    """Section 6.2: ten lambda functions trained alike, and whether they end at a maximum."""
    from letorbench.papers import local_optimum

    draws = [local_optimum.sets(study.seed + draw) for draw in range(local_optimum.DRAWS)]
    found: dict[str, local_optimum.Trained] = {}
    for name, function in LAMBDAS.items():
        for neighbours in (False, True):
            label = f"{name}, {'neighbours' if neighbours else 'all'}"
            study.say(f"{NAME}: {label}")
            margin = 0.1 if name in ("ndcg-difference", "step", "spring") else 0.0
            found[label] = local_optimum.over_draws(
                [
                    local_optimum.trained(name, neighbours, margin, parts, study.seed + draw)
                    for draw, parts in enumerate(draws)
                ]
            )
    header = [
        "lambda",
        "pairs",
        "validation NDCG@10",
        "test NDCG@10",
        *(f"rises, move {move:g}" for move in local_optimum.MOVES),
        "largest rise",
    ]
    rows = [
        [*label.split(", "), each.validation, each.test.mean("ndcg@10"), *each.rises, each.gain]
        for label, each in found.items()
    ]  # fmt: skip
    title = "Section 6.2: ten lambda functions on generated data, and random moves of the weights"
    files = write_table(study.folder(NAME) / "lambdas", title, header, rows)
    claims = {claim.id: claim for claim in of_part(CLAIMS, "lambdas")}
    rises = found[PICKED].share(local_optimum.MOVES.index(0.01))
    others = {"generated": {label: each.held for label, each in found.items()}}
    return Findings(
        (
            judge.no_data(claims["best-of-ten"], WEB),
            claims["local-optimum"].judge({"local-optimum": rises}),
        ),
        files,
        ("the ten lambda functions are ours, five forces for all pairs and for neighbours: the "
         "paper does not print its ten",
         f"the ten lambda functions are trained on {local_optimum.DRAWS} draws of generated data"),
        checks.elsewhere([claims["best-of-ten"]], others),
    )  # fmt: skip


PAPER = Paper(
    NAME,
    "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006",
    CLAIMS,
    {
        "figure-1": lambdarank_timing.timing,
        "figure-2": ranking,
        "figure-3": web,
        "jacobian": jacobian,
        "lambdas": lambdas,
        lambdarank_specification.PART: lambdarank_specification.specification,
    },
    optional=(lambdarank_specification.PART,),
)
