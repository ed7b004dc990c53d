"""Print what `make versions` pins: the lowest versions that are required, or nothing.

python tests/packaging/required.py lowest|highest
"""

from __future__ import annotations

import re
import sys
from configparser import ConfigParser
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "setup.cfg"


def lowest() -> list[str]:
    """Return a line `name==version` for each requirement of the package and of its tests."""
    found = ConfigParser()
    found.read(SETUP)
    lines = found["options"]["install_requires"] + found["options.extras_require"]["test"]
    required = (line.partition(";")[0].strip() for line in lines.splitlines() if line.strip())
    return [re.sub(r"^([\w-]+)>=([\d.]+)$", r"\1==\2", each) for each in required]


if __name__ == "__main__":
    print("\n".join(lowest() if sys.argv[1] == "lowest" else []))
