"""What training warned of, folded: a line an algorithm, the most serious first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from letorbench.analysis.report.gather import Algorithm, Results
from letorbench.analysis.report.html import folded, paragraph

#: how serious a warning is by what it says, the most serious first; others come second to last
SERIOUS = (
    r"NaN|infinite|no number|past all numbers",
    r"constant|all scores are|no weak learner",
    r"not below|ended after|stopped after",
)
MILD = r"of its grid"


def warnings(results: Results) -> str:
    """The whole part: how many warnings there are, and the rest to be unfolded."""
    found = [(algorithm, _by_text(algorithm)) for algorithm in results.algorithms]
    found = [(algorithm, texts) for algorithm, texts in found if texts]
    if not found:
        return paragraph("None.")
    found.sort(key=lambda each: (min(map(seriousness, each[1])), each[0].name))
    count = sum(len(folds) for _, texts in found for folds in texts.values())
    of = f"{len(found)} of {len(results.algorithms)} algorithms"
    items = "\n".join(f"<li>{_line(algorithm, texts)}</li>" for algorithm, texts in found)
    plural = "warning" + "s" * (count > 1)
    return folded(f"{count} {plural} from {of}, the most serious first", f"<ul>\n{items}\n</ul>")


def seriousness(text: str) -> int:
    """0 for a model that gives no numbers, and more the less a warning matters.

    Examples
    --------
    >>> seriousness("constant test scores") < seriousness("the best C = 1 is the end of its grid")
    True
    """
    for rank, pattern in enumerate(SERIOUS):
        if re.search(pattern, text):
            return rank
    return len(SERIOUS) + bool(re.search(MILD, text))


def _by_text(algorithm: Algorithm) -> dict[str, list[int]]:
    """Each warning -> the folds that gave it."""
    folds: dict[str, list[int]] = {}
    for fold, fit in algorithm.fits.items():
        for text in fit.get("warnings", []):
            folds.setdefault(str(text), []).append(fold)
    return folds


def _line(algorithm: Algorithm, texts: Mapping[str, list[int]]) -> str:
    """The algorithm, its count, its most serious warning; the others unfold."""
    order = sorted(texts, key=seriousness)
    count = sum(map(len, texts.values()))
    head = f"<strong>{escape(algorithm.name)}</strong> ({count}): {_said(order[0], texts)}"
    if len(order) == 1:
        return head
    rest = "\n".join(f"<li>{_said(text, texts)}</li>" for text in order[1:])
    return head + folded(f"{len(order) - 1} more", f"<ul>\n{rest}\n</ul>")


def _said(text: str, texts: Mapping[str, list[int]]) -> str:
    folds = texts[text]
    return f"{escape(text)}, fold{'s' * (len(folds) > 1)} {', '.join(map(str, folds))}"
