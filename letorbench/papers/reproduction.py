"""Rerun a paper: its parts on the data at hand, the answers to its claims, the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from letorbench.analysis.tables import write_table
from letorbench.choices import require_choice
from letorbench.papers import figures, records, rules
from letorbench.papers.paper import NATURES, Claim, Paper, Part, PartResult
from letorbench.papers.runs import ByMethod, Context, Method, generated, products_kept


@dataclass(frozen=True)
class Reproduction:
    """The outcomes of a paper's claims, in their order, and the files that were written."""

    paper: Paper
    outcomes: tuple[rules.Outcome, ...]
    #: outcomes on other data than the claims', which are kept apart
    elsewhere: tuple[rules.Outcome, ...]
    files: tuple[Path, ...]
    differs: tuple[str, ...]


def reproduce(paper: Paper, context: Context, parts: Sequence[str] = ()) -> Reproduction:
    """Run parts (all by default), judge their claims, write files; UsageError for unknown parts.

    A claim whose part is not run now keeps its stored outcome. Without one its answer is "not run".
    """
    chosen = [require_choice(part, list(paper.parts), f"part of {paper.name}") for part in parts]
    chosen = chosen or list(paper.parts)
    folder = context.folder(paper.name)
    kept = records.read_outcomes(folder, paper)
    (other,) = (each for each in ("default", "published") if each != context.setting)
    of_other = records.read_outcomes(context.folder(paper.name, other), paper)
    published = paper.published_differs if context.setting == "published" else ()
    differs = list(published or paper.differs)
    files = list[Path]()
    for name in chosen:
        context.say(f"{paper.name}: {name}")
        found = run_part(paper, paper.parts[name], context)
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
        rules.over_settings({context.setting: outcome, other: of_other.get(key, outcome)})
        for key, outcome in zip(kept, rules.corrected(list(kept.values())))
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


def run_part(paper: Paper, part: Part, context: Context) -> PartResult:
    """Run one part on the data at hand."""
    folder = context.folder(paper.name)
    if part.form == "module":
        given = paper.code[part.name](context)
        if isinstance(given, PartResult):
            return given
        rows = [[name, f"{each.value:.6g}"] for name, each in given.items()]
        table = write_table(folder / part.name, part.title, ["what", "value"], rows)
        return PartResult(numbers=given, files=table)
    if part.form == "specification":
        return figures.specification_curve(paper.name, part, context)
    here = [name for name in (*part.data, *part.other_data) if context.has(name)]
    methods = [paper.methods[each] for each in part.methods]
    published = context.setting == "published"
    protocols = (published and part.published) or part.protocols
    values: dict[str, ByMethod] = {}
    choices: dict[str, dict[str, str]] = {}
    axes = {} if published else part.axes
    every = product(*(axis.items() for axis in axes.values()))
    for chosen, (way, (select, kind)) in product(every, protocols.items()):
        made = {key: value for _, each in chosen for key, value in each.items()}
        convention = made.pop("convention", part.convention)
        taken = dict(zip(axes, (name for name, _ in chosen)))
        taken |= {"selection": way} if len(protocols) > 1 else {}
        choices[specification := ", ".join(taken.values()) or way] = taken
        specified = [method.where_known(made) for method in methods]
        values[specification] = {
            name: context.runs(
                name, specified, part.measures, convention, part.repeats, select, kind
            )
            for name in here
        }
    # tables are of our specification, by every protocol
    shown = {way: values[name] for way, name in zip(protocols, values)}
    files = figures.files(paper, part, shown, folder)
    absent = [name for name in part.data if name not in here]
    differs = [f"{part.title}: without {', '.join(absent)}, not at hand"] if absent else []
    differs += [
        f"{part.title}: {line}" for name in here for line in kept_products(context, name, methods)
    ]
    return PartResult(values, {}, tuple(files), tuple(differs), choices)


def kept_products(context: Context, dataset: str, methods: Iterable[Method]) -> list[str]:
    """A line on the numbers of products that quadratic models keep by the paper's share."""
    benchmark, counts = context.benchmark(dataset), []
    n = benchmark.folds[0].train.n_features
    for each in (each for each in methods if "keep" in each.settings):
        rho = float(str(context.settled(each, dataset).settings["rho"]))
        of = products_kept(benchmark, rho)
        span = f"{min(of):,}" + f" to {max(of):,}" * (min(of) < max(of))
        counts.append(f"{span} (rho {rho:g}) for {each.row or each.label}")
    line = f"of {n * (n + 1) // 2:,} products the folds of {dataset} keep {'; '.join(counts)}"
    return [line] if counts else []


def judged(of_part: Iterable[Claim], found: PartResult) -> list[rules.Outcome]:
    """The outcome of each claim on its data, over every specification."""
    ways = (found.values or {"": {}}).items()
    return [
        rules.over_specifications(
            {name: rules.judge(claim, each, found.numbers) for name, each in ways}, found.choices
        )
        for claim in of_part
    ]


def elsewhere(of_part: Iterable[Claim], found: PartResult) -> list[rules.Outcome]:
    """The outcomes on other data than the claims', without generated data."""
    outcomes, values = [], next(iter(found.values.values()), {})
    for claim, name in product(of_part, values):
        moved = None if name in claim.data or generated(name) else claim.on(name)
        if moved is not None:
            outcome = rules.judge(moved, values, {})
            outcomes.append(replace(outcome, claim=claim, place=name, sets=()))
    return [each for each in outcomes if each.answer != rules.NOT_TRIED]
