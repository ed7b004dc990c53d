"""Rankers of other packages, found by their entry points."""

import sys
from pathlib import Path

import pytest
from conftest import call, printed, refused
from toy_data import write_toy

from letorbench.checksum import digest
from letorbench.errors import UsageError, WriteError
from letorbench.rankers import Ranker, plugins
from letorbench.rankers.plugins import GROUP

EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"


def package(folder: Path, value: str) -> None:
    """What an installed package is to Python: a module, and metadata beside it."""
    (folder / "their_package.py").write_text(EXAMPLE.read_text())
    info = folder / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ncentroid = {value}\n")


def test_an_entry_point_is_found_and_a_broken_one_named(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package(tmp_path, "their_package")

    def forget() -> None:
        monkeypatch.setattr(plugins, "FOUND", {})
        plugins._load_packages.cache_clear()
        sys.modules.pop("their_package", None)

    forget()
    assert "centroid " in printed("algos")
    forget()
    entry_points = tmp_path / "their_package-1.0.dist-info" / "entry_points.txt"
    entry_points.write_text(f"[{GROUP}]\ncentroid = their_package:Nothing\n")
    assert "centroid = their_package:Nothing: AttributeError" in refused(2, "algos")
    forget()
    (tmp_path / "their_package.py").write_text("import sys; sys.exit()")
    assert "SystemExit" in refused(2, "algos")
    forget()


READ_ONLY = "ValueError: %s is read-only; all rankers share the data: change a copy, as of X.copy()"
#: what the code of a plug-in does, and what is said of it beside its file and line
FAILURES = {
    "nothing": ("return", "TypeError: learn returned nothing, expected a FitResult"),
    "name": ("undefined", "NameError: name 'undefined' is not defined"),
    "import": ("import nowhere_there", "ModuleNotFoundError: No module named 'nowhere_there'"),
    "exit": ("sys.exit(4)", "SystemExit: 4"),
    "features": ("X = train.features; X -= X.mean(axis=0)", READ_ONLY % "output array"),
    "labels": ("train.labels[:] = 0", READ_ONLY % "assignment destination"),
    "width": ("return FitResult(Linear(np.zeros(3)))", "found 4 features, expected 3, which"),
    "shape": (
        "return FitResult(Odd(np.zeros(4)))",
        "odd model: found scores of shape (56, 2), exp",
    ),
}
PLUGIN = '''
import sys
from dataclasses import dataclass

import numpy as np

from letorbench.models import Linear
from letorbench.rankers import FitResult, Ranker


class Odd(Linear):
    kind = "odd"

    def _score(self, features):
        return np.zeros((len(features), 2))


class Failing(Ranker):
    """Fails."""
    title = paper = formula = "none"

'''


def test_a_plugin_that_fails_in_any_way_fails_alone(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(plugins, "FOUND", {})
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
    for line, (name, (_, said)) in zip(lines, FAILURES.items()):
        assert line.startswith(f"letorbench: error: TOY, {name}, fold 1, 2: {said}")
        assert line.endswith(f"({tmp_path / 'failing.py'}:{places[name]})")
    assert len(list((tmp_path / "results/TOY/regression").glob("fold*/fit.json"))) == 2


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), UsageError("x"), WriteError("x", OSError(28, "full"))]
)
def test_what_is_not_a_plugins_fault_is_not_said_to_be(error: BaseException) -> None:
    own = type("Own", (Ranker,), {"learn": lambda *_: None, "__module__": __name__})
    with pytest.raises(type(error)) as caught, plugins.blamed(own):
        raise error
    assert caught.value is error


def made(name: str = "a", base: str = "Failing", more: str = "grid = {}", learn: str = "learn"):
    """The text of a ranker's class."""
    text = f"@dataclass\nclass A({base}):\n    name = {name!r}\n    {more}\n"
    return text + f"    def {learn}(self, train, validation, rng): ...\n"


#: what is said of a plug-in file after its path, and what it says after the examples' beginning
BROKEN = {
    ": ranker 'a' is not a dataclass, expected @dataclass above it": made().partition("\n")[2],
    ": ranker 'x/../y': expected letters, digits and . _ + @ - as its name": made("x/../y"),
    ": ranker 'a' does not define learn(train, validation, rng)": made(learn="learns"),
    ": ranker 'a': its grid names 'k', which is not a field": made(more="grid = {'k': (1, 2)}"),
    ": two rankers are named 'listnet', in letorbench.rankers.listnet:ListNet and "
    "letorbench_plugin_broken; rename one": made("listnet"),
    ": found no ranker, measure or loss, expected a subclass of Ranker with a name, a model with "
    "fit and predict, or a function": "",
    ": NameError: name 'undefined' is not defined": "undefined",
    ":23: SyntaxError: '(' was never closed (broken.py, line 23)": "x = (",
}


@pytest.mark.parametrize("said", BROKEN)
def test_what_is_wrong_with_a_plugin_file_is_one_line(said: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(f"{PLUGIN}\n{BROKEN[said]}\n")
    with pytest.raises(UsageError) as error:
        plugins.use(file)
    assert str(error.value) == f"{file}{said}" and not plugins.FOUND
    sys.modules.pop("letorbench_plugin_broken", None)


def test_a_file_of_another_kind_and_two_of_one_name_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(plugins, "FOUND", {})
    for name in ("notes.txt", "mine.py", "other/mine.py", "third.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PLUGIN + made("same"))
    plugins.use(tmp_path / "mine.py")
    assert plugins.files() == (tmp_path / "mine.py",) and list(plugins.load_all()) == ["same"]
    both = "letorbench_plugin_mine and letorbench_plugin_third"
    for name, said in (
        ("notes.txt", "ImportError: found no name that ends in .py, expected a Python file"),
        ("other/mine.py", "ImportError: another plug-in file is called mine.py, expected different "
         "names"),
        ("third.py", f"two rankers are named 'same', in {both}; rename one"),
    ):  # fmt: skip
        with pytest.raises(UsageError) as error:
            plugins.use(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name}: {said}"
    sys.modules.pop("letorbench_plugin_mine")


def test_a_worker_has_the_newest_form_of_a_plug_in_file(tmp_path: Path, monkeypatch) -> None:
    """Also where it has no such file, has an older one, and where a form comes again."""
    monkeypatch.setattr(plugins, "FOUND", {})
    path = tmp_path / "forms.py"
    begin = "from dataclasses import dataclass\nfrom letorbench.rankers import Ranker\n"
    for number, name in enumerate(["one", "two", "two", "one"]):
        text = begin + made(name, "Ranker") + f"helper_{number} = 1\n" * (number > 0)
        if number == 2:
            path.write_text(begin + made("another", "Ranker"))
        plugins.receive(plugins.Brought({path: text.encode()}, {}))
        assert [*plugins.FOUND] == [name] and len(plugins.files()) == 1
        module = sys.modules["letorbench_plugin_forms"]
        assert plugins.FOUND[name].__module__ == module.__name__
        assert module.__digest__ == digest(text.encode())
        assert hasattr(module, f"helper_{number}") == (number > 0)
    del sys.modules["letorbench_plugin_forms"]
