"""Short versions of `kills.py` and `pairs.py`."""

from __future__ import annotations

from kills import short_kills
from pairs import pairs


def test_killed_commands_end_as_if_nothing_had_happened() -> None:
    found = short_kills(3, 1, ("run --jobs 2", "import", "make"))
    assert len(found) == 3 and not any(each.wrong for each in found.values())


def test_two_runs_at_once_mix_no_fold() -> None:
    count, wrong = pairs(1)
    assert count == 10 and not wrong
