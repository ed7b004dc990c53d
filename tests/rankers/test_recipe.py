"""Recipes: every model, loss and solver on a toy set."""

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import LOSSES
from letorbench.rankers.recipe import MODELS, SOLVERS, Recipe

#: settings that make training short
SHORT = {"iterations": 2, "epochs": 2, "learning_rate": 1e-3, "dimensions": 2, "hidden": 2,
         "min_docs": 1}  # fmt: skip


@pytest.fixture(scope="module")
def toy() -> QuerySet:
    return random_queries(np.random.default_rng(3), [4, 1, 6, 3], 4, levels=4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_every_loss_fits_or_says_why_not(model, solver, toy):
    for number, loss in enumerate(LOSSES):
        if (model == "trees") != (solver == "boosting"):
            with pytest.raises(UsageError, match=f"recipe: solver={solver} does not fit model="):
                Recipe(model=model, loss=loss, solver=solver)
        elif solver == "boosting" or number % 5 == MODELS.index(model) % 5:
            recipe = Recipe(model=model, loss=loss, solver=solver, l2=0.0, **SHORT)
            values = recipe.fit_sets(toy).learned.objective
            reached = LOSSES[loss]()(recipe.predict(toy), toy).value.mean()
            assert np.isfinite(reached) and len(values) > 1, loss
            if solver != "gradient-descent":  # its values are those before its steps
                assert reached == pytest.approx(values[-1], rel=1e-4, abs=1e-9), loss
                assert values[-1] <= values[0], loss


def test_settings_that_do_not_fit_are_one_clear_line():
    for settings, message in (
        ({"loss": "listnett"}, "unknown loss 'listnett'; did you mean listnet"),
        ({"model": "quadratic", "intercept": True}, "the quadratic model has no intercept; the"),
    ):
        with pytest.raises(UsageError, match=message):
            Recipe(**settings)
