"""Every rule where the truth is known: how often which answer, on values like NDCG's."""

from dataclasses import replace

import numpy as np
import pytest
from toy_data import sample_row

from letorbench.analysis.leads import Lead
from letorbench.papers import calibration
from letorbench.papers.claims import Test, claims_of
from letorbench.papers.runs import Values
from letorbench.results.per_query import PerQuery

TRIALS = 2_000
#: the Monte Carlo error of a share of 5 %, three times
ROOM = 3.0 * (0.05 * 0.95 / TRIALS) ** 0.5
#: queries, and cut-offs of a measure
SIZES = pytest.mark.parametrize(("n", "k"), [(50, 1), (106, 10), (784, 1)])


def differences(n, k=1, seed=0):
    """(n, k) differences of k cut-offs: skewed, many of them zero, and correlated."""
    rng = np.random.default_rng(seed)
    common = rng.beta(0.4, 0.6, (n, 1)) - rng.beta(0.4, 0.6, (n, 1))
    own = rng.beta(0.4, 0.6, (n, k)) - rng.beta(0.4, 0.6, (n, k))
    d = 0.3 * (2.0 * common + own)
    d[rng.random(n) < 0.3] = 0.0
    return d


def rates(kind, n, k, margin, effect):
    rng = np.random.default_rng(5)
    drawn = calibration.resampled(differences(n, k), np.full(k, effect), rng, TRIALS)
    return calibration.rates(kind, drawn, [0.4] * k, [margin] * k)


@SIZES
@pytest.mark.parametrize(("kind", "null", "truth"), [
    ("above", 0.0, 0.02), ("not below", -0.02, 0.0), ("alike", 0.02, 0.0)])  # fmt: skip
def test_either_answer_is_wrong_in_five_percent_at_most(kind, null, truth, n, k):
    """Reproduced without the effect, and not reproduced at the paper's."""
    assert rates(kind, n, k, 0.02, null).get("reproduced", 0.0) <= 0.05 + ROOM
    assert rates(kind, n, k, 0.02, truth).get("not reproduced", 0.0) <= 0.05 + ROOM


@pytest.mark.parametrize("n", [50, 106, 784])
def test_the_smallest_lead_shows_in_80_percent_of_cases(n):
    d = differences(n)
    smallest = Lead.summed(d[:, 0], 0.4).smallest()
    shown = rates("above", n, 1, 10.0 * smallest, smallest)["reproduced"]
    assert shown == pytest.approx(0.80, abs=0.04)


@pytest.mark.parametrize("times", [1, 5])
def test_few_units_or_many_are_drawn_with_each_effect_and_spread(times):
    rng = np.random.default_rng(0)
    d = np.array([[0.01, 0.5], [0.02, 0.4], [-0.01, 0.6], [0.03, 0.2], [0.0, 0.3]] * times)
    drawn = calibration.resampled(d, np.array([0.1, 0.2]), rng, 20_000)
    assert drawn.shape == (2, 20_000, 5 * times)
    np.testing.assert_allclose(drawn.mean(axis=(1, 2)), [0.1, 0.2], atol=2e-3)
    np.testing.assert_allclose(drawn.std(axis=(1, 2)), d.std(axis=0, ddof=1), rtol=0.05)


def method(d, draws=False):
    folds = np.repeat(np.arange(1, 54), 2)
    return Values(("m",), (0.4 + d)[None, :, None], folds, draws)


@pytest.mark.parametrize("draws", [False, True])
@pytest.mark.parametrize(
    ("kind", "numbers", "margins", "none", "papers"),
    [
        ("above", {"a": 0.6, "c": 0.5, "b": 0.4}, [0.2, 0.1], [0.0, 0.0], [0.2, 0.1]),
        ("above", {}, [0.012] * 2, [0.0, 0.0], [0.012] * 2),
        ("not below", {}, [0.012] * 2, [-0.012] * 2, [0.0, 0.0]),
        ("alike", {"a": 0.42, "c": 0.41, "b": 0.4}, [0.02] * 2, [-0.02] * 2, [0.02, 0.01]),
        ("alike", {}, [0.012] * 2, [-0.012] * 2, [0.0, 0.0]),
    ],
)
def test_no_effect_is_the_edge_of_what_a_claim_denies(kind, numbers, margins, none, papers, draws):
    """In units of the lower mean, here .4: of queries, or of the means of draws."""
    d = differences(106)[:, [0, 0]] * [1.0, -2.0]
    values = {name: method(own, draws) for name, own in zip("acb", (*d.T, np.zeros(106)))}
    test = Test(kind, ("D",), ("m",), ("a", "c", "gone"), ("b",), numbers=numbers)
    found = calibration.of_test(test, "D", values, np.random.default_rng(3))
    rng, units = np.random.default_rng(3), d.reshape(53, 2, 2).mean(axis=1) if draws else d
    for name, effects in (("no effect", none), ("the paper's effect", papers)):
        drawn = calibration.resampled(units, np.array(effects), rng)
        assert found[name] == calibration.rates(kind, drawn, [0.4] * 2, margins), name
    assert calibration.of_test(test, "E", values, rng) == {}


def test_the_rates_are_written_by_claim_data_and_truth(tmp_path):
    """A lead of .2, with noise of .02: what is there is found, and what is not is excluded."""
    shared = {"id": "c", "part": "p", "quote": "q", "where": "w", "measures": ["m"], "lead": 0.5,
              "upper": ["a"], "lower": ["b"]}  # fmt: skip
    tests = [{"kind": "above", "data": ["D"]}, {"kind": "above", "data": ["E", "X"]},
             {"kind": "equal", "number": "n", "printed": 1.0}]  # fmt: skip
    claims = claims_of("p", {"claim": [shared | {"test": tests}]}, {})
    values = {"a": method(0.02 * differences(106)[:, 0]), "b": method(np.zeros(106))}
    files = calibration.write(tmp_path / "calibration-p", claims, {"D": values, "E": values})
    (header, rows) = calibration.stored([tmp_path])
    assert header == ["claim", "kind", "data", "truth", *calibration.TOLD]
    told = [["c", "above", dataset, truth] for dataset in ("D", "E", "E")
            for truth in ("no effect", "the paper's effect")]  # fmt: skip
    assert [row[:4] for row in rows] == told
    assert [row[4:] for row in rows[1::2]] == [["1.0", "0.0", "0.0"]] * 3
    assert all(float(row[4]) < 0.06 and float(row[5]) > 0.9 for row in rows[::2])
    assert calibration.write(tmp_path / "none", claims[:0], {"D": values}) == ()
    assert files[0].name == "calibration-p.csv"


def test_what_stored_values_can_show(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(size=60) ** power for name, power in zip("xyw", (1, 2, 4))}
    columns["z"] = columns["x"]
    qids, folds = np.array([str(i) for i in range(60)]), np.repeat([1, 2, 3], 20)
    measures = ("ndcg@1", "ndcg@3", "ndcg@10", "map")
    systems = {n: PerQuery(n, folds, qids, dict.fromkeys(measures, v)) for n, v in columns.items()}
    rows = calibration.smallest_leads([*systems.values()], ["ndcg@10"])
    assert ["".join(row[:2]) for row in rows] == ["xy", "xw", "xz", "yw", "yz", "wz"]
    d = columns["x"] - columns["y"]
    quantiles = 2.0010 + 0.8478  # of Student's t with 59 degrees, .975 and .8
    assert rows[0][3] == pytest.approx(quantiles * d.std(ddof=1) / 60**0.5, rel=1e-3)
    assert rows[0][4] == pytest.approx(rows[0][3] / min(columns["x"].mean(), columns["y"].mean()))
    for name in ("D/x", "D/y", "D/w", "D/z", "ALONE/x"):
        folder = tmp_path / "papers" / "runs" / "ndcg@10" / name
        folder.mkdir(parents=True)
        (folder / "per_query.csv").touch()
    monkeypatch.setattr(calibration, "competes", lambda name: True)
    found = {name: replace(sample_row(name, {}), measured=own) for name, own in systems.items()}
    monkeypatch.setattr(calibration, "require_row", lambda runs, data, name: found[name])
    shares = [row[4] for row in rows if set(row[:2]) != {"x", "z"}]  # these never differ
    deciles = [f"{100.0 * each:.1f} %" for each in np.quantile(shares, (0.1, 0.5, 0.9))]
    assert calibration.power_rows(tmp_path) == [["D", m, "5", *deciles] for m in measures]
    (csv_file,) = (tmp_path / "papers" / "power").glob("*.csv")
    assert csv_file.read_text().count("\n") == 25
