"""The commands that measure or check what others computed: `score`, `external` and `verify`."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.analysis.tables import FORMATS, Column, records, table
from letorbench.cli import options
from letorbench.cli.group import echo, print_error, print_table
from letorbench.errors import DataError, UsageError
from letorbench.named_files import DASH, input_file

if TYPE_CHECKING:
    from letorbench.datasets.user_data import Grades
    from letorbench.datasets.user_data.tables import Columns

#: the endings of tables
_TABLES = (".csv", ".tsv", ".md", ".tex")
#: the measures of runs unless others are named
OF_RUNS = "map,mrr,p@10,ndcg@10,recall@100,rprec,bpref"


@click.command(short_help="Measure a score file, or TREC runs.")
@click.option("--data", type=options.FILE, help="Test file: LETOR text, a table, …")
@click.option("--qrels", type=options.FILE, help="TREC qrels file instead of --data.")
@click.option(
    "--scores", type=options.FILE,
    help="One score per line in the file's order; or RankLib's three columns; or a TREC run, which "
    "has every document.",
)  # fmt: skip
@options.runs
@options.measures(
    "Measures, also as comma lists.  [default: the convention's; of runs the usual ones]"
)
@options.convention_of("auto", "auto", help="Measuring rules; auto: standard, for runs trec_eval.")
@options.format_of("official", *FORMATS, help="The official tool's own output, or a table.")
@options.flag("--per-query", "Print the values of every query, not only their means.")
@options.table_columns
@options.grades
@options.null
@options.plugin
def score(
    data: Path | None, qrels: Path | None, scores: Path | None, runs: tuple[Path, ...],
    measures: tuple[str, ...], convention: str, form: str, per_query: bool,
    columns: Columns, grades: Grades, null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or TREC runs against qrels.

    In a run, unjudged documents count as not relevant, and judged documents that are missing count
    as not retrieved. trec_eval leaves queries without results out of the mean; --convention
    trec_eval,missing=0 counts them (its -c), trec_eval,depth=100 ends every list at rank 100 (its
    -M), trec_eval,unjudged=drop leaves out unjudged documents (its -J). Official output is that of
    the LETOR tools; --measure and --run print a table instead.
    """
    import numpy as np

    from letorbench.api.measuring import measures_of
    from letorbench.conventions import CONVENTIONS, RULES, with_rules
    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.catalog import check_convention
    from letorbench.datasets.reader import ReadOptions
    from letorbench.datasets.user_data.read import read_documents
    from letorbench.measures import default_measures, query_metrics
    from letorbench.measures.evaluation import relative_weights
    from letorbench.results.external import measure_runs, read_qrels, read_scores_of
    from letorbench.results.official import official
    from letorbench.results.per_query import mean_of

    if (data is None) == (qrels is None):
        raise UsageError("expected one of --data and --qrels")
    if (scores is None) == (not runs) or (runs and qrels is None):
        raise UsageError("expected --scores, or --run with --qrels")
    if (measures or runs) and form == "official":
        if options.given("form"):
            raise UsageError("--format official does not go with --measure and --run")
        form = "text"
    chosen = convention != "auto"
    if not chosen:
        convention = "trec_eval" if runs else "standard"
    rules, judgements = convention_named(convention), data or qrels
    assert judgements is not None
    if runs:
        parsed = measures_of(measures or OF_RUNS)
        if not chosen and any(
            not each.source and rules.apart(str(each)) is None for each in parsed
        ):
            # trec_eval does not compute one of them: its rules, not in its name, measure all
            followed = {rule: getattr(rules, rule) for rule in RULES}
            rules = with_rules(CONVENTIONS["standard"], **followed)
        systems, notes = measure_runs(judgements, runs, parsed, rules)
        print_error(notes, "warning")
        about: tuple[Any, ...] = (None, rules, np.zeros(0), np.zeros(1, np.int64))
        by_system = [
            (each.algo, each.qids, np.stack([*each.values.values()], 1)) for each in systems
        ]
    else:
        assert scores is not None
        options_of = ReadOptions(null=null, clip=True)
        read = read_documents(data, options_of, columns, grades) if data else None
        queries = read or read_qrels(judgements)
        largest, given = int(queries.labels.max(initial=0)), options.given("convention")
        doubt = check_convention(queries.n_features, largest, convention, given)
        if doubt:
            print_error([f"{judgements}: {doubt}"], "warning")
        values, rules_of = read_scores_of(scores, queries), (queries.offsets, rules)
        if form == "official":
            text = official(
                queries.qids, queries.labels, values, *rules_of, per_query, queries.docids,
                queries.weights,
            )  # fmt: skip
            echo(text, nl=False)
            return
        parsed = measures_of(measures) if measures else default_measures(rules)
        found_values = query_metrics(
            queries.labels, values, queries.offsets, parsed, rules, queries.docids
        )
        if np.isnan(found_values).all():
            raise DataError(f"{judgements}: found no query that counts by {rules.name}")
        called = queries.qids if queries.query_names is None else queries.query_names
        by_system = [(scores.stem, called, found_values)]
        about = queries.weights, rules, queries.labels, queries.offsets
    rows = []
    for name, qids, values in by_system:
        counts = ~np.isnan(values).all(axis=1)
        weight = relative_weights(values, parsed, *about)
        lines = [("mean", mean_of((values * weight)[counts], axis=0).tolist())]
        if per_query:
            lines = [*zip(qids[counts].tolist(), values[counts].tolist()), *lines]
        rows += [(rules.name, name, int(counts.sum()), qid, *row) for qid, row in lines]
    heads = (
        Column(name="convention"),
        Column("run", "left", "run" if runs else ""),
        Column("queries", form="d"),
        Column("qid" if per_query else "", "left", "qid"),
        *(Column(str(each), name=str(each), form=".4f") for each in parsed),
    )
    caption = f"{judgements}: measures {rules.description} [{rules.name}]"
    print_table(table(caption, heads, rows), form)


@click.command(short_help="Import another system's scores as an algorithm.")
@click.option(
    "--dataset", "-d", required=True, metavar="NAME", shell_complete=options.usable_datasets,
    help="Data set.",
)  # fmt: skip
@click.option("--name", required=True, metavar="NAME", help="Name of the system in the tables.")
@click.option(
    "--scores", "pattern", required=True, metavar="PATTERN",
    help="Score files of the test parts, with {fold} for the number of the fold.",
)  # fmt: skip
@options.format_of(
    "auto", "scores", "ranklib", "trec",
    help="scores: one per line; ranklib: qid, index, score; trec: a run file.",
)  # fmt: skip
@options.folds
@options.data_dir
@options.out
@options.convention_of(
    "auto", "auto",
    help="Measuring rules; auto: those of the stored results, else those of the data set.",
)  # fmt: skip
@options.null
def external(
    dataset: str, name: str, pattern: str, form: str, folds: str | None, data_dir: Path, out: Path,
    convention: str, null: str | float,
) -> None:  # fmt: skip
    """Import another system's scores of the test parts as an algorithm, and measure them.

    From then on `table`, `plot`, `compare` and `report` show it beside the others. A run file
    names documents by the `#docid` of the data, or by their position in the query from 1.
    """
    from letorbench.analysis.results_table import summary_table, usual
    from letorbench.api.running import dataset_names, fold_numbers
    from letorbench.datasets.load import load
    from letorbench.results.dataset_results import DatasetResults
    from letorbench.results.external import import_external

    dataset = options.only([*dataset_names([dataset], data_dir)])
    if convention == "auto":
        with suppress(DataError, IndexError):  # there are no sound results yet
            convention = DatasetResults.read(out, dataset).rows[0].convention
    benchmark = load(dataset, data_dir, convention, null)
    numbers = None if folds is None else fold_numbers(folds)
    frame, warnings = import_external(name, pattern, benchmark, out, form, numbers)
    print_table(summary_table(frame, usual(frame)))
    print_error(warnings, "warning")


@click.command(
    cls=options.TakesNumber,
    short_help="Check whose number is right: a number, a printed table, results.",
)
@click.argument("what", metavar="NUMBER|TABLE|FOLDER")
@click.option(
    "--data", "files", type=options.FILE, multiple=True,
    help="Test file of a NUMBER; repeat for several folds.",
)  # fmt: skip
@click.option(
    "--scores", type=options.FILE, multiple=True, help="Scores, one file for each test file."
)
@options.measure("Measure of a NUMBER, or of --against.")
@options.convention_of("auto", "auto", help="Measuring rules of a TABLE whose data are there.")
@click.option(
    "--against", type=options.FOLDER, help="Results of the same method to compare a FOLDER with."
)
@click.option("--algo", "-a", metavar="NAME", help="Algorithm that --against compares.")
@click.option("--baseline", metavar="NAME", help="Algorithm for the effect ratio of --against.")
@options.data_dir
@options.format_of(*FORMATS, "json", help="Format of the table.")
@options.plugin
def verify(
    what: str, files: tuple[Path, ...], scores: tuple[Path, ...], measure: str, convention: str,
    against: Path | None, algo: str | None, baseline: str | None, data_dir: Path, form: str,
) -> None:  # fmt: skip
    """Check a number, a printed table or a results folder.

    NUMBER with --data and --scores: which conventions, averages and roundings give this number.
    TABLE, a file of CSV, Markdown or LaTeX with a column for each measure, or for dataset,
    algorithm, part, fold, measure and value: numbers that no ranking can reach, means that are not
    those of their folds, rows that look chosen on test data; with the data, also numbers above the
    ideal order. FOLDER: the results measured again from the stored scores by plain definitions;
    with --against, whether two runs of an algorithm are the same system, a similar one, or a lucky
    mean.

    The exit status is 0 if nothing is wrong, 1 for something suspicious, 3 for something
    impossible.
    """
    if Path(what).is_dir() and against is not None:
        from letorbench.verify.stored import compare_runs

        compared = ("against", "algo", "baseline", "measure", "data_dir", "plugin")
        options.refuse_but("FOLDER --against", *compared)
        if algo is None:
            raise UsageError("--against: found no --algo, expected the algorithm to compare")
        check = compare_runs((Path(what), against), algo, baseline, measure, data_dir)
    elif Path(what).is_dir():
        from letorbench.verify.stored import check_folder

        options.refuse_but("FOLDER", "data_dir")
        check = check_folder(Path(what), data_dir)
    elif Path(what).exists() or what == DASH:
        from letorbench.verify.printed import check_file

        options.refuse_but("TABLE", "convention", "data_dir")
        check = check_file(input_file(what), data_dir, convention)
    elif not any(map(str.isdigit, what)) or Path(what).suffix in _TABLES:
        raise UsageError(f"{what}: found no such file or folder and no number such as 0.5036")
    else:
        from letorbench.verify.numbers import check_number

        options.refuse_but("NUMBER", "files", "scores", "measure", "plugin")
        check = check_number(what, files, scores, measure)
    if form == "json":
        shown = check.table
        facts = {"status": check.status, "found": shown.caption, "rows": records(shown)}
        echo(json.dumps(facts, indent=1))
    else:
        print_table(check.table, form)
    raise SystemExit(check.status)
