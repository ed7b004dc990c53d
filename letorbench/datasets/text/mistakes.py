"""The first mistake of a file of LETOR text, found line by line in plain Python.

The compiled parser only tells that a block of lines has a mistake. Every message is one line that
says where the mistake stands, what was found and what was expected.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import EXPECTED_LABEL
from letorbench.datasets.limits import LARGEST_LABEL, LONGEST_QID
from letorbench.datasets.text.lines import LONGEST_INDEX
from letorbench.datasets.text.numbers import LARGEST_FLOAT
from letorbench.errors import DataError

#: the most characters of the file that a message shows
SHOWN = 40
#: a decimal number
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: how much of a file's end is looked at where it has no newline
END_BYTES = 1 << 18
#: from fewer lines, and from fewer decimals, nothing is concluded on the last line
ENOUGH_LINES, ENOUGH_DECIMALS = 50, 3
EXPECTED_ID = "printable characters in UTF-8"

_BLANKS = re.compile(rb"[ \t\r]*")
_LABEL = re.compile(rb"[+-]?\d{1,18}(?![^\0- ])")
_QID = re.compile(rb"qid:([^\0- #]{1,%d})(?![^ \t\r\n#])" % LONGEST_QID)
_INDEX = re.compile(rb"(\d{1,%d}):" % LONGEST_INDEX)
#: the digits behind the point of each value
_DECIMALS = re.compile(rb"[0-9]:[^\s.]*\.?([0-9]*)(?=\s)")
_VALUE = re.compile(rb"[^\0- #]*")


def first_mistake(
    path: Path, good_lines: int, limit: int, known_width: bool, null: bool
) -> DataError:
    """Return the error of the first line that is wrong.

    The first `good_lines` are right by themselves: only their query may come back. Indices are
    allowed up to `limit`, which may be a known number of features. `null` allows NULL.
    """
    began: dict[bytes, int] = {}
    previous = None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            start = _BLANKS.match(line).end()
            if line[start : start + 1] in (b"", b"\n", b"#"):
                continue
            unended = not line.endswith(b"\n")
            qid, end, mistake = _head(line, start)
            if mistake is None and qid != previous and qid in began:
                found = f"query {shown(_text(qid))} again, which began at line {began[qid]}"
                mistake = found, "all lines of a query together"
            if mistake is None and number > good_lines:
                mistake = _mistake_in_features(line, end, limit, known_width, null)
            if mistake is not None:
                return line_error(path, number, *mistake, unended)
            began.setdefault(qid, number)
            previous = qid
    return changed(path)


def check_end(path: Path, number: int) -> None:
    """Raise DataError if the last line ends sooner than those before it: the file was cut.

    The line has no newline, and either no comment or a number with fewer decimals, where all
    lines before have one, or all values equally many decimals.
    """
    with path.open("rb") as file:
        start = file.seek(max(0, path.stat().st_size - END_BYTES))
        *others, last = file.read().split(b"\n")
    others = [line for line in others[start > 0 :] if line.split(b"#")[0].strip()]
    if len(others) < ENOUGH_LINES or b"#" in last:
        return
    whole = "a newline at its end says that the file is whole"
    if all(b"#" in line for line in others):
        problem = "a last line without a newline and a comment", "a comment as on all other lines"
        raise line_error(path, number, problem[0], f"{problem[1]}; {whole}")
    values = b"\n".join(line.split(b"#")[0] for line in others) + b"\n"
    decimals = {len(digits) for digits in _DECIMALS.findall(values)}
    value = last.split()[-1]
    own = _DECIMALS.findall(value + b"\n")
    if len(decimals) == 1 and own and max(decimals) >= max(ENOUGH_DECIMALS, len(own[0]) + 1):
        found = f"a last line without a newline that ends in {_text(value)}"
        expected = f"{max(decimals)} decimals as in all other values; {whole}"
        raise line_error(path, number, found, expected)


def line_error(
    path: Path, number: int, found: str, expected: str, unended: bool = False
) -> DataError:
    """Return the error of a line; `unended` is whether no newline ends it."""
    cut = "; the file ends without a newline and may be cut short" if unended else ""
    return DataError(f"{path}:{number}: found {found}, expected {expected}{cut}")


def file_error(path: Path, found: str, expected: str) -> DataError:
    """Return the error of a whole file."""
    return DataError(f"{path}: found {found}, expected {expected}")


def changed(path: Path) -> DataError:
    """Return the error of a file that another process wrote to."""
    return file_error(path, "a file that changed while it was read", "one that stays as it is")


def shown(text: str) -> str:
    """Return the beginning of a text in quotes, with what is not printable escaped."""
    begun = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return "'" + "".join(c if c.isprintable() else _escaped(c) for c in begun) + "'"


def _head(line: bytes, start: int) -> tuple[bytes, int, tuple[str, str] | None]:
    """Return a line's query id, where it ends, and what is wrong with the label or the id."""
    label = _LABEL.match(line, start)
    if label is None or not 0 <= int(label[0]) <= LARGEST_LABEL:
        return b"", 0, _describe_label(_word(line, start))
    start = _BLANKS.match(line, label.end()).end()
    qid = _QID.match(line, start)
    if qid is None:
        return b"", 0, _describe_qid(line[start:])
    if not _text(qid[1]).isprintable():
        return b"", 0, (f"query id {shown(_text(qid[1]))}", EXPECTED_ID)
    return qid[1], qid.end(), None


def _mistake_in_features(
    line: bytes, start: int, limit: int, known_width: bool, null: bool
) -> tuple[str, str] | None:
    before = 0
    while True:
        start = _BLANKS.match(line, start).end()
        if line[start : start + 1] in (b"", b"\n", b"#"):
            return None
        index = _INDEX.match(line, start)
        if index is None or not before < int(index[1]) <= limit:
            return _describe_index(_word(line, start), before, limit, known_width)
        before = int(index[1])
        value = _VALUE.match(line, index.end())
        start = value.end()
        if null and value[0] == b"NULL":
            continue
        decimal = DECIMAL.fullmatch(_text(value[0])) is not None
        with np.errstate(over="ignore"):
            if decimal and np.isfinite(np.float32(float(value[0]))):
                continue
        most = f" of at most {LARGEST_FLOAT:.8g} in size" if decimal else ""
        if value[0] == b"NULL":
            return f"NULL as the value of feature {before}", "a number (or --null min, --null 0)"
        return f"{shown(_text(value[0]))} as the value of feature {before}", f"a number{most}"


def _describe_label(word: str) -> tuple[str, str]:
    digits = word.removeprefix("+")
    if ":" in word:
        return f"no label before {shown(word)}", f"a label, {EXPECTED_LABEL}"
    if digits[:1] == "-" and digits[1:].isdigit():
        return f"negative label {digits[:SHOWN]}", EXPECTED_LABEL
    if digits.isascii() and digits.isdigit():
        return f"label {digits[:SHOWN]}", EXPECTED_LABEL
    return f"{shown(word)} as the label", EXPECTED_LABEL


def _describe_qid(text: bytes) -> tuple[str, str]:
    word = _word(text, 0)
    if not word.startswith("qid:"):
        return f"{shown(word)} after the label" if word else "no qid after the label", "qid:Q"
    qid = re.split(rb"[ \t\r\n#]", text[4:], maxsplit=1)[0]
    if len(qid) > LONGEST_QID:
        return f"a query id of {len(qid):,} bytes", f"at most {LONGEST_QID:,}"
    if not qid:
        return "no query id after 'qid:'", "qid:Q"
    return f"query id {shown(_text(qid))}", EXPECTED_ID


def _describe_index(word: str, before: int, limit: int, known_width: bool) -> tuple[str, str]:
    name, colon, _ = word.partition(":")
    if not (colon and name.isascii() and name.isdigit() and len(name) <= SHOWN):
        return shown(word), "index:value, a comment or the end of the line"
    index = int(name)
    if index == 0:
        return "feature index 0", "indices from 1"
    if index > limit:
        what = "the number of features" if known_width else "the largest index there can be"
        return f"feature index {index}", f"at most {limit}, {what}"
    if len(name) > LONGEST_INDEX:
        return f"feature index {name}", f"at most {LONGEST_INDEX} digits"
    if before == index:
        return f"feature index {index} twice", "each index once, in increasing order"
    return f"feature index {index} after {before}", "indices in increasing order"


def _word(text: bytes, start: int) -> str:
    """Return the word that begins there; "" at a blank."""
    words = text[start:].split(None, 1) if text[start : start + 1].strip() else []
    return _text(words[0]) if words else ""


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _escaped(character: str) -> str:
    byte = ord(character) - 0xDC00  # how `surrogateescape` writes a byte that is not UTF-8
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(character)[1:-1]
