"""Names as users write them."""

import pytest

from letorbench.choices import expanded, require_choice, split
from letorbench.errors import UsageError
from letorbench.losses import every_loss, loss


def test_comma_lists_are_split_outside_of_brackets() -> None:
    assert split(["a, b", " c ,", ",", "", "d"]) == ["a", "b", "c", "d"]
    assert split(["a(b, c(d, e)), f", "g(h,i)"]) == ["a(b, c(d, e))", "f", "g(h,i)"]
    assert split(["a(b, c", "d"]) == ["a(b, c", "d"]  # a bracket that is not closed ends no list


def test_a_comma_list_of_losses_names_these_losses() -> None:
    every = every_loss()
    assert [loss(text) for text in split([", ".join(map(str, every))])] == every
    named = expanded(["wub,pairwise(phi=hinge, weight=1/m)", "all"], {"all": ["wub", "wpl"]})
    assert named == ["wub", "pairwise(phi=hinge, weight=1/m)", "wpl"]


def test_an_unknown_name_is_told_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="unknown loss 'Wlp'; did you mean wpl. expected one of w"):
        require_choice("Wlp", ["wub", "wpl"], "loss")
