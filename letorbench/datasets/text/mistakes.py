"""The first mistake of a file of LETOR text, searched line by line in plain Python.

The compiled parser only reports that a block of lines has a mistake. Every message is one line
with the place of the mistake, the found and the expected text.
"""

import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from letorbench.datasets import LARGEST_LABEL, LONGEST_LABEL, LONGEST_QID, UNJUDGED
from letorbench.datasets.arrays import A_LABEL, EXPECTED_LABEL, LARGEST_FLOAT32
from letorbench.datasets.text import BOM, odd_character
from letorbench.datasets.text.lines import LONGEST_INDEX
from letorbench.errors import DataError, UsageError

#: the most characters of the file that a message shows
SHOWN = 40
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
#: texts of a missing value: NULL, and NaN in any case
MISSING = frozenset(
    [b"NULL", *("".join(nan).encode() for nan in product(["", "+", "-"], "nN", "aA", "nN"))]
)
#: a larger feature index is an error, even if the number of features is not known
LARGEST_INDEX = 65_536
#: the bytes of a file's end that are inspected if it has no newline
END_BYTES = 1 << 18
#: fewer lines or decimals allow no conclusion on the last line
ENOUGH_LINES, ENOUGH_DECIMALS = 50, 3

_WORD = re.compile(rb"[^ \t\r\n]+")
#: the digits behind the point of each value
_DECIMALS = re.compile(rb"[0-9]:[^\s.]*\.?([0-9]*)(?=\s)")
#: the found and the expected text
_Mistake = tuple[str, str] | None


@dataclass(frozen=True)
class ReadOptions:
    """The options of reading a file; see `read_letor`."""

    null: str | float = "keep"
    n_features: int | None = None
    clip: bool = False  # a value beyond float32 becomes the largest float32, else it is an error

    def __post_init__(self) -> None:
        named = self.null in ("keep", "error", "min")
        if not named and (isinstance(self.null, str) or not abs(self.null) <= LARGEST_FLOAT32):
            raise UsageError(f"null is {self.null!r}, expected keep, error, min or a finite number")
        if self.n_features is not None and not 1 <= self.n_features <= LARGEST_INDEX:
            raise UsageError(
                f"n_features is {self.n_features}, expected a number from 1 to {LARGEST_INDEX}"
            )

    @property
    def limit(self) -> int:
        """The largest valid index."""
        return self.n_features or LARGEST_INDEX


def first_mistake(path: Path, good_lines: int, options: ReadOptions) -> DataError:
    """Return the error of the first line with a mistake."""
    # the first `good_lines` are valid by themselves: only their query may be a repeated one
    began: dict[str, int] = {}
    previous = None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            line = line.removeprefix(BOM) if number == 1 else line
            words = _WORD.findall(line.partition(b"#")[0])
            if not words:
                continue
            mistake = _in_head(words[0], *words[1:2])
            if mistake is not None:
                mistake = odd_character(b" ".join(words[:2])) or mistake
                return line_error(path, number, *mistake, not line.endswith(b"\n"))
            qid = words[1].decode()
            if qid != previous and qid in began:
                found = f"query {shown(words[1][4:])} again, which began at line {began[qid]}"
                mistake = found, "all lines of a query together"
            elif number > good_lines:
                mistake = _in_features(words[2:], options)
                mistake = mistake and (odd_character(b" ".join(words[2:])) or mistake)
            if mistake is not None:
                return line_error(path, number, *mistake, not line.endswith(b"\n"))
            began.setdefault(qid, number)
            previous = qid
    return changed(path)


def check_end(path: Path, number: int, width: int) -> None:
    """Raise DataError if the last line, without a newline, is shorter than all lines before it."""
    # that is, in its features, its comment, or the decimals of its last number
    with path.open("rb") as file:
        start = file.seek(max(0, path.stat().st_size - END_BYTES))
        *others, last = file.read().split(b"\n")
    others = [line for line in others[start > 0 :] if line.partition(b"#")[0].strip()]
    counts = {_count(line) for line in others}
    if counts == {width} and _count(last) < width:
        found = f"a last line of {_count(last)} features without a newline"
        raise line_error(path, number, found, f"{width} features as on all other lines")
    if len(others) < ENOUGH_LINES or b"#" in last:
        return
    whole = "a newline at its end says that the file is whole"
    if all(b"#" in line for line in others):
        expected = f"a comment as on all other lines; {whole}"
        raise line_error(path, number, "a last line without a newline and a comment", expected)
    values = b"\n".join(line.split(b"#")[0] for line in others) + b"\n"
    decimals = {len(digits) for digits in _DECIMALS.findall(values)}
    value = last.split()[-1]
    last_decimals = _DECIMALS.findall(value + b"\n")
    if (
        len(decimals) == 1
        and last_decimals
        and max(decimals) >= max(ENOUGH_DECIMALS, len(last_decimals[0]) + 1)
    ):
        found = f"a last line without a newline that ends in {value.decode()}"
        expected = f"{max(decimals)} decimals as in all other values; {whole}"
        raise line_error(path, number, found, expected)


def line_error(
    path: Path, number: int, found: str, expected: str, unended: bool = False
) -> DataError:
    """Return the error of a line; `unended` is whether it lacks a newline."""
    cut = "; the file ends without a newline and may be cut short" if unended else ""
    return DataError(f"{path}:{number}: found {found}, expected {expected}{cut}")


def file_error(path: Path, found: str, expected: str) -> DataError:
    return DataError(f"{path}: found {found}, expected {expected}")


def changed(path: Path) -> DataError:
    """Return the error of a file that another process wrote to."""
    return file_error(path, "a file that changed while it was read", "one that stays as it is")


def shown(word: bytes) -> str:
    """Return the beginning of a word in quotes, with unprintable characters escaped."""
    text = word.decode("utf-8", "backslashreplace")
    begun = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return "'" + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in begun) + "'"


def _in_head(label: bytes, qid: bytes = b"") -> _Mistake:
    number = int(label) if re.fullmatch(rb"[+-]?\d{1,%d}" % LONGEST_LABEL, label) else -2
    if not UNJUDGED <= number <= LARGEST_LABEL:
        expected = EXPECTED_LABEL if DECIMAL.fullmatch(label) else A_LABEL
        return f"{shown(label)} as the label", expected
    if not qid.startswith(b"qid:"):
        return f"{shown(qid)} after the label" if qid else "no qid after the label", "qid:Q"
    name = qid[4:]
    if not name:
        return "no query id after 'qid:'", "qid:Q"
    if len(qid) > 4 + LONGEST_QID:
        return f"a query id of {len(qid) - 4:,} bytes", f"at most {LONGEST_QID:,}"
    if not name.decode("utf-8", "surrogateescape").isprintable():
        return f"query id {shown(name)}", "printable characters in UTF-8"
    return None


def _in_features(words: list[bytes], options: ReadOptions) -> _Mistake:
    before = 0
    for word in words:
        name, colon, value = word.partition(b":")
        if not colon or not name.isdigit() or len(name) > SHOWN:
            return shown(word), "index:value, a comment or the end of the line"
        index = int(name)
        if index > options.limit:
            known = options.n_features is not None
            what = "the number of features" if known else "the largest index there can be"
            return f"feature index {index}", f"at most {options.limit}, {what}"
        if index <= before:
            after = f" after {before}" if before else ""
            return f"feature index {index}{after}", "indices from 1 in increasing order"
        if len(name) > LONGEST_INDEX:
            return f"feature index {name.decode()}", f"at most {LONGEST_INDEX} digits"
        before = index
        if value in MISSING and options.null == "error":
            found = f"{value.decode()} as the value of feature {index}"
            return found, "a number (or --null min, --null 0)"
        if value in MISSING:
            continue
        if DECIMAL.fullmatch(value) is None:
            return f"{shown(value)} as the value of feature {index}", "a number"
        with np.errstate(over="ignore"):
            large = np.isinf(np.float32(float(value)))
        if large and not options.clip:
            found = f"{shown(value)} as the value of feature {index}"
            return found, f"a number of at most {LARGEST_FLOAT32:.8g} in size"
    return None


def _count(line: bytes) -> int:
    """Return the number of features of a line that has a label and a query id."""
    return len(line.partition(b"#")[0].split()) - 2
