"""The functionals paper's tables: each printed row a ranker with settings, and their layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from letorbench.papers.study import Variant

#: a variant's label and a measure -> the number that stands for it, None where there is none
Cell = Callable[[str, str], float | None]

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

TABLES: dict[int, tuple[Variant, ...]] = {
    4: tuple(
        Variant(f"{printed} + {loss}", algo, {"functional": functional, **settings})
        for printed, functional in F.items()
        for loss, algo, settings in (
            ("multiclass logistic", "mcl", {}),
            ("MRR optimisation", "smooth-mrr", {}),
            ("pairwise logistic", "pairwise", {"loss": "logistic", "weight": "1"}),
        )
    ),
    5: (
        Variant("quadratic linear 519", "pairwise", {**QUADRATIC, "functional": "linear"}),
        *(
            Variant(
                f"quadratic rho={rho:.2f} {kept}", "pairwise",
                {**QUADRATIC, "functional": "quadratic", "rho": rho},
            )
            for rho, kept in THRESHOLDS.items()
        ),
    ),
    6: (
        Variant("group object level", "wpl", {"weight": "1", "functional": "linear"}),
        *(
            Variant(f"group {name}", "wpl", {"weight": "1", "functional": "group", "group": group})
            for name, group in GROUPS.items()
        ),
    ),
    7: (
        *(
            Variant(f"pairwise {loss}", "pairwise", {"loss": loss, "weight": "1"})
            for loss in ("quadratic", "logistic", "hinge")
        ),
        Variant("NDCG optimisation", "smooth-ndcg", {"functional": "linear"}),
        Variant("ERR optimisation", "smooth-err", {"functional": "linear"}),
    ),
    8: tuple(
        Variant(f"{name} weight {printed}", name.lower(), {"weight": weight})
        for printed, weight in DOCUMENT_WEIGHTS.items()
        for name in ("WPL", "RPL", "WpLL")
    ),
    9: tuple(
        Variant(f"{name} weight {printed}", algo, {**loss, "weight": weight})
        for printed, weight in PAIR_WEIGHTS.items()
        for name, algo, loss in (
            ("quadratic", "pairwise", {"loss": "quadratic"}),
            ("logistic", "pairwise", {"loss": "logistic"}),
            ("hinge", "pairwise", {"loss": "hinge"}),
            ("WUB", "wub", {}),
        )
    ),
}  # fmt: skip

#: Table 5's labels -> the paper's number of features
PRINTED_FEATURES = {v.label: int(v.label.rpartition(" ")[2]) for v in TABLES[5]}
#: the tables that lay out two settings, and what parts a row's name from a column's in a label
CROSSED = {4: " + ", 8: " weight ", 9: " weight "}
#: what the tables' first columns are called
CORNERS = {4: "functional", 5: "rho", 6: "aggregation", 7: "loss", 8: "weight W", 9: "weight V"}


def layout(
    number: int, columns: Mapping[str, str], cell: Cell, counts: Mapping[str, object]
) -> tuple[list[str], list[list[object]]]:
    """Header and rows of a table in the paper's form.

    columns: measures -> how they are printed; a crossed table shows the only one.
    counts:  Table 5's labels -> how many features they have, printed there beside rho.
    """
    labels = [variant.label for variant in TABLES[number]]
    if number in CROSSED:
        return _crossed(number, labels, next(iter(columns)), cell)
    header = [CORNERS[number], *columns.values()]
    rows = [[_name(label), *(cell(label, m) for m in columns)] for label in labels]
    if number == 5:
        header.insert(1, "No. feats")
        for row, label in zip(rows, labels):
            row.insert(1, counts.get(label))
    return header, rows


def _crossed(
    number: int, labels: Sequence[str], measure: str, cell: Cell
) -> tuple[list[str], list[list[object]]]:
    """A row a weight (or functional), a column a loss."""
    at: dict[str, dict[str, str]] = {}
    for label in labels:
        first, second = label.split(CROSSED[number])
        row, column = (first, second) if number == 4 else (second, first)
        at.setdefault(row, {})[column] = label
    losses = list(next(iter(at.values())))
    rows = [[row, *(cell(found[loss], measure) for loss in losses)] for row, found in at.items()]
    return [CORNERS[number], *losses], rows


def _name(label: str) -> str:
    """A row's name within its table."""
    words = label.removeprefix("group ").removeprefix("quadratic ")
    rho, _, kept = words.partition(" ")
    return rho.removeprefix("rho=") if kept.isdigit() else words
