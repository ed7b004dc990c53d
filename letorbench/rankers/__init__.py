"""The published algorithms, one file each.

A class with a ``name`` in this folder is registered by being there: a new ranker is a new file.
`letorbench.rankers.plugins` loads rankers of other packages and files.
"""

# imports are inside functions so that completing names in a shell is fast

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from letorbench import registry

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker as Ranker
    from letorbench.solvers.fit_result import FitResult as FitResult
    from letorbench.solvers.stopping import Validation as Validation

#: how the libraries' model files begin, and the rankers that read them
LIBRARY_FILES = {
    rb"tree": "lightgbm", rb'\{\s*"(?!learner|version)': "catboost", rb"\{": "xgboost",
}  # fmt: skip

#: how other model files begin, what they are, and what is read instead
OTHER_FILES = {
    rb"## ": ("a model of RankLib", "a file of scores, which `external` takes"),
    rb"CBM1": ("a binary model of CatBoost", "the JSON of save_model('m.json', format='json')"),
    rb"booster\[0\]:": ("a text of XGBoost's dump_model", "the JSON of save_model('m.json')"),
    rb'\[\s*\{\s*"(nodeid|leaf)"': (
        "JSON of XGBoost's dump_model",
        "the JSON of save_model('m.json')",
    ),
    rb'\{\s*"(name|average_output)"': (
        "JSON of LightGBM's dump_model",
        "the text of save_model('m.txt')",
    ),
}


def places() -> dict[str, str]:
    """Return where the package's own rankers are: ``{"listnet": "…listnet:ListNet"}``."""
    return registry.places("rankers", "name")


__getattr__, __dir__ = registry.attach(
    __name__, {**registry.by_class("rankers", "name"), **registry.imports_of(__file__)}
)


def names() -> list[str]:
    """Return the sorted names of all rankers, those of plug-ins included."""
    from letorbench.rankers import plugins

    return sorted({*places(), *plugins.load_all()})


def ranker(name: str) -> type[Ranker]:
    """Return the ranker class of that name; UsageError suggests the nearest name."""
    if name in places():
        return registry.load(places()[name])
    from letorbench.choices import resolve_name
    from letorbench.rankers import plugins

    others = plugins.load_all()
    known = resolve_name(name, sorted({*places(), *others}), "algorithm")
    return registry.load(places()[known]) if known in places() else others[known]


def load_model(path: str | Path) -> Ranker:
    """Read a fitted ranker that `Ranker.save` or a run wrote, or a model of a tree library.

    Parameters
    ----------
    path : path-like
        A ``model.npz``, the text that LightGBM's ``save_model`` writes, or the JSON of XGBoost or
        CatBoost.

    Returns
    -------
    Ranker
        Ready to predict.

    Raises
    ------
    DataError
        The file is not a saved model, or its ranker is unknown.
    UsageError
        The ranker needs a package that is not installed, or a later version wrote the file in a
        format that this one cannot read.
    """
    from letorbench.datasets.arrays import column_names
    from letorbench.errors import DataError
    from letorbench.features import stored
    from letorbench.models.base import load
    from letorbench.named_files import input_file
    from letorbench.solvers.fit_result import FitResult

    path = input_file(path)
    with suppress(OSError), path.open("rb") as file:
        start = file.read(100)
        for begin, (found, expected) in OTHER_FILES.items():
            if re.match(begin, start):
                raise DataError(f"{path}: found {found}, expected {expected}")
        for begin, library in LIBRARY_FILES.items():
            if re.match(begin, start):
                return cast(Any, ranker(library)).of_file(path)
    model, facts = load(path)
    name = facts.get("ranker")
    if name not in names():
        raise DataError(
            f"{path}: found ranker {name!r}, expected a known one; "
            "a plug-in's model needs its --plugin"
        )
    fitted = ranker(name)()
    fitted.require()
    try:
        fitted.set_params(**facts.get("settings") or {})
        fitted.__post_init__()
        fitted.transformation_ = stored(facts.get("transformation"), model.n_features)
        fitted.feature_names_in_ = column_names(None, facts.get("names"), model.n_features)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"{path}: found settings that {name} does not take: {error}") from None
    fitted.learned = FitResult(model)
    fitted.n_features_in_ = model.n_features
    return fitted
