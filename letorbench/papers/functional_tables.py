"""The functionals paper's tables: each printed row a ranker with settings, and their layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from letorbench.papers.runs import Variant

#: a variant's label and a measure -> the number that stands for it, None where there is none
Cell = Callable[[str, str], float | None]
Settings = Mapping[str, object]

#: the printed weights of a document (Table 8) and of a pair (Table 9) -> our setting `weight`
DOCUMENT_WEIGHTS = {
    "1": "1", "r": "r", "sqrt(r)": "sqrt(r)", "(2^r-1)/2^(L-1)": "(2^r-1)/2^(L-1)",
    "1/pi": "1/pi", "1/log(1+pi)": "1/log(1+pi)",
}  # fmt: skip
PAIR_WEIGHTS = {
    "1": "1", "1/N": "1/m", "|ri-rj|": "|ri-rj|", "|ri-rj|/N": "|ri-rj|/m",
    "(Ri-Rj)(eta_i-eta_j)/NDCGmax": "(Ri-Rj)(ei-ej)/Z",
    "(Ri-Rj)(eta_i-eta_j)": "(Ri-Rj)(ei-ej)", "Ri-Rj": "Ri-Rj", "(Ri-Rj)/N": "(Ri-Rj)/m",
}  # fmt: skip
#: Table 5's thresholds with the number of the paper's features that pass
THRESHOLDS = {
    0.0: 134_477, 0.05: 53_394, 0.10: 26_318, 0.15: 14_425, 0.20: 7_114, 0.25: 2_983, 0.30: 1_294,
}  # fmt: skip
GROUPS = {"min": "min", "max": "max", "arithmetic mean": "mean", "geometric mean": "log-mean-exp"}
QUADRATIC = {"loss": "logistic", "weight": PAIR_WEIGHTS["(Ri-Rj)/N"]}

#: Table 4's functionals, the first and second of section 2
F = {"f1 sigmoid-bilinear": "bilinear", "f2 distance": "distance"}


@dataclass(frozen=True)
class Entry:
    """A printed result: the ranker that stands for it, and its place in the table.

    Parameters
    ----------
    variant : Variant
        The ranker with its settings; its label is the algorithm's name in `published.csv`.
    row, column : str
        The place. Without a column the table's columns are measures.
    features : int or None
        How many features the paper's model has, where the table prints it.
    """

    variant: Variant
    row: str
    column: str = ""
    features: int | None = None


@dataclass(frozen=True)
class PrintedTable:
    """One of the paper's tables: what its first column is called, and its entries."""

    corner: str
    entries: tuple[Entry, ...]

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(entry.variant for entry in self.entries)

    @property
    def counts(self) -> dict[str, int | None]:
        """The labels of the entries -> the paper's numbers of features."""
        return {entry.variant.label: entry.features for entry in self.entries}


def _crossed(
    corner: str, rows: Mapping[str, Settings], losses: Mapping[str, tuple[str, Settings]]
) -> PrintedTable:
    """A table with a weight a row and a loss a column: name -> settings, name -> algorithm."""
    return PrintedTable(
        corner,
        tuple(
            Entry(Variant(f"{name} weight {row}", algo, {**fixed, **setting}), row, name)
            for row, setting in rows.items()
            for name, (algo, fixed) in losses.items()
        ),
    )


def _weights(printed: Mapping[str, str]) -> dict[str, Settings]:
    return {name: {"weight": ours} for name, ours in printed.items()}


_TABLE_4 = PrintedTable(
    "functional",
    tuple(
        Entry(
            Variant(f"{printed} + {loss}", algo, {"functional": functional, **settings}),
            printed, loss,
        )
        for printed, functional in F.items()
        for loss, algo, settings in (
            ("multiclass logistic", "mcl", {}),
            ("MRR optimisation", "smooth-mrr", {}),
            ("pairwise logistic", "pairwise", {"loss": "logistic", "weight": "1"}),
        )
    ),
)  # fmt: skip
_TABLE_5 = PrintedTable(
    "rho",
    (
        Entry(
            Variant("quadratic linear 519", "pairwise", {**QUADRATIC, "functional": "linear"}),
            "linear", features=519,
        ),
        *(
            Entry(
                Variant(
                    f"quadratic rho={rho:.2f} {kept}", "pairwise",
                    {**QUADRATIC, "functional": "quadratic", "rho": rho},
                ),
                f"{rho:.2f}", features=kept,
            )
            for rho, kept in THRESHOLDS.items()
        ),
    ),
)  # fmt: skip
_TABLE_6 = PrintedTable(
    "aggregation",
    (
        Entry(
            Variant("group object level", "wpl", {"weight": "1", "functional": "linear"}),
            "object level",
        ),
        *(
            Entry(
                Variant(
                    f"group {name}", "wpl", {"weight": "1", "functional": "group", "group": group}
                ),
                name,
            )
            for name, group in GROUPS.items()
        ),
    ),
)  # fmt: skip
_TABLE_7 = PrintedTable(
    "loss",
    tuple(
        Entry(Variant(name, algo, settings), name)
        for name, algo, settings in (
            ("pairwise quadratic", "pairwise", {"loss": "quadratic", "weight": "1"}),
            ("pairwise logistic", "pairwise", {"loss": "logistic", "weight": "1"}),
            ("pairwise hinge", "pairwise", {"loss": "hinge", "weight": "1"}),
            ("NDCG optimisation", "smooth-ndcg", {"functional": "linear"}),
            ("ERR optimisation", "smooth-err", {"functional": "linear"}),
        )
    ),
)
_TABLE_8 = _crossed(
    "weight W", _weights(DOCUMENT_WEIGHTS),
    {"WPL": ("wpl", {}), "RPL": ("rpl", {}), "WpLL": ("wpll", {})},
)  # fmt: skip
_TABLE_9 = _crossed(
    "weight V", _weights(PAIR_WEIGHTS),
    {
        **{loss: ("pairwise", {"loss": loss}) for loss in ("quadratic", "logistic", "hinge")},
        "WUB": ("wub", {}),
    },
)  # fmt: skip

#: the paper's tables by number
TABLES: Mapping[int, PrintedTable] = MappingProxyType(
    {4: _TABLE_4, 5: _TABLE_5, 6: _TABLE_6, 7: _TABLE_7, 8: _TABLE_8, 9: _TABLE_9}
)


def layout(
    table: PrintedTable, columns: Mapping[str, str], cell: Cell, counts: Mapping[str, object]
) -> tuple[list[str], list[list[object]]]:
    """Header and rows of a table in the paper's form.

    Parameters
    ----------
    table : PrintedTable
        One of `TABLES`.
    columns : mapping
        Measures -> how they are printed. A table with a loss a column shows only the first.
    cell : callable
        The number of a label and a measure, None where there is none.
    counts : mapping
        Labels -> how many features they have; a column of them where the paper prints one.
    """
    if table.entries[0].column:
        return _by_loss(table, next(iter(columns)), cell)
    counted = table.entries[0].features is not None
    rows = [
        [
            entry.row,
            *([counts.get(entry.variant.label)] if counted else []),
            *(cell(entry.variant.label, measure) for measure in columns),
        ]
        for entry in table.entries
    ]
    return [table.corner, *(["No. feats"] if counted else []), *columns.values()], rows


def _by_loss(table: PrintedTable, measure: str, cell: Cell) -> tuple[list[str], list[list[object]]]:
    """A row a weight (or functional), a column a loss."""
    losses = list(dict.fromkeys(entry.column for entry in table.entries))
    rows: dict[str, list[object]] = {}
    for entry in table.entries:
        rows.setdefault(entry.row, [entry.row]).append(cell(entry.variant.label, measure))
    return [table.corner, *losses], list(rows.values())
