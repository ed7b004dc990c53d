"""The functionals paper's claims: which method its tables put above which, and how that is told.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012. What is run
for them is in `functionals_2012`; claims of the appendix, of costs and of what the paper leaves
open are beside their parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from letorbench.papers import (
    checks,
    functional_bounds,
    functional_costs,
    functional_specification,
    judge,
)
from letorbench.papers.checks import Check, PairRule
from letorbench.papers.claims import Claim, Kind, Verdict
from letorbench.papers.runs import Values, Variant

NAME = "functionals"
YAHOO, ANSWERS = "Yahoo-C14 subset", "Yahoo! QA autism"

WEIGHTED = ("quadratic", "logistic", "hinge", "WUB")
F1, F2 = "f1 sigmoid-bilinear", "f2 distance"
RHO = "quadratic rho={}".format
LINEAR = "quadratic linear 519"

#: claim -> table, the method above, the method below, and the claim in words
ORDERINGS = {
    **{
        f"{short}-best-document": (4, f"{f} + multiclass logistic", f"{f} + MRR optimisation",
                                   f"{short}: the multiclass loss is above smoothed MRR")
        for short, f in (("f1", F1), ("f2", F2))
    },
    **{
        f"{short}-multiclass": (4, f"{f} + multiclass logistic", f"{f} + pairwise logistic",
                                f"{short}: the multiclass loss is above the pairwise one")
        for short, f in (("f1", F1), ("f2", F2))
    },
    **{
        f"f1-above-f2-{short}": (4, f"{F1} + {loss}", f"{F2} + {loss}",
                                 f"{loss}: the sigmoid-bilinear functional is above the distance")
        for short, loss in (("pairwise", "pairwise logistic"), ("mrr", "MRR optimisation"),
                            ("multiclass", "multiclass logistic"))
    },
    "quadratic": (5, RHO("0.15 14425"), LINEAR,
                  "filtered second-order features are above linear ones"),
    "overfitting": (5, RHO("0.15 14425"), RHO("0.00 134477"),
                    "filtering second-order features is above keeping all"),
    "all-products": (5, LINEAR, RHO("0.00 134477"), "keeping all products is below linear"),
    "few-products": (5, LINEAR, RHO("0.30 1294"), "keeping the fewest products is below linear"),
    "group-min": (6, "group object level", "group min", "the minimum of a group is the worst"),
    "wpl-weight": (8, "WPL weight 1/pi", "WPL weight 1", "discounts improve Plackett-Luce"),
    "wpll-weight": (8, "WpLL weight 1/pi", "WpLL weight 1", "discounts improve WpLL"),
    "rpl-unweighted": (8, "RPL weight 1", "WPL weight 1",
                       "without weights the reverse model is above Plackett-Luce"),
    **{
        f"{loss.lower()}-weight": (
            9, f"{loss} weight (Ri-Rj)/N", f"{loss} weight 1",
            f"rating differences over the query's length improve the {loss} loss",
        )
        for loss in WEIGHTED
    },
    **{
        f"{loss.lower()}-length": (
            9, f"{loss} weight 1/N", f"{loss} weight 1",
            f"dividing by the query's length improves the {loss} loss",
        )
        for loss in WEIGHTED
    },
}  # fmt: skip
#: the same, where the paper says "competitive": not more than the margin below
COMPETITIVE = {
    **{
        f"{short}-metric": (4, f"{f} + pairwise logistic", f"{f} + MRR optimisation",
                            f"{short}: optimising MRR is not above the pairwise loss")
        for short, f in (("f1", F1), ("f2", F2))
    },
    **{
        f"group-{short}": (6, f"group {name}", "group object level",
                           f"the {name} of a group is competitive")
        for short, name in (("max", "max"), ("geometric", "geometric mean"),
                            ("mean", "arithmetic mean"))
    },
}  # fmt: skip
#: the same, where the paper says "comparable": not more than the margin apart
COMPARABLE = {
    "smooth-ndcg": (7, "NDCG optimisation", "pairwise logistic",
                    "smoothed NDCG is comparable to a pairwise loss"),
    "smooth-err": (7, "ERR optimisation", "pairwise logistic",
                   "smoothed ERR is comparable to a pairwise loss"),
}  # fmt: skip
#: claim -> table, the method that is the best of its column, and what the column's labels begin by
BEST = {
    "wpl-best": (8, "WPL weight 1/pi", "WPL "),
    "wpll-best": (8, "WpLL weight 1/pi", "WpLL "),
    **{f"{loss.lower()}-best": (9, f"{loss} weight (Ri-Rj)/N", f"{loss} ") for loss in WEIGHTED},
}


def _judged_by(table: int) -> str:
    """The measure that orderings of a table are told by."""
    return "mrr" if table == 4 else "err"


def _compared(
    kind: Kind, rule: PairRule, named: Mapping[str, tuple[int, str, str, str]], measure: str = ""
) -> Iterator[Claim]:
    for name, (table, upper, lower, text) in named.items():
        by = measure or _judged_by(table)
        yield Claim(
            NAME, name, f"table-{table}", text, ANSWERS if table == 4 else YAHOO, kind,
            f"{by.upper()} of {upper} against {lower}, paired by query",
            check=checks.by_pair(rule, upper, lower, by),
        )  # fmt: skip


def _against_others(
    claim: Claim, found: Mapping[str, Values], method: str, prefix: str, rule: PairRule
) -> Verdict:
    """A method against the best of the others of its column."""
    rest = [name for name in found if name.startswith(prefix) and name != method]
    if not rest:
        return judge.no_data(claim, "no result of any other weight")
    best = max(rest, key=lambda name: found[name].mean("err"))
    both = judge.pair(found[method], found[best], "err")
    return rule(claim, replace(both, candidates=len(rest)), f"the best of the others: {best}")


def _best(name: str, text: str, entry: tuple[int, str, str], kind: Kind, rule: PairRule) -> Claim:
    table, method, prefix = entry
    return Claim(
        NAME, name, f"table-{table}", text, YAHOO, kind,
        f"ERR of {method} against the highest of its column's others, paired by query, "
        "Bonferroni's correction over those",
        check=Check(
            (method,), partial(_against_others, method=method, prefix=prefix, rule=rule)
        ),
    )  # fmt: skip


_TABLES = tuple(
    sorted(
        (
            *_compared("superiority", judge.superiority, ORDERINGS),
            *_compared("non-inferiority", judge.noninferiority, COMPETITIVE),
            *_compared("equivalence", judge.equivalence, COMPARABLE),
            *(
                claim
                for k in (5, 10)
                for claim in _compared(
                    "superiority", judge.superiority,
                    {f"err-loses-ndcg@{k}": (7, "pairwise logistic", "ERR optimisation",
                                             f"optimising ERR loses NDCG@{k}")},
                    f"ndcg@{k}",
                )
            ),
            *(
                _best(name, f"{entry[1]} is the best of its column", entry, "superiority",
                      judge.superiority)
                for name, entry in BEST.items()
            ),
            _best("rpl-weights", "no weight helps the reverse model", (8, "RPL weight 1", "RPL "),
                  "non-inferiority", judge.noninferiority),
        ),
        key=lambda claim: claim.part,
    )
)  # fmt: skip
#: section 4, "consistently": standardised features above features as they are, by these losses
SCALED = {
    "pairwise logistic": Variant("pairwise logistic", "pairwise",
                                 {"loss": "logistic", "weight": "1"}),
    "WPL weight 1": Variant("WPL weight 1", "wpl", {"weight": "1"}),
    "ERR optimisation": Variant("ERR optimisation", "smooth-err", {"functional": "linear"}),
}  # fmt: skip
#: "Evaluation with other losses shows the same pattern": Table 5's functionals by these
OTHERS = {
    "WPL": ("wpl", {"weight": "1/pi"}),
    "hinge": ("pairwise", {"loss": "hinge", "weight": "(Ri-Rj)/m"}),
}
#: Table 5's rows of the pattern
PATTERN = {"linear": {"functional": "linear"},
           "rho=0.15": {"functional": "quadratic", "rho": 0.15},
           "rho=0.00": {"functional": "quadratic", "rho": 0.0}}  # fmt: skip
RAW = "{}, features as they are".format
MORE = {
    "standardised": (
        *SCALED.values(),
        *(
            Variant(RAW(name), each.algo, {**each.settings, "standardise": False})
            for name, each in SCALED.items()
        ),
    ),
    "other-losses": tuple(
        Variant(f"{loss} {row}", algo, {**fixed, **setting})
        for loss, (algo, fixed) in OTHERS.items()
        for row, setting in PATTERN.items()
    ),
}


def _more(name: str, part: str, text: str, upper: str, lower: str) -> Claim:
    return Claim(
        NAME, name, part, text, YAHOO, "superiority",
        f"ERR of {upper} against {lower}, paired by query",
        check=checks.above(upper, lower, "err"),
    )  # fmt: skip


CLAIMS = (
    *_TABLES,
    *(
        _more(f"standardised-{name.split()[0].lower()}", "standardised",
              f"standardising features improves {name}", name, RAW(name))
        for name in SCALED
    ),
    *(
        claim
        for loss in OTHERS
        for claim in (
            _more(f"{loss.lower()}-quadratic", "other-losses", f"{loss}: filtered second-order "
                  "features are above linear ones", f"{loss} rho=0.15", f"{loss} linear"),
            _more(f"{loss.lower()}-overfitting", "other-losses", f"{loss}: filtering second-order "
                  "features is above keeping all", f"{loss} rho=0.15", f"{loss} rho=0.00"),
            _more(f"{loss.lower()}-all-products", "other-losses",
                  f"{loss}: keeping all products is below linear", f"{loss} linear",
                  f"{loss} rho=0.00"),
        )
    ),
    *functional_bounds.CLAIMS,
    *functional_costs.CLAIMS,
    *functional_specification.CLAIMS,
)  # fmt: skip
