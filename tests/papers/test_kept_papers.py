"""What a reproduction keeps for later ones: any damage is noticed, and a kill costs nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from damage import DAMAGES

from letorbench.cli import cli
from letorbench.errors import DataError
from letorbench.papers import kept
from letorbench.papers.kept import (
    read_kept,
    read_kept_json,
    write_kept,
    write_kept_json,
)


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    path, rng = tmp_path / "claims.csv", np.random.default_rng(0)
    write_kept(path, "id,our_value\na,0.25\n")
    whole = path.read_bytes()
    for number in range(200):
        path.write_bytes(DAMAGES[number % len(DAMAGES)](whole, rng))
        if path.read_bytes() != whole:
            with pytest.raises(DataError, match="claims.csv: damaged: .* claims.csv.seal"):
                read_kept(path)


def test_a_kill_before_the_table_is_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seal = tmp_path / "claims.csv", tmp_path / "claims.csv.seal"
    write_kept(path, "old\n")
    alone = seal.read_bytes()
    write_kept(path, "old\n")
    assert seal.read_bytes() == alone
    writing = kept.write_atomically

    def until_the_table(file: Path) -> object:
        if file == path:
            raise KeyboardInterrupt
        return writing(file)

    monkeypatch.setattr(kept, "write_atomically", until_the_table)
    with pytest.raises(KeyboardInterrupt):
        write_kept(path, "new\n")
    assert read_kept(path) == "old\n"
    monkeypatch.undo()
    write_kept(path, "new\n")
    assert read_kept(path) == "new\n"
    write_kept(path, "old\n")
    assert seal.read_bytes() == alone
    seal.unlink()
    assert read_kept(path) == "old\n"


def test_damaged_json_counts_as_none(tmp_path: Path) -> None:
    path, rng = tmp_path / "figure-1.json", np.random.default_rng(0)
    facts = {"asked": {"seed": 0}, "found": [0.25, 0.5]}
    assert read_kept_json(path) == {}
    write_kept_json(path, facts)
    whole = path.read_bytes()
    assert read_kept_json(path) == facts
    for number in range(200):
        path.write_bytes(DAMAGES[number % len(DAMAGES)](whole, rng))
        if path.read_bytes() != whole:
            # where the damage is in the name of the check sum the facts are whole
            found = read_kept_json(path)
            assert not found or {key: found[key] for key in facts} == facts


def test_reproduce_tells_of_damage_before_it_runs(tmp_path: Path) -> None:
    words = ["reproduce", "lecture-2018", "--out", str(tmp_path), "--data-dir", str(tmp_path)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    claims = tmp_path / "papers" / "lecture-2018" / "claims.csv"
    whole = claims.read_bytes()
    claims.write_bytes(whole.replace(b"0", b"1", 1))
    shown = CliRunner().invoke(cli, words)
    assert shown.exit_code == 1 and "claims.csv: damaged" in shown.stderr
    assert shown.stderr.count("\n") == 1 and not shown.stdout
    for path in (claims, claims.with_name("claims.csv.seal")):
        path.unlink()
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert claims.read_bytes() == whole
