"""Ravikumar, Tewari, Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.analysis.paired import randomization
from letorbench.papers import (
    checks,
    consistency_specification,
    consistency_theory,
    judge,
)
from letorbench.papers.checks import Check
from letorbench.papers.claims import (
    MARGIN,
    NO,
    UNDECIDED,
    Answers,
    Claim,
    Verdict,
    exactly,
    of_part,
)
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.records import write_table
from letorbench.papers.runs import CUTOFFS, Study, Values, Variant, titled

NAME = consistency_theory.NAME
LETOR = ("OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003", "NP2004", "MQ2007", "MQ2008")
#: Figure 1 and Table 1 have all, Figure 2 LETOR's
DATASETS = (*LETOR, "MSLR-WEB10K")
SURROGATES = ("cosine", "least-squares", "cross-entropy")
CHANGES = ("ndcg@1", "ndcg@10", "ndcg")
#: sets at hand that stand beside the paper's; twins have their shapes
ELSEWHERE = ("MSLR-sample", *(f"{dataset}-twin" for dataset in DATASETS), "DEMO")
#: the paper's F(t) = log(1 + t); LETOR 4.0's tool gives half of MQ2008's queries an NDCG@10 of 0
CONVENTION = "standard"
#: section 3.2.1: two labellings of two documents and their probabilities
LABELLINGS, PROBABILITIES = np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7])


def _pairs(found: Mapping[str, Values]) -> list[tuple[str, str]]:
    """The (original, modified) surrogates that both have results."""
    pairs = [(name, f"{name}-{change}") for name in SURROGATES for change in CHANGES]
    return [pair for pair in pairs if set(pair) <= set(found)]


def _best_case(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """The best of cross entropy's consistent versions over the original.

    Each fold's version is the best on the queries of the other folds, so that no query helps to
    pick what it measures. What the best of all queries gives is told beside it.
    """
    original = found["cross-entropy"]
    levels = {new: found[new].level for old, new in _pairs(found) if old == "cross-entropy"}
    picked, names = np.empty(len(original.folds)), []
    for fold in np.unique(original.folds):
        own = original.folds == fold
        elsewhere = {name: float(level[~own].mean()) for name, level in levels.items()}
        names.append(max(elsewhere, key=elsewhere.__getitem__))
        picked[own] = levels[names[-1]][own]
    best = max(levels, key=lambda name: levels[name].mean())
    share = levels[best].mean() / original.level.mean() - 1.0
    note = (
        f"of {len(levels)} versions, picked for each fold by the others: {', '.join(names)}; "
        f"picked by all queries: {best}, {100.0 * share:+.1f} %"
    )
    return judge.difference(claim, judge.Pair(picked, original.level, original.folds), note)


def _large(claim: Claim, found: Mapping[str, Values]) -> Verdict:
    """The lowest of the changes beyond 3 %."""
    pairs = _pairs(found)
    if not pairs:
        return judge.no_data(claim, "no result of a surrogate and its modified version")

    def change(pair: tuple[str, str]) -> float:
        return found[pair[1]].mean("ndcg@10") / found[pair[0]].mean("ndcg@10") - 1.0

    large = [pair for pair in pairs if abs(change(pair)) > MARGIN]
    if not large:
        answers = Answers(number=NO)
        return Verdict(claim, UNDECIDED, answers=answers, note="no change is beyond 3 %")
    original, modified = lowest = min(large, key=change)
    down = sum(change(pair) < 0.0 for pair in large)
    note = f"{len(large)} of {len(pairs)} changes are beyond 3 %, {down} of them down; the lowest: "
    note += f"{modified} {100 * change(lowest):+.1f} %"
    both = judge.pair(found[modified], found[original], "ndcg@10")
    return judge.superiority(claim, replace(both, candidates=len(pairs)), note)


def _example(name: str, text: str, value: float, half: float) -> Claim:
    how = "computed from the labels (5, 4) with probability .3 and (1, 3) with .7"
    return Claim(
        NAME, name, "example", text, "none", "value", how, value, half,
        nature="worked example", check=checks.number(name),
    )  # fmt: skip


CLAIMS = (
    _example("gain-first", "the first document's expected gain is 10", 10.0, 0.5),
    _example("gain-second", "the second document's expected gain is 9.4", 9.4, 0.05),
    _example("share-first", "the first one's expected gain over Z is .3216", 0.3216, 0.00005),
    _example("share-second", "the second one's expected gain over Z is .7533", 0.7533, 0.00005),
    _example("reversed", "the expected gains and those over Z order the two in reverse", -1.0, 0.0),
    *(
        Claim(
            NAME, f"{dataset.lower()}-consistent-{surrogate}", "figure-1",
            f"making {surrogate} NDCG consistent improves it", dataset, "superiority",
            f"NDCG@10 of {surrogate}-ndcg against {surrogate}'s, paired by query",
            check=checks.above(f"{surrogate}-ndcg", surrogate, "ndcg@10"),
        )
        for dataset in DATASETS
        for surrogate in SURROGATES
    ),
    *(
        Claim(
            NAME, f"consistent-{surrogate}", "figure-1",
            f"making {surrogate} NDCG consistent improves it over the data sets",
            "all of Figure 1", "superiority",
            f"NDCG@10 of {surrogate}-ndcg against {surrogate}'s, Stouffer's test over the sets",
            check=checks.above_on_sets(f"{surrogate}-ndcg", surrogate, "ndcg@10"),
        )
        for surrogate in SURROGATES
    ),
    Claim(
        NAME, "hp2003-best-case", "figure-1", "cross entropy gains almost 30 % from consistency",
        "HP2003", "difference", "mean of NDCG@1..10, the best of Z@1, Z@10, Z over the original, "
        "picked for each fold by the queries of the others", 0.30, 0.05,
        check=Check(("cross-entropy", "cross-entropy-ndcg"), _best_case),
    ),
    Claim(
        NAME, "np2004-degradation", "figure-1", "cross entropy loses from consistency",
        "NP2004", "superiority", "mean of NDCG@1..10, the original against the one with Z",
        check=checks.above("cross-entropy", "cross-entropy-ndcg"),
    ),
    Claim(
        NAME, "np2004-small", "figure-1", "the degradation of cross entropy is small",
        "NP2004", "non-inferiority", "mean of NDCG@1..10, the one with Z against the original",
        check=checks.not_below("cross-entropy-ndcg", "cross-entropy"),
    ),
    *(
        Claim(
            NAME, f"{dataset.lower()}-large", "figure-1",
            "every change of more than 3 % is an improvement", dataset, "superiority",
            "NDCG@10, the lowest of the changes beyond 3 %, modified against original, "
            "Bonferroni's correction over all changes",
            check=Check(("cross-entropy", "cross-entropy-ndcg"), _large),
        )
        for dataset in DATASETS
    ),
    *(
        Claim(
            NAME, f"{dataset.lower()}-qnorm-{other}", "figure-2",
            f"the q-norm is above {other} or comparable to it", dataset, "non-inferiority",
            f"NDCG@10 of qnorm against {other}'s, paired by query",
            check=checks.not_below("qnorm", other, "ndcg@10"),
        )
        for dataset in LETOR
        for other in (*SURROGATES, *(f"{surrogate}-ndcg" for surrogate in SURROGATES))
    ),
    *(
        Claim(
            NAME, f"qnorm-{other}", "figure-2", f"the q-norm improves on {other}",
            "all of Figure 2", "superiority",
            f"NDCG@10 of qnorm against {other}'s, Stouffer's test over the sets",
            check=checks.above_on_sets("qnorm", other, "ndcg@10"),
        )
        for other in (*SURROGATES, *(f"{surrogate}-ndcg" for surrogate in SURROGATES))
    ),
    *consistency_theory.CLAIMS,
    *consistency_specification.CLAIMS,
)  # fmt: skip


def example(study: Study) -> Findings:
    """Section 3.2.1's worked example."""
    gain = np.exp2(LABELLINGS) - 1.0
    discount = 1.0 / np.log2(np.array([2.0, 3.0]))
    z = np.sort(gain, axis=1)[:, ::-1] @ discount
    expected, share = PROBABILITIES @ gain, PROBABILITIES @ (gain / z[:, None])

    found = {
        "gain-first": expected[0], "gain-second": expected[1],
        "share-first": share[0], "share-second": share[1],
        "reversed": np.sign((expected[0] - expected[1]) * (share[0] - share[1])),
    }  # fmt: skip
    rows = [[name, float(value)] for name, value in found.items()]
    files = write_table(study.folder(NAME) / "example", "Section 3.2.1", ["what", "value"], rows)
    numbers = {name: exactly(float(value)) for name, value in found.items()}
    verdicts = tuple(claim.judge(numbers) for claim in of_part(CLAIMS, "example"))
    return Findings(verdicts, files)


def figure_1(study: Study) -> Findings:
    """Figure 1 and Table 1: each surrogate beside its consistent versions."""
    from letorbench.analysis.figures import Panel, draw, write

    names = [s + change for s in SURROGATES for change in ("", *(f"-{c}" for c in CHANGES))]
    found = _runs(study, DATASETS, names)
    panels, curves, tests = [], [], []
    for dataset, values in found.items():
        for surrogate in SURROGATES:
            shown = {n: values[n] for n in names if n.startswith(surrogate) and n in values}
            if shown:
                means = {n: [v.mean(c) for c in CUTOFFS] for n, v in shown.items()}
                lines = {_version(n.removeprefix(surrogate)): means[n] for n in means}
                said = "NDCG" if titled(dataset) == dataset else "NDCG, made-up data"
                panels.append(Panel(f"{dataset}, {surrogate}", said, lines))
                curves += [[dataset, n, *curve] for n, curve in means.items()]
            tests += _tests(dataset, surrogate, shown)
    folder = study.folder(NAME)
    header = ["dataset", "modified", "original NDCG@10", "modified NDCG@10", "change", "p"]
    files = [
        *(write(draw(panels), folder / "figure-1") if panels else ()),
        *write_table(folder / "figure-1", "Figure 1", ["dataset", "method", *CUTOFFS], curves),
        *write_table(
            folder / "table-1", "Table 1: random permutation tests, paired by query", header, tests
        ),
    ]
    return _judged(study, "figure-1", found, files, DATASETS)


def figure_2(study: Study) -> Findings:
    """Figure 2: NDCG@10 of the q-norm beside the original cosine and cross entropy."""
    from letorbench.papers.paper_figures import bars_figure

    names = ["cosine", "qnorm", "cross-entropy"]
    found = _runs(study, LETOR, [*names, *SURROGATES, *(f"{s}-ndcg" for s in SURROGATES)])
    groups = {
        titled(dataset): {n: values[n].mean("ndcg@10") for n in names if n in values}
        for dataset, values in found.items()
    }
    groups = {name: bars for name, bars in groups.items() if bars}
    stem = study.folder(NAME) / "figure-2"
    files = bars_figure("q = log(m) + 2", "NDCG@10", groups, stem) if groups else []
    rows = [[name, *(bars.get(n) for n in names)] for name, bars in groups.items()]
    files += write_table(stem, "Figure 2, NDCG@10", ["dataset", *names], rows)
    return _judged(study, "figure-2", found, files, LETOR)


def _judged(
    study: Study, part: str, found: dict[str, dict[str, Values]], files: Sequence[Path],
    datasets: Sequence[str],
) -> Findings:  # fmt: skip
    """The findings of a figure: the paper's data sets, and the others apart."""
    claims = of_part(CLAIMS, part)
    own = {name: values for name, values in found.items() if name in datasets}
    others = {name: values for name, values in found.items() if name not in datasets}
    return Findings(
        checks.on_datasets(claims, own, study),
        tuple(files),
        _absent(study, part.rpartition("-")[2], tuple(datasets)),
        checks.elsewhere(claims, others),
    )


def _runs(
    study: Study, datasets: tuple[str, ...], names: list[str]
) -> dict[str, dict[str, Values]]:
    """Every method's values on the data sets at hand, and on DEMO, which no claim is about."""
    here = [dataset for dataset in (*datasets, *ELSEWHERE) if study.has(dataset)]
    variants = [Variant(name, name) for name in dict.fromkeys(names)]
    return {d: study.runs(NAME, d, variants, CUTOFFS, CONVENTION) for d in here}


def _tests(dataset: str, surrogate: str, shown: dict[str, Values]) -> list[list[object]]:
    """Table 1's rows of a surrogate: change of NDCG@10 and p."""
    rows: list[list[object]] = []
    original = shown.get(surrogate)
    for name, values in shown.items():
        if original is not None and name != surrogate:
            before, after = original.mean("ndcg@10"), values.mean("ndcg@10")
            test = randomization(values["ndcg@10"], original["ndcg@10"], np.random.default_rng(0))
            change = after / before - 1.0 if before > 0.0 else None
            rows.append([dataset, name, before, after, change, test.p])
    return rows


def _version(ending: str) -> str:
    """What a line of Figure 1 is called, the same in every panel."""
    return f"divided by {ending.removeprefix('-').replace('ndcg', 'Z')}" if ending else "original"


def _absent(study: Study, figure: str, datasets: tuple[str, ...]) -> tuple[str, ...]:
    absent = [dataset for dataset in datasets if not study.has(dataset)]
    return (f"Figure {figure} is without {', '.join(absent)}: not at hand",) if absent else ()


PAPER = Paper(
    NAME,
    "Ravikumar, Tewari, Yang: On NDCG Consistency of Listwise Ranking Methods, AISTATS 2011",
    CLAIMS,
    {
        "example": example,
        consistency_theory.PART: consistency_theory.theory,
        "figure-1": figure_1,
        "figure-2": figure_2,
        consistency_specification.PART: consistency_specification.specification,
    },
    (
        "gradient descent is ours, not MATLAB's; neither is tuned. Every method takes the same "
        "number of steps, 500, which mostly ends before the minimum; the paper's is not printed. "
        "The part specification prints the optimum beside it",
        "DEMO is made up and beside the paper's sets; no claim is judged by it",
    ),
    optional=(consistency_specification.PART,),
)
