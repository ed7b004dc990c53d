"""A table as a value: columns, rows of cells, and what is said above and below them.

A table knows nothing of any format; `letorbench.analysis.rendering` writes it as text, CSV,
Markdown or LaTeX, and the report as HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

Align = Literal["left", "right"]
#: what a cell holds beside its text
Value = str | int | float | None


@dataclass(frozen=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        The cell as people read it; "" where there is nothing.
    value : str, int, float or None
        The same with every digit: what CSV holds and what the report sorts by.
    place : int
        1 where the number is the best of its column, 2 where it is the second best, else 0.
    sign : int
        +1 or -1 where the number is significantly better or worse than the baseline's.
    starred : bool
        Whether the cell is significant by the rule that the table's caption states.
    spread : str
        The number's standard deviation over seeds; "" where there is none.
    open : bool
        Whether other seeds could change what the cell says: a place, a rank, an order.
    """

    text: str
    value: Value = None
    place: int = 0
    sign: int = 0
    starred: bool = False
    spread: str = ""
    open: bool = False


@dataclass(frozen=True)
class Column:
    """A column's heading and the side that its cells are aligned to."""

    heading: str
    align: Align = "right"


@dataclass(frozen=True)
class Table:
    """Columns and rows with a caption above and notes below.

    Parameters
    ----------
    caption : str
        One line above the table.
    columns, rows : tuple
        Every row has one cell for each column.
    notes : tuple of str
        Lines below the table.
    name : str
        What LaTeX refers to the table by; "" for none.
    ranked : bool
        Whether the best and second best of columns are marked.
    against : str
        The baseline of the cells' signs and how they were tested; "" where there are none.
    seeds : str
        What the spreads and the marks of open cells mean; "" where there are none.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    name: str = ""
    ranked: bool = False
    against: str = ""
    seeds: str = ""

    @property
    def headings(self) -> list[str]:
        return [column.heading for column in self.columns]


def columns(left: Sequence[str], right: Sequence[str] = ()) -> tuple[Column, ...]:
    """Columns of text, aligned to the left, then columns of numbers, aligned to the right."""
    return (*(Column(name, "left") for name in left), *(Column(name) for name in right))


def data_table(headings: Sequence[str], rows: Iterable[Sequence[Value]]) -> Table:
    """A table of plain values for programs: CSV and DataFrames.

    Examples
    --------
    >>> data_table(["algo", "map"], [["regression", 0.25]]).rows[0][1].value
    0.25
    """
    cells = tuple(
        tuple(Cell("" if value is None else str(value), value) for value in row) for row in rows
    )
    return Table("", columns((), headings), cells)


def to_frame(table: Table) -> pd.DataFrame:
    """The table's values as a DataFrame with one column for each heading."""
    import pandas as pd

    rows = [[cell.value for cell in row] for row in table.rows]
    return pd.DataFrame(rows, columns=table.headings)
