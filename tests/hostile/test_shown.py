"""Damaged results under the commands that show them: a short version of `shown.py`."""

from __future__ import annotations

from shown import undetected


def test_damaged_results_are_shown_right_or_refused() -> None:
    assert not undetected(35, 3)
