"""A loss of one's own is named by its file, and by its own name where the file has several."""

from __future__ import annotations

import pytest

from letorbench.errors import UsageError
from letorbench.losses.plugin_losses import loss_of_file

START = "from letorbench.losses import CustomLoss, Loss\n"
ONE = 'one = CustomLoss("one", "0", None)\n'
OTHER = 'class Other(Loss):\n    name, formula = "other", "0"\n    def __call__(self, s, q): ...\n'


@pytest.mark.parametrize(
    ("text", "ending", "name"),
    [
        (ONE, "", "one"),
        (ONE, ":one", "one"),
        (OTHER, "", "other"),
        (ONE + OTHER, ":other", "other"),
    ],
)
def test_the_loss_that_is_named(tmp_path, text: str, ending: str, name: str) -> None:
    (tmp_path / "mine.py").write_text(START + text)
    assert loss_of_file(f"{tmp_path}/mine.py{ending}").name == name


@pytest.mark.parametrize(
    ("text", "ending", "message"),
    [
        (ONE + OTHER, "", "found 2 losses, expected .*mine.py:NAME with one of one, other"),
        (ONE + OTHER, ":third", "third"),
        ("", "", "found no Loss"),
        ("1 / 0", "", "ZeroDivisionError"),
        ("def", "", "SyntaxError"),
        (None, "", "found no such file"),
    ],
)
def test_what_names_no_loss_is_refused(tmp_path, text, ending: str, message: str) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(START + text)
    with pytest.raises(UsageError, match=message):
        loss_of_file(f"{tmp_path}/mine.py{ending}")
