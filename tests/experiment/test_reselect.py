"""Another measure of selection: what is stored is chosen among anew, as training would have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_data import write_toy

from letorbench.cli import cli
from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.rankers import ranker
from letorbench.results.paths import FIT, MODEL, SCORES, TRIALS, VALIDATION

#: a library's trees have no rounds of ours; best-feature itself judges on validation
TRAINED_AGAIN = {"xgboost", "best-feature"}
#: settings that end soon
QUICK = {"rounds": 12, "epochs": 12, "patience": 4, "iterations": 30}
#: one of each kind of training: closed form, rounds of stumps or weights, epochs, bundles
ALGOS = [
    "regression", "ndcgboost", "wpl", "adarank-map", "ranknet", "listnet", "ranksvm",
    "svmmap", "best-feature", "xgboost",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_toy(folder)
    return folder


def quick(algo: str) -> dict[str, object]:
    known = ranker(algo).__dataclass_fields__
    return {key: value for key, value in QUICK.items() if key in known}


def content(folder: Path) -> dict[str, object]:
    fit = json.loads((folder / FIT).read_text())
    for key in ("seconds", "seal", "files"):
        del fit[key]
    for trial in fit["validation"]["grid"]:
        del trial["seconds"]
    return {"fit": fit, **{n: (folder / n).read_bytes() for n in (SCORES, VALIDATION, MODEL)}}


@pytest.mark.parametrize("algo", ALGOS)
def test_what_is_chosen_anew_is_what_training_gives(algo, data, tmp_path) -> None:
    if not ranker(algo).available():
        pytest.skip(f"{algo} needs {ranker(algo).needs}")
    asked = {algo: quick(algo)}
    changed = Protocol(data, tmp_path / "changed", select="ndcg@10", repeats=1)
    fold = tmp_path / "changed" / "TOY" / algo / "fold2"
    [first] = run(["TOY"], asked, [2], changed).outcomes
    assert not first.error and first.fits[0] == 0
    before = content(fold)
    for select in ("map", "ndcg@10"):
        [outcome] = run(["TOY"], asked, [2], replace(changed, select=select)).outcomes
        assert not outcome.error and not outcome.reused
        fresh = Protocol(data, tmp_path / f"fresh {select}", select=select, repeats=1)
        run(["TOY"], asked, [2], fresh)
        assert content(fold) == content(fresh.out / "TOY" / algo / "fold2"), select
        if algo in TRAINED_AGAIN:
            assert outcome.fits[0] == 0
    if algo not in TRAINED_AGAIN:
        assert outcome.fits[0] > 0
    assert content(fold) == before


def test_a_shorter_training_is_continued_by_a_new_one(data, tmp_path) -> None:
    """Patience ends a training where its own measure says so; another may need more rounds."""
    asked = {"ranknet": {"learning_rate": 0.01, "layers": 1, "epochs": 60, "patience": 1}}
    protocol = Protocol(data, tmp_path / "out", select="p@1", repeats=1)
    kinds = set()
    for fold in (1, 2, 3, 4, 5):
        run(["TOY"], asked, [fold], protocol)
        [outcome] = run(["TOY"], asked, [fold], replace(protocol, select="pairwise")).outcomes
        kinds.add(outcome.fits)
        fresh = Protocol(data, tmp_path / "fresh", select="pairwise", repeats=1)
        run(["TOY"], asked, [fold], fresh)
        one, two = (p / "TOY" / "ranknet" / f"fold{fold}" for p in (protocol.out, fresh.out))
        assert content(one) == content(two)
    assert (0, 1) in kinds  # at least one needed more rounds than were stored


def test_other_settings_seeds_and_force_train(data, tmp_path) -> None:
    protocol = Protocol(data, tmp_path / "out", repeats=1)
    asked = {"ranksvm": {}}
    run(["TOY"], asked, [1], protocol)
    for other in (replace(protocol, seed=1), replace(protocol, seed=1, force=True)):
        [outcome] = run(["TOY"], asked, [1], other).outcomes
        assert outcome.fits[0] == 0 and outcome.fits[1] >= 6
    trials = tmp_path / "out" / "TOY" / "ranksvm" / "fold1" / TRIALS
    trials.write_bytes(trials.read_bytes()[:-1])
    [outcome] = run(["TOY"], asked, [1], replace(protocol, seed=1, select="map")).outcomes
    assert outcome.fits[0] == 0


def test_a_run_says_what_it_trained(data, tmp_path) -> None:
    words = ["run", "--dataset", "TOY", "--algo", "classification,ndcgboost", "--set", "rounds=3",
             "--folds", "1", "--data-dir", str(data), "--out", str(tmp_path)]  # fmt: skip
    assert "chosen among anew" not in CliRunner().invoke(cli, words).stdout
    said = CliRunner().invoke(cli, [*words, "--select", "map"]).stdout
    assert "fits were stored already and were chosen among anew" in said
