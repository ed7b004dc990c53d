"""A loss of one's own is named by its file, and by its own name where the file has several."""

from __future__ import annotations

from pathlib import Path

import pytest

from letorbench.errors import UsageError
from letorbench.losses.plugin_losses import loss_of_file

START = "from letorbench.losses import Loss\n"
ONE, OTHER = 'one = Loss("one", "0", None)\n', 'other = Loss("other", "0", None)\n'


@pytest.mark.parametrize(
    ("text", "ending", "name"),
    [
        (START + ONE, "", "one"),
        (START + ONE, ":one", "one"),
        (START + ONE + OTHER, ":one", "one"),
        (START + ONE + OTHER, ":other", "other"),
    ],
)
def test_the_loss_that_is_named(tmp_path: Path, text: str, ending: str, name: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert loss_of_file(f"{tmp_path}/mine.py{ending}").name == name


@pytest.mark.parametrize(
    ("text", "ending", "match"),
    [
        (START + ONE + OTHER, "", "found 2 losses, expected .*mine.py:NAME with one of one, other"),
        (START + ONE + OTHER, ":third", "third"),
        (START + ONE, ":other", "other"),
        (START, "", "found no Loss"),
        ("1 / 0", "", "ZeroDivisionError"),
        ("def", "", "SyntaxError"),
        (None, "", "found no such file"),
    ],
)
def test_what_names_no_loss_is_refused(
    tmp_path: Path, text: str | None, ending: str, match: str
) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    with pytest.raises(UsageError, match=match):
        loss_of_file(f"{tmp_path}/mine.py{ending}")
