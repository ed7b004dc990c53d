"""`letorbench verify`: whose number is right?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import click

from letorbench.cli import options
from letorbench.cli.group import say, show
from letorbench.errors import DataError, UsageError

#: the exit statuses: nothing is wrong, something looks odd, something cannot be
FINE, SUSPICIOUS, IMPOSSIBLE = 0, 1, 3


class Outcome(NamedTuple):
    """What a check found: for the shell, for programs, and as a table for people."""

    status: int
    facts: object
    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    #: the columns of numbers
    right: Iterable[int] = ()
    notes: Sequence[str] = ()


@click.command(short_help="Check whose number is right: a number, a printed table, results.")
@click.argument("what", metavar="NUMBER|TABLE.csv|FOLDER")
@click.option(
    "--data",
    "files",
    type=options.FILE,
    multiple=True,
    help="The test file of a NUMBER; repeat for several folds.",
)
@click.option(
    "--scores", type=options.FILE, multiple=True, help="Its scores, one file for each test file."
)
@click.option(
    "--measure",
    default="ndcg@10",
    show_default=True,
    metavar="MEASURE",
    help="What a NUMBER or --against is of.",
)
@options.convention_of("auto", "auto", help="The rules of a TABLE whose data are there.")
@click.option(
    "--against", type=options.FOLDER, help="Results of the same method to compare a FOLDER with."
)
@click.option("--algo", metavar="NAME", help="The algorithm that --against compares.")
@click.option("--baseline", metavar="NAME", help="For the effect ratio of --against.")
@options.data_dir
@options.format_of("text", "json")
def verify(
    what: str, files: tuple[Path, ...], scores: tuple[Path, ...], measure: str, convention: str,
    against: Path | None, algo: str | None, baseline: str | None, data_dir: Path, form: str,
) -> None:  # fmt: skip
    """Check a number, a printed table or a results folder.

    NUMBER with --data and --scores: which conventions, averages and roundings give this number.
    TABLE.csv (dataset, algorithm, part, fold, measure, value): numbers that no ranking can have,
    means that are not their folds', rows that look chosen on test data; with the data there, also
    numbers above the ideal order. FOLDER: the results measured again from the stored scores by
    plain definitions; with --against, whether two runs of an algorithm are the same system, a
    similar one, or a lucky mean.

    The exit status is 0 where nothing is wrong, 1 for something suspicious, 3 for something
    impossible.
    """
    if Path(what).is_dir() and against is not None:
        found = _runs((Path(what), against), algo, baseline, measure, data_dir)
    elif Path(what).is_dir():
        found = _folder(Path(what), data_dir)
    elif Path(what).is_file():
        found = _table(Path(what), data_dir, convention)
    elif not any(map(str.isdigit, what)) or Path(what).suffix == ".csv":
        raise UsageError(f"{what}: found no such file or folder and no number such as 0.5036")
    else:
        found = _number(what, files, scores, measure)
    if form == "json":
        say(json.dumps(found.facts, indent=1))
    else:
        from letorbench.analysis.tables import text_table

        show([text_table(found.headings, found.rows, found.caption, found.right)])
        for note in found.notes:
            say(note)
    raise SystemExit(found.status)


def _number(text: str, files: Sequence[Path], scores: Sequence[Path], measure: str) -> Outcome:
    """Find which readings of the scores give the number."""
    from letorbench.datasets.reader import ReadOptions, read_queries
    from letorbench.measures import parse
    from letorbench.results.external import read_any
    from letorbench.verify.numbers import Part, Printed, readings

    printed = Printed.of(text)
    if not files or len(files) != len(scores):
        found = f"{len(files)} --data and {len(scores)} --scores"
        raise UsageError(f"{text}: found {found}, expected a file of scores for each test file")
    parts = []
    for file, own in zip(files, scores):
        queries = read_queries(
            file,
            ReadOptions(null=0.0, clip=True),
            # only labels and queries matter
        )
        parts.append(Part(queries.labels, queries.offsets, read_any(own, queries)))
    tried = readings(parts, parse(measure), printed)
    fit = [each for each in tried if each.rounding]
    shown = fit or tried[:5]
    if fit:
        caption = f"{text} is {measure} by {fit[0].text}: {fit[0].convention.rules}"
    else:
        caption = (
            f"none of {len(tried)} readings of these scores gives {text} as {measure}; the nearest "
            "are below: the scores, the queries, the measure or the number are others"
        )
    facts = {
        "number": text,
        "measure": measure,
        "explained": bool(fit),
        "readings": [
            {"convention": each.convention.name, "average": each.average, "value": each.value}
            for each in shown
        ],
    }
    rows = [[each.text, f"{each.value:.6f}"] for each in shown[:12]]
    return Outcome(
        FINE if fit else SUSPICIOUS, facts, caption, ["reading", measure], rows, [1],
        [f"and {len(shown) - 12} longer ones"] if len(shown) > 12 else [],
    )  # fmt: skip


def _table(path: Path, data_dir: Path, convention: str) -> Outcome:
    """Find what is wrong with a printed table."""
    from letorbench.datasets.layout import installed
    from letorbench.verify.data import check_by_data
    from letorbench.verify.printed import check_table, read_table

    entries, there = read_table(path), installed(data_dir)
    with_data = [each for each in entries if each.place.dataset in there]
    without = [each for each in entries if each.place.dataset not in there]
    findings, rules = check_by_data(with_data, data_dir, convention)
    findings = sorted([*findings, *check_table(without)], key=lambda each: each.lines)
    impossible = sum(each.level == "impossible" for each in findings)
    names = sorted({each.place.dataset for each in with_data})
    by = "" if rules == "auto" else f" by {rules}"
    data = f"with the data of {', '.join(names)}{by}" if names else "without data"
    others = len(entries) - sum(each.checked for each in entries)
    data += f", {others} of measures that are not checked" if others else ""
    return Outcome(
        IMPOSSIBLE if impossible else SUSPICIOUS if findings else FINE,
        {
            "numbers": len(entries),
            "with_data": names,
            "convention": rules,
            "findings": [asdict(each) for each in findings],
        },
        f"{path}: {len(entries)} numbers, {data}: {impossible} impossible, "
        f"{len(findings) - impossible} suspicious",
        ["", "check", "lines", "what"],
        [
            [each.level, each.check, ", ".join(map(str, each.lines[:6])), each.what]
            for each in findings
        ],
    )


def _folder(out: Path, data_dir: Path) -> Outcome:
    """Find what measuring a results folder again shows."""
    from letorbench.results.paths import present
    from letorbench.verify.stored import trace

    datasets = present(out)
    if not datasets:
        raise DataError(f"{out}: found no finished fold, expected a results folder")
    traced = [each for dataset in datasets for each in trace(out, data_dir, dataset)]
    problems = [line for each in traced for line in each.problems]
    cells = sum(each.cells for each in traced)
    rows = [
        [each.dataset, each.algo, each.convention, each.data[:8], each.code[:8], str(each.cells),
         str(each.unmeasured), str(len(each.problems))]
        for each in traced
    ]  # fmt: skip
    more = [f"and {len(problems) - 20} more (--format json has all)"] if len(problems) > 20 else []
    return Outcome(
        IMPOSSIBLE if problems else FINE,
        [asdict(each) for each in traced],
        f"{out}: {cells} numbers measured again by plain definitions, {len(problems)} problems",
        ["data set", "algorithm", "convention", "data", "code", "measured", "not", "problems"],
        rows, [5, 6, 7], [*problems[:20], *more],
    )  # fmt: skip


def _runs(
    outs: tuple[Path, Path], algo: str | None, baseline: str | None, measure: str, data_dir: Path
) -> Outcome:
    """Find how two runs of one method agree."""
    from letorbench.results.measuring import data_of, with_measures
    from letorbench.results.paths import present
    from letorbench.results.summary import require_folds
    from letorbench.verify.runs import DEPTH, Agreement, agreement

    if algo is None:
        raise UsageError("--against: found no --algo, expected the algorithm to compare")
    found: dict[str, Agreement] = {}
    for dataset in present(outs[0]):
        if dataset not in present(outs[1]):
            continue
        folds = [
            [fold for fold in require_folds(out, dataset, algo) if fold.repeat == 1] for out in outs
        ]
        tests = {fold.number: fold.test for fold in data_of(data_dir, dataset, folds[0]).folds}
        scores = [[fold.scores(tests[fold.number].n_docs) for fold in own] for own in folds]
        names = [algo, baseline] if baseline else [algo]
        (one, *base), (other, *other_base) = (
            [with_measures(out, data_dir, dataset, name, [measure]) for name in names]
            for out in outs
        )
        found[dataset] = agreement(
            [tests[fold.number].offsets for fold in folds[0]], (scores[0], scores[1]),
            (one, other), measure, (base[0], other_base[0]) if base else None,
        )  # fmt: skip
    if not found:
        raise UsageError(f"found no data set with results in both {outs[0]} and {outs[1]}")
    rows = [
        [dataset, f"{own.tau:.3f}", f"{own.overlap:.3f}", *(f"{mean:.4f}" for mean in own.means),
         f"{own.rmse:.4f}", f"{own.correlation:.3f}",
         "" if own.effect_ratio is None else f"{own.effect_ratio:.2f}", f"{own.p:.4f}", own.verdict]
        for dataset, own in found.items()
    ]  # fmt: skip
    return Outcome(
        FINE if all(own.same for own in found.values()) else SUSPICIOUS,
        {name: {**asdict(own), "verdict": own.verdict} for name, own in found.items()},
        f"{algo}, {measure}: {outs[0]} and {outs[1]}",
        ["data set", "tau", f"first {DEPTH}", "one", "other", "RMSE", "correlation",
         "effect ratio", "p", "verdict"],
        rows, range(1, 9),
    )  # fmt: skip
