"""`letorbench verify`: whose number is right?"""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from letorbench.analysis.tables import Cell, Column, Table, columns, records, table
from letorbench.cli import options
from letorbench.cli.group import say, show
from letorbench.errors import DataError, UsageError
from letorbench.named_files import DASH, input_file

#: the exit statuses: nothing is wrong, something looks odd, something cannot be
FINE, SUSPICIOUS, IMPOSSIBLE = 0, 1, 3
#: so many readings of a number are shown, and so many problems of a results folder
MOST_READINGS, MOST_PROBLEMS = 12, 20


@click.command(short_help="Check whose number is right: a number, a printed table, results.")
@click.argument("what", metavar="NUMBER|TABLE.csv|FOLDER")
@click.option(
    "--data", "files", type=options.FILE, multiple=True,
    help="The test file of a NUMBER; repeat for several folds.",
)  # fmt: skip
@click.option(
    "--scores", type=options.FILE, multiple=True, help="Its scores, one file for each test file."
)
@options.option(
    "--measure", default="ndcg@10", metavar="MEASURE", help="What a NUMBER or --against is of."
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
    TABLE.csv (dataset, algorithm, part, fold, measure, value): numbers that no
    ranking can reach, means that are not those of their folds, rows that look chosen on test
    data; with the data, also numbers above the ideal order. FOLDER: the results measured again
    from the stored scores by plain definitions; with --against, whether two runs of an algorithm
    are the same system, a similar one, or a lucky mean.

    The exit status is 0 if nothing is wrong, 1 for something suspicious, 3 for something
    impossible.
    """
    if Path(what).is_dir() and against is not None:
        status, found = _runs((Path(what), against), algo, baseline, measure, data_dir)
    elif Path(what).is_dir():
        status, found = _folder(Path(what), data_dir)
    elif Path(what).exists() or what == DASH:
        status, found = _table(input_file(what), data_dir, convention)
    elif not any(map(str.isdigit, what)) or Path(what).suffix == ".csv":
        raise UsageError(f"{what}: found no such file or folder and no number such as 0.5036")
    else:
        status, found = _number(what, files, scores, measure)
    if form == "json":
        facts = {"status": status, "found": found.caption, "rows": records(found)}
        say(json.dumps(facts, indent=1))
    else:
        show(found)
    raise SystemExit(status)


def _number(
    text: str, files: Sequence[Path], scores: Sequence[Path], measure: str
) -> tuple[int, Table]:
    """Find which readings of the scores give the number."""
    from letorbench.datasets.reader import ReadOptions
    from letorbench.datasets.user_data.read import read_documents
    from letorbench.measures import parse
    from letorbench.results.external import read_scores_of
    from letorbench.verify.numbers import Printed, readings

    printed = Printed.of(text)
    if not files or len(files) != len(scores):
        found = f"{len(files)} --data and {len(scores)} --scores"
        raise UsageError(f"{text}: found {found}, expected a file of scores for each test file")
    tests = [read_documents(file, ReadOptions(null=0.0, clip=True)) for file in files]
    parts = [(queries, read_scores_of(own, queries)) for queries, own in zip(tests, scores)]
    tried = readings(parts, parse(measure), printed)
    fit = [each for each in tried if each.rounding is not None]
    shown = fit or tried[:5]
    if fit:
        caption = f"{text} is {measure} by {fit[0].text}: {fit[0].convention.rules}"
    else:
        caption = (
            f"none of {len(tried)} readings of these scores gives {text} as {measure}; the nearest "
            "are below: the scores, the queries, the measure or the number are others"
        )
    rows = [(each.text, each.value) for each in shown[:MOST_READINGS]]
    more = len(shown) - MOST_READINGS
    notes = (f"and {more} longer ones",) if more > 0 else ()
    heads = columns(["reading"], {measure: ".6f"})
    return FINE if fit else SUSPICIOUS, table(caption, heads, rows, notes)


def _table(path: Path, data_dir: Path, convention: str) -> tuple[int, Table]:
    """Find what is wrong with a printed table."""
    from letorbench.verify.printed import check_by_data, read_table

    entries = read_table(path)
    findings, there, rules = check_by_data(entries, data_dir, convention)
    impossible = sum(each.level == "impossible" for each in findings)
    by = "" if rules == "auto" else f" by {rules}"
    data = f"with the data of {', '.join(there)}{by}" if there else "without data"
    others = len(entries) - sum(each.checked for each in entries)
    data += f", {others} of measures that are not checked" if others else ""
    lines = [[str(line) for line in each.lines] for each in findings]
    rows = [
        (each.level, each.check, Cell(", ".join(own[:6]), ", ".join(own)), each.what)
        for each, own in zip(findings, lines)
    ]
    caption = (
        f"{path}: {len(entries)} numbers, {data}: {impossible} impossible, "
        f"{len(findings) - impossible} suspicious"
    )
    status = IMPOSSIBLE if impossible else SUSPICIOUS if findings else FINE
    return status, table(caption, columns(["level", "check", "lines", "what"]), rows)


def _folder(out: Path, data_dir: Path) -> tuple[int, Table]:
    """Find what measuring a results folder again shows."""
    from letorbench.results.paths import SCORES, present
    from letorbench.verify.stored import trace

    datasets = present(out)
    if not datasets:
        raise DataError(f"{out}: found no finished fold, expected a results folder")
    traced = [each for dataset in datasets for each in trace(out, data_dir, dataset)]
    problems = [line for each in traced for line in each.problems]
    rows = []
    for each in traced:
        facts = [{**fold.fit["test"], **fold.identity} for fold in each.folds] or [{}]
        digests = " ".join(fold.fit["files"][SCORES] for fold in each.folds)
        origin = [facts[0].get(name, "") for name in ("convention", "data", "code")]
        counts = each.cells, each.unmeasured, len(each.problems)
        rows.append((each.dataset, each.algo, *origin, *counts, digests, "\n".join(each.problems)))
    caption = (
        f"{out}: {sum(each.cells for each in traced)} numbers measured again by plain definitions, "
        f"{len(problems)} problems"
    )
    heads = (
        *columns(["data set", "algorithm", "convention"]),
        *(Column(name, "left", name, ".8") for name in ("data", "code")),
        *columns([], {"measured": "d", "not": "d", "problems": "d"}),
        *(Column(name=name) for name in ("scores", "lines")),
    )
    lines = list(dict.fromkeys(problems))  # all algorithms may lack the same data set
    more = len(lines) - MOST_PROBLEMS
    rest = [f"and {more} more (--format json has all)"] if more > 0 else []
    notes = (*lines[:MOST_PROBLEMS], *rest)
    return IMPOSSIBLE if problems else FINE, table(caption, heads, rows, notes)


def _runs(
    outs: tuple[Path, Path], algo: str | None, baseline: str | None, measure: str, data_dir: Path
) -> tuple[int, Table]:
    """Find how two runs of one method agree."""
    from letorbench.results.frame import data_of, require_row
    from letorbench.results.paths import present
    from letorbench.results.store import by_repeat
    from letorbench.verify.runs import DEPTH, agreement
    from letorbench.verify.stored import by_query

    if algo is None:
        raise UsageError("--against: found no --algo, expected the algorithm to compare")
    found = {}
    for dataset in sorted({*present(outs[0])} & {*present(outs[1])}):
        runs = [
            [require_row(out, dataset, name).with_measures([measure], data_dir) for out in outs]
            for name in (algo, baseline)
            if name
        ]
        tests = {fold.number: fold.test for fold in data_of(data_dir, runs[0][0].stored).folds}
        scores = [
            [own for fold in by_repeat(row.stored)[0] for own in by_query(fold, tests[fold.number])]
            for row in runs[0]
        ]
        values, *baselines = ([row.queries for row in own] for own in runs)
        found[dataset] = agreement(list(zip(*scores)), values, measure, *baselines)
    if not found:
        raise UsageError(f"found no data set with results in both {outs[0]} and {outs[1]}")
    formats = {
        "tau": ".3f", f"first {DEPTH}": ".3f", "one": ".4f", "other": ".4f", "RMSE": ".4f",
        "correlation": ".3f", "effect ratio": ".2f", "p": ".4f",
    }  # fmt: skip
    heads = (*columns(["data set"], formats), *columns(["verdict"]))
    rows = [(dataset, *own, own.verdict) for dataset, own in found.items()]
    status = FINE if all(own.same for own in found.values()) else SUSPICIOUS
    return status, table(f"{algo}, {measure}: {outs[0]} and {outs[1]}", heads, rows)
