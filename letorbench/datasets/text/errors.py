"""Messages about a line of LETOR text: one line that says what was found and expected."""

from __future__ import annotations

import re
from pathlib import Path

from letorbench.datasets.arrays import EXPECTED_LABEL
from letorbench.datasets.limits import LONGEST_QID
from letorbench.datasets.text import lines as kernels
from letorbench.datasets.text.lines import LONGEST_INDEX
from letorbench.datasets.text.numbers import LARGEST_FLOAT
from letorbench.errors import DataError

#: the most characters of the file that a message shows
SHOWN = 40
#: a decimal number, which may be shown cut
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(\.\.\.)?", re.ASCII)


def fault_error(
    path: Path, number: int, line: bytes, column: int, code: int, limit: int, known_width: bool,
    unended: bool,
) -> DataError:  # fmt: skip
    """Return the error of a line that the parser stopped at.

    Parameters
    ----------
    number : int
        The line's number, from 1.
    line : bytes
        The whole line.
    column : int
        Where in the line the parser stopped, from 0.
    code : int
        What stopped it; see `lines`.
    limit : int
        The largest index that was allowed.
    known_width : bool
        Whether that is the number of features.
    unended : bool
        Whether it is the file's last line and has no newline.
    """
    token = _first_word(line[column:])
    if code == kernels.LABEL:
        found, expected = _describe_label(token)
    elif code == kernels.QID:
        found, expected = _describe_qid(line[column:], token)
    elif code == kernels.INDEX:
        found, expected = _describe_index(line[:column], token, limit, known_width)
    else:
        found, expected = _describe_value(line[:column], token)
    return line_error(path, number, found, expected, unended)


def line_error(
    path: Path, number: int, found: str, expected: str, unended: bool = False
) -> DataError:
    """Return the error of a line; `unended` is whether no newline ends it."""
    cut = "; the file ends without a newline and may be cut short" if unended else ""
    return DataError(f"{path}:{number}: found {found}, expected {expected}{cut}")


def file_error(path: Path, found: str, expected: str) -> DataError:
    return DataError(f"{path}: found {found}, expected {expected}")


def changed(path: Path) -> DataError:
    return file_error(path, "a file that changed while it was read", "one that stays as it is")


def _describe_value(before: bytes, token: str) -> tuple[str, str]:
    value = token.partition("#")[0] + "'" if "#" in token else token
    index = before.split()[-1].rstrip(b":").decode("ascii", "replace")
    if value == "'NULL'":
        return f"NULL as the value of feature {index}", "a number (or --null min, --null 0)"
    most = f" of at most {LARGEST_FLOAT:.8g} in size" if DECIMAL.fullmatch(value[1:-1]) else ""
    return f"{value} as the value of feature {index}", f"a number{most}"


def _describe_label(token: str) -> tuple[str, str]:
    if ":" in token:
        return f"no label before {token}", f"a label, {EXPECTED_LABEL}"
    digits = token[1:-1].removeprefix("+")
    if digits[:1] == "-" and digits[1:].isdigit():
        return f"negative label {digits}", EXPECTED_LABEL
    if digits.isascii() and digits.isdigit():
        return f"label {digits}", EXPECTED_LABEL
    return f"{token} as the label", EXPECTED_LABEL


def _describe_qid(text: bytes, token: str) -> tuple[str, str]:
    if not token.startswith("'qid:"):
        return (f"{token} after the label" if token != "''" else "no qid after the label", "qid:Q")
    qid = re.split(rb"[ \t\r\n#]", text[4:], maxsplit=1)[0]
    if len(qid) > LONGEST_QID:
        return f"a query id of {len(qid):,} bytes", f"at most {LONGEST_QID:,}"
    if not qid:
        return "no query id after 'qid:'", "qid:Q"
    return (
        f"query id {shown(qid.decode(errors='surrogateescape'))}",
        "printable characters in UTF-8",
    )


def _describe_index(line: bytes, token: str, limit: int, known_width: bool) -> tuple[str, str]:
    name, colon, _ = token[1:-1].partition(":")
    if not (colon and name.isascii() and name.isdigit()):
        return token, "index:value, a comment or the end of the line"
    index = int(name)
    if index == 0:
        return "feature index 0", "indices from 1"
    if index > limit:
        what = "the number of features" if known_width else "the largest index there can be"
        return f"feature index {index}", f"at most {limit}, {what}"
    if len(name) > LONGEST_INDEX:
        return f"feature index {name}", f"at most {LONGEST_INDEX} digits"
    before = line.split()[-1].partition(b":")[0].decode("ascii")
    if int(before) == index:
        return f"feature index {index} twice", "each index once, in increasing order"
    return f"feature index {index} after {before}", "indices in increasing order"


def _first_word(text: bytes) -> str:
    """Return the first word of a text as `shown` shows it."""
    words = text.split(None, 1) if text[:1].strip() else []
    return shown((words[0] if words else b"").decode("utf-8", "surrogateescape"))


def shown(text: str) -> str:
    """Return the beginning of a text in quotes, with what is not printable escaped."""
    begun = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return "'" + "".join(c if c.isprintable() else _escaped(c) for c in begun) + "'"


def _escaped(character: str) -> str:
    byte = ord(character) - 0xDC00  # what `surrogateescape` makes of a byte that is no UTF-8
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(character)[1:-1]
