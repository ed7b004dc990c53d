"""The locked environment is one that setup.cfg allows; every place cites the package alike."""

import re
from configparser import ConfigParser
from pathlib import Path

from conftest import printed
from packaging.requirements import Requirement

import letorbench

ROOT = Path(__file__).resolve().parents[2]
#: name, version, perhaps where it is for, then hashes
PIN = re.compile(r"^(\S+)==([^ ;]+)(?: ; .+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}.*\n)+", re.M)


def test_every_requirement_is_locked_to_a_version_that_it_allows():
    """By hashes, of files that any index may hold; also what builds the package."""
    facts, text = ConfigParser(), (ROOT / "tests/packaging/requirements.lock").read_text()
    facts.read(ROOT / "setup.cfg")
    lines = facts["options"]["install_requires"] + facts["options.extras_require"]["test"]
    asked = [Requirement(line) for line in lines.splitlines() if line and line[0] != "#"]
    locked: dict[str, list[str]] = {}
    pins = PIN.findall(text)
    for name, version in pins:
        locked.setdefault(name, []).append(version)
    assert len(pins) == len(re.findall("^[^ #]", text, re.M))
    assert "setuptools" in locked and "//" not in text
    for each in asked:
        versions = locked[each.name.replace("_", "-").lower()]
        assert all(each.specifier.contains(version) for version in versions), each


def test_every_place_cites_alike():
    """README, the metadata of a package that is installed, CITATION.cff and the command."""
    facts = ConfigParser()
    facts.read(ROOT / "setup.cfg")
    own, entry = facts["metadata"], printed("--cite")
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    cff = dict(line.strip("- ").partition(": ")[::2] for line in lines)
    title = f"letorbench: {own['description']}"
    assert cff["title"] == f'"{title}"' and cff["name"] == own["author"]
    assert (cff["version"], cff["license"]) == (letorbench.__version__, own["license"])
    words = [line[4:] for line in lines[lines.index("keywords:") + 1 :]]
    assert ", ".join(words) == own["keywords"]
    for part in (f"author = {{{{{own['author']}}}}}", f"title = {{{{{title}}}}}", cff["version"]):
        assert part in entry
    assert f"    {entry}" in (ROOT / "README.md").read_text()
    (newest,) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[:1]
    assert newest == letorbench.__version__
