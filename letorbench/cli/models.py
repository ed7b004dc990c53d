"""The commands about algorithms and their models: `algos`, `fit`, `rank` and `export`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.analysis.tables import Table, text_table
from letorbench.cli import options
from letorbench.cli.group import echo, print_error, print_table
from letorbench.errors import UsageError

if TYPE_CHECKING:
    from letorbench.datasets.user_data.tables import Columns
    from letorbench.rankers.base import Ranker

#: the families by loss, and their titles in a list of algorithms
FAMILIES = {
    "pointwise": "Pointwise: each document's label",
    "pairwise": "Pairwise: which of two documents is better",
    "listwise": "Listwise: a query's whole list",
    "": "Parts of your own choice, and the rankers of plug-ins",
    "reference": "Reference points, which learn nothing",
}


@click.command(short_help="List the algorithms, or describe one.")
@click.argument("name", required=False, shell_complete=options.algorithms)
@options.flag("--parts", "List the models, losses and solvers that a recipe combines.")
@options.plugin
def algos(name: str | None, parts: bool) -> None:
    """List the algorithms, or describe one: paper, formula, parameters, grid."""
    from letorbench.rankers import names, ranker

    if parts and name is not None:
        raise click.UsageError(f"--parts lists the parts of recipes: found {name} beside it")
    if name is not None:
        echo(description(name))
    elif parts:
        for table in part_tables():
            print_table(table)
    else:
        from letorbench.analysis.leaderboard import recommended

        for table in family_tables([ranker(each) for each in names()], recommended()):
            print_table(table)
        echo("* = recommended: never significantly worse than the best on the leaderboard's sets")


def description(name: str) -> str:
    """Return the description of an algorithm: paper, formula, parameters, grid, documentation."""
    from letorbench.choices import resolve_name
    from letorbench.experiment.plan import parameters
    from letorbench.experiment.select import draws
    from letorbench.parameters import describe
    from letorbench.rankers import names, ranker
    from letorbench.rankers.base import Ranker

    cls = ranker(resolve_name(name, names(), "algorithm"))
    lines = [f"{cls.name}: {cls.title}\n\npaper    {cls.paper}\nformula  {cls.formula}\n"]
    if cls.order_matters:
        lines.append(f"order    of a query's documents matters: {cls.order_matters}\n")
    if cls.feature_order_matters:
        lines.append(f"order    of the features matters: {cls.feature_order_matters}\n")
    if not cls.available():
        lines.append(f"needs    the package {cls.needs}: python -m pip install '{cls.extra}'\n")
    if draws(cls, {}):
        lines.append("draws    random numbers: a run repeats it with several seeds (--repeats)\n")
    defaults = cls().get_params()
    for key, kind in parameters(cls).items():
        line = (
            f"--set {cls.spelled.get(key, key)}={defaults[key]}".ljust(32) + f"  {describe(kind)}"
        )
        if key in cls.grid:
            line += f"; validation chooses from {', '.join(map(str, cls.grid[key]))}"
        lines.append(line)
    if not parameters(cls):
        lines.append("no parameters")
    # with what the algorithms of one paper have in common
    described = cls.__mro__[: cls.__mro__.index(Ranker)]
    lines += [f"\n{cleandoc(each.__doc__)}" for each in described if each.__doc__]
    return "\n".join(lines)


def family_tables(rankers: Sequence[type[Ranker]], best: Sequence[str]) -> Iterator[Table]:
    """Yield a table of the rankers of each family by their losses; `best` have a star."""
    for family, title in FAMILIES.items():
        members = [cls for cls in rankers if (cls.families or ("",))[0] == family]
        rows = [
            (f"  {cls.name}{' *' * (cls.name in best)}", ", ".join(cls.families[1:]), cls.title)
            for cls in members
        ]
        if rows:
            yield text_table(["", "", ""], rows, title)


def part_tables() -> Iterator[Table]:
    """Yield a table of the models, of the losses and of the solvers: names and descriptions."""
    from letorbench.losses import choices
    from letorbench.losses import families as loss_families
    from letorbench.models.base import families, family
    from letorbench.rankers.recipe import SOLVERS, TREES

    formulas = {
        name: "; ".join(filter(None, (each.formula, choices(each))))
        for name, each in loss_families().items()
    }
    models = {name: family(name).formula for name in families()}
    models[TREES] = "the sum over trees of the value of x's leaf"
    kinds = {"model": models, "loss": formulas, "solver": SOLVERS}
    for kind, texts in kinds.items():
        rows = [(f"  {name}", text) for name, text in texts.items()]
        title = f"{kind} (--set {kind}=NAME); all fit together, but trees are only boosted"
        yield text_table(["", ""], rows, title)


@click.command(short_help="Train one model on all queries, as the folds chose.")
@click.argument("dataset", shell_complete=options.usable_datasets)
@click.option(
    "--algo", "-a", required=True, metavar="NAME", shell_complete=options.algorithms,
    help="One algorithm, perhaps with settings: ndcgboost[rounds=50].",
)  # fmt: skip
@click.option("--output", required=True, type=options.NEW_FILE, help="File for the model.")
@options.fixed("Fix a hyper-parameter of the algorithm (`letorbench algos NAME`).")
@options.measure("Measure that the test parts promise.")
@options.convention_of(
    "auto", "auto", help="Measuring rules; auto: those of the data set's official tool."
)
@options.null
@options.features
@options.seed
@options.repeats
@options.time_limit
@options.data_dir
@options.out
@options.jobs
@options.plugin
def fit(
    dataset: str, algo: str, output: Path, fixed: tuple[str, ...], measure: str, jobs: int,
    **protocol: Any,
) -> None:  # fmt: skip
    """Choose settings and rounds over the folds' validation parts, then train on all queries.

    The folds are an ordinary run: stored ones are not run again. Their test parts say what the
    model promises on new queries. `rank` and `export` take the model. An estimator of LightGBM,
    XGBoost or CatBoost (by --plugin) is written as its library's text.
    """
    from letorbench.api.fitting import fit as fit_on_all
    from letorbench.named_files import is_stream
    from letorbench.parameters import text
    from letorbench.results.user_files import check_output

    check_output(output, data_dir=protocol["data_dir"])
    if is_stream(output):
        raise UsageError(f"{output}: found a stream or a device, expected a file for the model")
    given = {key: value for key, value in protocol.items() if value is not None}
    made = fit_on_all(dataset, algo, jobs=jobs, fixed=fixed, measure=measure, **given)
    made.save(output)
    print_error(made.warnings, "warning")
    low, high = made.interval
    echo(
        f"{made.results.datasets[0]}, {made.results.algorithms[0]}: the folds promise "
        f"{made.measure} {made.value:.4f} on new queries, 95 % interval {low:.4f} to {high:.4f}"
    )
    settings = ", ".join(f"{key}={text(value)}" for key, value in made.settings.items())
    echo(f"settings: {settings or 'none'}")
    echo(f"{output}: {made.ranker.name}, trained on all {made.n_queries} queries")


@click.command(short_help="Score a file of documents with a saved model.")
@click.option(
    "--model", required=True, type=options.FILE,
    help="Model of a run or of `fit`, or a model file of LightGBM, XGBoost or CatBoost.",
)  # fmt: skip
@click.option(
    "--input", "--data", "data", required=True, type=options.FILE,
    help="Documents: LETOR text, a table, …",
)  # fmt: skip
@click.option("--output", required=True, type=options.NEW_FILE, help="File for the scores.")
@options.format_of(
    "scores", "trec", help="One score per line in the file's order, or a TREC run file."
)
@click.option(
    "--tag", metavar="NAME", help="Last column of the run file.  [default: the algorithm]"
)
@options.flag("--sparse", "The last features may be missing in every line.")
@options.table_columns
@options.null
@options.plugin
def rank(
    model: Path, data: Path, output: Path, form: str, tag: str | None, sparse: bool,
    columns: Columns, null: str | float,
) -> None:  # fmt: skip
    """Score every document of a file with a model of any algorithm; ignore labels.

    A model file is LightGBM's text, XGBoost's or CatBoost's JSON; the library is not needed.
    Feature k of LETOR text is column k - 1 of the matrix that it was trained on, whatever its name.
    The columns of a table go by their names, if the model has names.
    """
    import numpy as np

    from letorbench.datasets.arrays import LARGEST_FLOAT32, missing_features
    from letorbench.models.tree_ensemble import TreeEnsemble
    from letorbench.named_files import is_stream, open_output
    from letorbench.rankers import load_model, plugins
    from letorbench.results.export import write_run
    from letorbench.results.scores import finite_scores, write_scores
    from letorbench.results.user_files import check_output, read_for
    from letorbench.solvers.fit_result import score_warnings

    check_output(output, [model, data, *columns.files, *plugins.files()])
    ranker = load_model(model)
    queries = read_for(ranker, data, null, sparse, columns)
    with plugins.blamed(type(ranker)):
        scores = ranker.predict(queries)
    warnings = [f"{data}: {each.text}" for each in score_warnings(scores, queries)]
    lacking, trees = missing_features(queries.features), ranker.learned.model
    if isinstance(trees, TreeEnsemble):
        lacking = np.intersect1d(lacking, trees.feature[trees.left != trees.right])
    missing = len(lacking)
    if missing and not getattr(trees, "has_missing", False):
        lack = "feature lacks" if missing == 1 else "features lack"
        warnings.append(f"{data}: {missing} {lack} values, which the model reads as 0")
    if large := np.count_nonzero(np.abs(queries.features) == LARGEST_FLOAT32):
        warnings.append(f"{data}: {large:,} values beyond float32 are read as its largest number")
    scores = finite_scores(scores)
    if form == "trec":
        write_run(output, queries, scores, tag or ranker.name, to=open_output)
    else:
        write_scores(output, queries.in_caller_order(scores), to=open_output)
    print_error(warnings, "warning")
    count = f"{queries.n_docs} scores of {queries.n_queries} queries"
    echo(f"{output}: {count} ({ranker.name})", err=is_stream(output))


@click.command(short_help="Write stored results as TREC files, or models as texts.")
@click.argument("dataset", required=False, shell_complete=options.datasets_with_results)
@options.algos
@options.option(
    "--as", "form", default="trec",
    type=click.Choice(["trec", "ranklib", "lightgbm", "solr", "elasticsearch"]),
    help="Runs and qrels, or models in the form of RankLib, LightGBM, Solr or Elasticsearch.",
)  # fmt: skip
@click.option(
    "--to", "folder", type=options.FOLDER, metavar="FOLDER",
    help="Folder to write to.  [default: exports/<form> in the data set's results]",
)  # fmt: skip
@click.option(
    "--model", type=options.FILE,
    help="Model of `fit`, of LightGBM, XGBoost or CatBoost, to write instead of stored ones.",
)  # fmt: skip
@click.option("--output", type=options.NEW_FILE, help="File for that model.")
@options.data_dir
@options.out
@options.plugin
def export(
    dataset: str | None, algos: tuple[str, ...], form: str, folder: Path | None,
    model: Path | None, output: Path | None, data_dir: Path, out: Path,
) -> None:  # fmt: skip
    """Write <FOLDER>/fold<k>/<algorithm>.run for every stored fold, and its qrels.txt.

    Beside a run, <algorithm>.yml says what made it, in the schema ir_metadata.

    With another --as, write the model of the fold instead: <FOLDER>/fold<k>/<algorithm>.txt, or
    .json for Solr and Elasticsearch. The model must be of stumps, of trees or, except for
    lightgbm, linear, and take raw features. With --model, write that model to --output; a data set
    beside it says how its features are called.
    """
    from letorbench.api.results import load_results
    from letorbench.files import refuse_links
    from letorbench.named_files import is_stream, open_output
    from letorbench.results.export import export as export_stored
    from letorbench.results.export import feature_names, model_text
    from letorbench.results.paths import EXPORTS
    from letorbench.results.user_files import check_output

    notes: list[str] = []
    if (model is None) != (output is None) or (model is None and dataset is None):
        raise UsageError("expected a data set with results, or --model and --output together")
    if model is not None and output is not None:
        options.refuse("--model", "algos", "folder", "out")
        if form == "trec":
            raise UsageError("--model: expected --as ranklib, lightgbm, solr or elasticsearch")
        check_output(output, [model], data_dir)
        names = feature_names(dataset, data_dir) if dataset else None
        name = "model" if is_stream(output) else output.stem
        text = model_text(model, form, name, names, notes.append)
        with open_output(output) as file:
            file.write(text)
        echo(output, err=is_stream(output))
        print_error(notes, "warning")
        return
    assert dataset is not None
    results = load_results(out, [dataset], algos)
    print_error(results.warnings, "warning")
    if folder is None:
        folder = out / options.only(results.datasets) / EXPORTS / form
        for row in results.frames[0].rows:
            for fold in row.stored:
                refuse_links(out, folder / fold.folder.name)
    try:
        for path in export_stored(results.frames[0], form, data_dir, folder, notes.append):
            echo(path)
    finally:
        print_error(notes, "warning")
