"""What a reproduction keeps for later ones: any damage is noticed, and nothing is made twice."""

from pathlib import Path

from click.testing import CliRunner

from letorbench.cli import cli
from letorbench.papers import kept
from letorbench.papers.kept import kept_numbers
from letorbench.papers.runs import Measured, exactly


def test_reproduce_tells_of_damage_before_it_runs(tmp_path: Path) -> None:
    words = ["reproduce", "lecture-2018", "--out", str(tmp_path), "--data-dir", str(tmp_path)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    outcomes = tmp_path / "papers" / "lecture-2018" / "outcomes.json"
    whole = outcomes.read_bytes()
    outcomes.write_bytes(whole.replace(b"0", b"1", 1))
    shown = CliRunner().invoke(cli, words)
    assert shown.exit_code == 1 and "outcomes.json: damaged" in shown.stderr
    assert shown.stderr.count("\n") == 1 and not shown.stdout
    outcomes.unlink()
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert outcomes.read_bytes() == whole


def test_numbers_are_made_again_only_where_something_changed(tmp_path, monkeypatch):
    made = []

    def make() -> dict[str, Measured]:
        made.append(1)
        return {"one": exactly(0.1 + 0.2, "a note"), "two": Measured(1.0, 0.5, 2.0)}

    path = tmp_path / "theory.json"
    first = kept_numbers(path, {"seed": 0}, make)
    assert kept_numbers(path, {"seed": 0}, make) == first == make()
    assert len(made) == 2  # the file's, and the one of the line above
    kept_numbers(path, {"seed": 1}, make)
    assert len(made) == 3
    monkeypatch.setattr(kept, "source_digest", lambda *places: "other code")
    kept_numbers(path, {"seed": 1}, make)
    assert len(made) == 4
    path.write_text(path.read_text().replace("0.5", "0.6"))
    assert kept_numbers(path, {"seed": 1}, make) == first and len(made) == 5
