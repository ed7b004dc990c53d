"""Tables of a data set's results: a row for each algorithm, a column for each measure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from letorbench.analysis import tables
from letorbench.analysis.tables import DASH, Cell, Column, Table, table
from letorbench.conventions import convention
from letorbench.errors import UsageError
from letorbench.measures import MEASURES, default_measures, measure_names, sign
from letorbench.results import labels
from letorbench.results.dataset_results import HEAD, DatasetResults, SystemResults, deviation_column
from letorbench.results.measuring import IDEAL, RANDOM, competes
from letorbench.results.per_query import mean_of

#: the measures of a table by default
USUAL = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")
#: the note of a table with repeats
SEEDS = "± = standard deviation over seeds"
#: the notes of tables with reference points
REFERENCES = {
    RANDOM: "random: the exact mean over all orders of each query; a tool that measures its scores "
    "prints other numbers",
    IDEAL: "ideal: the order of the test labels themselves, not an algorithm; it is not ranked",
}
#: counts of fits that a limit ended: the remark, by what limit, and what it means
EARLY = {
    "cut_off": ("cut off", " by the time limit", "a full training may rank differently"),
    "not_converged": ("not converged", "", "the fit ended away from its optimum, a longer one "
                      "(`iterations`) may rank differently"),
}  # fmt: skip
#: a longer name is cut in tables, with a key below
LONGEST_NAME = 40
#: more algorithms than this are counted and not named in a line
MOST_NAMED = 8
ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc", "rbp", "rmse")


class Marks(NamedTuple):
    """Significance against a baseline: +1 better, -1 worse, by (algorithm, measure)."""

    baseline: str
    note: str
    signs: Mapping[tuple[str, str], int]


class RowNames(NamedTuple):
    """The names of rows as people read them."""

    of: Mapping[str, str]
    #: the settings that every row has, which its name leaves out
    shared: Sequence[tuple[str, str]]
    #: the whole names of those that are cut
    key: Sequence[str]

    def headed(self, caption: str) -> str:
        """The caption, with the shared settings that it does not say; it names the convention."""
        more = [
            f"{k}={v}" for k, v in self.shared if k != "convention" and f"{k} {v}" not in caption
        ]
        return f"{caption}; every row with {', '.join(more)}" if more else caption


def row_names(algos: Iterable[str]) -> RowNames:
    """Leave out of labels what all of them share, and cut the long ones."""
    labels_of = {algo: labels.Label(algo) for algo in algos}
    for algo in labels_of:
        with suppress(UsageError):  # another system may be called anything
            labels_of[algo] = labels.parse(algo)
    first = next(iter(labels_of.values())).settings if len(labels_of) > 1 else ()
    shared = [pair for pair in first if all(pair in each.settings for each in labels_of.values())]
    names, key = dict[str, str](), list[str]()
    for algo, label in labels_of.items():
        settings = tuple(pair for pair in label.settings if pair not in shared)
        names[algo] = name = replace(label, settings=settings).row
        if len(name) > LONGEST_NAME:
            names[algo] = f"{label.algo[:LONGEST_NAME]} [{len(key) + 1}]"
            key.append(f"{names[algo]}: {name}")
    return RowNames(names, shared, key)


def usual(frame: DatasetResults) -> list[str]:
    """The measures of a table by default: those of `USUAL` that the frame has."""
    return [name for name in USUAL if name in frame.measures]


def asked_for(frame: DatasetResults) -> list[str]:
    """The measures of a frame that a run stores only on request."""
    stored = measure_names(default_measures(convention("standard")))
    return [name for name in frame.measures if name not in stored]


def summary_table(
    frame: DatasetResults, measures: Sequence[str], marks: Marks | None = None
) -> Table:
    """A row for each algorithm: numbers to four places, the two best of each column marked.

    Nothing is marked among rows of different conventions, nor a row with fewer folds than others.
    """
    names = row_names(row.algo for row in frame.rows)
    shown = replace(frame, rows=tuple(replace(row, algo=names.of[row.algo]) for row in frame.rows))
    remark, signs = remarks(shown), marks.signs if marks else {}
    drawn = [measure for measure in measures if measure in frame.drawn]
    places = {measure: _places(frame, measure) for measure in measures}
    rows = []
    for row in frame.rows:
        name = names.of[row.algo]
        name = f"{name} ({remark[name]})" if name in remark else name
        cells = (
            Cell(
                _printed(row, measure), row.values.get(measure), places[measure].get(row.algo, 0),
                signs.get((row.algo, measure), 0), spread=tables.spread(row.deviation(measure)),
            )
            for measure in measures
        )  # fmt: skip
        rows.append([
            frame.dataset, Cell(name, row.algo), row.convention,
            row.folds, row.repeats, row.cut_off, row.not_converged, *cells,
            *(row.deviation(measure) for measure in drawn),
            *(signs.get((row.algo, measure), 0) for measure in measures if marks),
        ])  # fmt: skip
    columns = (
        tables.DATASET,
        tables.ALGORITHM,
        Column("convention" * frame.mixed, "left", "convention"),
        *tables.for_programs(*HEAD[2:]),
        *(Column(label(measure), name=measure) for measure in measures),
        *tables.for_programs(*map(deviation_column, drawn)),
        *tables.for_programs(*(f"{measure}-sign" for measure in measures if marks)),
    )
    apart = [
        abs(row.values[name] - float(mean_of(row.queries.in_means.values[name])))
        for row in frame.rows
        for name in measures
        if name in row.queries.values
    ]
    below = (*names.key, *notes(shown), *fold_note(max(filter(math.isfinite, apart), default=0.0)))
    return replace(
        table(names.headed(caption(shown)), columns, rows, below),
        name=frame.dataset,
        ranked=len(comparable(frame)) > 1 and not frame.mixed,
        against=f"{names.of.get(marks.baseline, marks.baseline)} ({marks.note})" if marks else "",
        seeds=SEEDS if frame.drawn else "",
    )


def caption(frame: DatasetResults) -> str:
    """One line: the data set, what was averaged, how it was measured, how features were changed."""

    def most(numbers: set[int]) -> str:
        return "up to " * (len(numbers) > 1) + str(max(numbers))

    repeats = {row.repeats for row in frame.rows if row.repeats > 1}
    folds = {row.folds for row in frame.rows} or {0}
    seeds = f" and {most(repeats)} seeds" if repeats else ""
    mean = f"mean over {most(folds)} fold{'s' * (folds != {1})}{seeds}"
    rules = "; ".join(
        f"measures {convention(name).description} [{name}]" for name in frame.conventions
    )
    features = defaultdict[str, list[str]](list)  # how they were transformed
    for row in frame.rows:
        if row.features is not None:
            features[row.features].append(row.algo)
    # the most usual way first
    ways = sorted(features, key=lambda name: (-len(features[name]), name == "raw"))
    listed = "; ".join(f"{name}: {', '.join(features[name])}" for name in ways[1:])
    changed = f"; features {ways[0]}{f' ({listed})' * bool(listed)}" if {*ways} - {"raw"} else ""
    return f"{frame.dataset}: {mean}; {rules}{changed}"


def label(measure: str) -> str:
    """A measure as it is printed: NDCG@10, Mean-NDCG."""
    name, at, cutoff = measure.partition("@")
    if name not in MEASURES:  # a user's measure
        return measure
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def shared_remarks(frame: DatasetResults) -> tuple[str, str]:
    """Which folds every row lacks, and whether each is of other code: no name needs to say so."""
    lacking = {row.partial for row in frame.rows}
    old = len(frame.rows) > 1 and all(row.version for row in frame.rows)
    return lacking.pop() if len(lacking) == 1 else "", "other code" * old


def remarks(frame: DatasetResults) -> dict[str, str]:
    """The remarks in brackets behind algorithms' names: missing folds, other code, ..."""
    shared = shared_remarks(frame)
    words = {r.algo: [r.partial, *early(r), "other code" * bool(r.version)] for r in frame.rows}
    unshared = {
        algo: [each for each in remarks_of_row if each and each not in shared]
        for algo, remarks_of_row in words.items()
    }
    return {algo: ", ".join(each) for algo, each in unshared.items() if each}


def early(row: SystemResults) -> list[str]:
    """The remarks on a row whose fits a limit ended."""
    return [remark for fact, (remark, *_) in EARLY.items() if getattr(row, fact)]


def early_notes(rows: Sequence[SystemResults]) -> list[str]:
    """The notes on fits that a limit ended."""
    lines = []
    for fact, (remark, limit, effect) in EARLY.items():
        counts = {row: getattr(row, fact) for row in rows if getattr(row, fact)}
        named = (f"{r.algo} ({n} of {r.folds * r.repeats} folds)" for r, n in counts.items())
        lines += [f"{remark}{limit}: {', '.join(named)}; {effect}"] * bool(counts)
    return lines


def notes(frame: DatasetResults) -> tuple[str, ...]:
    """The notes below a table: partial rows, time limits, other code, one seed, references."""
    rows = frame.rows
    versions, gaps = defaultdict[str, list[str]](list), defaultdict[str, dict[int, None]](dict)
    for row in rows:
        versions[row.version].append(row.algo)
        for fold in row.stored:
            means = {name: mean for name, mean in fold.means.items() if name not in row.blanks}
            names = [label(name) for name, mean in means.items() if mean != mean]
            what = "any measure" if len(names) == len(means) else ", ".join(names)
            if names:
                gaps[what][fold.number] = None
    versions.pop("", None)
    code = "; ".join(f"{', '.join(algos)} ({version})" for version, algos in versions.items())
    if shared_remarks(frame)[1]:
        code = f"every row ({', '.join({v.partition(',')[0]: None for v in versions})})"
    folds = {what: ", ".join(map(str, sorted(numbers))) for what, numbers in gaps.items()}
    without = "; ".join(f"{what} in fold {numbers}" for what, numbers in folds.items())
    one_seed = ", ".join(row.algo for row in rows if row.repeated and row.repeats == 1)
    named = "; ".join(str(row.label) for row in rows if row.label.name)
    return (
        *frame.unmeasured, *partial_note(frame),
        *[f"names: {named}"] * bool(named), *early_notes(rows),
        *[f"no value of {without}: no test query counts; means are over the other folds"]
        * bool(gaps),
        *[f"other code: {code}; a new run renews them and may give other numbers"] * bool(code),
        *[f"one seed: {one_seed}; the effect of other seeds is not known (--repeats)"]
        * bool(one_seed),
        *(REFERENCES[algo] for algo in dict.fromkeys(row.label.algo for row in rows)
          if algo in REFERENCES),
    )  # fmt: skip


def fold_note(difference: float) -> tuple[str, ...]:
    """A note on the largest distance of a mean over folds from one over queries, or nothing."""
    if not difference >= 0.00005:
        return ()
    return (
        "folds of unequal size: means over folds, as in tables, differ by up to "
        f"{difference:.4f} from means over queries, as in comparisons",
    )


def partial_note(frame: DatasetResults) -> tuple[str, ...]:
    """A note that names the partial algorithms, or nothing."""
    shared, _ = shared_remarks(frame)
    named = ", ".join(f"{row.algo} ({row.partial})" for row in frame.rows if row.partial)
    named = f"every row ({shared})" if shared else named
    several = len({row.folds for row in frame.rows if competes(row.label.algo)}) > 1
    warning = "; means over fewer folds cannot be compared with the others" * several
    return (f"partial: {named}{warning}",) if named else ()


def tuned(row: SystemResults) -> str | None:
    """What validation chose among: "4-6 settings, rounds"; "" where nothing was chosen.

    None for another system's scores and for reference points.
    """
    facts = [fold.fit.get("validation", {}) for fold in row.stored]
    if facts[0].get("measure") is None or row.reference:
        return None
    counts = sorted({len(each.get("grid") or []) for each in facts} - {0})
    number = "-".join(map(str, counts[:: len(counts) - 1 or 1]))
    rounds = any(
        len(fit.get("curve") or []) > 1
        for each in facts
        for fit in (each, *(each.get("grid") or []))
    )
    return ", ".join(filter(None, [f"{number} settings" if counts else "", "rounds" * rounds]))


def tuning_line(frame: DatasetResults) -> str:
    """One line: which algorithms were tuned on validation, among what, and which were fixed."""
    names = row_names(row.algo for row in frame.rows).of
    known = {names[row.algo]: tuned(row) for row in frame.rows}
    what = {name: text for name, text in known.items() if text is not None}
    chosen = [f"{name} ({text})" for name, text in what.items() if text]
    fixed = [name for name, text in what.items() if not text]
    if len(what) > MOST_NAMED:
        return f"tuned on validation: {len(chosen)} algorithms; fixed: {len(fixed)}"
    parts = ["tuned on validation: " + ", ".join(chosen)] * bool(chosen)
    return "; ".join([*parts, *["fixed: " + ", ".join(fixed)] * bool(fixed)])


def comparable(frame: DatasetResults) -> list[SystemResults]:
    """The rows that are ranked among each other: those with the most folds, without `ideal`."""
    rows = [row for row in frame.rows if competes(row.label.algo)]
    most = max((row.folds for row in rows), default=0)
    return [row for row in rows if row.folds == most]


def best_first(rows: Iterable[SystemResults], measure: str) -> list[SystemResults]:
    """The rows from the best to the worst by a measure, those without a value last."""
    values = ((-sign(measure) * row.values[measure], row) for row in rows)
    return [row for _, row in sorted(values, key=lambda each: (each[0] != each[0], each[0]))]


def _printed(row: SystemResults, measure: str) -> str:
    value = row.values.get(measure)
    return "" if value is None else f"{value:.4f}" if value == value else DASH


def _places(frame: DatasetResults, measure: str) -> dict[str, int]:
    """1 for the best algorithms and 2 for the second best; equal printed numbers share a place."""
    rows = comparable(frame)
    if frame.mixed or len(rows) < 2:  # one alone is not the best of any
        return {}
    printed = {row.algo: _printed(row, measure) for row in rows}
    numbers = {*printed.values()} - {"", DASH}
    best = sorted(numbers, key=lambda number: -sign(measure) * float(number))[:2]
    return {algo: best.index(text) + 1 for algo, text in printed.items() if text in best}
