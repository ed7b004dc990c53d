"""Protocols: their names, and what each chooses by."""

from __future__ import annotations

import pytest
from conftest import random_queries

from letorbench.api.running import perform
from letorbench.cli.run import run
from letorbench.errors import UsageError
from letorbench.experiment.select import PROTOCOLS, selection_protocol
from letorbench.results.paths import fold_folder
from letorbench.results.store import stored_fit
from letorbench.solvers.stopping import Validation, best, latest


def test_the_command_line_offers_every_protocol():
    option = next(each for each in run.params if each.name == "protocol")
    assert list(option.type.choices) == list(PROTOCOLS)


def test_the_default_protocol_is_what_docs_selection_measures(rng):
    chosen = selection_protocol("default")
    assert chosen.rule is latest and chosen.grows
    assert Validation(random_queries(rng, [3])).rule is latest


def test_letor_and_published_take_the_plain_best_of_the_grids_as_they_are():
    for name in ("letor", "published"):
        assert selection_protocol(name).rule is best and not selection_protocol(name).grows
    assert selection_protocol("letor").measure == "map"


def test_an_unknown_protocol_is_refused():
    with pytest.raises(UsageError, match="letor"):
        selection_protocol("leter")


@pytest.mark.parametrize(
    "options, protocol, select",
    [
        ({}, "default", "ndcg@10"),
        ({"protocol": "letor"}, "letor", "map"),
        ({"protocol": "letor", "select": "p@5"}, "letor", "p@5"),
    ],
)
def test_a_run_stores_its_protocol_and_the_measure_that_comes_with_it(
    tmp_path, options, protocol, select
):
    perform("DEMO", "regression", tmp_path, folds=[1], **options)
    stored = stored_fit(fold_folder(tmp_path, "DEMO", "regression", 1))["identity"]
    assert (stored["protocol"], stored["select"]) == (protocol, select)
