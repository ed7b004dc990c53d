"""Folders appear whole or not at all, and what a full or foreign disk says is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from letorbench.datasets.scratch import new_folder
from letorbench.errors import WriteError


def test_a_new_folder_is_there_only_after_its_block(tmp_path: Path) -> None:
    target = tmp_path / "data" / "made"
    with new_folder(target) as folder:
        (folder / "file").write_text("whole")
        assert not target.exists()
    assert (target / "file").read_text() == "whole" and list(target.parent.iterdir()) == [target]


def test_nothing_is_left_of_a_block_that_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "made") as folder:
        (folder / "file").write_text("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="file"), new_folder(tmp_path / "file" / "data"):
        pass
