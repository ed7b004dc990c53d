"""What tells the parts of a data set apart."""

from __future__ import annotations

from pathlib import Path

from letorbench.datasets.rotation import files_digest


def written(folder: Path, *texts: str) -> list[Path]:
    folder.mkdir()
    files = [folder / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts):
        file.write_text(text)
    return files


def test_a_digest_knows_where_a_file_ends_and_which_comes_first(tmp_path: Path) -> None:
    whole = files_digest(written(tmp_path / "a", "one\n", "two\n"))
    assert whole == files_digest(written(tmp_path / "b", "one\n", "two\n"))
    others = [("one\ntwo\n",), ("one\nt", "wo\n"), ("two\n", "one\n"), ("one\n", "two\n", "")]
    for number, texts in enumerate(others):
        assert files_digest(written(tmp_path / f"c{number}", *texts)) != whole, texts
