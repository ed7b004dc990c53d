"""A model to use: chosen over the folds of a data set, then trained on all its queries."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.analysis.paired import MeanDifference
from letorbench.api.measuring import Asked
from letorbench.api.results import Results
from letorbench.api.running import closing_lines, datasets_of, exit_status, first_failure
from letorbench.datasets.folds import joined
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import UsageError
from letorbench.experiment.backends import Processes
from letorbench.experiment.job import seed_of
from letorbench.experiment.plan import Algorithm, Protocol, benchmark_of, systems_of
from letorbench.experiment.run import run_systems
from letorbench.measures import measure_names, parse
from letorbench.rankers.any_model import Fitted
from letorbench.rankers.base import Ranker
from letorbench.rankers.estimator import FEATURES
from letorbench.rankers.tuning import bounded
from letorbench.results.paths import FoldKey
from letorbench.results.store import StoredFold


@dataclass(frozen=True, eq=False)
class FinalModel:
    """A ranker that learned from all queries of a data set, and what its folds promise of it.

    Parameters
    ----------
    ranker : Ranker
        The fitted ranker; it takes raw features.
    settings : dict
        Its hyper-parameters that the folds' validation parts chose, and those that were fixed.
    measure : str
        The measure of the promise.
    value : float
        Its mean over the test queries of all folds, whose models learned from fewer queries.
    interval : tuple of float
        The 95 % interval of that mean over queries like these, and over seeds.
    n_queries : int
        How many queries it learned from.
    results : Results
        Those of the folds.
    warnings : tuple of str
        What the runs had to say.
    """

    ranker: Ranker
    settings: Mapping[str, Any]
    measure: str
    value: float
    interval: tuple[float, float]
    n_queries: int
    results: Results
    warnings: tuple[str, ...] = ()

    def predict(self, X: Any) -> np.ndarray:
        """Return the ranker's scores (n_docs,) of documents, or of a QuerySet."""
        return self.ranker.predict(X)

    def save(self, path: str | Path) -> None:
        """Write the model for `lb.load_model`, `rank` and `export`.

        An estimator of LightGBM, XGBoost or CatBoost is written as its library's text, another
        one by its own `save`; UsageError says that it has neither.
        """
        model: Any = self.ranker.learned.model
        if not isinstance(model, Fitted):
            self.ranker.save(path)
        elif model.saves:
            model.saves(str(path))
        else:
            raise UsageError(f"{path}: {type(model.model).__name__} has no text and no save")


def fit(
    data: str | Benchmark,
    algo: Algorithm,
    *,
    out: str | Path = "results",
    data_dir: str | Path = "data",
    jobs: int = 1,
    fixed: Iterable[str] = (),
    measure: Asked = "ndcg@10",
    **options: Any,
) -> FinalModel:
    """Choose settings and rounds over the folds, then train on all queries.

    Of the settings that every fold tried, those of the highest mean validation measure are used.
    The number of rounds is the median of the folds' numbers.

    Parameters
    ----------
    data : str or Benchmark
        A data set of folds.
    algo : str, class or instance
        One algorithm, as in `run`; a label also says what differs from the defaults of a run:
        ``"ndcgboost[select=map,seed=1]"``.
    out, data_dir, jobs, fixed
        As in `run`. The folds' results are stored in `out`; stored ones are not run again.
    measure : str, Measure or function
        The measure that the test parts promise.
    **options
        seed, convention, null, features, time_limit, repeats as in `run`.

    Returns
    -------
    FinalModel
        The ranker with its settings, and the results of the folds.

    Raises
    ------
    UsageError
        A name or a value does not exist, or several data sets or algorithms are named.
    DataError
        A data set cannot be read, or a fold could not be finished.
    """
    protocol = Protocol(data_dir=Path(data_dir), out=Path(out), **options)
    datasets, systems = datasets_of(data, protocol.data_dir), systems_of(algo, fixed)
    names = [str(parse(each)) for each in measure_names(measure)]
    counts = {"data sets": len(datasets), "algorithms": len(systems), "measures": len(names)}
    for what, n in counts.items():
        if n != 1:
            raise UsageError(f"found {n} {what}, expected one")
    [dataset], [system], [name] = datasets, systems, names
    report = run_systems([dataset], [system], None, protocol, Processes(jobs))
    if exit_status(report):
        raise first_failure(report)
    key = report.runs[0].key
    results = Results(protocol.out, report.frames).only([key.dataset], [key.algo])
    [row] = results.frames[0].measured([name]).rows
    cls, changed = system.ranker, protocol.changed(system.run)
    settings = _chosen(row.stored, cls)
    whole = joined(benchmark_of(dataset, changed).parts)
    seed = seed_of(FoldKey(key.dataset, key.algo, 1, 0), cls.name, changed.seed)
    ranker = cls(**settings, **{FEATURES: row.features}).fit_sets(
        whole, None, np.random.default_rng(seed), changed.time_limit
    )
    mean = MeanDifference.of_queries(row.queries, name)
    warnings = [*report.notes, *closing_lines(report.runs)]
    warnings += [each.text for each in ranker.learned.warnings]
    promise = name, mean.mean, mean.interval()
    return FinalModel(ranker, settings, *promise, whole.n_queries, results, tuple(warnings))


def _chosen(folds: Sequence[StoredFold], cls: type[Ranker]) -> dict[str, Any]:
    """Return the settings of the highest mean on validation, with the median of their rounds."""
    trials: dict[str, list[Mapping[str, Any]]] = {}
    for fold in folds:
        validation = fold.fit["validation"]
        alone = {**validation, "settings": {**fold.fit["chosen"]}}
        alone["settings"].pop(FEATURES, None)
        for trial in validation["grid"] or [alone]:
            trials.setdefault(json.dumps(trial["settings"], sort_keys=True), []).append(trial)
    # a grid grows in some folds only, and folds differ in how hard they are
    common = [each for each in trials.values() if len(each) == len(folds)]
    best = max(common, key=lambda each: sum(_value(trial) for trial in each))
    return bounded(cls, best[0]["settings"], [trial["best"] for trial in best])


def _value(trial: Mapping[str, Any]) -> float:
    """Return a trial's validation measure; -inf where its scores held NaN."""
    return -np.inf if trial["value"] is None else trial["value"]
