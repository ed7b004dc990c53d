r"""Printed tables as they are: CSV, Markdown or LaTeX, a row a number or a column a measure.

A table has a row for each number (dataset, algorithm, part, fold, measure, value), or a column for
each measure and a row for each algorithm, or the measures as rows and the algorithms as columns.
A data set that no column names is the last one that the text before the table, its caption, a row
of its own or the file's name names.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from letorbench.datasets.catalog import parse as data_set
from letorbench.datasets.layout import MOST_FOLDS
from letorbench.datasets.text import check_encoding
from letorbench.errors import DataError, UsageError
from letorbench.measures import MEASURES, parse
from letorbench.verify.numbers import Known, Printed

#: how tables name the parts and the mean of the folds
PARTS = {"train": "train", "vali": "validation", "test": "test"}
MEANS = ("average", "mean", "avg", "all", "")
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
#: other spellings of measures, as the beginning of a heading
SPELLINGS = {"meanndcg": "mean-ndcg", "precision": "p", "prec@": "p@", "n@": "ndcg@"}
_MEASURE = re.compile(r"([a-z-]+)(?:@\d+)?")
_NUMBER = re.compile(r"(?<![\d.,])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?![\d,.])\s*%?")
_TABULAR = re.compile(r"\\begin\{(tabular[xy]?\*?|longtable)\}(.*?)\\end\{\1\}", re.DOTALL)
#: the columns' kinds behind \begin{tabular}
_KINDS = re.compile(r"\s*(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\})+")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfoot|c(?:mid)?(?:line|rule)(?:\([^)]*\))?"
    r"\{[^}]*\})|(?<!\\)%[^\n]*"
)
_SPANNING = re.compile(r"\s*\\multicolumn\{(\d+)\}\{[^}]*\}\{(.*)\}\s*", re.DOTALL)
_ROWS = re.compile(r"\\multirow(?:\[[^\]]*\])?\{[^}]*\}(?:\[[^\]]*\])?\{[^}]*\}")

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


def read_table(path: Path) -> list[Entry]:
    """Read the numbers of a file's tables.

    Part (default test) and fold (default the mean of the folds) may be missing; ``metric`` and
    ``cutoff`` may stand for the measure. Where most numbers are above 1, all are per cent, of the
    measures that are checked. Rows without a number are left out. DataError names the line that
    lacks a column or holds something else.
    """
    found: dict[tuple, Entry] = {}
    content = path.read_bytes()
    check_encoding(path, content[: 1 << 16])
    line = 1
    try:
        for around, rows in _grids(path, content.decode("utf-8-sig")):
            line = rows[0][0] if rows else 1
            for line, record in _records(path, _data_set_in(around) or path.stem, rows):
                entry = _entry(record, line)
                first = found.setdefault(entry[:5], entry)
                if first is not entry:
                    raise UsageError(f"found the number of line {first.line} again")
    except (UsageError, UnicodeDecodeError) as error:
        raise DataError(f"{path}:{line}: {error}") from None
    entries = list(found.values())
    if not entries:
        raise DataError(f"{path}: found no number, expected one or more")
    if np.mean([each.number.value > 1.0 for each in entries if each.checked] or [False]) <= 0.5:
        return entries
    plain = [e.checked and not e.number.text.endswith("%") for e in entries]
    return [e._replace(number=e.number.per_cent()) if p else e for e, p in zip(entries, plain)]


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
    name = re.sub(r"\s|\(%\)", "", measure.lower())
    start = next((each for each in SPELLINGS if name.startswith(each)), "")
    return SPELLINGS.get(start, "") + name[len(start) :]


def _measure(heading: str) -> str:
    """Return the measure that a heading names, "" for another heading."""
    match = _MEASURE.fullmatch(name := _spelled(heading))
    return name if match and match[1] in MEASURES else ""


def _data_set_in(text: str) -> str:
    """Return the last data set of the catalog that a text names."""
    for word in reversed(re.findall(r"\w[\w-]*", text)):
        if (named := data_set(word)).entry is not None:
            return named.label
    return ""


def _records(
    path: Path, dataset: str, rows: Sequence[_Row]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the facts of each number of a table."""
    names = [name.strip().lower() for name in rows[0][1]] if rows else []
    if {"dataset", "algorithm", "value"} <= {*names} and {"measure", "metric"} & {*names}:
        for line, cells in rows[1:]:
            record = {name: cell.strip() for name, cell in zip(names, cells) if name}
            record = dict.fromkeys(names, "") | record
            if record["value"].lower() not in NOT_PRINTED:
                yield line, record
        return
    start, heads = _headings(rows)
    measures = {k: head for k, head in enumerate(heads) if _measure(head)}
    by_row = not measures and any(_measure(cells[0]) for _, cells in rows[1:] if cells)
    if not measures and not by_row:
        expected = f"{LONG}, or a column for each measure"
        raise UsageError(f"found the columns {', '.join(names)}, expected {expected}")
    for _, cells in rows[:start]:
        dataset = _data_set_in(" ".join(cells)) or dataset
    roles = {} if by_row else _roles(heads, measures)
    facts = {"dataset": dataset}
    for line, cells in rows[start + 1 :]:
        cells = [*cells, *[""] * (len(heads) - len(cells))]
        named = {role: cells[k].strip() for role, k in roles.items()}
        facts |= {role: text for role, text in named.items() if text}  # a name may span rows
        where = f"{path}:{line}"
        numbers = {k: _number(cells[k], where) for k in measures or range(1, len(heads))}
        if not any(numbers.values()):
            facts["dataset"] = _data_set_in(" ".join(cells)) or facts["dataset"]
        elif by_row and not _measure(cells[0]):
            raise DataError(f"{where}: found the row {cells[0][:40]!r}, expected a measure")
        for k, number in numbers.items():
            own = {"algorithm": heads[k], "measure": cells[0]} if by_row else {"measure": heads[k]}
            if number:
                yield line, {"algorithm": "", **facts, **own, "value": number}


def _headings(rows: Sequence[_Row]) -> tuple[int, list[str]]:
    """Return the row of the headings and their texts: `NDCG` above `@1`, `@3` are two measures."""
    for at, (_, cells) in enumerate(rows):
        below = [each.strip() for each in rows[at + 1][1]] if at + 1 < len(rows) else []
        cuts = [each for each in below if each]
        if cuts and all(re.fullmatch(r"@\d+", each) for each in cuts):
            heads, top = [], ""
            for k, cut in enumerate(below):
                top = cells[k].strip() if k < len(cells) and cells[k].strip() else top
                heads.append(f"{top}{cut}" if cut else cells[k].strip() if k < len(cells) else "")
            return at + 1, heads
        if any(map(_measure, cells[1:])):
            return at, [each.strip() for each in cells]
    return 0, [each.strip() for each in rows[0][1]]


def _roles(heads: Sequence[str], measures: Mapping[int, str]) -> dict[str, int]:
    """Return the column of each role; the first without one has the algorithms."""
    others = {k: head.lower() for k, head in enumerate(heads) if k not in measures}
    roles = {
        role: k for role, words in ROLES.items() for k, head in others.items() if head in words
    }
    rest = [k for k in others if k not in roles.values()]
    return roles if "algorithm" in roles or not rest else roles | {"algorithm": rest[0]}


def _number(cell: str, where: str) -> str:
    """Return the first number of a cell, without stars, signs of significance and deviations."""
    found = _NUMBER.search(cell)
    if found is None and any(map(str.isdecimal, cell)):
        expected = "expected a number such as 0.5036"
        raise DataError(f"{where}: found {cell.strip()[:40]!r}, {expected}")
    return found[0].replace(" ", "") if found else ""


def _grids(path: Path, text: str) -> Iterable[_Grid]:
    """Return the tables of a text, with the texts around them."""
    if _TABULAR.search(text):
        return _latex(text)
    if re.search(r"^ *\|", text, re.MULTILINE):
        return _markdown(text)
    tabs = "\t" in text.partition("\n")[0]
    lines = csv.reader(io.StringIO(text, newline=""), "excel-tab" if tabs else "excel", strict=True)
    try:  # a quote that is not closed is an error
        return [("", [(lines.line_num, cells) for cells in lines if cells])]
    except csv.Error as error:
        raise DataError(f"{path}:{lines.line_num + 1}: {error}") from None


def _markdown(text: str) -> Iterator[_Grid]:
    around, rows = "", list[_Row]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip()[1:].removesuffix("|"))
            if not all(re.fullmatch(r"\s*:?-+:?\s*", each) for each in cells):
                rows.append((number, [re.sub(r"[*`\\]|<[^>]*>", "", each) for each in cells]))
        elif rows:
            yield around, rows
            around, rows = line, []
        else:
            around += f"\n{line}"


def _latex(text: str) -> Iterator[_Grid]:
    end = 0
    for found in _TABULAR.finditer(text):
        closed = text.find(r"\end{table", found.end())
        after = (
            text[found.end() : closed] if r"\begin{tab" not in text[found.end() : closed] else ""
        )
        around = text[end : found.start()] + after
        end, at = found.end(), found.start(2)
        kinds = _KINDS.match(found[2])
        at += kinds.end() if kinds else 0
        rows = []
        for row in re.split(r"(\\\\(?:\[[^\]]*\])?)", text[at : found.end(2)]):
            plain = _RULE.sub(lambda rule: " " * len(rule[0]), row)
            first = at + len(plain) - len(plain.lstrip())
            at += len(row)
            if plain.strip() and not plain.startswith("\\\\"):
                rows.append((text.count("\n", 0, first) + 1, _latex_cells(plain)))
        yield around, rows


def _latex_cells(row: str) -> list[str]:
    cells = []
    for cell in re.split(r"(?<!\\)&", row):
        spanning = _SPANNING.fullmatch(cell)
        plain = _ROWS.sub(" ", spanning[2] if spanning else cell)
        plain = re.sub(r"\\(?=[_&%#$])", "", plain)
        plain = re.sub(r"\\[a-zA-Z]+\*?|[{}$^~]", " ", plain)
        cells += [" ".join(plain.split())] * (int(spanning[1]) if spanning else 1)
    return cells
