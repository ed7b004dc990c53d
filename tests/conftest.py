"""What every test may use: small random query sets, and the real data where it is at hand."""

import gc
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import IO

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from matplotlib.ticker import FixedLocator
from threadpoolctl import threadpool_limits

from letorbench import parameters, registry
from letorbench.cli import cli
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import Loss, families
from letorbench.rankers import Ranker, names, plugins, ranker

#: the examples are run by the tests that use them, and collecting them would register them; the
#: mutants need packages of their own
collect_ignore_glob = ["examples/*", "tools/[!t]*"]

SHARED = Path(__file__).resolve().parents[2] / "shared"


def every_loss() -> list[Loss]:
    """The losses of all families, with every choice of their parameters but `ties`."""
    every = []
    for family in families().values():
        lists = {key: values for key, values in parameters.choices(family).items() if key != "ties"}
        settings = (dict(zip(lists, values)) for values in product(*lists.values()))
        every += [family(**each) for each in settings]
    return every


def random_queries(
    rng: np.random.Generator, lengths: list[int], n_features: int = 5, levels: int = 3
) -> QuerySet:
    """Queries of the given lengths with normal features and uniform labels 0..levels - 1."""
    n_docs = sum(lengths)
    return QuerySet(
        rng.normal(size=(n_docs, n_features)).astype(np.float32),
        rng.integers(0, levels, n_docs).astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.arange(1, len(lengths) + 1, dtype=np.int64),
    )


def odd_queries(rng: np.random.Generator, lengths: list[int], levels: int, no: int) -> QuerySet:
    """Random queries, the one at 3 with one label only, the one at `no` with nothing relevant."""
    queries = random_queries(rng, lengths, levels=levels)
    with unlocked(queries):
        queries.labels[1] = levels - 1
        queries.labels[queries.offsets[3] : queries.offsets[4]] = 2
        queries.labels[queries.offsets[no] : queries.offsets[no + 1]] = 0
    return queries


def slopes(values: Callable[[np.ndarray], np.ndarray], at: np.ndarray, width: float) -> np.ndarray:
    """Return the central finite differences of the sum of a function's values."""
    steps = width * np.eye(len(at))
    return np.array([(values(at + h) - values(at - h)).sum() for h in steps]) / (2.0 * width)


def call(*words: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, list(words))


def printed(*words: str) -> str:
    """Return what a command prints that ends well."""
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(status: int, *words: str) -> str:
    """Return the one line of a command that ends with this status and prints nothing else."""
    result = call(*words)
    assert result.exit_code == status and result.stdout == "", result.output
    assert re.fullmatch(r"letorbench: error: .+\n", result.stderr), result.stderr
    return result.stderr


def parts_of(path: Path) -> dict[str, str]:
    """Return the parts of a file of kept texts: each begins with a line `$ its name`."""
    text = path.read_text(encoding="utf-8")
    return dict(re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE))


NUMBER = re.compile(r"-?\b\d[\d.]*(?:e[+-]\d+)?")


#: a number as it is printed, with the marks of the best and of significance behind it
MARKED = re.compile(r"[-+±]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?[*+↑↓]*")


def numbers(text: str) -> str:
    """Return the numbers of a text alone, in lines: words may change, numbers may not."""
    return "".join(f"{line}\n" for line in textwrap.wrap(" ".join(MARKED.findall(text)), 100))


def same(path: Path, kept: str, found: str, rtol: float = 0.0) -> None:
    """Check that a kept text, a part of a file, is what is found; `make renew` puts that there.

    Its numbers may differ by `rtol` of themselves, and its lines: other processors round otherwise.
    """
    if rtol and NUMBER.sub("", kept).split() == NUMBER.sub("", found).split():
        numbers = [np.array(NUMBER.findall(text), float) for text in (found, kept)]
        if np.allclose(*numbers, rtol=rtol, atol=rtol / 100):
            return
    if kept != found and "RENEW" in os.environ:
        path.write_text(path.read_text(encoding="utf-8").replace(kept, found), encoding="utf-8")
    else:
        assert found == kept, f"other than {path}"


def commands(group: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and subcommand, with the words that call it."""
    yield path, group
    for name, below in getattr(group, "commands", {}).items():
        yield from commands(below, *path, name)


def places(folder: Path) -> list[str]:
    """Return the options for the data and the results of a folder."""
    return ["--data-dir", str(folder / "data"), "--out", str(folder / "results")]


@cache
def learners() -> dict[str, str]:
    """Return the first ranker of its module that learns as a ranker does, by the ranker's name.

    Rankers that learn alike differ in their losses.
    """
    first: dict[object, str] = {}
    # one that defines `learn` stands before its presets
    every = sorted(map(ranker, names()), key=lambda cls: "learn" not in vars(cls))
    keys = {cls.name: (cls.__module__, cls.learn, cls.needs) for cls in every}
    return {name: first.setdefault(key, name) for name, key in keys.items()}


def few_rounds(cls: type[Ranker]) -> dict[str, object]:
    """Return the settings by which a ranker's training takes three rounds, steps or parts."""
    if cls.name == "best":
        return {"members": "listnet+rankboost", "trials": 1}
    parts = ("rounds", "epochs", "iterations", "trees", "planes", "bags")
    return {each.name: 3 for each in fields(cls) if each.name in parts}


@contextmanager
def unlocked(*sets: QuerySet) -> Iterator[None]:
    """Let a test write into the arrays of sets that it made, and lock them again."""
    arrays = [array for each in sets for array in (each.features, each.labels)]
    for array in arrays:
        array.flags.writeable = True
    yield
    for array in arrays:
        array.flags.writeable = False


def forget_user_code(patch: pytest.MonkeyPatch) -> None:
    """Let the process know no plug-in, measure or loss of a user, as it begins."""
    patch.setattr(plugins, "RANKERS", {})
    patch.setattr(registry, "USER_DEFINED", {})
    plugins.load_file.cache_clear()
    for name in [name for name in sys.modules if name.startswith(plugins.PREFIX)]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def no_user_code() -> Iterator[None]:
    """No test knows the plug-ins, measures and losses of another one."""
    with pytest.MonkeyPatch.context() as patch:
        forget_user_code(patch)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20090101)


@pytest.fixture
def no_figures(monkeypatch):
    """Let `run` draw nothing, which takes longer than the run of a toy set."""
    monkeypatch.setattr("letorbench.cli.run.write_figures", lambda results: None)


def _words(figure: Figure, file: IO[bytes], **options: object) -> None:
    """Write a figure's words, numbers and looks, a line each, which takes no time to draw."""
    size = figure.get_size_inches().round(2).tolist()
    said = [f"{options['format']} {size} {options['dpi']} dots an inch"]
    for axes in figure.axes:
        said += [f"{name} {axes.properties()[name]!r}" for name in ("title", "xlabel", "ylabel")]
        fonts = [axes.title, axes.xaxis.label, *axes.get_xticklabels()[:1], *axes.texts[:1]]
        said += [f"fonts {[text.get_fontsize() for text in fonts]}"]
        for axis in (axes.xaxis, axes.yaxis):
            fixed = isinstance(axis.get_major_locator(), FixedLocator)
            ticks = [text.get_text() for text in axis.get_ticklabels()] if fixed else []
            if fixed or axis.get_scale() != "linear":
                between = type(axis.get_minor_formatter()).__name__
                said += [f"{axis.axis_name} {axis.get_scale()} {ticks} {between}"]
        if not axes.get_autoscaley_on():
            said += [f"limits {np.array([axes.get_xlim(), axes.get_ylim()]).tolist()}"]
        for text in axes.texts:
            of = f"{text.get_ha()} of {np.round(getattr(text, 'xy', ()), 6).tolist()}"
            said += [f"text {text.get_text()} {text.get_position()} {of}"]
        for line in axes.lines:
            looks = line.get_color(), line.get_marker(), line.get_markevery(), line.is_dashed()
            said += [f"line {line.get_label()} {looks} {line.get_xydata().tolist()}"]
        for bar in axes.patches:
            ends = bar.get_data()[0].tolist() if isinstance(bar, StepPatch) else bar.get_bbox()
            said += [f"bar {to_hex(bar.get_facecolor())} {bar.get_hatch() or 'plain'} {ends}"]
        for band in axes.collections:
            points = {tuple(at) for path in band.get_paths() for at in path.vertices.tolist()}
            colours = [f"{to_hex(each)} {each[3]:g} " for each in band.get_facecolor()]
            said += [f"band {''.join(colours)}{sorted(points)}"]
    for legend in [*filter(None, (axes.get_legend() for axes in figure.axes)), *figure.legends]:
        keys = [text.get_text() for text in legend.texts]
        size = legend.texts[0].get_fontsize()
        said += [f"legend {keys} {legend.get_title().get_text()!r} {size}"]
    file.write("".join(f"{each}\n" for each in said).encode())


@contextmanager
def drawing(save: Callable = Figure.savefig) -> Iterator[None]:
    """Let figures be drawn, where it is their drawing that a test is about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", save)
        yield


@pytest.fixture(scope="session", autouse=True)
def figures_of_words() -> Iterator[None]:
    """Let the file of a figure hold its words and numbers; `drawing` is for the others."""
    with drawing(_words):
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and official output beside the repository, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder with the real data beside this repository")
    return SHARED


class Skips:
    """Keeps the tests that a run skips: `--skipped` runs these where more packages are there."""

    KEY = "letorbench/skipped"

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.ids = config, set[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            self.ids.add(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.config.option.skipped:
            before = set(self.config.cache.get(self.KEY, []))
            items[:] = [
                each for each in items if before & {each.nodeid, each.nodeid.split("::")[0]}
            ]

    def pytest_sessionfinish(self) -> None:
        if not self.config.option.skipped and "PYTEST_XDIST_WORKER" not in os.environ:
            self.config.cache.set(self.KEY, sorted(self.ids))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped", action="store_true", help="run what the last run skipped")


def pytest_configure(config: pytest.Config) -> None:
    """Let a test process beside others use one thread, except where a test asks for more."""
    if config.pluginmanager.has_plugin("cacheprovider"):
        config.pluginmanager.register(Skips(config))
    gc.disable()  # imports leave nothing to collect, and looking for it takes a third of their time
    if "PYTEST_XDIST_WORKER" in os.environ:
        for variable in ("LETORBENCH_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(variable, "1")
        threadpool_limits(1)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning of a long text; pytest has a number for those of 100 letters."""
    return val.partition("\n")[0][:90] if isinstance(val, str) and len(val) > 90 else None


def pytest_collection_finish() -> None:
    """Collect garbage again, seldom, and look at nothing that stays to the end."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()
