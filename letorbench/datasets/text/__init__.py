"""Text that is no LETOR text: other encodings, odd characters, web pages."""

import codecs
import re
import unicodedata
from pathlib import Path

from letorbench.errors import DataError

#: UTF-8 text from Windows may begin with this mark
BOM = codecs.BOM_UTF8
#: the marks of other encodings; UTF-32's mark begins like one of UTF-16
_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
_INSTEAD = "data (a sign-in or an error may stand in their place: download the file again)"
#: beginnings of files that are not data, with their kind and the expected content
_OTHERS = {
    rb"<[?!a-z].*?\b(?:html|body|script)\b": ("a web page", _INSTEAD),
    rb"<[?!a-z]": ("XML", _INSTEAD),
    rb"\{\s*[\"}]|\[\s*[\[\]{\"\d-]": ("JSON", _INSTEAD),
    rb"version https://git-lfs": ("a Git LFS pointer", "the file (`git lfs pull` fetches it)"),
    rb"%PDF-": ("a PDF", "text"),
    rb"PK\x03\x04": ("a ZIP archive, as spreadsheets are too", "text"),
    rb"PAR1": ("Parquet", "text"),
}


def check_content(path: Path, start: bytes) -> None:
    """Raise DataError for the beginning of a web page, a pointer or another file without data."""
    start = start.removeprefix(BOM).lstrip()
    for pattern, (found, expected) in _OTHERS.items():
        if re.match(pattern, start, re.IGNORECASE | re.DOTALL):
            raise DataError(f"{path}: found {found}, expected {expected}")


def check_encoding(path: Path, start: bytes) -> None:
    """Raise DataError for the beginning of a file that is not UTF-8 with newlines, or not data."""
    check_content(path, start)
    found = next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")
    zeros = start.count(0)
    if not found and zeros and start.replace(b"\0", b"").isascii():  # without a mark
        found = {2: "UTF-16", 4: "UTF-32"}.get(round(len(start) / (len(start) - zeros or 1)), "")
    if found:
        raise DataError(f"{path}: found {found}, expected UTF-8 (save the file as UTF-8)")
    if b"\r" in start[:-1] and b"\n" not in start:
        raise DataError(
            f"{path}: found lines that end in a carriage return alone, expected newlines"
        )


def without_mark(path: Path, text: bytes) -> bytes:
    """Return the bytes of a text file without a byte order mark; see `check_encoding`."""
    check_encoding(path, text[: 1 << 16])
    return text.removeprefix(BOM)


def odd_character(text: bytes) -> tuple[str, str] | None:
    r"""Return the first character that looks like a plain one, and its plain replacement; or None.

    Examples
    --------
    >>> odd_character("1\u00a0qid:1".encode())
    ('a no-break space (U+00A0)', 'a blank')
    """
    # windows-1252 has the no-break space as one byte
    for c in text.decode("utf-8", "surrogateescape").replace("\udca0", "\xa0"):
        kind, expected = unicodedata.category(c), ""
        if c.isspace() and c not in " \t\r\n":
            expected = "a blank"
        elif kind == "Nd" and not c.isascii():
            expected = str(unicodedata.digit(c))
        elif kind == "Cf" or c == "\0":
            expected = "nothing in its place"
        elif c != "-" and (kind == "Pd" or c == "\N{MINUS SIGN}"):
            expected = "a plain minus"
        if expected:
            name = unicodedata.name(c, "control character").lower()
            article = "an" if name[0] in "aeiou" else "a"
            return f"{article} {name} (U+{ord(c):04X})", expected
    return None
