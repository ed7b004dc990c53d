"""Tables of a data set's results: a row for each algorithm, a column for each measure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from letorbench.analysis.tables import DASH, Cell, Column, Table, table
from letorbench.conventions import convention
from letorbench.errors import UsageError
from letorbench.measures import MEASURES, default_measures, sign, texts
from letorbench.results import labels
from letorbench.results.csv_files import HEAD
from letorbench.results.dataset_results import DatasetResults, SystemResults, deviation_column
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
ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc", "rbp", "rmse")


@dataclass(frozen=True)
class Marks:
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
        said = [
            f"{k}={v}" for k, v in self.shared if k != "convention" and f"{k} {v}" not in caption
        ]
        return f"{caption}; every row with {', '.join(said)}" if said else caption


def row_names(algos: Iterable[str]) -> RowNames:
    """Leave out of labels what all of them share, and cut the long ones."""
    found = {algo: labels.Label(algo) for algo in algos}
    for algo in found:
        with suppress(UsageError):  # another system may be called anything
            found[algo] = labels.parse(algo)
    settings = [label.settings for label in found.values()]
    shared = [pair for pair in next(iter(settings), ()) if all(pair in each for each in settings)]
    shared *= len(found) > 1
    names, key = dict[str, str](), list[str]()
    for algo, label in found.items():
        own = tuple(pair for pair in label.settings if pair not in shared)
        names[algo] = name = replace(label, settings=own).row
        if len(name) > LONGEST_NAME:
            names[algo] = f"{label.algo[:LONGEST_NAME]} [{len(key) + 1}]"
            key.append(f"{names[algo]}: {name}")
    return RowNames(names, shared, key)


def usual(frame: DatasetResults) -> list[str]:
    """The measures of a table by default: those of `USUAL` that the frame has."""
    return [name for name in USUAL if name in frame.measures]


def asked_for(frame: DatasetResults) -> list[str]:
    """The measures of a frame that a run stores only on request."""
    stored = texts(default_measures(convention("standard")))
    return [name for name in frame.measures if name not in stored]


def summary_table(
    frame: DatasetResults, measures: Sequence[str], marks: Marks | None = None
) -> Table:
    """A row for each algorithm: numbers to four places, the two best of each column marked.

    Nothing is marked among rows of different conventions, nor a row with fewer folds than others.
    """
    names = row_names(row.algo for row in frame.rows)
    called = (replace(row, algo=names.of[row.algo]) for row in frame.rows)
    shown = replace(frame, rows=tuple(called))
    remark = remarks(shown)
    drawn = [measure for measure in measures if measure in frame.drawn]
    signs = marks.signs if marks else {}
    places = {measure: _places(frame, measure) for measure in measures}
    rows = []
    for row in frame.rows:
        name = names.of[row.algo]
        name = f"{name} ({remark[name]})" if name in remark else name
        cells = (
            Cell(
                _printed(row, measure), row.values.get(measure), places[measure].get(row.algo, 0),
                signs.get((row.algo, measure), 0), spread=spread(row.deviation(measure)),
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
        Column(name="dataset"),
        Column("algorithm", "left", "algo"),
        Column("convention" * frame.mixed, "left", "convention"),
        *(Column(name=name) for name in HEAD[2:]),
        *(Column(label(measure), name=measure) for measure in measures),
        *(Column(name=deviation_column(measure)) for measure in drawn),
        *(Column(name=f"{measure}-sign") for measure in measures if marks),
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
    repeats = {row.repeats for row in frame.rows if row.repeats > 1}
    some = "up to " * (len(repeats) > 1)
    seeds = f" and {some}{max(repeats)} seeds" if repeats else ""
    folds = {row.folds for row in frame.rows} or {0}
    rules = "; ".join(
        f"measures {convention(name).description} [{name}]" for name in frame.conventions
    )
    some = "up to " * (len(folds) > 1)
    mean = f"mean over {some}{max(folds)} fold{'s' * (folds != {1})}{seeds}"
    features: dict[str, list[str]] = {}  # how they were transformed, the most usual way first
    for row in frame.rows:
        if row.features is not None:
            features.setdefault(row.features, []).append(row.algo)
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


def spread(deviation: float | None) -> str:
    """A standard deviation as it is printed: ±.0012; "" for none."""
    return "" if deviation is None else f"±{deviation:.4f}".replace("±0.", "±.")


def other_code(frame: DatasetResults) -> bool:
    """Whether every row is of other code: then one note says so instead of each name."""
    return len(frame.rows) > 1 and all(row.version for row in frame.rows)


def lacks_folds(frame: DatasetResults) -> str:
    """What every row lacks in the same way: then one note says so instead of each name."""
    lacking = {row.partial for row in frame.rows}
    return lacking.pop() if len(lacking) == 1 else ""


def remarks(frame: DatasetResults) -> dict[str, str]:
    """The remarks in brackets behind algorithms' names: missing folds, other code, ..."""
    whole, old, found = lacks_folds(frame), other_code(frame), {}
    for row in frame.rows:
        words = [
            row.partial * (not whole),
            *early(row),
            "other code" * bool(row.version and not old),
        ]
        found[row.algo] = ", ".join(filter(None, words))
    return {algo: remark for algo, remark in found.items() if remark}


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
    versions: dict[str, list[str]] = {}
    for row in rows:
        if row.version:
            versions.setdefault(row.version, []).append(row.algo)
    code = "; ".join(f"{', '.join(algos)} ({version})" for version, algos in versions.items())
    if other_code(frame):
        code = f"every row ({', '.join({v.partition(',')[0]: None for v in versions})})"
    gaps: dict[str, dict[int, None]] = {}
    for fold in (fold for row in rows for fold in row.stored):
        names = [label(name) for name, mean in fold.means.items() if mean != mean]
        if names:
            what = "any measure" if len(names) == len(fold.means) else ", ".join(names)
            gaps.setdefault(what, {})[fold.number] = None
    without = "; ".join(f"{what} in fold {', '.join(map(str, k))}" for what, k in gaps.items())
    one_seed = [row.algo for row in rows if row.repeated and row.repeats == 1]
    named = [str(row.label) for row in rows if row.label.name]
    lines = (
        (named, f"names: {'; '.join(named)}"),
        *((True, note) for note in early_notes(rows)),
        (gaps, f"no value of {without}: no test query counts; means are over the other folds"),
        (code, f"other code: {code}; a new run renews them and may give other numbers"),
        (one_seed, f"one seed: {', '.join(one_seed)}; the effect of other seeds is not known "
         "(--repeats)"),
    )  # fmt: skip
    algos = dict.fromkeys(row.label.algo for row in rows)
    shown = (line for names, line in lines if names)
    references = (REFERENCES[algo] for algo in algos if algo in REFERENCES)
    return (*frame.unmeasured, *partial_note(frame), *shown, *references)


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
    named = ", ".join(f"{row.algo} ({row.partial})" for row in frame.rows if row.partial)
    if lacks_folds(frame):
        named = f"every row ({lacks_folds(frame)})"
    several = len({row.folds for row in frame.rows if competes(row.label.algo)}) > 1
    warning = "; means over fewer folds cannot be compared with the others" * several
    return (f"partial: {named}{warning}",) if named else ()


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
