"""Recipes: every model, loss and solver on a toy set, and the rankers that are recipes."""

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.losses import families, loss
from letorbench.losses.base import of_settings
from letorbench.rankers import places, ranker
from letorbench.rankers.recipe import MODELS, SOLVERS, Recipe

#: settings that make training short
SHORT = {"iterations": 2, "epochs": 2, "learning_rate": 1e-3, "dimensions": 2, "hidden": 2,
         "min_docs": 1}  # fmt: skip


@pytest.fixture(scope="module")
def toy():
    return random_queries(np.random.default_rng(3), [4, 1, 6, 3], 4, levels=4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_every_loss_fits_or_says_why_not(model, solver, toy):
    for number, name in enumerate(families()):
        if (model == "trees") != (solver == "boosting"):
            with pytest.raises(UsageError, match=f"recipe: solver={solver} does not fit model="):
                Recipe(model=model, loss=name, solver=solver)
        elif solver == "boosting" or number % 5 == MODELS.index(model) % 5:
            recipe = Recipe(model=model, loss=name, solver=solver, l2=0.0, **SHORT)
            values = recipe.fit_sets(toy).learned.objective
            reached = families()[name]()(recipe.predict(toy), toy).value.mean()
            assert np.isfinite(reached) and len(values) > 1, name
            if solver != "gradient-descent":  # its values are those before its steps
                # mlp's model is rounded, and this loss jumps where documents change places
                close = 0.2 if (model, name) == ("mlp", "lambdaloss") else 1e-4
                assert reached == pytest.approx(values[-1], rel=close, abs=1e-9), name
                assert values[-1] <= values[0], name


@pytest.mark.parametrize("name", [name for name, at in places().items() if "ravikumar" in at])
def test_validation_chooses_the_prior_of_a_surrogate_that_it_changes(name, toy, rng):
    """No other has one; as published all take 400 steps of steepest descent without it."""
    cls, scores = ranker(name), rng.normal(size=toy.n_docs)
    once, twice = (loss(cls.surrogate.name)(size * scores, toy).value for size in (1.0, 2.0))
    assert np.allclose(once, twice) == ("l2" not in cls.grid) == ("l2" not in cls().get_params())
    published = cls(**cls.as_published).fit_sets(toy)
    settings = {"standardise": False, "intercept": True, "l2": 0.0, "iterations": 400}
    text = str(of_settings(cls.surrogate, published))
    same = Recipe(loss=text, solver="line-search", **settings).fit_sets(toy)
    np.testing.assert_array_equal(published.predict(toy.features), same.predict(toy.features))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "boosting"])
def test_every_solver_has_the_prior(solver, toy):
    each = [Recipe(solver=solver, l2=l2).fit_sets(toy).predict(toy.features) for l2 in (0.0, 10.0)]
    assert np.ptp(each[1]) < 0.5 * np.ptp(each[0])
