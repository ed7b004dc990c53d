"""Printed tables as they are: in CSV, Markdown, LaTeX or aligned text."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from letorbench import aliases
from letorbench.datasets.catalog import parse as data_set
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.text import check_encoding
from letorbench.errors import DataError, UsageError
from letorbench.escaping import of_markdown
from letorbench.measures import MEASURES, parse
from letorbench.verify.numbers import Known, Printed

#: how tables name the parts and the mean of the folds
PARTS = {"train": "train", "vali": "validation", "test": "test"}
MEANS = ("average", "mean", "avg", "all", "")
#: how they name a row of the folds' standard deviations, which is not read
DEVIATIONS = ("std", "std.", "stdev", "sd", "s.d.", "deviation", "standard deviation", "±")
#: the texts of a number that is not printed
NOT_PRINTED = ("", "-", "--", "---", "–", "—", "na", "n/a", "nan")
LONG = "dataset, algorithm, part, fold, measure, value"
#: the headings of columns that are no measures
ROLES = {
    "dataset": ("dataset", "data set", "data", "collection"),
    "part": ("part",),
    "fold": ("fold",),
    "algorithm": ("algorithm", "algo", "method", "model", "system", "ranker", "approach"),
}
#: abbreviations of tables before a cut-off
SHORT = {"prec": "p", "n": "ndcg"}
#: a number; its sign may be a typographic minus or a dash, its point a comma or a middle dot
_NUMBER = re.compile(
    r"(?<![\w.,·])(?:[-+−–]\s?)?(?:\d+(?:[.,·]\d*)?|[.,·]\d+)(?:[eE][-+−]?\d+)?(?![\d,.·])\s*%?"
)
_PLAIN = str.maketrans({"−": "-", "–": "-", ",": ".", "·": "."})
#: a rank below the heading of its measure, and what such a heading may say of it
_RANK, _ANY_RANK = re.compile(r"(?:@|@? *[kn] *= *)?(\d+)"), re.compile(r" *@ *[kn]? *$")
#: a line between the rows of a table of Markdown, reStructuredText or drawn boxes
_BORDER = re.compile(r"[\s|:+=─-╿-]*[-=─-╿][\s|:+=─-╿-]*")
_BARS = str.maketrans("│┃║", "|||")
#: a TeX argument; a table, its body and the rest of its float; a row; what is not printed; signs
_ARGUMENT = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_TABULAR = re.compile(
    r"\\begin\{((?:long)?tabu(?:lar[xy]?)?\*?|longtable)\}\s*(?:(?:to|spread)\s*\\\w+)?\s*"
    rf"(?:\[[^]]*\]|{_ARGUMENT})+(.*?)\\end\{{\1\}}"
    r"(?=((?:(?!\\begin\{tab).)*?)\\end\{table|)",
    re.DOTALL,
)
_ROW = re.compile(r"(.*?)(?:\\\\|\Z)", re.DOTALL)
_HIDDEN = re.compile(
    r"\\(?:cline|cmidrule|cite\w*|h?phantom|[hv]space\*?|label|(?:row|cell)color)"
    rf"(?:\([^)]*\)|\[[^]]*\])*{_ARGUMENT}|(?:\A\s*|\\\w*(?:rule|space))\[[^]]*\]"
)
_SPAN = re.compile(
    rf"\\multi(?:row|column)(?:\[[^]]*\])?\{{[^}}]*\}}(?:\[[^]]*\])?(?:\*|{_ARGUMENT})"
)
_SIGNS = {
    "textbackslash": "\\", "textbar": "|", "textasciitilde": "~", "textasciicircum": "^"
}  # fmt: skip
_COMMAND = re.compile(rf"\\([_&%#${{}}])|\\({'|'.join(_SIGNS)})\{{\}}|\\[a-zA-Z]+\*?|\\.|[{{}}$^~]")

#: a row's line in the file and its cells; a table's rows and the text around it
_Row = tuple[int, list[str]]
_Grid = tuple[str, list[_Row]]


class Entry(NamedTuple):
    """A number of a table."""

    dataset: str
    algorithm: str
    part: str
    #: 0 for the mean of the folds
    fold: int
    measure: str
    number: Printed
    #: its line in the file
    line: int
    known: Known = Known()

    @property
    def checked(self) -> bool:
        """Whether its measure is one of ours that lies between 0 and 1."""
        measure = MEASURES.get(self.measure.partition("@")[0])
        return measure is not None and measure.bounded

    @property
    def k(self) -> int:
        """The cut-off of a precision; 0 for other measures."""
        name, _, k = self.measure.partition("@")
        return int(k) if name == "p" and k.isdecimal() else 0


def read_table(path: Path, others: set[str] | None = None) -> list[Entry]:
    """Read the numbers of a file's tables; DataError names the line that is not right.

    Where most numbers of a table that have no % are above 1, these are per cent, of the measures
    that are checked. `others` receives the headings of numbers that are not read.
    """
    entries_of: dict[tuple, Entry] = {}
    content = path.read_bytes()
    check_encoding(path, content[: 1 << 16])
    line = 1
    try:
        for around, rows in _grids(path, content.decode("utf-8-sig")):
            line = rows[0][0] if rows else 1
            dataset = _data_set_in(around) or _data_set_of(path.stem)
            rows = _with_measure(around, rows)
            of_table = dict[tuple, Entry]()
            for line, record in _records(path, dataset, rows, set() if others is None else others):
                entry = _entry(record, line)
                first = entries_of.get(entry[:5]) or of_table.setdefault(entry[:5], entry)
                if first is not entry:
                    raise UsageError(f"found the number of line {first.line} again")
            entries_of |= _fractions(of_table)
    except (UsageError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: {error}") from None
    if not entries_of:
        raise DataError(f"{path}: found no number, expected one or more")
    return list(entries_of.values())


def _fractions(table: dict[tuple, Entry]) -> dict[tuple, Entry]:
    """Return the table with the numbers that are per cent without a sign as fractions."""
    plain = {k: e for k, e in table.items() if e.checked and not e.number.text.endswith("%")}
    if np.mean([each.number.value > 1.0 for each in plain.values()] or [False]) <= 0.5:
        return table
    return table | {k: e._replace(number=e.number.per_cent()) for k, e in plain.items()}


def _entry(text: Mapping[str, str], line: int) -> Entry:
    measure = text.get("measure") or text["metric"]
    if text.get("cutoff"):
        measure += f"@{text['cutoff']}"
    part = (text.get("part") or "test").lower()
    named = next((name for start, name in PARTS.items() if part.startswith(start)), None)
    if named is None:
        raise UsageError(f"found the part {part!r}, expected train, validation or test")
    fold = text.get("fold", "").lower()
    digits = "".join(filter(str.isdecimal, fold))[:9]
    if fold not in MEANS and not (digits and int(digits) <= MOST_FOLDS):
        raise UsageError(
            f"found the fold {fold[:40]!r}, expected a number up to {MOST_FOLDS} or average"
        )
    name = _spelled(measure)
    if name.partition("@")[0] in MEASURES:
        parse(name)  # it refuses ranks that are none
    place = (text["dataset"], text["algorithm"], named, int(digits or 0), name)
    return Entry(*place, Printed.of(text["value"]), line)


def _spelled(measure: str) -> str:
    plain = re.sub(r"\s|\(%\)|\[%\]", "", measure.lower())
    plain = re.sub(r"^(?!r\d)([a-z]+)[_(]?(\d+)\)?$", r"\1@\2", plain)  # NDCG_10, P10, not R2
    name, at, k = plain.partition("@")
    name = SHORT.get(name, name) if at else name
    return f"{aliases.named(name, MEASURES, 'measure') or name}{at}{k}"


def _is_measure(heading: str) -> bool:
    name, at, k = _spelled(heading).partition("@")
    return name in MEASURES and (k.isdecimal() or not at)


def _with_measure(around: str, rows: list[_Row]) -> list[_Row]:
    """Return the rows with the one measure of the text above, where the headings are ranks."""
    line, cells = rows[0] if rows else (1, [""])
    names = {_spelled(word) for word in re.findall(r"[A-Za-z][\w-]*", around) if _is_measure(word)}
    if len(names) == 1 and cells[1:] and all(map(_RANK.fullmatch, cells[1:])):
        above = line, [cells[0], *names, *[""] * (len(cells) - 2)]
        return [above, (line, ["", *cells[1:]]), *rows[1:]]
    return rows


def _data_set_in(text: str) -> str:
    """Return the last data set of the catalog that a text names."""
    for word in reversed(re.findall(r"\w[\w-]*", text)):
        if (named := data_set(word)).entry is not None:
            return named.label
    return ""


def _data_set_of(stem: str) -> str:
    """Return the data set in a file's name, or the name."""
    return _data_set_in(stem.replace("_", " ")) or _data_set_in(re.sub("[_-]", " ", stem)) or stem


def _records(
    path: Path, dataset: str, rows: Sequence[_Row], others: set[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the facts of each number of a table; add other numbers' headings."""
    names = [name.lower() for name in rows[0][1]] if rows else []
    if {"dataset", "algorithm", "value"} <= {*names} and {"measure", "metric"} & {*names}:
        for line, cells in rows[1:]:
            record = dict.fromkeys(names, "") | {k: cell for k, cell in zip(names, cells) if k}
            if record["value"].lower() not in NOT_PRINTED:
                yield line, record
        return
    start, stacks = _headings(rows)
    heads = ["".join(each[-2:]) if each[-1][:1] in ("", "@") else each[-1] for each in stacks]
    columns = {k: {"measure": head} for k, head in enumerate(heads) if _is_measure(head)}
    if by_row := not columns and any(_is_measure(cells[0]) for _, cells in rows[1:]):
        columns = {k: {"algorithm": head} for k, head in enumerate(heads) if k}
    if not columns:
        expected = f"{LONG}, or a column for each measure"
        raise UsageError(f"found the columns {', '.join(names)}, expected {expected}")
    roles = {} if by_row else _roles(heads, columns)
    unread = {*range(len(heads))} - {*columns, *roles.values()} if not by_row else set()
    above = {k: name for k, each in enumerate(stacks) if (name := _data_set_in(" ".join(each)))}
    facts = {"dataset": next(iter(above.values()), dataset), "algorithm": ""}
    if len({*above.values()}) > 1:  # side by side
        columns = {k: given | {"dataset": above.get(k, dataset)} for k, given in columns.items()}
    for line, cells in rows[start + 1 :]:
        words = {*cells} - {""}
        if len(words) == 1 and (named := _data_set_in(*words)):
            facts["dataset"] = named
            continue
        cells = [*cells, *[""] * (len(heads) - len(cells))]
        if "fold" in roles and cells[roles["fold"]].lower() in DEVIATIONS:
            others.add(cells[roles["fold"]])
            continue
        facts |= {role: cells[k] for role, k in roles.items() if cells[k]}  # it may span rows
        if by_row and not _is_measure(cells[0]):
            others |= {cells[0]} if any(map(_NUMBER.match, cells[1:])) else set()
            continue
        others |= {heads[k] or f"column {k + 1}" for k in unread if _NUMBER.match(cells[k])}
        for k, given in columns.items():
            if number := _number(cells[k], f"{path}:{line}"):
                given = {"measure": cells[0], **given} if by_row else given
                yield line, {**facts, **given, "value": number}


def _headings(rows: Sequence[_Row]) -> tuple[int, list[list[str]]]:
    """Return the last row of headings, and each column's from above, blanks filled."""
    last = 0
    for k, (_, cells) in enumerate(rows):
        if any(_is_measure(_ANY_RANK.sub("", cell)) for cell in cells[1:]):
            last = k
            break
    lines = [cells for _, cells in rows[: last + 1]]
    below = rows[last + 1][1] if last + 1 < len(rows) else []
    ranks = [_RANK.fullmatch(cell) for cell in below]
    if any(ranks) and all(bool(cell) == bool(rank) for cell, rank in zip(below, ranks)):
        last += 1
        lines[-1] = [_ANY_RANK.sub("", cell) for cell in lines[-1]]
        lines.append([f"@{rank[1]}" if rank else "" for rank in ranks])
    width, stacks = max(map(len, lines), default=0), list[list[str]]()
    for k in range(width):
        stack = [cells[k] if k < len(cells) else "" for cells in lines]
        left = stacks[-1] if k > 1 else stack
        stacks.append([*(a or b for a, b in zip(stack[:-1], left)), stack[-1]])
    return last, stacks


def _roles(heads: Sequence[str], measures: Iterable[int]) -> dict[str, int]:
    """Return the column of each role; the first without one has the algorithms."""
    others = {k: head.lower() for k, head in enumerate(heads) if k not in measures}
    roles = {
        role: k for role, words in ROLES.items() for k, head in others.items() if head in words
    }
    rest = [k for k in others if k not in roles.values()]
    return {"algorithm": rest[0], **roles} if rest else roles


def _number(cell: str, where: str) -> str:
    """Return the first number of a cell, without stars, signs of significance and deviations."""
    match = _NUMBER.search(cell)
    if match is None and any(map(str.isdecimal, cell)):
        raise DataError(f"{where}: found {cell[:40]!r}, expected a number such as 0.5036")
    return "".join(match[0].split()).translate(_PLAIN) if match else ""


def _grids(path: Path, text: str) -> Iterable[_Grid]:
    """Return the tables of a text, with the texts around them."""
    if _TABULAR.search(text):
        return _latex(re.sub(r"(?<!\\)((?:\\\\)*)%.*", r"\1", text))  # without comments
    barred = text.translate(_BARS)
    if re.search(r"^ *\||^[ :-]*-[ :-]*\|[ :|-]*$", barred, re.MULTILINE):
        return _markdown(barred)
    separator = _separator(text)
    if separator == " ":
        return _aligned(path, text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = list[_Row]()
    try:  # a quote that is not closed is an error
        rows += ((lines.line_num, [*map(str.strip, cells)]) for cells in lines if cells)
    except csv.Error as error:
        raise DataError(f"{path}:{rows[-1][0] + 1 if rows else 1}: {error}") from None
    return [("", rows)]


def _separator(text: str) -> str:
    """Return what separates cells where a line has a measure; a comma if none has."""
    for line in (lines := text.splitlines()):
        for mark in "\t;,":
            if mark in line and any(_is_measure(cell.strip(' "')) for cell in line.split(mark)):
                return mark
    return " " if any(any(map(_is_measure, _blanks(line)[1:])) for line in lines) else ","


def _blanks(line: str) -> list[str]:
    """Return the cells of a line between two blanks or more, or else its words."""
    cells = re.split(r"\s{2,}", line.strip())
    return cells if len(cells) > 1 else _words(line)


def _words(line: str) -> list[str]:
    return re.sub(r"\s*(±|\+/-)\s*", r"\1", line).split()


def _is_cell(text: str) -> bool:
    if _is_measure(text):
        return False
    return text.lower() in NOT_PRINTED or _NUMBER.search(text) is not None


def _aligned(path: Path, text: str) -> Iterator[_Grid]:
    """Yield the tables of aligned text, as of a PDF file: headings, and rows up to one of words.

    Columns may stand one blank apart in some places and more in others.
    """
    around, heading, rows, width = "", "", list[_Row](), 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if _BORDER.fullmatch(line):
            continue
        words = _words(line)
        cells = words if len(_blanks(line)) < width <= len(words) else _blanks(line)
        if rows and cells and all(map(_is_cell, cells[1 - width :])):
            first = len(cells) - width + 1
            if first < 1 or any(re.fullmatch(r"\d*[.,]\d+", cell) for cell in cells[:first]):
                raise DataError(f"{path}:{number}: found {len(cells)} columns, expected {width}")
            rows.append((number, [" ".join(cells[:first]), *cells[first:]]))
            continue
        if len(rows) > 1:
            yield around, rows
            around = ""
        elif rows:  # a sentence with the name of a measure
            around += f"\n{heading}"
        cells = words if words[1:] and all(map(_is_measure, words[1:])) else _blanks(line)
        if cells[1:] and _is_measure(cells[0]):  # the column of names has no heading
            cells = ["", *cells]
        if any(map(_is_measure, cells[1:])):
            heading, rows, width = line, [(number, cells)], len(cells)
        else:
            around, rows, width = f"{around}\n{line}", [], 0


def _markdown(text: str) -> Iterator[_Grid]:
    around, rows = "", list[_Row]()
    mark = r" *\|" if re.search(r"^ *\|", text, re.MULTILINE) else r".*\|"  # outer ones may lack
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if _BORDER.fullmatch(line):
            continue
        if re.match(mark, line):
            cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
            rows.append((number, [of_markdown(cell).strip() for cell in cells]))
        elif rows:
            yield around, rows
            around, rows = line, []
        else:
            around += f"\n{line}"


def _latex(text: str) -> Iterator[_Grid]:
    end = 0
    for match in _TABULAR.finditer(text):
        rows = []
        for row in _ROW.finditer(text, *match.span(2)):
            cells = [*_latex_cells(row[1])]
            if any(cells):
                rows.append((text.count("\n", 0, row.start() + len(row[1].rstrip())) + 1, cells))
        yield text[end : match.start()] + (match[3] or ""), rows
        end = match.end()


def _latex_cells(row: str) -> Iterator[str]:
    row = row.replace(r"\percent", r"\%")  # of siunitx
    row = re.sub(r"\s*\\(?:times|cdot)\s*10\s*\^\s*\{?(-?\d+)\}?", r"e\1", row.replace("{,}", ","))
    for cell in re.split(r"(?<!\\)&", _HIDDEN.sub(" ", row)):
        width = re.search(r"\\multicolumn\{(\d+)\}", cell)
        plain = _COMMAND.sub(lambda m: m[1] or _SIGNS.get(m[2], " "), _SPAN.sub(" ", cell))
        yield from [" ".join(plain.split())] * (int(width[1]) if width else 1)
