"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, replace
from functools import partial

import numpy as np

from letorbench.analysis.intervals import bootstrap_folds
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.synthetic.cubic import cubic
from letorbench.datasets.synthetic.permuted import permuted_cubic
from letorbench.files import write_atomically
from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.papers import artificial, checks, judge, poincare, speed
from letorbench.papers.checks import Check
from letorbench.papers.claims import Claim, Measured, Verdict, exactly, of_part
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.records import write_table
from letorbench.papers.runs import CUTOFFS, Study, Values, Variant

NAME = "lambdarank-2006"
#: queries of the training, validation and test set
QUERIES = (10_000, 5_000, 10_000)
#: documents of Figure 1's query
SIZES = tuple(4_000 * 2**i for i in range(8))
#: the artificial data of each setting
RECIPES = {"default": "cubic", "published": "permuted cubic"}
#: the lambda function that the paper picked, over all pairs
PICKED = "ranknet-ndcg, all"
NETS = {1: "linear", 2: "two-layer"}
#: the net of Figure 1's right panel, whose slopes the text gives
SLOPES_OF = 2
WEB = "the web search data were never published"
INTRANET = "the intranet search data were never published"


def _gap(claim: Claim, found: Mapping[str, Values], net: str) -> Verdict:
    """LambdaRank's lead in NDCG@1 against its lead in NDCG@10."""
    above, below = found[f"lambdarank-{net}"], found[f"ranknet-{net}"]
    leads = [above[measure] - below[measure] for measure in ("ndcg@1", "ndcg@10")]
    note = 'the text says "at higher relevance levels", read as: nearer the top'
    return judge.superiority(claim, judge.Pair(*leads, below.folds), note)


def _nets_alike(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """The distance of the two methods' means, of linear nets against that of two-layer nets."""
    distances = []
    for net in NETS.values():
        lead = found[f"lambdarank-{net}"].level - found[f"ranknet-{net}"].level
        distances.append(lead * np.sign(lead.mean()))
    return judge.superiority(claim, judge.Pair(*distances, found["ranknet-linear"].folds))


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


def _timing(name: str, text: str, how: str, number: tuple[float, float], sense: str) -> Claim:
    return Claim(
        NAME, name, "figure-1", text, "timing", "value", how, *number, sense,
        check=checks.number(name),
    )  # fmt: skip


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
    _timing(
        "speed-linear", "factored training of a linear net is 5.1 times as fast",
        "V1's seconds an epoch over V2's, data of the web set's shape", (5.1, 0.05), "at least",
    ),
    _timing(
        "speed-two-layer", "factored training of a two-layer net is 8.0 times as fast",
        "V1's seconds an epoch over V2's, data of the web set's shape", (8.0, 0.05), "at least",
    ),
    _timing(
        "slope-v1", "pair by pair, the cost is nearly quadratic in documents",
        f"slope of log seconds on log documents, {NETS[SLOPES_OF]} net", (1.943, 0.0005), "equal",
    ),
    _timing(
        "slope-v2", "factored, the cost is about linear in documents",
        f"slope of log seconds on log documents, {NETS[SLOPES_OF]} net", (1.185, 0.0005), "equal",
    ),
    *(_lead("artificial", "figure-2", "artificial", net) for net in NETS.values()),
    *(
        Claim(
            NAME, f"gap-{net}", "figure-2",
            f"LambdaRank's lead is larger towards the top with {net} nets", "artificial",
            "superiority", "its lead in NDCG@1 against that in NDCG@10, paired by query",
            check=Check((f"lambdarank-{net}", f"ranknet-{net}"), partial(_gap, net=net)),
        )
        for net in NETS.values()
    ),
    *(_lead("intranet", "figure-2", "Intranet", net, "indistinct") for net in NETS.values()),
    Claim(
        NAME, "intranet-closer", "figure-2",
        "LambdaRank and RankNet are closer with two-layer nets than with linear ones", "Intranet",
        "superiority", "their distance in the mean of NDCG@1..10, linear against two-layer nets",
        check=Check(ALL_NETS, _nets_alike),
    ),
    *(_lead("web", "figure-3", "Web", net) for net in NETS.values()),
    Claim(
        NAME, "web-on-top", "figure-3",
        "linear LambdaRank lies on top of two-layer RankNet at the larger cut-offs", "Web",
        "equivalence", "NDCG@10 of the test queries, paired",
        check=checks.alike("lambdarank-linear", "ranknet-two-layer", "ndcg@10"),
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
    Claim(
        NAME, "best-of-ten", "lambdas", "of ten lambda functions RankNet's cost scaled by the "
        "NDCG of a swap is the best on validation", "Web", "superiority",
        "NDCG@10 of ranknet-ndcg over all pairs against the highest of the other nine, paired by "
        "query, Bonferroni's correction over those",
        check=Check((PICKED,), _best_of_ten),
    ),
    Claim(
        NAME, "local-optimum", "lambdas", "training by ranknet-ndcg ends at a local maximum of "
        "NDCG", "generated", "value", "share of 200 random directions in which a move of 1 % of "
        "the weights' size raises the training NDCG@10, linear nets; not in the paper's text: "
        "Donmez, Svore, Burges, SIGIR 2009 (memory)", 0.05, 0.0, "at most",
        check=checks.number("local-optimum"),
    ),
)  # fmt: skip


def web_shaped(seed: int) -> QuerySet:
    """1,000 queries of 26.1 documents and 367 features: the size of section 6.1's web data."""
    rng = np.random.default_rng(seed)
    (queries,) = cubic(rng, [1_000], 50, (20, 32))
    features = rng.standard_normal((queries.n_docs, 367), dtype=np.float32)
    return replace(queries, features=features)


def timing(study: Study) -> Findings:
    """Figure 1, right: seconds of an epoch against documents; and the ratios of section 6.1."""
    from letorbench.papers.paper_figures import Axis, Line, lines_figure

    stem = study.folder(NAME) / "figure-1"
    patience = 600.0 if study.full else 15.0
    timings, ratios = _measured(study, patience)
    lines, rows, slopes = {}, [], {}
    for version, layers in [(v, depth) for v in speed.PASSES for depth in NETS]:
        own = [t for t in timings if (t.version, t.layers) == (version, layers)]
        slopes[version, layers] = slope = speed.slope(own)
        name = f"{version}, {NETS[layers]} (slope {slope.value:.2f})"
        lines[name] = Line([t.documents for t in own], [t.seconds for t in own])
        rows += [[version, NETS[layers], t.documents, t.seconds] for t in own]
    ends = max(t.documents for t in timings if t.version == "V1")
    note = f"(V1 ends at {ends:,}: then above {patience:g} s)"
    files = lines_figure(
        [Axis("RankNet", "documents of the query", "seconds an epoch", lines, True, note)], stem
    )
    files += write_table(stem, "Figure 1", ["version", "net", "documents", "seconds"], rows)
    found = {
        f"speed-{net}": Measured(
            float(np.median(ratios[layers])), min(ratios[layers]), max(ratios[layers]),
            "median, least and most of five",
        )
        for layers, net in NETS.items()
    }  # fmt: skip
    for version in speed.PASSES:
        last = ends if version == "V1" else SIZES[-1]
        note = f"linear: {slopes[version, 1].value:.3f}; {SIZES[0]:,} to {last:,} documents"
        found[f"slope-{version.lower()}"] = Measured(*astuple(slopes[version, SLOPES_OF]), note)
    verdicts = tuple(claim.judge(found) for claim in of_part(CLAIMS, "figure-1"))
    differs = (
        "Figure 1's left panel, NDCG against seconds, is not drawn: both give the same epochs",
        "timings are this machine's; the ratios' data have the web set's size, all made up",
        f"documents from {SIZES[0]:,} to {SIZES[-1]:,} as the paper's, V1 only to {ends:,}",
    )
    return Findings(verdicts, tuple(files), differs)


def _measured(
    study: Study, patience: float
) -> tuple[list[speed.Timing], dict[int, list[float]]]:
    """The timings, measured once and kept in figure-1.json."""
    path = study.folder(NAME) / "figure-1.json"
    asked = {"sizes": list(SIZES), "patience": patience, "seed": study.seed}
    stored = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if stored.get("asked") != asked:
        study.say("timing V1 and V2")
        timings = speed.growing(SIZES, tuple(NETS), patience)
        web = web_shaped(study.seed)
        ratios = {str(layers): speed.ratios(web, layers).tolist() for layers in NETS}
        stored = {"asked": asked, "timings": [asdict(t) for t in timings], "ratios": ratios}
        with write_atomically(path) as file:
            file.write(json.dumps(stored, indent=1) + "\n")
    timings = [speed.Timing(**t) for t in stored["timings"]]
    return timings, {int(layers): values for layers, values in stored["ratios"].items()}


def ranking(study: Study) -> Findings:
    """Figure 2, left: NDCG@1..10 on the artificial data with 95 % bars."""
    from letorbench.papers.paper_figures import Axis, Line, lines_figure

    published = study.setting == "published"
    recipe = permuted_cubic if published else cubic
    sets = recipe(np.random.default_rng(study.seed), QUERIES)
    facts = {"recipe": RECIPES[study.setting], "queries": list(QUERIES), "seed": study.seed}
    own = {"epochs": 300, "patience": 0} if published else {}
    variants = [
        Variant(f"{algo}-{net}", algo, {"layers": layers, **own})
        for layers, net in NETS.items()
        for algo in ("lambdarank", "ranknet")
    ]
    folder = study.folder(NAME) / "artificial"
    found = artificial.runs(
        study, folder, artificial.Generated(facts, *sets), variants, CUTOFFS
    )
    lines, rows = {}, []
    for label, values in found.items():
        found_bands = bootstrap_folds(values.values, values.folds)
        bands = [(band.mean, band.low, band.high) for band in found_bands]
        lines[label] = Line(range(1, 11), *map(list, zip(*bands)))
        rows += [[label, c, *band] for c, band in zip(CUTOFFS, bands)]
    stem = study.folder(NAME) / "figure-2"
    title = "Cubic polynomial data"
    files = lines_figure([Axis(title, "NDCG truncation level", "NDCG", lines)], stem)
    header = ["method", "measure", "mean", "low", "high"]
    files += write_table(stem, f"Figure 2, {title}", header, rows)
    claims = of_part(CLAIMS, "figure-2")
    verdicts = tuple(
        claim.judge(found) if claim.dataset == "artificial" else judge.no_data(claim, INTRANET)
        for claim in claims
    )
    differs = (
        "the label distribution is MSLR's, for \"real datasets'\" that are not printed",
        "learning rates are the rankers' grids, LambdaRank's reach 1e-1",
        *(() if published else (
            "inputs are N(0, 1) with a full random cubic, not the recipe of RankNet 2005",
            "training ends 30 epochs after the best, before the paper's restart can come",
        )),
        f"no right half of Figure 2: {INTRANET}",
    )
    return Findings(verdicts, tuple(files), differs)


def web(study: Study) -> Findings:
    """Figure 3 cannot be rerun."""
    verdicts = tuple(judge.no_data(claim, WEB) for claim in of_part(CLAIMS, "figure-3"))
    return Findings(verdicts, (), (f"no Figure 3: {WEB}",))


def jacobian(study: Study) -> Findings:
    """Section 4's test of every lambda function: is it the gradient of a cost?"""
    rows, kept = [], {}
    for name, function in LAMBDAS.items():
        for neighbours in (False, True):
            chosen = Lambda(name, neighbours, 0.1 if function.needs_margin else 0.0)
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
    }
    verdicts = tuple(claim.judge(numbers) for claim in of_part(CLAIMS, "jacobian"))
    return Findings(verdicts, files)


def lambdas(study: Study) -> Findings:
    """Section 6.2: ten lambda functions trained alike, and whether they end at a maximum."""
    from letorbench.papers import local_optimum

    parts = local_optimum.sets(study.seed)
    found: dict[str, local_optimum.Trained] = {}
    for name, function in LAMBDAS.items():
        for neighbours in (False, True):
            label = f"{name}, {'neighbours' if neighbours else 'all'}"
            study.say(f"{NAME}: {label}")
            margin = 0.1 if function.needs_margin or name in ("step", "spring") else 0.0
            found[label] = local_optimum.trained(name, neighbours, margin, parts, study.seed)
    header = ["lambda", "pairs", "validation NDCG@10", "test NDCG@10",
              *(f"rises, move {move:g}" for move in local_optimum.MOVES), "largest rise"]
    rows = [
        [*label.split(", "), each.validation, each.test.mean("ndcg@10"), *each.rises, each.gain]
        for label, each in found.items()
    ]  # fmt: skip
    title = "Section 6.2: ten lambda functions on generated data, and random moves of the weights"
    files = write_table(study.folder(NAME) / "lambdas", title, header, rows)
    claims = {claim.id: claim for claim in of_part(CLAIMS, "lambdas")}
    rises = found[PICKED].rises[local_optimum.MOVES.index(0.01)]
    others = {"generated": {label: each.test for label, each in found.items()}}
    return Findings(
        (
            judge.no_data(claims["best-of-ten"], WEB),
            claims["local-optimum"].judge({"local-optimum": exactly(rises)}),
        ),
        files,
        ("the ten lambda functions are ours, five forces for all pairs and for neighbours: the "
         "paper does not print its ten",),
        checks.elsewhere([claims["best-of-ten"]], others),
    )  # fmt: skip


PAPER = Paper(
    NAME,
    "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006",
    CLAIMS,
    {"figure-1": timing, "figure-2": ranking, "figure-3": web, "jacobian": jacobian,
     "lambdas": lambdas},
)
