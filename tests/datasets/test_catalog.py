"""The catalog: names in every spelling, facts that agree with each other."""

from __future__ import annotations

import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.datasets import catalog
from letorbench.errors import UsageError

NAMES = list(catalog.CATALOG)


def test_has_every_data_set() -> None:
    assert NAMES == [
        "OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003", "NP2004", "MQ2007", "MQ2008",
        "MSLR-WEB10K", "MSLR-WEB30K", "YAHOO-SET1", "YAHOO-SET2", "ISTELLA", "ISTELLA-S",
        "CLUEWEB09", "DEMO", "QA",
    ]  # fmt: skip


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
    ("name", "facts"),
    [
        ("OHSUMED", (106, 16_140, 45)),
        ("MQ2007", (1_692, 69_623, 46)),
        ("MQ2008", (784, 15_211, 46)),
        ("MSLR-WEB10K", (10_000, 1_200_192, 136)),
        ("MSLR-WEB30K", (31_531, 3_771_125, 136)),
        ("YAHOO-SET1", (29_921, 709_877, 700)),
        ("ISTELLA-S", (33_018, 3_408_630, 220)),
        ("HP2003", (150, 147_606, 64)),
    ],
)
def test_published_sizes(name: str, facts: tuple[int, int, int]) -> None:
    known = catalog.entry(name)
    assert (known.queries, known.documents, known.n_features) == facts


@pytest.mark.parametrize("spelling", ["mslr-web10k", "MSLR_WEB10K", "msn10k", " MSLR-WEB10K "])
def test_names_in_any_spelling(spelling: str) -> None:
    assert catalog.entry(spelling).name == "MSLR-WEB10K"


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


def test_twin_keeps_the_convention_and_shape() -> None:
    twin, original = catalog.entry("MSLR-WEB10K-twin"), catalog.entry("MSLR-WEB10K")
    assert twin.synthetic and not original.synthetic
    assert twin.convention == original.convention == "mslr"
    assert (twin.n_features, twin.documents) == (original.n_features, original.documents)
    assert not twin.sources and not twin.hashes


def test_a_name_is_read_once() -> None:
    named = catalog.parse("ohsumed/Feature-min")
    assert catalog.parse(named) is named
    assert catalog.entry(named) is catalog.CATALOG["OHSUMED"]


def test_own_folders_may_end_in_twin() -> None:
    assert catalog.parse("mine-twin").entry is None
    assert catalog.parse("DEMO-twin").entry is None


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="unknown data set 'nope'.*OHSUMED.*DEMO"):
        catalog.entry("nope")
    with pytest.raises(UsageError, match="no variant 'raw'.*Feature-min"):
        catalog.entry("OHSUMED/raw")
    with pytest.raises(UsageError, match="MQ2008 has no variant"):
        catalog.entry("MQ2008/Feature-min")


@pytest.mark.parametrize("name", [*NAMES, "OHSUMED-twin"])
def test_describe(name: str) -> None:
    rows = dict(catalog.describe(catalog.entry(name)))
    assert rows["name"] == name
    assert all(text for text in rows.values())
    assert rows["features"] == str(catalog.entry(name).n_features)


def test_downloads_are_usable() -> None:
    for name in NAMES:
        known = catalog.CATALOG[name]
        for source in known.sources:
            assert source.url.startswith(("http://", "https://"))
        for hashed in (*(s.hash for s in known.sources if s.hash), *known.hashes.values()):
            assert hashed.algorithm in ("sha256", "md5")
            assert len(bytes.fromhex(hashed.digest)) == {"sha256": 32, "md5": 16}[hashed.algorithm]
    hashes = catalog.CATALOG["MSLR-WEB10K"].hashes
    assert len(hashes) == 15
    # the test part of a fold is the validation part of the next: the hashes say so too
    for k in range(1, 6):
        after = hashes[f"Fold{k % 5 + 1}/vali.txt"]
        assert hashes[f"Fold{k}/test.txt"].digest == after.digest
    (shared,) = (s for s in catalog.CATALOG["MSLR-WEB10K"].sources if s.bytes)
    assert shared.bytes == 1_234_144_912


@pytest.mark.parametrize("name", NAMES)
def test_addresses_that_answered_errors_come_last_and_say_so(name: str) -> None:
    archives = [source for source in catalog.CATALOG[name].sources if source.file]
    assert [bool(s.answered) for s in archives] == sorted(bool(s.answered) for s in archives)
    shown = [text for what, text in catalog.describe(catalog.entry(name)) if what == "source"]
    for source in (each for s in catalog.CATALOG[name].sources for each in s.addresses):
        (line,) = (text for text in shown if text.split(" ")[0] == source.url)
        assert source.answered in line and ("a page for people" in line) == (not source.file)
    if name.startswith("MSLR"):
        assert archives[-1].answered == "HTTP 400 in September 2025"
