"""Numbers without data are computed once for one question and one state of the code."""

from __future__ import annotations

from letorbench.papers import kept
from letorbench.papers.claims import Measured, exactly
from letorbench.papers.kept import kept_numbers


def test_numbers_are_made_anew_only_where_something_changed(tmp_path, monkeypatch):
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
    text = path.read_text()
    path.write_text(text.replace("a note", "another"))  # an edited file is not believed
    assert kept_numbers(path, {"seed": 1}, make) == first
    assert len(made) == 4
    monkeypatch.setattr(kept, "source_digest", lambda *places: "other code")
    kept_numbers(path, {"seed": 1}, make)
    assert len(made) == 5
