"""What papers keep of long work, and when it is made again."""

from pathlib import Path

import pytest

from letorbench.papers.runs import kept


def test_kept_facts_are_of_what_was_asked_and_of_their_code(tmp_path: Path, monkeypatch) -> None:
    path, texts, made = tmp_path / "kept.json", {}, []
    digest = "letorbench.papers.runs.source_digest"
    monkeypatch.setattr(digest, lambda files: str([(f, texts.get(f)) for f in sorted(files)]))
    asked, own = {"n": 1}, "papers/rules.py"

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    def get(**more: int) -> list[int]:
        return kept(path, asked | more, make, own, code=["losses"])

    assert get() == get() == [1]
    texts["papers/claims.py"] = "# neither its own nor of a room\n"
    assert get() == [1]
    for number, file in enumerate((own, "losses/__init__.py"), 2):
        texts[file] = "# another form\n"
        assert get() == get() == [number]
    assert get(n=2) == [4] and get() == [5]
    for spoil in (lambda: path.write_bytes(path.read_bytes()[:-9]), path.unlink):
        count = len(made)
        spoil()
        assert get() == get() == [count + 1]
    path.unlink()
    (tmp_path / "other").write_text("theirs")
    path.symlink_to(tmp_path / "other")
    assert get() == [8] and (tmp_path / "other").read_text() == "theirs"
    with pytest.raises(ZeroDivisionError):
        kept(path, {"n": 3}, lambda: 1 / 0, own, code=["losses"])
    assert get() == [8]
