"""Plug-ins: packages with entry points and files, what fails in them, and worker processes."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import call, forget_user_code, printed, random_queries, refused
from toy_data import write_toy

from letorbench.errors import UsageError, WriteError
from letorbench.files import digest
from letorbench.models import Linear
from letorbench.rankers import FitResult, Ranker, plugins

EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"


def test_an_entry_point_is_found_and_a_broken_one_named(tmp_path, monkeypatch):
    """A package is a module, and metadata beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    for text, value, shown in (
        (EXAMPLE.read_text(), "their_package", "centroid "),
        (EXAMPLE.read_text(), "their_package:Nothing", "their_package:Nothing: AttributeError"),
        ("import sys; sys.exit()", "their_package", "SystemExit"),
    ):
        (tmp_path / "their_package.py").write_text(text)
        (info / "entry_points.txt").write_text(f"[{plugins.GROUP}]\ncentroid = {value}\n")
        forget_user_code(monkeypatch)
        plugins._load_packages.cache_clear()
        sys.modules.pop("their_package", None)
        sys.path_importer_cache.clear()
        assert shown in (printed("algos") if shown == "centroid " else refused(2, "algos"))
    plugins._load_packages.cache_clear()
    sys.modules.pop("their_package", None)


READ_ONLY = "is read-only; all rankers share the data: change a copy, as of X.copy()"
#: what the code of a plug-in does, and what its error must name beside file and line
FAILURES = {
    "nothing": ("return", "TypeError: learn returned nothing"),
    "name": ("undefined", "NameError: name 'undefined'"),
    "import": ("import nowhere_there", "ModuleNotFoundError: No module named 'nowhere_there'"),
    "exit": ("sys.exit(4)", "SystemExit: 4"),
    "features": ("X = train.features; X -= X.mean(axis=0)", READ_ONLY),
    "labels": ("train.labels[:] = 0", READ_ONLY),
    "width": ("return FitResult(Linear(np.zeros(3)))", "found 4 features, expected 3"),
    "shape": ("return FitResult(Odd(np.zeros(4)))", "odd model: found scores of shape (56, 2)"),
}
PLUGIN = '''
import sys
from dataclasses import dataclass

import numpy as np

from letorbench.models import Linear
from letorbench.rankers import FitResult, ListNet, Ranker


class Odd(Linear):
    kind = "odd"

    def _score(self, features):
        return np.zeros((len(features), 2))


class Failing(Ranker):
    """Fails."""
    title = paper = formula = "none"

'''


@pytest.mark.usefixtures("no_figures")
def test_a_plugin_that_fails_in_any_way_fails_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    text, places = PLUGIN, {}
    for name, (does, _) in FAILURES.items():
        text += f"@dataclass\nclass {name.title()}(Failing):\n    name = {name!r}\n"
        text += f"    def learn(self, train, validation, rng):\n        {does}\n"
        # where no line of the file was at work, that of `learn`
        places[name] = text.count("\n") - (name in ("nothing", "width", "shape"))
    (tmp_path / "failing.py").write_text(text)
    words = ["run", "--dataset", "TOY", "--folds", "1,2", "--plugin", "failing.py"]
    done = call(*words, "--algo", ",".join([*FAILURES, "regression"]))
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    assert done.exit_code == 1 and len(lines) == len(FAILURES), done.stderr
    for line, (name, (_, noun)) in zip(lines, FAILURES.items()):
        assert line.startswith(f"letorbench: error: TOY, {name}, fold 1, 2: ") and noun in line
        assert line.endswith(f"({tmp_path / 'failing.py'}:{places[name]})")
    assert len(list((tmp_path / "results/TOY/regression").glob("fold*/fit.json"))) == 2


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), UsageError("x"), WriteError("x", OSError(28, "full"))]
)
def test_a_plugin_is_not_blamed_for_what_is_not_its_fault(error):
    own = type("Own", (Ranker,), {"learn": lambda *_: None, "__module__": __name__})
    with pytest.raises(type(error)) as caught, plugins.blamed(own):
        raise error
    assert caught.value is error


@pytest.mark.parametrize("use", ["random", "spawn", ""])
@pytest.mark.parametrize("declared", [{}, {"draws": True}, {"draws": False}])
def test_a_ranker_that_draws_must_say_so(use, declared):
    def learn(self, train, validation, rng):
        if use:
            getattr(rng, use)(1)
        return FitResult(Linear(np.arange(train.n_features)))

    cls = dataclass(type("Own", (Ranker,), {"learn": learn, "name": "own", **declared}))
    fitted = cls().fit_sets(random_queries(np.random.default_rng(0), [4]))
    said = [each.text for each in fitted.learned.warnings if "draws = True" in each.text]
    assert len(said) == bool(use and not declared)


def made(name: str = "a", base: str = "Failing", more: str = "grid = {}", learn: str = "learn"):
    """The text of a ranker's class."""
    text = f"@dataclass\nclass A({base}):\n    name = {name!r}\n    {more}\n"
    return text + f"    def {learn}(self, train, validation, rng): ...\n"


#: a plug-in file, what its text is, and what the error must name beside the path
BROKEN = [
    ("a.py", made().partition("\n")[2], "ranker 'a'", "@dataclass"),
    ("b.py", made("x/../y"), "ranker 'x/../y'", "letters, digits"),
    ("c.py", made(learn="learns"), "ranker 'a'", "learn(train, validation, rng)"),
    ("d.py", made(more="grid = {'k': (1, 2)}"), "its grid names 'k'", "not a field"),
    ("e.py", made("listnet"), "two rankers are named 'listnet'", "letorbench_plugin_e"),
    ("f.py", made("same"), "letorbench_plugin_mine", "letorbench_plugin_f"),
    ("g.py", "", "found no ranker", "a model with fit and predict"),
    ("h.py", "undefined", "NameError", "'undefined'"),
    ("i.py", "x = (", ":23: SyntaxError", "never closed"),
    ("notes.txt", "", "ImportError", "ends in .py"),
    ("other/mine.py", "", "ImportError", "another plug-in file is called mine.py"),
]


def test_a_wrong_plugin_file_is_one_line(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(PLUGIN + made("same"))
    plugins.load_file(mine)
    (tmp_path / "other").mkdir()
    for name, text, first, second in BROKEN:
        (tmp_path / name).write_text(f"{PLUGIN}\n{text}\n")
        with pytest.raises(UsageError) as error:
            plugins.load_file(tmp_path / name)
        line = str(error.value)
        assert line.startswith(f"{tmp_path / name}:") and "\n" not in line
        assert first in line and second in line, line
        assert plugins.files() == (mine,) and list(plugins.load_all()) == ["same"]
    assert not {"letorbench_plugin_h", "letorbench_plugin_i"} & {*sys.modules}  # half run


def test_a_worker_has_the_newest_form_of_a_plug_in_file(tmp_path):
    path = tmp_path / "forms.py"
    begin = "from dataclasses import dataclass\nfrom letorbench.rankers import Ranker\n"
    for number, name in enumerate(["one", "two", "two", "one"]):
        text = begin + made(name, "Ranker") + f"helper_{number} = 1\n" * (number > 0)
        if number == 2:
            path.write_text(begin + made("another", "Ranker"))
        plugins.load_user_code(plugins.UserCode({path: text.encode()}, {}))
        assert [*plugins.RANKERS] == [name] and len(plugins.files()) == 1
        module = sys.modules["letorbench_plugin_forms"]
        assert plugins.RANKERS[name].__module__ == module.__name__
        assert module.__digest__ == digest(text.encode())
        assert hasattr(module, f"helper_{number}") == (number > 0)
