"""Score files, good and bad."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from letorbench.errors import DataError
from letorbench.results.scores import read_scores


@pytest.mark.parametrize("text", ["1\n-2.5e-3\n3", "1\n-2.5e-3\n3\n", " 1\r\n-2.5e-3 \r\n3\r\n\n"])
def test_reads_one_number_a_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.txt"
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(read_scores(path, 3), [1.0, -2.5e-3, 3.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\nx\n3\n", ":2: found 'x', expected a finite number"),
        ("1\n2 5\n3\n", ":2: found '2 5', expected a finite number"),
        ("1\n2_5\n3\n", ":2: found '2_5', expected a finite number"),
        ("1\n\n3\n", ":2: found '', expected a finite number"),
        ("1\n2\nnan\n", ":3: found 'nan', expected a finite number"),
        ("1\n2\n-inf\n", ":3: found '-inf', expected a finite number"),
        ("1\n1e309\n3\n", ":2: found '1e309', expected a finite number"),
        ("1\n2\n", ":3: found 2 scores, expected 3"),
        ("1\n2\n3\n4\n", ":4: found 4 scores, expected 3"),
        ("", ":1: found 0 scores, expected 3"),
    ],
)
def test_says_what_is_wrong_and_where(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scores.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_scores(path, 3)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no readable file"):
        read_scores(tmp_path / "none.txt", 3)
