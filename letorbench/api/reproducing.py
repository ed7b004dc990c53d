"""Papers' experiments rerun, with what came of every claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from letorbench.choices import expanded, require_choice, split
from letorbench.errors import UsageError
from letorbench.measures import parse
from letorbench.papers import PAPERS, paper
from letorbench.papers.claims import Verdict
from letorbench.papers.paper import reproduce as rerun
from letorbench.papers.paper_page import write_page
from letorbench.papers.records import closing, lines, notes, stored_values
from letorbench.papers.runs import SETTINGS, Setting, Study, spelled_parameters
from letorbench.rankers import names, ranker
from letorbench.results.user_files import check_output


@dataclass(frozen=True)
class Where:
    """Where a reproduction reads and writes, and how it runs.

    Parameters
    ----------
    data_dir, out : Path
        The folders of the data sets and of the results.
    jobs, seed : int
        The number of processes, and where every random draw comes from.
    full : bool
        Whether the papers' own sizes are run, which may take hours.
    setting : {"default", "published"}
        Our setting, or the papers' own as far as they tell it.
    pages : Path, optional
        Where a page for each paper is written, with its figures.
    select : str
        What validation chooses by instead of the measure that an experiment names.
    fixed : sequence of str
        `key=value` texts: settings of every ranker that has the key.
    """

    data_dir: Path
    out: Path
    jobs: int = 1
    seed: int = 0
    full: bool = False
    setting: Setting = "default"
    pages: Path | None = None
    select: str = ""
    fixed: Sequence[str] = ()


def reproduce(
    papers: Sequence[str], parts: Sequence[str], where: Where, say: Callable[[str], None]
) -> Iterator[str]:
    """Rerun the experiments of papers; yield a text for each, and one that closes.

    Parameters
    ----------
    papers : sequence of str
        Names and comma lists, or "all".
    parts : sequence of str
        Only these figures or tables; all by default.
    where : Where
    say : callable
        Called with a line on the progress.
    """
    names = list(PAPERS)
    chosen = [require_choice(name, names, "paper") for name in expanded(papers, {"all": names})]
    for text in where.fixed:
        _check_key(text)
    if where.pages is not None:
        for name in chosen:
            check_output(where.pages / f"{name}.md", data_dir=where.data_dir)
    if where.select:
        parse(where.select)
    study = Study(
        where.data_dir, where.out, where.jobs, where.seed, where.full, where.setting, say,
        where.select, tuple(where.fixed),
    )  # fmt: skip
    done = []
    for name in chosen:
        result = rerun(paper(name), study, split(parts))
        yield "\n".join(
            [
                f"{name}: {result.paper.reference}\n",
                *lines(result.verdicts, *_other(study, name)),
                *(f"\n{line}" for line in notes(result.verdicts)),
                *_elsewhere(result.elsewhere),
                "\ndiffers from the paper's setting:",
                *(f"- {line}" for line in result.differs),
                "",
                *(f"file  {path}" for path in result.files),
                "",
            ]
        )
        if where.pages is not None:
            yield f"page  {write_page(result.paper, study, where.pages)}\n"
        both = (*result.verdicts, *result.elsewhere)
        done.append((name, both, study.folder(name)))
    yield "\n".join(closing(done))


def paper_names() -> list[str]:
    """Return the papers that can be reproduced."""
    return [*PAPERS, "all"]


def paper_parts(papers: Iterable[str]) -> dict[str, list[str]]:
    """Return the figures and tables of each paper, of all where none is named."""
    asked = [name for name in papers if name in PAPERS] or list(PAPERS)
    return {name: list(paper(name).parts) for name in asked}


def _check_key(text: str) -> None:
    """UsageError where no ranker has the key of a `key=value` text."""
    key, equals, _ = text.partition("=")
    if not equals or not any(key.strip() in spelled_parameters(ranker(n)) for n in names()):
        raise UsageError(f"setting {text!r}: expected key=value with a parameter of some ranker")


def _other(study: Study, name: str) -> tuple[str, dict[str, str]]:
    """The other setting, and what its run of before found, by claim."""
    (other,) = (setting for setting in SETTINGS if setting != study.setting)
    return other, stored_values(study.folder(name, other) / "claims.csv")


def _elsewhere(verdicts: Sequence[Verdict]) -> list[str]:
    """The verdicts by other data than the claims', under a heading of their own."""
    if not verdicts:
        return []
    return [
        "\nelsewhere, on data that the claims are not about:\n",
        *lines(verdicts),
        *(f"\n{line}" for line in notes(verdicts)),
    ]
