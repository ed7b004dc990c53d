"""A short version of `archive_damage.py`."""

from __future__ import annotations

from archive_damage import KINDS, damaged_imports


def test_no_damage_of_an_archive_is_imported_in_silence() -> None:
    found = damaged_imports(250)
    assert set(found) == set(KINDS)
    for kind, outcomes in found.items():
        assert set(outcomes) <= {"noticed", "harmless"}, (kind, outcomes)
        assert outcomes["noticed"] > 30
