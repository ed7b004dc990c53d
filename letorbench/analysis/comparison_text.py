"""Comparisons as text, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from letorbench.analysis.cells import label
from letorbench.analysis.comparison import Pair, Procedure

HEADER = ("algorithm", "against", "mean", "other", "difference", "95 % interval",
          "p", "adjusted", "effect", "win/tie/loss")  # fmt: skip
COLUMNS = ("dataset", "measure", "algo", "against", "queries", "mean", "mean_against",
           "difference", "low", "high", "test", "method", "p", "correction", "p_adjusted",
           "effect", "wins", "ties", "losses")  # fmt: skip


def title(pairs: Sequence[Pair], convention: str, procedure: Procedure) -> str:
    """One line above the pairs of a data set and measure."""
    first = pairs[0]
    return (
        f"{first.dataset}, {label(first.measure)} [{convention}]: mean over {first.significance.n} "
        f"queries of all folds; {procedure}; * = p < {procedure.alpha:g}"
    )


def probability(p: float) -> str:
    """Four places, and what is smaller said so."""
    return "<.0001" if p < 0.00005 else f"{p:.4f}".removeprefix("0") if p < 1 else "1"


def cells(pair: Pair, procedure: Procedure) -> list[str]:
    """A pair's row as printed, the columns of `HEADER`."""
    counts = pair.counts
    star = "*" if pair.sign(procedure.alpha) else ""
    return [
        pair.a,
        pair.b,
        f"{pair.means[0]:.4f}",
        f"{pair.means[1]:.4f}",
        f"{pair.interval.mean:+.4f}",
        f"[{pair.interval.low:+.4f}, {pair.interval.high:+.4f}]",
        probability(pair.significance.p),
        probability(pair.adjusted) + star,
        f"{pair.effect:+.2f}",
        f"{counts.wins}/{counts.ties}/{counts.losses}",
    ]


def text(pairs: Sequence[Pair], convention: str, procedure: Procedure) -> str:
    """Aligned columns under a title."""
    rows = [cells(pair, procedure) for pair in pairs]
    return "\n".join([title(pairs, convention, procedure), aligned(HEADER, rows, 2)]) + "\n"


def markdown(pairs: Sequence[Pair], convention: str, procedure: Procedure) -> str:
    """A pipe table under a title."""
    rows = [HEADER, ["---", "---", *["---:"] * (len(HEADER) - 2)]]
    rows += [cells(pair, procedure) for pair in pairs]
    said = title(pairs, convention, procedure).replace("* =", r"\* =")
    lines = ["| " + " | ".join(row).replace("*", r"\*") + " |" for row in rows]
    return "\n".join([said, "", *lines]) + "\n"


def csv_text(pairs: Sequence[Pair], convention: str, procedure: Procedure) -> str:
    """Every digit; the convention is that of the data set's summary."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*COLUMNS, "convention"])
    for pair in pairs:
        found, counts = pair.significance, pair.counts
        numbers = [*pair.means, pair.interval.mean, pair.interval.low, pair.interval.high]
        writer.writerow(
            [pair.dataset, pair.measure, pair.a, pair.b, found.n, *map(repr, numbers),
             found.test, found.method, repr(found.p), procedure.correction, repr(pair.adjusted),
             repr(pair.effect), counts.wins, counts.ties, counts.losses, convention]
        )  # fmt: skip
    return file.getvalue()


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> str:
    """Lines of columns, the first `n_left` to the left, the others to the right."""
    table = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < n_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in table
    )


FORMATS: dict[str, Callable[[Sequence[Pair], str, Procedure], str]] = {
    "text": text,
    "csv": csv_text,
    "markdown": markdown,
}
