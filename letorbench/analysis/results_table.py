"""Tables of a data set's algorithms: a row an algorithm, a column a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from letorbench.analysis.rendering import render as render_table
from letorbench.analysis.seeds import is_open
from letorbench.analysis.tabular import Cell, Table, columns, data_table
from letorbench.conventions import convention
from letorbench.results.measuring import IDEAL, RANDOM, competes
from letorbench.results.summary import HEAD, Row, Summary, deviation_column

#: what a table shows unless told otherwise
USUAL = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")
#: what a table with repeats says of its numbers
SEEDS = "± = standard deviation over seeds; ~ = other seeds could change this place"
#: what must be said of a reference point wherever its numbers stand
REFERENCES = {
    RANDOM: "random: the exact mean over all orders of each query, not what a tool prints of its "
    "scores",
    IDEAL: "ideal: the order of the test labels themselves, not an algorithm; it is not ranked",
}
ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc")


@dataclass(frozen=True)
class Marks:
    """Significance against a baseline: +1 better, -1 worse, by (algorithm, measure)."""

    baseline: str
    note: str
    signs: Mapping[tuple[str, str], int]


def render(summary: Summary, measures: Sequence[str], form: str, marks: Marks | None = None) -> str:
    """The results in a form of `rendering.FORMATS`; CSV has every digit, the others four places."""
    make = summary_data if form == "csv" else summary_table
    return render_table(make(summary, measures, marks), form)


def summary_table(summary: Summary, measures: Sequence[str], marks: Marks | None = None) -> Table:
    """The table for people: numbers to four places, the two best of each column marked.

    Rows of different conventions do not compare, so that nothing is marked among them. A
    partial algorithm says how many folds it has; one with fewer folds than others is not marked.
    One that a time limit cut off says so.
    """
    said = remarks(summary)
    shown = [_column(summary, measure, marks) for measure in measures]
    rows = tuple(
        (*_heads(summary, row, said), *(column[i] for column in shown))
        for i, row in enumerate(summary.rows)
    )
    left = ["algorithm", *(["convention"] if summary.mixed else [])]
    return Table(
        caption(summary),
        columns(left, [label(measure) for measure in measures]),
        rows,
        notes=notes(summary),
        name=summary.dataset,
        ranked=not summary.mixed,
        against=f"{marks.baseline} ({marks.note})" if marks else "",
        seeds=SEEDS if summary.drawn else "",
    )


def summary_data(summary: Summary, measures: Sequence[str], marks: Marks | None = None) -> Table:
    """The table for programs: every digit, the convention, the folds and repeats of each row.

    `cut_off` is the number of folds in which a time limit ended a training.
    """
    signs = [f"{measure}-sign" for measure in measures] if marks else []
    drawn = [measure for measure in measures if measure in summary.drawn]
    rows = [
        [
            summary.dataset, row.algo, row.convention, row.folds, row.repeats, row.cut_off,
            *(row.values.get(measure) for measure in measures),
            *(row.deviation(measure) for measure in drawn),
            *(marks.signs.get((row.algo, measure), 0) for measure in measures if marks),
        ]
        for row in summary.rows
    ]  # fmt: skip
    spread = map(deviation_column, drawn)
    names = [f"{measure}-relative" if summary.relative else measure for measure in measures]
    return data_table(["dataset", "algo", *HEAD[1:], *names, *spread, *signs], rows)


def caption(summary: Summary) -> str:
    """One line: the data set, what was averaged, how it was measured, what features were.

    Of features it says nothing where all algorithms had them as they are.
    """
    repeats = sorted({row.repeats for row in summary.rows if row.repeats > 1})
    seeds = f" and {'-'.join(map(str, repeats[:: len(repeats) - 1 or 1]))} seeds" if repeats else ""
    folds = sorted({row.folds for row in summary.rows})
    count = "-".join(str(n) for n in (folds[0], folds[-1])[: len(folds)]) if folds else "0"
    rules = "; ".join(
        f"measures {convention(name).description} [{name}]" for name in summary.conventions
    )
    mean = f"mean over {count} fold{'s' * (count != '1')}{seeds}"
    scale = "; each number is its share of the way from random to ideal" * summary.relative
    return f"{summary.dataset}: {mean}; {rules}{features_note(summary)}{scale}"


def features_note(summary: Summary) -> str:
    """What was done to the features, the most usual first; "" where nothing was.

    Examples
    --------
    >>> rows = [("frank", "raw"), ("listnet", "query-minmax"), ("ranknet", "query-minmax")]
    >>> rows = [Row(algo, "letor3", 5, {}, features=done) for algo, done in rows]
    >>> features_note(Summary("MINE", tuple(rows)))
    '; features query-minmax (raw: frank)'
    """
    algos: dict[str, list[str]] = {}
    for row in summary.rows:
        if row.features is not None:
            algos.setdefault(row.features, []).append(row.algo)
    if not set(algos) - {"raw"}:
        return ""
    usual, *others = sorted(algos, key=lambda name: (-len(algos[name]), name == "raw"))
    listed = "; ".join(f"{name}: {', '.join(algos[name])}" for name in others)
    return f"; features {usual}{f' ({listed})' if listed else ''}"


def label(measure: str) -> str:
    """A measure as it is printed.

    Examples
    --------
    >>> label("ndcg@10"), label("mean-ndcg")
    ('NDCG@10', 'Mean-NDCG')
    """
    name, at, cutoff = measure.partition("@")
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def partial(summary: Summary) -> dict[str, str]:
    """The algorithms that lack folds of the data set, or of the others -> "3 of 5 folds"."""
    most = max((max(row.folds, row.n_folds or 0) for row in summary.rows), default=0)
    return {row.algo: f"{row.folds} of {most} folds" for row in summary.rows if row.folds < most}


def remarks(summary: Summary) -> dict[str, str]:
    """What stands in brackets behind an algorithm's name: missing folds, other code, ..."""
    lacking = partial(summary)
    said = {
        row.algo: [
            *filter(None, [lacking.get(row.algo), missing_repeats(row)]),
            *(["cut off"] if row.cut_off else []),
            *(["other code"] if row.version else []),
        ]
        for row in summary.rows
    }
    return {algo: ", ".join(words) for algo, words in said.items() if words}


def notes(summary: Summary) -> tuple[str, ...]:
    """The lines below a table: what is partial, cut off, of other code or one seed, a reference."""
    said = (partial_note(summary), cut_off_note(summary), other_code_note(summary))
    return tuple(filter(None, (*said, one_seed_note(summary), *reference_notes(summary))))


def reference_notes(summary: Summary) -> list[str]:
    """A line for each reference point whose numbers are not those of an algorithm's scores."""
    return [REFERENCES[row.algo] for row in summary.rows if row.algo in REFERENCES]


def missing_repeats(row: Row) -> str:
    """Say "3 of 5 repeats" where an algorithm lacks some; "" where it does not."""
    asked = row.n_repeats or 1
    return f"{row.repeats} of {asked} repeats" if row.repeats < asked else ""


def one_seed_note(summary: Summary) -> str:
    """One line that names what draws and has one seed; "" where there is none."""
    names = [row.algo for row in summary.rows if row.repeated and row.repeats == 1]
    if not names:
        return ""
    return f"one seed: {', '.join(names)}; how far other seeds move them is not known (--repeats)"


def cut_off_note(summary: Summary) -> str:
    """One line that names the algorithms that a time limit ended; "" where there are none."""
    named = [
        f"{row.algo} ({row.cut_off} of {row.folds * row.repeats} folds)"
        for row in summary.rows
        if row.cut_off
    ]
    if not named:
        return ""
    return f"cut off by the time limit: {', '.join(named)}; a full training may rank differently"


def other_code_note(summary: Summary) -> str:
    """One line that names what code made the numbers where that is not this code; else ""."""
    named: dict[str, list[str]] = {}
    for row in summary.rows:
        if row.version:
            named.setdefault(row.version, []).append(row.algo)
    if not named:
        return ""
    listed = "; ".join(f"{', '.join(algos)} ({version})" for version, algos in named.items())
    return f"other code: {listed}; a new run renews them, and may find other numbers"


def comparable(summary: Summary) -> list[Row]:
    """The rows that are ranked among each other: those with the most folds, without `ideal`."""
    rows = [row for row in summary.rows if competes(row.algo)]
    most = max((row.folds for row in rows), default=0)
    return [row for row in rows if row.folds == most]


def partial_note(summary: Summary) -> str:
    """One line that names the partial algorithms; "" where there are none."""
    lacking = partial(summary)
    if not lacking:
        return ""
    named = ", ".join(f"{algo} ({folds})" for algo, folds in lacking.items())
    said = f"partial: {named}"
    if len({row.folds for row in summary.rows if competes(row.algo)}) < 2:
        return said
    return f"{said}; a mean over fewer folds does not compare with the others"


def _heads(summary: Summary, row: Row, said: Mapping[str, str]) -> list[Cell]:
    """What stands before a row's numbers."""
    name = f"{row.algo} ({said[row.algo]})" if row.algo in said else row.algo
    heads = [Cell(name, row.algo)]
    return [*heads, Cell(row.convention, row.convention)] if summary.mixed else heads


def _column(summary: Summary, measure: str, marks: Marks | None) -> list[Cell]:
    """A cell for each row; equal printed numbers share a place."""
    printed = {
        row.algo: f"{row.values[measure]:.4f}" for row in summary.rows if measure in row.values
    }
    ranked = [] if summary.mixed else [row.algo for row in comparable(summary)]
    best = sorted({printed[algo] for algo in ranked if algo in printed}, key=float)[:-3:-1]
    places = {text: place for place, text in enumerate(best, 1)}
    first_two = {algo: places[printed[algo]] for algo in ranked if printed.get(algo) in places}
    shaky = open_places(comparable(summary), measure, first_two)
    signs = marks.signs if marks else {}
    return [
        Cell(
            printed.get(row.algo, ""),
            row.values.get(measure),
            first_two.get(row.algo, 0),
            signs.get((row.algo, measure), 0),
            spread=spread(row.deviation(measure)),
            open=row.algo in shaky,
        )
        for row in summary.rows
    ]


def open_places(rows: Sequence[Row], measure: str, places: Mapping[str, int]) -> set[str]:
    """The algorithms with a place whose order to another of these rows other seeds could turn.

    Parameters
    ----------
    rows : sequence of Row
        What is ranked.
    measure : str
        What it is ranked by.
    places : mapping of str to int
        The algorithms with a place.
    """
    means = {row.algo: row.means(measure) for row in rows if measure in row.values}
    return {
        algo
        for algo in places
        if any(is_open(means[algo], means[other]) for other in means if other != algo)
    }


def spread(deviation: float | None) -> str:
    """A standard deviation as a table has it.

    Examples
    --------
    >>> spread(0.00123), spread(None)
    ('±.0012', '')
    """
    return "" if deviation is None else f"±{deviation:.4f}".replace("±0.", "±.")
