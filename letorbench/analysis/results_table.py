"""Tables of a data set's results: a row for each algorithm, a column for each measure."""

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
from letorbench.results.dataset_results import (
    DatasetResults,
    SystemResults,
    deviation_column,
)
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
    """Leave out of labels what all of them share, and cut the long ones.

    >>> row_names(["listnet[top=2,select=map]", "mart[select=map]"]).of
    {'listnet[top=2,select=map]': 'listnet[top=2]', 'mart[select=map]': 'mart'}
    """
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
    """The measures of a frame that a run stores only if it is asked for them."""
    stored = texts(default_measures(convention("standard")))
    return [name for name in frame.measures if name not in stored]


def summary_table(
    frame: DatasetResults, measures: Sequence[str], marks: Marks | None = None
) -> Table:
    """A row for each algorithm: numbers to four places, the two best of each column marked.

    Nothing is marked among rows of different conventions, nor a row with fewer folds than others.
    In CSV `cut_off` is the number of folds in which a time limit ended a training, and
    `not_converged` of those whose fit ended away from its optimum.
    """
    names = row_names(row.algo for row in frame.rows)
    called = (replace(row, algo=names.of[row.algo]) for row in frame.rows)
    shown = replace(frame, rows=tuple(called))
    remark = remarks(shown)
    drawn = [measure for measure in measures if measure in frame.drawn]
    signs = marks.signs if marks else {}
    numbers = [_column(frame, measure, signs) for measure in measures]
    rows = []
    for i, row in enumerate(frame.rows):
        name = names.of[row.algo]
        name = f"{name} ({remark[name]})" if name in remark else name
        rows.append([
            frame.dataset, Cell(name, row.algo), row.convention,
            row.folds, row.repeats, row.cut_off, row.not_converged,
            *(column[i] for column in numbers),
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
    below = (*names.key, *notes(shown), *_fold_note(frame, measures))
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
    return f"{frame.dataset}: {mean}; {rules}{_features(frame)}"


def _features(frame: DatasetResults) -> str:
    """How the features were transformed, the most usual way first; "" if all are raw."""
    algos: dict[str, list[str]] = {}
    for row in frame.rows:
        if row.features is not None:
            algos.setdefault(row.features, []).append(row.algo)
    if not set(algos) - {"raw"}:
        return ""
    usual, *others = sorted(algos, key=lambda name: (-len(algos[name]), name == "raw"))
    listed = "; ".join(f"{name}: {', '.join(algos[name])}" for name in others)
    return f"; features {usual}{f' ({listed})' if listed else ''}"


def label(measure: str) -> str:
    """A measure as it is printed.

    >>> label("ndcg@10"), label("mean-ndcg")
    ('NDCG@10', 'Mean-NDCG')
    """
    name, at, cutoff = measure.partition("@")
    if name not in MEASURES:  # a user's measure
        return measure
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def spread(deviation: float | None) -> str:
    """A standard deviation as it is printed.

    >>> spread(0.00123), spread(None)
    ('±.0012', '')
    """
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
    old = {row.algo for row in frame.rows if row.version and not other_code(frame)}
    partial = {row.algo: "" if lacks_folds(frame) else row.partial for row in frame.rows}
    words = {
        row.algo: [partial[row.algo], *early(row), "other code" * (row.algo in old)]
        for row in frame.rows
    }
    return {algo: ", ".join(filter(None, each)) for algo, each in words.items() if any(each)}


def early(row: SystemResults) -> list[str]:
    """The remarks on a row whose fits a limit ended."""
    return ["cut off"] * bool(row.cut_off) + ["not converged"] * bool(row.not_converged)


def early_notes(rows: Sequence[SystemResults]) -> list[str]:
    """The notes on fits that a limit ended."""

    def folds(counts: Iterable[int]) -> str:
        each = zip(rows, counts)
        return ", ".join(f"{r.algo} ({n} of {r.folds * r.repeats} folds)" for r, n in each if n)

    cut_off = folds(row.cut_off for row in rows)
    not_converged = folds(row.not_converged for row in rows)
    lines = (
        (cut_off, f"cut off by the time limit: {cut_off}; a full training may rank differently"),
        (not_converged, f"not converged: {not_converged}; the fit ended away from its optimum, a "
         "longer one (`iterations`) may rank differently"),
    )  # fmt: skip
    return [line for names, line in lines if names]


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
    references = [REFERENCES[algo] for algo in algos if algo in REFERENCES]
    return (
        *frame.unmeasured,
        *partial_note(frame),
        *(line for names, line in lines if names),
        *references,
    )


def fold_note(difference: float) -> tuple[str, ...]:
    """A note on the largest distance of a mean over folds from one over queries, or nothing."""
    if not difference >= 0.00005:
        return ()
    return (
        "folds of unequal size: means over folds, as in tables, differ by up to "
        f"{difference:.4f} from means over queries, as in comparisons",
    )


def _fold_note(frame: DatasetResults, measures: Sequence[str]) -> tuple[str, ...]:
    apart = [
        abs(row.values[name] - float(mean_of(row.queries.in_means.values[name])))
        for row in frame.rows
        for name in measures
        if name in row.queries.values
    ]
    return fold_note(max((each for each in apart if each == each), default=0.0))


def partial_note(frame: DatasetResults) -> tuple[str, ...]:
    """A note that names the partial algorithms, or nothing."""
    lacking = [row for row in frame.rows if row.partial]
    if not lacking:
        return ()
    named = ", ".join(f"{row.algo} ({row.partial})" for row in lacking)
    named = f"every row ({lacks_folds(frame)})" if lacks_folds(frame) else named
    several = len({row.folds for row in frame.rows if competes(row.label.algo)}) > 1
    warning = "; means over fewer folds cannot be compared with the others" * several
    return (f"partial: {named}{warning}",)


def comparable(frame: DatasetResults) -> list[SystemResults]:
    """The rows that are ranked among each other: those with the most folds, without `ideal`."""
    rows = [row for row in frame.rows if competes(row.label.algo)]
    most = max((row.folds for row in rows), default=0)
    return [row for row in rows if row.folds == most]


def best_first(rows: Iterable[SystemResults], measure: str) -> list[SystemResults]:
    """The rows from the best to the worst by a measure, those without a value last."""
    values = ((-sign(measure) * row.values[measure], row) for row in rows)
    return [row for _, row in sorted(values, key=lambda each: (each[0] != each[0], each[0]))]


def _column(
    frame: DatasetResults, measure: str, signs: Mapping[tuple[str, str], int]
) -> list[Cell]:
    """A cell for each row; equal printed numbers share a place."""
    found = {row.algo: row.values[measure] for row in frame.rows if measure in row.values}
    printed = {algo: f"{v:.4f}" if v == v else DASH for algo, v in found.items()}
    rows = [row for row in frame.rows if printed.get(row.algo, DASH) != DASH]
    ranked = [] if frame.mixed else [row for row in comparable(frame) if row in rows]
    ranked = ranked if len(comparable(frame)) > 1 else []  # one alone is not the best of any
    numbers = {printed[row.algo] for row in ranked}
    best = sorted(numbers, key=lambda number: -sign(measure) * float(number))[:2]
    places = {r.algo: best.index(printed[r.algo]) + 1 for r in ranked if printed[r.algo] in best}
    return [
        Cell(
            printed.get(row.algo, ""),
            row.values.get(measure),
            places.get(row.algo, 0),
            signs.get((row.algo, measure), 0),
            spread=spread(row.deviation(measure)),
        )
        for row in frame.rows
    ]
