"""What the laboratory found of a loss: lines for people, a figure, and a CSV for each test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.analysis import surrogates
from letorbench.analysis.line_figures import Axis, Line, lines_figure
from letorbench.analysis.surrogates import Counterexample, Regrets
from letorbench.analysis.tables import write_table
from letorbench.losses.base import Loss

#: what rounding may leave of a convex loss
CONVEX = 1e-9
#: points of the figure's curve of regret against excess
POINTS = 25


@dataclass(frozen=True, eq=False)
class LossStudy:
    """The four tests of one loss."""

    loss: Loss
    worst: Counterexample | None
    share: float
    trials: int
    nonconvexity: float
    regrets: Regrets
    curve: list[tuple[int, float]]


def study(loss: Loss, seed: int, trials: int) -> LossStudy:
    """Run the four tests, each with random numbers of its own."""
    rngs = [np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)]
    worst, share = surrogates.counterexample(loss, rngs[0], trials)
    return LossStudy(
        loss, worst, share, trials, surrogates.nonconvexity(loss, rngs[1]),
        surrogates.regrets(loss, rngs[2], trials), surrogates.learning_curve(loss, rngs[3]),
    )  # fmt: skip


def summary(found: LossStudy) -> list[str]:
    """What came out, a line a test."""
    if found.worst is None:
        consistent = f"no counterexample in {found.trials} distributions: may be NDCG consistent"
    else:
        consistent = (
            f"not NDCG consistent: {100 * found.share:.1f} % of {found.trials} distributions are "
            f"counterexamples, the worst loses {found.worst.regret:.4f} of NDCG"
        )
    convex = (
        "no violation: may be convex" if found.nonconvexity <= CONVEX
        else f"not convex: a midpoint is above its ends' mean by {found.nonconvexity:.2g} of them"
    )  # fmt: skip
    steepest = f"regret is at most {found.regrets.steepest():.3f} sqrt(excess) where it was tried"
    beyond = found.regrets.beyond(str(found.loss))
    if beyond is not None:
        held = "holds" if beyond <= CONVEX else f"is exceeded by {beyond:.2g}"
        steepest += f"; theorem 10's bound {held}"
    (first, early), (last, late) = found.curve[0], found.curve[-1]
    return [
        f"{str(found.loss)}: {found.loss.formula}",
        f"consistency  {consistent}",
        f"convexity    {convex}",
        f"regret       {steepest}",
        f"learning     regret {early:.4f} from {first} queries, {late:.4f} from {last}",
    ]


def write_study(found: LossStudy, folder: Path) -> list[Path]:
    """counterexample.csv, convexity.csv, regret.csv, learning.csv, and the figure."""
    title = str(found.loss)
    worst: list[list[object]] = []
    if found.worst is not None:
        eta = found.worst.eta
        worst = [
            [document, *eta.labels[:, document].tolist(), float(u), float(s)]
            for document, (u, s) in enumerate(zip(found.worst.expected_gains, found.worst.scores))
        ]
        chances = [f"label (p {p:.4f})" for p in eta.probabilities]
    else:
        chances = ["label", "label'"]
    r = found.regrets
    points = list(zip(r.documents.tolist(), r.excess.tolist(), r.lost.tolist()))
    return [
        *write_table(folder / "counterexample", f"{title}: the worst counterexample",
                     ["document", *chances, "E[G/Z]", "score"], worst),
        *write_table(folder / "convexity", f"{title}: the largest violation of convexity",
                     ["loss", "violation"], [[title, f"{found.nonconvexity:.3g}"]]),
        *write_table(folder / "regret", f"{title}: excess loss and regret",
                     ["documents", "excess", "regret"], points),
        *write_table(folder / "learning", f"{title}: regret on known conditional gains",
                     ["queries", "regret"], found.curve),
        *lines_figure(_panels(found), folder / "study"),
    ]  # fmt: skip


def _panels(found: LossStudy) -> list[Axis]:
    r = found.regrets
    least = max(float(r.excess[r.excess > 0.0].min(initial=1.0)), 1e-8)
    grid = np.geomspace(least, max(float(r.excess.max()), 10.0 * least), POINTS)
    envelope = [float(r.lost[r.excess <= x].max(initial=0.0)) for x in grid]
    lines = {"largest regret seen": Line(grid, envelope)}
    if str(found.loss) in surrogates.STRONGLY_CONVEX:
        m = int(r.documents.max())
        bound = surrogates.theorem_10(str(found.loss), m) * np.sqrt(grid)
        lines[f"theorem 10, {m} documents"] = Line(grid, np.minimum(bound, 1.0))
    panels = [
        Axis("regret", "excess of the expected loss, at most", "NDCG lost", lines, log_x=True),
        Axis("learning", "training queries", "NDCG lost",
             {str(found.loss): Line(*zip(*found.curve))}, log_x=True),
    ]  # fmt: skip
    if found.worst is not None:
        s = found.worst.scores
        documents = range(1, len(s) + 1)
        shown = {
            "E[G/Z]": Line(documents, found.worst.expected_gains),
            "score, 0 to 1": Line(documents, (s - s.min()) / max(float(np.ptp(s)), 1e-12)),
        }
        panels.append(Axis("the worst counterexample", "document", "", shown))
    return panels
