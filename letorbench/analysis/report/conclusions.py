"""What a report says first: which algorithm is best, and whether that is significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from letorbench.analysis.comparison import Pair, Procedure, compare
from letorbench.analysis.report.gather import Results
from letorbench.analysis.results_table import comparable, label, notes
from letorbench.analysis.tables import probability
from letorbench.results.summary import Row


def conclusions(results: Results, procedure: Procedure, measure: str) -> list[str]:
    """Two to four sentences on the algorithms of a data set.

    The best algorithm is the one with the highest mean of the folds' means among those with the
    most folds. Its significance comes from the pooled queries, with the p-values corrected
    for all the algorithms that it is compared with.
    """
    if results.summary.mixed:
        return [
            "The algorithms were measured by several conventions. Their numbers do not compare, "
            "so that none is called the best."
        ]
    order = ranked(results, measure)
    sentences = [_opening(results, order, measure)] if order else []
    if len(order) > 1:
        best = order[0].algo
        systems = [a.queries for a in results.algorithms if a.name in {row.algo for row in order}]
        pairs = compare(results.dataset, systems, measure, best, procedure)
        sentences += _tested(order, {pair.a: pair for pair in pairs}, results.baseline, procedure)
    return [*sentences, *(f"{note[0].upper()}{note[1:]}." for note in notes(results.summary))]


def ranked(results: Results, measure: str) -> list[Row]:
    """The rows that compare, those with the most folds; the best first."""
    return sorted(comparable(results.summary), key=lambda row: -row.values[measure])


def _opening(results: Results, order: Sequence[Row], measure: str) -> str:
    best, value = order[0], f"{order[0].values[measure]:.4f}"
    folds = f"{best.folds} fold{'s' * (best.folds > 1)}"
    if len(order) == 1:
        return f"{best.algo} reaches {label(measure)} {value} on {results.dataset}, over {folds}."
    return (
        f"By {label(measure)}, {best.algo} is the best of {len(order)} algorithms on "
        f"{results.dataset}: {value} over {folds}, before {order[1].algo} with "
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
            f"({procedure}, p < {procedure.alpha:g})."
        )
    return sentences


def _verdict(pair: Pair, procedure: Procedure) -> str:
    """Say "is significant (...)" or "is not significant (...)"; the pair is the other's view."""
    significant = pair.sign(procedure.alpha) < 0
    lead = pair.interval
    p = probability(pair.adjusted)
    p = f"p {p[0]} {p[1:]}" if p.startswith("<") else f"p = {p}"
    return (
        f"is {'' if significant else 'not '}significant ({-lead.mean:+.4f} a query, 95 % interval "
        f"{-lead.high:+.4f} to {-lead.low:+.4f}, adjusted {p}){_by_seeds(pair)}"
    )


def _by_seeds(pair: Pair) -> str:
    """What other seeds could do to the lead; "" where nothing is drawn or they could not."""
    if pair.seeds is None:
        return ""
    share = f"{pair.seeds.turned:.0%} of the pairs of single seeds have the other order"
    if pair.seeds.open:
        return f", and other seeds could turn it: {share}"
    return f"; other seeds would hardly turn it: {share}" if pair.seeds.turned else ""
