"""The locked environment is one that setup.cfg allows."""

import re
from configparser import ConfigParser
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
#: name, version, perhaps where it is for, then hashes
PIN = re.compile(r"^(\S+)==([^ ;]+)(?: ; .+)? \\\n(?:    --hash=sha256:[0-9a-f]{64}.*\n)+", re.M)


def test_every_requirement_is_locked_to_a_version_that_it_allows() -> None:
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
