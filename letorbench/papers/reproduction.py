"""Rerun a paper: its parts on the data at hand, the answers to its claims, the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from letorbench.analysis.tables import write_table
from letorbench.choices import require_choice
from letorbench.papers import records, rules, views
from letorbench.papers.claims import NATURES, Claim
from letorbench.papers.paper import Found, Paper, Part
from letorbench.papers.runs import ByMethod, Method, Study, generated, products_kept


@dataclass(frozen=True)
class Reproduction:
    """The outcomes of a paper's claims, in their order, and the files that were written."""

    paper: Paper
    outcomes: tuple[rules.Outcome, ...]
    #: outcomes on other data than the claims', which are kept apart
    elsewhere: tuple[rules.Outcome, ...]
    files: tuple[Path, ...]
    differs: tuple[str, ...]


def reproduce(paper: Paper, study: Study, parts: Sequence[str] = ()) -> Reproduction:
    """Run parts (all by default), judge their claims, write files; UsageError for unknown parts.

    A claim whose part is not run now keeps its stored outcome. Without one its answer is "not run".
    """
    chosen = [require_choice(part, list(paper.parts), f"part of {paper.name}") for part in parts]
    chosen = chosen or list(paper.parts)
    folder = study.folder(paper.name)
    kept = records.read_outcomes(folder, paper)
    (other,) = (each for each in ("default", "published") if each != study.setting)
    of_other = records.read_outcomes(study.folder(paper.name, other), paper)
    published = paper.published_differs if study.setting == "published" else ()
    differs = list(published or paper.differs)
    files = list[Path]()
    for name in chosen:
        study.say(f"{paper.name}: {name}")
        found = run_part(paper, paper.parts[name], study)
        files += found.files
        differs += found.differs
        claims = [claim for claim in paper.claims if claim.part == name]
        for outcome in (*judged(claims, found), *elsewhere(claims, found)):
            kept[outcome.claim.id, outcome.place] = outcome
    order = {claim.id: i for i, claim in enumerate(paper.claims)}
    kept = {key: kept[key] for key in sorted(kept, key=lambda key: (order[key[0]], key[1]))}
    files += records.write_outcomes(folder, paper, kept)
    kept = {(c.id, ""): rules.Outcome(c, rules.NOT_RUN) for c in paper.claims} | kept
    every = [
        rules.over_settings({study.setting: outcome, other: of_other.get(key, outcome)})
        for key, outcome in kept.items()
    ]
    every.sort(key=lambda o: NATURES.index(o.claim.nature))
    differs = list(dict.fromkeys(differs))
    text = [paper.reference, "", "What differs from the paper's setting:"]
    text += [f"- {line}" for line in differs]
    files.append(records.write_file(folder / "setting.txt", "\n".join(text) + "\n"))
    return Reproduction(
        paper, tuple(o for o in every if not o.place), tuple(o for o in every if o.place),
        tuple(dict.fromkeys(files)), tuple(differs),
    )  # fmt: skip


def run_part(paper: Paper, part: Part, study: Study) -> Found:
    """Run one part on the data at hand."""
    folder = study.folder(paper.name)
    if part.form == "module":
        given = paper.code[part.name](study)
        if isinstance(given, Found):
            return given
        rows = [[name, f"{each.value:.6g}"] for name, each in given.items()]
        table = write_table(folder / part.name, part.title, ["what", "value"], rows)
        return Found(numbers=given, files=table)
    if part.form == "specification":
        return views.specification_curve(paper.name, part, study)
    here = [name for name in (*part.data, *part.other_data) if study.has(name)]
    methods = [paper.methods[each] for each in part.methods]
    values: dict[str, ByMethod] = {}
    published = study.setting == "published" and part.published
    for protocol, (select, kind) in (published or part.protocols).items():
        values[protocol] = {
            name: study.runs(
                name, methods, part.measures, part.convention, part.repeats, select, kind,
            )
            for name in here
        }  # fmt: skip
    files = views.files(paper, part, values, folder)
    absent = [name for name in part.data if name not in here]
    differs = [f"{part.title}: without {', '.join(absent)}, not at hand"] if absent else []
    differs += [
        f"{part.title}: {line}" for name in here for line in kept_products(study, name, methods)
    ]
    return Found(values, {}, tuple(files), tuple(differs))


def kept_products(study: Study, dataset: str, methods: Iterable[Method]) -> list[str]:
    """A line on the numbers of products that quadratic models keep by the paper's share."""
    benchmark, counts = study.benchmark(dataset), []
    n = benchmark.folds[0].train.n_features
    for each in (each for each in methods if "keep" in each.settings):
        rho = float(str(study.settled(each, dataset).settings["rho"]))
        of = products_kept(benchmark, rho)
        span = f"{min(of):,}" + f" to {max(of):,}" * (min(of) < max(of))
        counts.append(f"{span} (rho {rho:g}) for {each.row or each.label}")
    line = f"of {n * (n + 1) // 2:,} products the folds of {dataset} keep {'; '.join(counts)}"
    return [line] if counts else []


def judged(of_part: Iterable[Claim], found: Found) -> list[rules.Outcome]:
    """The outcome of each claim on its data, by every protocol."""
    ways = (found.values or {"": {}}).items()
    return [
        rules.over_settings({name: rules.judge(claim, each, found.numbers) for name, each in ways})
        for claim in of_part
    ]


def elsewhere(of_part: Iterable[Claim], found: Found) -> list[rules.Outcome]:
    """The outcomes on other data than the claims', without generated data."""
    outcomes, values = [], next(iter(found.values.values()), {})
    for claim, name in product(of_part, values):
        moved = None if name in claim.data or generated(name) else claim.on(name)
        if moved is not None:
            outcome = rules.judge(moved, values, {})
            outcomes.append(replace(outcome, claim=claim, place=name))
    return [each for each in outcomes if each.answer != rules.NOT_TRIED]
