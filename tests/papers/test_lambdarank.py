"""The Poincaré test on known fields, the artificial data, and timings on a made-up clock."""

import os
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import random_queries
from test_pages import as_shown

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.papers import paper
from letorbench.papers.lambdarank_2006 import artificial_data, diagnose, figure_1, timing
from letorbench.papers.lambdarank_2006.timing import STEPS
from letorbench.papers.reproduction import judged
from letorbench.papers.runs import CUTOFFS, Context, log_slope, median_slope
from letorbench.solvers import sgd


def rotation_of(scores, queries):
    """lambda = A s with A antisymmetric: no cost has it as its gradient."""
    n = int(queries.lengths[0])
    matrix = np.triu(np.ones((n, n)), 1)
    return (scores.reshape(-1, n) @ (matrix.T - matrix)).ravel()


def saddle_of(scores, queries):
    """lambda = minus the gradient of a cost that is concave along the first score."""
    first = np.arange(len(scores)) % queries.lengths[0] == 0
    return np.where(first, 2.0, -1.0) * scores


def test_a_field_without_a_cost_is_told_from_one_with(rng):
    rotation = diagnose(rotation_of, rng, trials=3)
    assert rotation.asymmetry == pytest.approx(2.0)
    assert rotation.circulation > 0.01
    assert diagnose(lambda scores, queries: np.ones(len(scores)), rng, 8, 1).net == 8.0
    saddle = diagnose(saddle_of, rng, trials=3)
    assert saddle.asymmetry < 1e-6 and saddle.circulation < 1e-6
    assert saddle.lowest == pytest.approx(-1.0)


def an_epoch(version, queries, layers):
    """The cost of an epoch in the order of the queries, and the parameters after it."""
    rng, n = np.random.default_rng(0), queries.n_features
    scale = sgd.FeatureScale(np.zeros(n), np.ones(n))
    state = sgd.NetState.draw(3 if layers == 2 else 1, layers == 2, scale, rng)
    data = sgd.TrainingQueries.of(queries)
    order, passes = np.arange(queries.n_queries), sgd.Passes.of(data, state)
    cost = STEPS[version](data, order, state, scale, 0.1, passes)
    return np.concatenate([[cost], *(part.ravel() for part in state[:3])])


@pytest.mark.parametrize("layers", [1, 2])
def test_every_version_takes_the_steps_of_ranknet(layers, rng):
    """Online: as on a set in which every pair is a query."""
    queries = random_queries(rng, [3, 9, 30, 4], n_features=4, levels=4)
    ours = an_epoch("ours", queries, layers)
    for version in ("V1", "V2"):
        np.testing.assert_allclose(an_epoch(version, queries, layers), ours, rtol=1e-5, atol=1e-5)
    one = random_queries(rng, [9], n_features=4, levels=3)
    order = one.by_label.order
    pairs = [(i, j) for i in order for j in order if one.labels[i] > one.labels[j]]
    rows, ends = np.ravel(pairs), np.arange(0, 2 * len(pairs) + 1, 2)
    each = QuerySet(one.features[rows], one.labels[rows], ends, np.arange(len(pairs)).astype(str))
    online, alone = an_epoch("online", one, layers), an_epoch("ours", each, layers)
    np.testing.assert_allclose(online, alone, rtol=1e-5, atol=1e-5)


def test_figure_1_is_of_times_that_are_kept(tmp_path, monkeypatch):
    """On a clock that knows documents, version and net, and is slow once for V1 of the train set.

    The powers are 2, 1.5 and 1, for linear nets .25 less; online takes five times as long as V1.
    """
    calls = Counter()

    def seconds(queries, version, net, enough=0.0):
        calls[version, net, queries.n_docs] += 1
        power = {"V1": 2.0, "V2": 1.5, "ours": 1.0, "online": 2.0}[version]
        factor = 5e-6 if version == "online" else 1e-6
        if version == "V1" and queries.n_queries == 9 and calls["V1", net, queries.n_docs] == 2:
            factor *= 1.5
        return factor * queries.n_docs ** (power - 0.25 * (net == "linear"))

    both = {"SIZES": (40, 80, 160, 320), "EPOCHS": 3}
    of_timing = {"QUERIES": 9, "RATE": 0.1, "epoch_seconds": seconds,
                 "in_a_new_process": lambda function: function()}  # fmt: skip
    for module, changed in ((timing, both | of_timing), (figure_1, both | {"PATIENCE": 0.08})):
        for name, value in changed.items():
            monkeypatch.setattr(module, name, value)
    context = Context(tmp_path, tmp_path, setting="published")
    found = figure_1.figure(context)
    assert {path.parent for path in found.files} == {context.folder("lambdarank-2006")}
    as_shown("figure-1.txt", found)
    total = calls.total()
    again = figure_1.figure(context)
    assert again.files == found.files and calls.total() == total  # nothing is timed again
    assert figure_1.figure(replace(context, full=True)).differs != found.differs


def test_each_round_is_a_process():
    processes = [timing.in_a_new_process(os.getpid) for _ in range(2)]
    assert len({os.getpid(), *processes}) == 3
    with pytest.raises(DataError, match="timing RankNet: its process "):
        timing.in_a_new_process(partial(os._exit, 1))


def test_the_artificial_figure_is_over_draws(tmp_path, monkeypatch):
    sizes = (30, 15, 40)
    for name, value in {"FULL": sizes, "SMALL": sizes, "ROWS": 500, "DRAWS": 2,
                        "RATES": (1e-3, 1e-2)}.items():  # fmt: skip
        monkeypatch.setattr(artificial_data, name, value)
    whole = paper("lambdarank-2006")
    methods = {name: replace(each, published={"epochs": 2}) for name, each in whole.methods.items()}
    monkeypatch.setattr(artificial_data, "paper", lambda name: replace(whole, methods=methods))
    said: list[str] = []
    context = Context(tmp_path, tmp_path, setting="published", say=said.append)
    found = artificial_data.figure(context)
    as_shown("figure-2.txt", found)
    own = [c for c in paper("lambdarank-2006").claims if c.part == "figure-2"]
    outcomes = [judged(each, found) for each in own]
    assert [o.rows[0].units for o in outcomes if o.rows] == ["2 draws", ""]
    assert [row.kind for row in outcomes[1].rows] == ["at least"] * 2
    data = artificial_data.made(context, 1)
    assert [each.n_queries for each in data] == list(sizes)
    assert set(np.unique(data[0].labels)) <= {0, 2, 3, 4, 5}
    count = len(said)
    again = artificial_data.figure(context)
    assert [judged(each, again) for each in own] == outcomes
    assert len(said) == count  # nothing is drawn or trained again
    # both rates on the first draw, the chosen one on the second
    folder = context.folder("lambdarank-2006") / "artificial"
    assert [len(list((folder / f"draw-{draw}").iterdir())) for draw in (1, 2)] == [8, 4]


def test_the_rate_is_chosen_on_validation(tmp_path, monkeypatch):
    def runs(context, folder, number, methods):
        rates = {each.label: each.settings["learning_rate"] for each in methods}
        return {n: {"validation": -r, **dict.fromkeys(CUTOFFS, r)} for n, r in rates.items()}

    monkeypatch.setattr(artificial_data, "runs", runs)
    _, rows = artificial_data.trained(Context(tmp_path, tmp_path, setting="published"))
    assert {rate for _, _, rate, _ in rows} == {f"{min(artificial_data.RATES):g}"}


@pytest.mark.parametrize("net, units", [("linear", [1, 0]), ("two-layer", [10, 10])])
def test_an_epoch_is_timed_without_the_set_up_and_the_machine_code(net, units, rng, monkeypatch):
    taken, clock, asked = iter((30.0, 0.2, 0.1, 0.3)), [0.0], []

    def steps(data, sequence, state, *rest):
        asked.append([len(sequence), len(state.bias), len(state.output)])
        clock[0] += next(taken)

    monkeypatch.setitem(STEPS, "V2", steps)
    monkeypatch.setattr("time.thread_time", lambda: clock[0])
    assert timing.epoch_seconds(random_queries(rng, [20]), "V2", net) == pytest.approx(0.1)
    assert asked == [[n, *units] for n in (0, 1, 1, 1)]  # three take the half second and more


def test_the_slope_is_that_of_the_median_round():
    """No round moves it that is slow throughout, or disturbed, or at one size that leaves it."""
    sizes, seconds = np.array([10.0, 100.0, 1000.0]), np.array([1.0, 20.0, 100.0])
    powers, slower = (1.0, 1.1, 1.2, 0.9, 5.0), (1.0, 1.0, 9.0, 1.0, 1.0)
    rounds = [
        [("V1", "linear", n, each) for n, each in zip(sizes, factor * seconds**power)]
        for power, factor in zip(powers, slower)
    ]
    assert figure_1.middle_of(rounds)[1] == ("V1", "linear", 100, pytest.approx(20.0**1.1))
    assert [n for *_, n, _ in figure_1.middle_of([*rounds, rounds[0][:2]])] == [10, 100]
    every = [timing.points(each, "V1", "linear") for each in rounds]
    ours, middle = median_slope(every), log_slope(sizes, seconds**1.1)
    t = 12.7062  # Student's with one degree of freedom
    deviation = 1.4826 * 0.1 * middle.value / 1.1  # of the rounds, from the median of distances
    error = np.hypot((middle.high - middle.value) / t, deviation)
    assert ours.value == pytest.approx(middle.value)
    assert ours.high - ours.value == pytest.approx(t * error, rel=1e-4)
    disturbed = sizes, seconds**1.1 * (1.0, 3.0, 1.0)
    assert median_slope([every[0], disturbed, *every[2:]]).high == pytest.approx(ours.high, rel=0.1)
