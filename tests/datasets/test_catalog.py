"""The catalog: names in every spelling, facts that agree; warnings about data that do not."""

from pathlib import Path

import numpy as np
import pytest

from letorbench.conventions import convention
from letorbench.datasets import catalog
from letorbench.datasets.catalog import check_convention


def test_facts_agree():
    for known in catalog.CATALOG.values():
        facts = known.n_features, known.max_label or 0, known.convention
        assert convention(known.convention).name == known.convention
        assert check_convention(*facts, chosen=False) is None
        assert known.documents is None or known.documents > known.queries > 0
        assert known.label_counts is None or sum(known.label_counts) == known.documents
        shares = known.published_shares()
        assert shares is None or len(shares) == known.max_label + 1
        assert shares is None or sum(shares) == pytest.approx(1, abs=2e-4)


def test_every_table_that_holds_counts_has_the_same():
    """The judgements query by query, and two papers of ../shared: Valizadegan 2009, Tran 2012."""
    table = Path(catalog.__file__).with_name("judged.csv").read_text()
    for name in {line.partition(",")[0] for line in table.splitlines()[1:]}:
        known, rows = catalog.CATALOG[name], np.loadtxt(
            [line.partition(",")[2] for line in table.splitlines() if line.startswith(name)],
            delimiter=",", dtype=int,
        )  # fmt: skip
        assert rows[:, 1].sum() == known.queries
        assert tuple(rows[:, 1] @ rows[:, 2:]) == known.label_counts
    printed = {"OHSUMED": 16_140, "HP2004": 74_409, "NP2004": 73_834, "HP2003": 147_606}
    assert {name: catalog.CATALOG[name].documents for name in printed} == printed
    for name, documents in (("TD2003", "49,171"), ("TD2004", "74,170")):  # of LETOR 2.0
        assert documents in catalog.CATALOG[name].note
    yahoo = catalog.CATALOG["YAHOO-SET1"]  # its training part has 19,944 queries
    assert yahoo.twin.split[0] == pytest.approx(19_944 / yahoo.queries, abs=5e-5)
    assert yahoo.twin.split[0] == pytest.approx(473_134 / yahoo.documents, abs=5e-4)


@pytest.mark.parametrize(("text", "label", "variant"), [
    ("OHSUMED/querylevelnorm", "OHSUMED", "QueryLevelNorm"), ("MQ2008", "MQ2008", None),
    ("OHSUMED/Feature_min", "OHSUMED-Feature-min", "Feature-min"), ("mine", "mine", None),
    ("ohsumed-feature-null", "OHSUMED-Feature-null", "Feature-null"),
    ("td2003-TWIN", "TD2003-twin", None), (" mine/raw/ ", "mine-raw", None),
    ("ohsumed/feature_min@split12", "OHSUMED-Feature-min@split12", "Feature-min"),
    ("mine@split3@0.10", "mine@split3@0.1", None),
])  # fmt: skip
def test_names_with_variants(text, label, variant):
    named = catalog.parse(text)
    assert (named.label, named.variant) == (label, variant)
    assert catalog.parse(label).label == label
    number, fraction = named.resplit, named.train_fraction
    drawn = catalog.with_resplit(catalog.with_fraction(named.files, fraction), number)
    assert drawn == label and named.official == label.replace(f"@split{number}", "")


def test_only_draws_beside_the_official_folds_are_left_out():
    names = ["A@split2", "A", "A@0.5", "A@split1@0.5", "B@split1", "A@split3@0.1"]
    assert catalog.without_resplits(names) == ["A", "A@0.5", "B@split1", "A@split3@0.1"]


@pytest.mark.parametrize("features, largest, convention, chosen, message", [
    (136, 4, "letor3", True, "--convention mslr may be meant"),
    (45, 2, "letor4", True, "--convention letor3 may be meant"),
    (46, 2, "standard", False, "--convention letor4 may be meant"),
    (46, 2, "standard", True, None), (136, 0, "letor3", True, None),
    (20, 4, "standard", False, None), (20, 1, "letor3", True, None),
])  # fmt: skip
def test_doubts(features, largest, convention, chosen, message):
    text = check_convention(features, largest, convention, chosen)
    assert text is None if message is None else message in text
