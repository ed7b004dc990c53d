"""The papers' own setting beside ours, pages, and the specification curve of the sample."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from letorbench.cli.reproduce import reproduce
from letorbench.papers import PAPERS, ndcgboost_2009, ndcgboost_sampling, paper
from letorbench.papers.paper_page import write_page
from letorbench.papers.runs import Study, Variant, _exists


def test_settings_have_folders_of_their_own_and_both_values_are_printed(tmp_path):
    where = ["--out", str(tmp_path), "--pages", str(tmp_path / "pages")]
    first = CliRunner().invoke(reproduce, ["lecture-2018", *where])
    assert first.exit_code == 0, first.output
    assert "published" not in first.stdout.splitlines()[2]
    second = CliRunner().invoke(reproduce, ["lecture-2018", "--setting", "published", *where])
    assert second.exit_code == 0, second.output
    header = second.stdout.splitlines()[2].split()
    assert header[-1] == "default"
    row = next(line for line in second.stdout.splitlines() if line.startswith("distance-f-g"))
    assert row.split()[-1] == "0.4674"
    for folder in (tmp_path, tmp_path / "papers/lecture-2018/published"):
        assert list(folder.rglob("claims.csv"))
    page = (tmp_path / "pages/lecture-2018.md").read_text()
    assert "## Our setting" in page and "## The paper's own setting" in page
    assert "7 claims: 5 reproduced, 2 not reproduced." in page


def test_published_settings_are_settings_of_the_ranker():
    for variant in ndcgboost_2009.VARIANTS:
        assert _exists(Variant(variant.label, variant.algo, variant.published))
    own = next(v for v in ndcgboost_2009.VARIANTS if v.algo == "ndcgboost")
    assert own.published["stumps"] == "sample"


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_left_is_said_for_both_settings(name):
    found = paper(name)
    assert found.left("default") == found.differs
    if found.published_differs is not None:
        assert found.left("published") == found.published_differs != found.differs


def test_a_page_tells_every_claim_once(tmp_path):
    found = paper("ndcgboost-2009")
    study = Study(tmp_path, tmp_path)
    CliRunner().invoke(
        reproduce, ["ndcgboost-2009", "--part", "data", "--data-dir", str(tmp_path / "none"),
                    "--out", str(tmp_path)],
    )  # fmt: skip
    text = write_page(found, study, tmp_path / "pages").read_text()
    for claim in found.claims:
        assert text.count(f"`{claim.id}`") == (claim.part == "data")
    assert "18 claims: 18 no data." in text


def test_the_printed_number_is_sought_in_the_distribution(tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "has", lambda self, dataset: True)
    study = Study(tmp_path, tmp_path)
    stored = {str(size or "all"): [0.44 + 0.001 * i for i in range(20)]
              for size in ndcgboost_sampling.SIZES}  # fmt: skip
    asked = {"sizes": list(ndcgboost_sampling.SIZES), "seeds": 20, "seed": 0}
    verdicts = {}
    for best in (0.46, 0.52):
        found = {"exact": [0.45], **stored, "1000": [*stored["1000"][:-1], best]}
        path = study.folder("ndcgboost-2009") / "sampling.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"asked": asked, "found": found}))
        findings = ndcgboost_sampling.sampling(study)
        verdicts[best] = {v.claim.id: v.verdict for v in findings.verdicts}
        assert any(Path(file).suffix == ".png" for file in findings.files)
    assert verdicts[0.46]["ohsumed-value-anywhere"] == "not reproduced"
    assert verdicts[0.52]["ohsumed-value-anywhere"] == "reproduced"
    with (study.folder("ndcgboost-2009") / "sampling.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 1 + 5 * 20
