"""What training warned of, folded: a line an algorithm, the most serious first."""

from __future__ import annotations

from collections.abc import Mapping

from letorbench.analysis.report.gather import Algorithm, Results
from letorbench.analysis.report.html import folded, paragraph
from letorbench.escaping import html as escape
from letorbench.fit_warnings import FitWarning
from letorbench.results.store import fit_warnings

#: each notice of an algorithm, and the folds that gave it
Found = Mapping[FitWarning, list[int]]


def warnings(results: Results) -> str:
    """The whole part: how many warnings there are, and the rest to be unfolded."""
    found = [(algorithm, _by_notice(algorithm)) for algorithm in results.algorithms]
    found = [(algorithm, notices) for algorithm, notices in found if notices]
    if not found:
        return paragraph("None.")
    found.sort(key=lambda each: (min(map(_rank, each[1])), each[0].name))
    count = sum(len(folds) for _, notices in found for folds in notices.values())
    of = f"{len(found)} of {len(results.algorithms)} algorithms"
    items = "\n".join(f"<li>{_line(algorithm, notices)}</li>" for algorithm, notices in found)
    plural = "warning" + "s" * (count > 1)
    return folded(f"{count} {plural} from {of}, the most serious first", f"<ul>\n{items}\n</ul>")


def _rank(notice: FitWarning) -> int:
    return notice.rank


def _by_notice(algorithm: Algorithm) -> dict[FitWarning, list[int]]:
    folds: dict[FitWarning, list[int]] = {}
    for fold, fit in algorithm.fits.items():
        for notice in fit_warnings(fit):
            folds.setdefault(notice, []).append(fold)
    return folds


def _line(algorithm: Algorithm, notices: Found) -> str:
    """The algorithm, its count, its most serious warning; the others unfold."""
    order = sorted(notices, key=_rank)
    count = sum(map(len, notices.values()))
    head = f"<strong>{escape(algorithm.name)}</strong> ({count}): {_said(order[0], notices)}"
    if len(order) == 1:
        return head
    rest = "\n".join(f"<li>{_said(notice, notices)}</li>" for notice in order[1:])
    return head + folded(f"{len(order) - 1} more", f"<ul>\n{rest}\n</ul>")


def _said(notice: FitWarning, notices: Found) -> str:
    folds = notices[notice]
    plural = "folds" if len(folds) > 1 else "fold"
    listed = f"{plural} {', '.join(map(str, folds))}"
    return f"{notice.kind}: {escape(notice.text)}, {listed}"
