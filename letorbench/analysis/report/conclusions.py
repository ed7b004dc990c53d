"""The sentences that a report opens with: which algorithm is best, and is that significant?"""

from collections.abc import Mapping, Sequence

from letorbench.analysis.comparison import Pair, Procedure, compare
from letorbench.analysis.results_table import best_first, comparable, label, notes
from letorbench.analysis.tables import probability
from letorbench.results.frame import Frame, Row


def family(
    frame: Frame, others: Sequence[str], procedure: Procedure, measure: str
) -> tuple[Pair, ...]:
    """Every test of a page, corrected together: all rows against the best one and the others."""
    if frame.mixed or len(frame.rows) < 2:
        return ()
    against = [*(row.algo for row in _ranked(frame, measure)[:1]), *others]
    return compare(frame.dataset, [r.queries for r in frame.rows], measure, against, procedure)


def conclusions(
    frame: Frame, pairs: Sequence[Pair], baseline: str, procedure: Procedure, measure: str
) -> list[str]:
    """Which algorithm of those with the most folds is best, and by `family` significantly so."""
    if frame.mixed:
        return [
            "The algorithms were measured by several conventions. Their numbers do not compare, "
            "so that none is called the best."
        ]
    order = _ranked(frame, measure)
    sentences = [_opening(frame.dataset, order, measure)] if order else []
    if len(order) > 1:
        names = [row.algo for row in order]
        own = {pair.a: pair for pair in pairs if pair.b == names[0] and pair.a in names}
        sentences += _tested(order, own, baseline, procedure)
    return [*sentences, *(f"{note[0].upper()}{note[1:]}." for note in notes(frame))]


def _ranked(frame: Frame, measure: str) -> list[Row]:
    rows = best_first(comparable(frame), measure)
    return [row for row in rows if row.values[measure] == row.values[measure]]


def _opening(dataset: str, order: Sequence[Row], measure: str) -> str:
    best, value = order[0], f"{order[0].values[measure]:.4f}"
    folds = f"{best.folds} fold{'s' * (best.folds > 1)}"
    if len(order) == 1:
        return f"{best.algo} reaches {label(measure)} {value} on {dataset}, over {folds}."
    return (
        f"By {label(measure)}, {best.algo} is the best of {len(order)} algorithms on "
        f"{dataset}: {value} over {folds}, before {order[1].algo} with "
        f"{order[1].values[measure]:.4f}."
    )


def _tested(
    order: Sequence[Row], pairs: Mapping[str, Pair], baseline: str, procedure: Procedure
) -> list[str]:
    """What the tests say of the best against the runner-up, the baseline and the others."""
    best, second = order[0].algo, order[1].algo
    role = ", the baseline," if baseline == second else ""
    sentences = [f"Its lead over {second}{role} {_verdict(pairs[second], procedure)}."]
    if baseline in pairs and baseline != second:
        verdict = _verdict(pairs[baseline], procedure)
        sentences.append(f"Its lead over the baseline {baseline} {verdict}.")
    if len(order) > 2:
        worse = sum(pair.sign(procedure.alpha) < 0 for pair in pairs.values())
        named = "all" if worse == len(pairs) else str(worse) if worse else "none"
        sentences.append(
            f"{best} is significantly better than {named} of the {len(pairs)} other algorithms "
            f"({procedure.over([*pairs.values()])}, p < {procedure.alpha:g})."
        )
    return sentences


def _verdict(pair: Pair, procedure: Procedure) -> str:
    """Say "is significant (...)" or "is not significant (...)"; the pair is the other's view."""
    significant = pair.sign(procedure.alpha) < 0
    return f"is {'' if significant else 'not '}significant ({numbers(pair)})"


def numbers(pair: Pair) -> str:
    """How far b is above a, with an interval that is that of this pair by itself."""
    lead, (low, high) = float(pair.lead.mean), pair.lead.interval()
    p = probability(pair.adjusted)
    p = f"p {p[0]} {p[1:]}" if p.startswith("<") else f"p = {p}"
    alone = " by itself" * (pair.tests > 1)
    return f"{-lead:+.4f} a query, 95 % interval{alone} {-high:+.4f} to {-low:+.4f}, adjusted {p}"
