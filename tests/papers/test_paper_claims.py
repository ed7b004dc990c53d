"""The papers' claims as data: each is whole, and names what its part runs."""

from dataclasses import replace

import pytest

from letorbench.papers import PAPERS, paper
from letorbench.papers.paper import NATURES, Point, check_axes, claims_of, with_tuples
from letorbench.papers.runs import generated
from letorbench.rankers import names

EVERY = [(name, claim) for name in PAPERS for claim in paper(name).claims]


@pytest.mark.parametrize("name", PAPERS)
def test_a_paper_is_whole(name):
    made = paper(name)
    assert len({claim.id for claim in made.claims}) == len(made.claims)
    assert {claim.part for claim in made.claims} <= set(made.parts)
    assert {claim.nature for claim in made.claims} <= set(NATURES)
    assert any(claim.headline for claim in made.claims)
    assert all(claim.quote and claim.where for claim in made.claims)
    for part in made.parts.values():
        assert part.form != "module" or part.name in made.code
        # what parts have in common is of those that run methods
        assert part.form != "module" or (part.convention, part.other_data) == ("auto", ())
        assert set(part.methods) <= set(made.methods) and part.takes
        assert not any(generated(dataset) for dataset in (*part.data, *part.other_data))
    assert {method.algo for method in made.methods.values()} <= set(names())


@pytest.mark.parametrize(("name", "claim"), EVERY, ids=lambda each: getattr(each, "id", each))
def test_a_claim_names_what_its_part_runs(name, claim):
    made = paper(name)
    part = made.parts[claim.part]
    for test in claim.tests:
        for point in test.points():
            assert not generated(point.dataset)
            if part.form != "module":
                assert {point.upper, point.lower} <= set(part.methods)
                assert point.measure in part.measures
            # a sentence that its own table contradicts would need another reading
            assert test.kind != "above" or point.lead is None or point.lead > 0.0
    assert len({test.part for test in claim.tests}) in (1, len(claim.tests))


def test_leads_come_from_the_papers_tables_or_the_sentence():
    (claim,) = (c for _, c in EVERY if c.id == "document-weights")
    points = {point.upper: point for test in claim.tests for point in test.points()}
    assert points["WPL weight 1/pi"].lead == pytest.approx(0.5017 / 0.4845 - 1.0)
    facts = {"id": "a", "part": "p", "quote": "q", "where": "w", "kind": "above", "data": ["D"],
             "measures": ["m"], "upper": ["a"], "lower": ["b"]}  # fmt: skip
    found = [
        point
        for more in ({}, {"lead": 0.1})
        for c in claims_of("p", {"claim": [facts | more]}, {"a m": 0.5, "b m": 0.4, "a": 0.1})
        for point in c.tests[0].points()
    ]
    assert found == [Point("D", "a", "b", "m", pytest.approx(lead)) for lead in (0.25, 0.1)]


def test_a_claim_has_what_its_part_says_of_all():
    part = {"claims": {"nature": "theory", "kind": "at most", "printed": 1.0}}
    facts = [{"id": id, "part": "p", "quote": "q", "where": "w"} for id in ("a", "b")]
    facts[1] |= {"nature": "data", "printed": 2.0, "test": [{"number": "x", "kind": "equal"}, {}]}
    found = claims_of("p", {"part": {"p": part}, "claim": facts}, {})
    assert [claim.nature for claim in found] == ["theory", "data"]
    assert [(t.number, t.kind, t.printed) for claim in found for t in claim.tests] == [
        ("a", "at most", 1.0), ("x", "equal", 2.0), ("b", "at most", 2.0),
    ]  # fmt: skip


def test_every_setting_of_an_axis_is_of_one_of_its_methods():
    made = paper("consistency-2011")
    part = made.parts["figure-2"]
    methods = [made.methods[label] for label in part.methods]
    check_axes(part, methods)  # two of them have no l2
    for changed, ranker in (({"l2": 0.0}, "cosine"), ({"prior": 1.0}, "least-squares-ndcg")):
        with pytest.raises(
            ValueError, match=f"figure-2, p, one: found '{[*changed][0]}', expected"
        ):
            check_axes(replace(part, axes={"p": {"one": changed}}), [made.methods[ranker]])


def test_what_a_file_of_claims_may_hold():
    for facts, error, told in (
        ({"kind": "better"}, ValueError, "the kind 'better'"),
        ({"kind": "equal", "number": "x"}, ValueError, "claims.toml: x: a number without what is"),
        ({"kind": "above", "marginn": 1}, TypeError, "marginn"),
    ):
        facts |= {"id": "a", "part": "p", "quote": "q", "where": "w"}
        with pytest.raises(error, match=told):
            claims_of("p", {"claim": [facts]}, {})
    made = with_tuples({"measures": ["ndcg@9..11", "map"], "data": ["D"]})
    assert made == {"measures": ("ndcg@9", "ndcg@10", "ndcg@11", "map"), "data": ("D",)}
