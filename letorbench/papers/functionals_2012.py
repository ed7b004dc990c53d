"""Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: Tables 4 to 9.

The paper's questions and answers were never published; its subset of Yahoo!'s C14 data is had
by request only, and which queries it holds is not printed. So every table runs on stand-ins,
beside the paper's numbers, and no claim is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from letorbench.analysis.published import published
from letorbench.analysis.significance import randomization
from letorbench.datasets.synthetic import make
from letorbench.papers import judge
from letorbench.papers.claims import Check, Claim, Verdict, of_part
from letorbench.papers.functional_tables import TABLES, layout
from letorbench.papers.paper import Findings, Paper
from letorbench.papers.records import write_table
from letorbench.papers.study import Study, Values, Variant, titled

NAME = "functionals"
SOURCE = "functionals-2012"
YAHOO, ANSWERS = "Yahoo-C14 subset", "Yahoo! QA autism"
#: the first of them that is at hand, and DEMO
PLACES = ("MSLR-WEB10K", "OHSUMED", "MQ2008")
#: QA's training questions; the paper's had 36,113
QUESTIONS, MORE_QUESTIONS = 600, 6_000
#: our text of the measure -> the paper's column
MEASURES = {"ndcg@1": "N@1", "ndcg@5": "N@5", "ndcg@10": "N@10", "err": "ERR"}
HOW_TO_GET = (
    "the paper's 1,568 and 1,520 queries of Yahoo!'s C14 are not named; C14 itself is had by "
    "request (`letorbench datasets show YAHOO-SET1`)"
)

NOT_PUBLISHED = "the paper's questions and answers were never published"

#: claim -> table, the method above, the method below, and the claim in words
ORDERINGS = {
    **{
        f"{short}-best-document": (4, f"{f} + multiclass logistic", f"{f} + MRR optimisation",
                                   f"{short}: the multiclass loss is above smoothed MRR")
        for short, f in (("f1", "f1 sigmoid-bilinear"), ("f2", "f2 distance"))
    },
    "f1-above-f2": (4, "f1 sigmoid-bilinear + pairwise logistic",
                    "f2 distance + pairwise logistic",
                    "the sigmoid-bilinear functional is above the distance"),
    "quadratic": (5, "quadratic rho=0.15 14425", "quadratic linear 519",
                  "filtered second-order features are above linear ones"),
    "overfitting": (5, "quadratic rho=0.15 14425", "quadratic rho=0.00 134477",
                    "filtering second-order features is above keeping all"),
    "group-max": (6, "group max", "group object level", "the maximum of a group is competitive"),
    "group-geometric": (6, "group geometric mean", "group object level",
                        "the geometric mean of a group is competitive"),
    "group-min": (6, "group max", "group min", "the minimum of a group is the worst"),
    "smooth-ndcg": (7, "NDCG optimisation", "pairwise logistic",
                    "smoothed NDCG is comparable to a pairwise loss"),
    "smooth-err": (7, "ERR optimisation", "pairwise logistic",
                   "smoothed ERR is comparable to a pairwise loss"),
    "wpl-weight": (8, "WPL weight 1/pi", "WPL weight 1", "discounts improve Plackett-Luce"),
    "wpll-weight": (8, "WpLL weight 1/pi", "WpLL weight 1", "discounts improve WpLL"),
    "rpl-weight": (8, "RPL weight 1", "RPL weight r", "weights rarely help the reverse model"),
    **{
        f"{loss.lower()}-weight": (
            9, f"{loss} weight (Ri-Rj)/N", f"{loss} weight 1",
            f"rating differences over the query's length improve the {loss} loss",
        )
        for loss in ("quadratic", "logistic", "hinge", "WUB")
    },
}  # fmt: skip


def _judged_by(table: int) -> str:
    """The measure that orderings of a table are told by."""
    return "mrr" if table == 4 else "err"


def _reason(table: int) -> str:
    """Why no claim of a table is judged."""
    return NOT_PUBLISHED if table == 4 else HOW_TO_GET


def _on_stand_ins(upper: str, lower: str, measure: str, reason: str) -> Check:
    """The check of an ordering on other data than the paper's: no data, and what those gave."""

    def check(claim: Claim, found: Mapping[str, Mapping[str, Values]]) -> Verdict:
        seen = []
        for dataset, values in found.items():
            if {upper, lower} <= set(values):
                a, b = values[upper][measure], values[lower][measure]
                p = randomization(a, b, np.random.default_rng(0)).p
                change = values[upper].mean(measure) - values[lower].mean(measure)
                seen.append(f"{titled(dataset)} {change:+.4f} (p {p:.3f})")
        note = f"{reason}; not the paper's data: {', '.join(seen)}" if seen else reason
        return judge.no_data(claim, note)

    return check


CLAIMS = tuple(
    Claim(
        NAME, name, f"table-{table}", text, ANSWERS if table == 4 else YAHOO, "ordering",
        f"{_judged_by(table).upper()} of {upper} against {lower}, paired by query",
        check=_on_stand_ins(upper, lower, _judged_by(table), _reason(table)),
    )
    for name, (table, upper, lower, text) in ORDERINGS.items()
)  # fmt: skip


def _table(number: int) -> Callable[[Study], Findings]:
    def run(study: Study) -> Findings:
        return _run(study, number)

    run.__doc__ = f"Table {number} on the data at hand."
    return run


def _run(study: Study, number: int) -> Findings:
    table, places = TABLES[number], _places(study, number)
    columns = {"mrr": "MRR"} if number == 4 else MEASURES
    found = {
        dataset: study.runs(NAME, dataset, table.variants, tuple(columns), "standard")
        for dataset in places
    }
    printed = {
        (row.algorithm, row.measure): row.value for row in published() if row.source == SOURCE
    }
    if number >= 8:
        columns = {"err": "ERR"}
    header, rows = layout(table, columns, lambda *key: printed.get(key), table.counts)
    rows = [["paper", *row] for row in rows]
    counted = {v.label: v for v in table.variants if table.counts[v.label] is not None}
    for dataset in places:
        counts = {label: _features(study, dataset, v) for label, v in counted.items()}
        values = found[dataset]

        def ours(label: str, measure: str, values: dict[str, Values] = values) -> float | None:
            return values[label].mean(measure) if label in values else None

        own = layout(table, columns, ours, counts)[1]
        rows += [[titled(dataset), *row] for row in own]
    data = "questions and answers" if number == 4 else "Yahoo! C14 subset"
    title = f"Table {number}; the paper's numbers are of its {data}, ours of other data"
    if len(columns) == 1:
        title += f"; {next(iter(columns.values()))}"
    stem = study.folder(NAME) / f"table-{number}"
    files = write_table(stem, title, ["data", *header], rows)
    verdicts = tuple(claim.judge(found) for claim in of_part(CLAIMS, f"table-{number}"))
    differs = [f"ran on {' and '.join(map(titled, places))}"]
    if number == 5:
        differs.append(
            "Table 5: where no product is correlated enough, the model is the linear one"
        )
    return Findings(verdicts, files, tuple(differs))


def _features(study: Study, dataset: str, variant: Variant) -> str:
    """How many features the folds' models have: first-order ones, or the products kept."""
    found = []
    for path in study.models(NAME, dataset, variant):
        with np.load(path) as model:
            found.append(len(model["second"] if "second" in model else model["weights"]))
    return (
        "-".join(str(count) for count in dict.fromkeys([min(found), max(found)])) if found else ""
    )


def _places(study: Study, number: int) -> list[str]:
    """The data that a table runs on; Table 4's is made where it is not there."""
    if number == 4:
        if not study.has("QA"):
            make("QA", study.data_dir, questions=MORE_QUESTIONS if study.full else QUESTIONS)
        return ["QA"]
    return [dataset for dataset in PLACES if study.has(dataset)][:1] + ["DEMO"]


PAPER = Paper(
    NAME,
    "Tran, Phung, Venkatesh: Learning Rank Functionals: An Empirical Study, 2012",
    CLAIMS,
    {f"table-{number}": _table(number) for number in TABLES},
    (
        "not the paper's data: no claim is judged, the tables stand beside its numbers",
        "the prior's strength is chosen by NDCG@10 on validation; the paper does not say how",
    ),
)
