"""The catalog: names in every spelling, facts that agree with each other."""

import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.datasets import catalog
from letorbench.errors import UsageError

NAMES = list(catalog.CATALOG)


@pytest.mark.parametrize("name", NAMES)
def test_facts_agree(name: str) -> None:
    known = catalog.CATALOG[name]
    assert known.convention in CONVENTIONS
    assert known.documents is None or known.documents > known.queries > 0
    if known.label_counts is not None:
        assert sum(known.label_counts) == known.documents
    shares = known.published_shares()
    if shares is not None:
        assert len(shares) == known.max_label + 1
        assert sum(shares) == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize(
    ("text", "label", "variant"),
    [
        ("ohsumed", "OHSUMED", "QueryLevelNorm"),
        ("OHSUMED/querylevelnorm", "OHSUMED", "QueryLevelNorm"),
        ("OHSUMED/Feature_min", "OHSUMED-Feature-min", "Feature-min"),
        ("ohsumed-feature-null", "OHSUMED-Feature-null", "Feature-null"),
        ("MQ2008", "MQ2008", None),
        ("td2003-TWIN", "TD2003-twin", None),
        ("mine", "mine", None),
    ],
)
def test_names_with_variants(text: str, label: str, variant: str | None) -> None:
    named = catalog.parse(text)
    assert (named.label, named.variant) == (label, variant)
    assert catalog.parse(label).label == label


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="unknown data set 'nope'.*OHSUMED.*DEMO"):
        catalog.entry("nope")
    with pytest.raises(UsageError, match="no variant 'raw'.*Feature-min"):
        catalog.entry("OHSUMED/raw")
    with pytest.raises(UsageError, match="MQ2008 has no variant"):
        catalog.entry("MQ2008/Feature-min")
