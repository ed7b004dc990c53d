"""A paper as a value: its claims and its figures and tables, and how one is rerun."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from letorbench.choices import require_choice
from letorbench.errors import UsageError
from letorbench.papers.claims import Claim, Verdict
from letorbench.papers.records import (
    CLAIMS,
    ELSEWHERE,
    check_claims,
    write_claims,
    write_setting,
)
from letorbench.papers.runs import Study


@dataclass(frozen=True)
class Findings:
    """What a part's run gave: verdicts, files, and what differed from the paper's setting.

    elsewhere: verdicts on the claims by other data than theirs.
    """

    verdicts: tuple[Verdict, ...]
    files: tuple[Path, ...] = ()
    differs: tuple[str, ...] = ()
    elsewhere: tuple[Verdict, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper's experiments.

    differs: what differs from the paper's setting in ours.
    published_differs: what is left of that with `--setting published`; None for the same.
    parts:   its figures and tables by name, each a function that runs one.
    optional: parts that run only where they are named.
    """

    name: str
    reference: str
    claims: tuple[Claim, ...]
    parts: Mapping[str, Callable[[Study], Findings]]
    differs: tuple[str, ...] = ()
    published_differs: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()

    def left(self, setting: str) -> tuple[str, ...]:
        """What differs from the paper's setting in a setting."""
        if setting == "published" and self.published_differs is not None:
            return self.published_differs
        return self.differs


@dataclass(frozen=True)
class Reproduction:
    """A paper's verdicts, in the order of its claims, and the files that were written.

    elsewhere: the verdicts by other data than the claims', which are never mixed with those.
    """

    paper: Paper
    verdicts: tuple[Verdict, ...]
    files: tuple[Path, ...]
    differs: tuple[str, ...]
    elsewhere: tuple[Verdict, ...] = ()


def reproduce(paper: Paper, study: Study, parts: Sequence[str] = ()) -> Reproduction:
    """Run the parts (all but optional ones where none is named).

    Write claims.csv, elsewhere.csv and setting.txt.
    UsageError for a part that the paper does not have.
    """
    chosen = [require_choice(part, list(paper.parts), f"part of {paper.name}") for part in parts]
    folder = study.folder(paper.name)
    check_claims(folder)
    verdicts: list[Verdict] = []
    others: list[Verdict] = []
    files: list[Path] = []
    differs = [f"changed on request: {change}" for change in study.changes]
    differs += paper.left(study.setting)
    for part in chosen or [part for part in paper.parts if part not in paper.optional]:
        study.say(f"{paper.name}: {part}")
        findings = paper.parts[part](study)
        verdicts += findings.verdicts
        others += findings.elsewhere
        files += findings.files
        differs += findings.differs
    order = {claim.id: i for i, claim in enumerate(paper.claims)}
    if {verdict.claim.id for verdict in verdicts} - set(order):
        raise UsageError(f"{paper.name}: a verdict on a claim that it does not have")
    for judged in (verdicts, others):
        judged.sort(key=lambda verdict: order[verdict.claim.id])
    differs = list(dict.fromkeys(differs))
    files += [
        write_claims(folder / CLAIMS, verdicts, paper.claims),
        write_claims(folder / ELSEWHERE, others, paper.claims),
        write_setting(folder / "setting.txt", paper.reference, differs),
    ]
    kept = tuple(dict.fromkeys(files))
    return Reproduction(paper, tuple(verdicts), kept, tuple(differs), tuple(others))
