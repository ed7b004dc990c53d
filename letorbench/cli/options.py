"""Options that several commands share, and the names that a shell completes."""

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from letorbench.analysis.tables import FORMATS
from letorbench.cli.group import print_error
from letorbench.errors import UsageError
from letorbench.named_files import input_file
from letorbench.registry import load, places

Command = Callable[..., None]
FOLDER = click.Path(file_okay=False, path_type=Path)


class InputFile(click.Path):
    """A file that is there; a pipe, "-" and a compressed file are read at once."""

    def convert(self, *args: Any) -> Path:
        path: Path = Path(os.fsdecode(super().convert(*args)))
        # an archive is unpacked later; where a folder may stand, an archive may
        return path if path.is_dir() else input_file(path, unpack=not self.dir_okay)


FILE = InputFile(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
FILE_OR_FOLDER = InputFile(exists=True, allow_dash=True, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
#: how a negative number begins, and no option
_NEGATIVE = re.compile(r"-\.?\d")
#: the options of `procedure`
PROCEDURE = ("test", "correction", "alpha", "seed")


def complete(choices: Callable[[click.Context], Iterable[str]]) -> Callable:
    """Complete the last name of a comma list from the choices, in any case."""

    def completed(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, start = incomplete.rpartition(",")
        taken = {name.lower() for name in before.split(",")}
        return [
            CompletionItem(before + comma + name)
            for name in choices(ctx)
            if name.lower().startswith(start.lower()) and name.lower() not in taken
        ]

    return completed


@complete
def algorithms(ctx: click.Context) -> list[str]:
    """Every algorithm and the groups."""
    from letorbench.rankers import names

    return [*names(), "all", "baselines"]


#: every data set of the catalog
known_datasets = complete(lambda ctx: load("letorbench.datasets.catalog:CATALOG"))


@complete
def usable_datasets(ctx: click.Context) -> list[str]:
    """The data sets that a run can use."""
    from letorbench.datasets.layout import installed

    folder = Path(ctx.params.get("data_dir") or "data")
    return list(dict.fromkeys([*installed(folder), "DEMO", "all"]))


@complete
def datasets_with_results(ctx: click.Context) -> list[str]:
    """The data sets that have results."""
    from letorbench.results.paths import present

    return [*present(_out(ctx)), "all"]


@complete
def algorithms_with_results(ctx: click.Context) -> list[str]:
    """The algorithms that have results, on any data set if none is named."""
    from letorbench.results.paths import algorithms, present

    datasets = ctx.args or present(_out(ctx))  # click leaves them where an option has no value yet
    return sorted({algo for name in datasets for algo in algorithms(_out(ctx), name)})


def _out(ctx: click.Context) -> Path:
    return Path(ctx.params.get("out") or "results")


class Number(click.FloatRange):
    """A finite number in a range; NaN compares with no bound, so that a plain range takes it."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"found {value!r}, expected a finite number", param, ctx)
        return number


class TakesNumber(click.Command):
    """A command whose argument may be a negative number, which click takes for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = any(map(_NEGATIVE.match, args))
        return super().parse_args(ctx, args)


class LateChoice(click.Choice):
    """One of the names of a function, which is called when they are needed, or of the others."""

    case_sensitive = True

    def __init__(self, names: Callable[[], Iterable[str]], *others: str) -> None:
        self.names, self.others = names, others

    @property
    def choices(self) -> Sequence[str]:
        return (*self.others, *self.names())


class ConventionRules(LateChoice):
    """A convention's name, perhaps with rules that differ: letor4,empty=drop,gain=linear."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if value in self.others:
            return str(value)
        from letorbench.conventions import convention

        return convention(str(value)).name

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"{super().get_metavar(param, ctx)}[,RULE=VALUE…]"


class Null(click.ParamType):
    """The value of a NULL: keep, error, min or a number."""

    name = "keep|error|min|NUMBER"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        if value in ("keep", "error", "min"):
            return str(value)
        try:
            return Number().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"found {value!r}, expected keep, error, min or a number", param, ctx)


def option(*names: str, default: Any = None, **settings: Any) -> Callable:
    """An option that shows its default."""
    if default is not None:
        settings.update(default=default, show_default=True)
    return click.option(*names, **settings)


def several(*names: str, **settings: Any) -> Callable:
    """An option that may be repeated."""
    return click.option(*names, multiple=True, **{"metavar": "NAME…", **settings})


def flag(name: str, help: str) -> Callable:
    """An option without a value."""
    return click.option(name, is_flag=True, help=help)


def fixed(help: str) -> Callable:
    """The option --set of a command that trains."""
    return several("--set", "fixed", metavar="KEY=VALUE", help=help)


def page(name: str, help: str) -> Callable:
    """The option --out-file of a command that writes a page."""
    return option("--out-file", "--output", type=NEW_FILE, default=Path(name), help=help)


def measure(help: str, default: str = "ndcg@10") -> Callable:
    """The option --measure of a command that takes one."""
    return option("--measure", default=default, metavar="MEASURE", help=help)


def measures(help: str) -> Callable:
    """The option --measure of a command that takes several."""
    names = complete(lambda ctx: load("letorbench.measures:MEASURES"))
    return several("--measure", "measures", metavar="MEASURE…", help=help, shell_complete=names)


def given(name: str) -> bool:
    """Whether the command line has the option, so that its value is not the default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def refuse(other: str, *names: str) -> None:
    """UsageError if one of the named options is given: together with `other` it changes nothing."""
    for each in click.get_current_context().command.params:
        if each.name in names and given(each.name):
            raise UsageError(f"{other} does not go with {each.opts[0]}; drop one of them")


def refuse_but(form: str, *names: str) -> None:
    """UsageError if an option is given that changes nothing of this form of the argument."""
    others = (str(each.name) for each in click.get_current_context().command.params)
    refuse(form, *(name for name in others if name not in ("what", "form", *names)))


def only(names: Sequence[str]) -> str:
    """The one data set that is named; UsageError where a comma list or `all` names several."""
    if len(names) > 1:
        raise UsageError(f"found the data sets {', '.join(names)}, expected one")
    return names[0]


def seed_of(what: str) -> Callable:
    """The option --seed, with a command's help text."""
    return option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, metavar="N", help=what)


def convention_of(default: str, *others: str, help: str = "Measuring rules.") -> Callable:
    """The option --convention, which also takes the other words."""
    rules = ConventionRules(partial(load, "letorbench.conventions:CONVENTIONS"), *others)
    return option("--convention", default=default, type=rules, help=help)


class Format(click.Choice):
    """A format by its name, or by the ending of its files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = {"md": "markdown", "tex": "latex", "txt": "text"}.get(value, value)
        return str(super().convert(name, param, ctx))


def format_of(*forms: str, help: str) -> Callable:
    """The option --format, the first form by default."""
    return option("--format", "form", default=forms[0], type=Format(forms), help=help)


table_format = format_of(*FORMATS, help="Format of the tables.")


data_dir = option("--data-dir", type=FOLDER, default=Path("data"), help="Folder of the data sets.")
out = option("--out", "-o", type=FOLDER, default=Path("results"), help="Folder of the results.")
jobs = option(
    "--jobs", "-j", type=click.IntRange(1), default=1, metavar="N",
    help="Number of processes; the results do not depend on it.",
)  # fmt: skip
seed = seed_of("Seed of all random draws.")
repeats = click.option(
    "--repeats", type=click.IntRange(1), metavar="R",
    help="Number of seeds for algorithms that draw random numbers; others run once.  [default: 5]",
)  # fmt: skip
seconds = Number(0, min_open=True)
time_limit = click.option(
    "--time-limit", type=seconds, metavar="SECONDS",
    help="Seconds that the training of one setting may take; the tables mark what was cut off.",
)  # fmt: skip
null = option(
    "--null", type=Null(), default="keep",
    help="Value of a NULL feature; keep: missing, for trees; min: the smallest of its query.",
)  # fmt: skip
features = option(
    "--features", type=LateChoice(partial(places, "features", "name"), "auto"), default="auto",
    help="Transformation of the features; auto: what each ranker needs if they are not normalised.",
)  # fmt: skip
runs = several(
    "--run", "runs", type=FILE, metavar="FILE…",
    help="TREC run, measured by --qrels; repeat for several.",
)  # fmt: skip
folds = click.option("--folds", metavar="1-5", help="Folds, as 1-5 or 1,3.  [default: all]")
algos = several(
    "--algo", "-a", "algos", shell_complete=algorithms_with_results,
    help="Algorithms, also as comma lists; `baselines`: seven, those that have results.  "
    "[default: all]",
)  # fmt: skip
baseline = click.option(
    "--baseline", metavar="NAME", shell_complete=algorithms_with_results,
    help="Algorithm to compare the others with.",
)  # fmt: skip
by = click.option(
    "--by", metavar="length|relevant|difficulty|FILE.csv[:COLUMN]",
    shell_complete=complete(lambda ctx: ["length", "relevant", "difficulty"]),
    help="Compare in slices of the queries: by their number of documents or of relevant documents, "
    "by the algorithms' mean, or by a table of your segments of the queries.",
)  # fmt: skip


def _grades(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    from letorbench.datasets.user_data import parse_grades

    return None if text is None else parse_grades(text)


grades = click.option(
    "--grades", metavar="A,B,…|auto", callback=_grades,
    help="Make grades of other labels: 0 below A, 1 from A (A too) to below B, …; of words, from "
    "the lowest: bad,good; auto: by distinct values, at most 32.",
)  # fmt: skip


def _use_plugins(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> None:
    if paths or "LETORBENCH_PLUGINS" in os.environ:
        from letorbench.rankers import plugins

        plugins.load_all()
        for path in paths:
            plugins.load_file(path.resolve())


plugin = click.option(
    "--plugin", type=FILE, multiple=True, is_eager=True, expose_value=False,
    callback=_use_plugins, metavar="FILE",
    help="Python file with your own rankers, measures or losses; repeat for several.",
)  # fmt: skip


def applied(command: Command, *options: Callable) -> Command:
    """The command with these options, in their order in its help."""
    for each in reversed(options):
        command = each(command)
    return command


def table_columns(command: Command) -> Command:
    """Give a command the options for the columns of a table, as `columns`."""

    @wraps(command)
    def call(
        label: str, qid: str, docid: str | None, weight: str | None, columns: str | None,
        categories: str | None, one_hot: str | None, **options: Any,
    ) -> None:  # fmt: skip
        from letorbench.datasets.user_data.tables import Columns, read_categories

        def listed(text: str | None) -> list[str]:
            return [name.strip() for name in text.split(",")] if text else []

        chosen, hot, named = listed(columns) or None, listed(one_hot), listed(categories)
        files = [name for name in named if name.lower().endswith(".csv")]
        words: dict[str, Any] = dict.fromkeys([*hot, *(n for n in named if n not in files)])
        for file in files:
            words |= read_categories(Path(file))
        chosen_columns = Columns(
            label, qid, docid, chosen, weight, words, hot, [*map(Path, files)]
        )  # fmt: skip
        command(columns=chosen_columns, **options)

    return applied(
        call,
        option("--label", default="label", metavar="COLUMN", help="Column of labels in a table."),
        option("--qid", default="qid", metavar="COLUMN", help="Column of queries in a table."),
        click.option("--weight", metavar="COLUMN", help="Column of query weights in a table."),
        click.option(
            "--docid", metavar="COLUMN",
            help="Column of document names in a table.  [default: docid, if any]",
        ),
        click.option(
            "--columns", metavar="A,B,…",
            help="Columns of features in a table.  [default: all others]",
        ),
        click.option(
            "--categories", metavar="A,B,…|FILE",
            help="Columns of words, which get numbers from 0; or the categories.csv of a data set.",
        ),
        click.option(
            "--one-hot", metavar="A,B,…", help="Columns of words, each word a feature of 0 and 1."
        ),
    )  # fmt: skip


def procedure(command: Command) -> Command:
    """Give a command the options for testing differences, as `procedure`."""

    @wraps(command)
    def call(test: str, correction: str, alpha: float, seed: int, **options: Any) -> None:
        from letorbench.analysis.comparison import Procedure

        command(procedure=Procedure(test, correction, alpha, seed), **options)

    return applied(
        call,
        option(
            "--test", type=LateChoice(partial(load, "letorbench.analysis.paired:TESTS")),
            default="randomization", help="Paired test of the per-query values.",
        ),
        option(
            "--correction", default="holm",
            type=LateChoice(partial(load, "letorbench.analysis.comparison:CORRECTION_NAMES")),
            help="Correction for several comparisons by one measure.",
        ),
        option(
            "--alpha", type=Number(0, 1, min_open=True, max_open=True), default=0.05,
            help="Level of significance.",
        ),
        seed_of("Seed of the random draws of tests and intervals."),
    )  # fmt: skip


def stored(command: Command) -> Command:
    """Give a command the stored results that its options choose, as `results`."""

    @wraps(command)
    def call(
        datasets: Sequence[str], algos: Sequence[str], data_dir: Path, out: Path, **options: Any
    ) -> None:
        from letorbench.api.results import load_results

        if options.get("runs"):  # which are measured instead
            if datasets or algos:
                raise UsageError("--run does not go with data sets and --algo; drop one of them")
            return command(results=None, **options)
        results = load_results(out, datasets, algos, data_dir, options.get("baseline"))
        print_error(results.warnings, "warning")
        command(results=results, **options)

    return applied(
        call,
        click.argument(
            "datasets", nargs=-1, metavar="[DATASET…]", shell_complete=datasets_with_results
        ),
        algos,
        data_dir,
        out,
        plugin,
    )  # fmt: skip
