"""Rerun a paper: its parts on the data at hand, the answers to its claims, the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from letorbench.analysis.tables import write_table
from letorbench.choices import require_choice
from letorbench.datasets.catalog import with_resplit
from letorbench.papers import figures, records, rules
from letorbench.papers.paper import NATURES, Claim, Paper, Part, PartResult
from letorbench.papers.runs import ByMethod, Context, Method, correlations, generated
from letorbench.papers.specifications import Specification, judged, specifications
from letorbench.results.per_query import PerQuery


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
    """Run parts (all by default), judge their claims, write files.

    A claim whose part is not run now keeps its stored outcome. Without one its answer is "not run".
    """
    chosen = [require_choice(part, list(paper.parts), f"part of {paper.name}") for part in parts]
    chosen = chosen or list(paper.parts)
    folder = context.folder(paper.name)
    kept = records.read_outcomes(folder, paper)
    (other,) = (each for each in ("default", "published") if each != context.setting)
    of_other = records.read_outcomes(context.folder(paper.name, other), paper)
    published = paper.published_differs if context.setting == "published" else ()
    differs = [*(published or paper.differs)]
    files = list[Path]()
    for name in chosen:
        context.say(f"{paper.name}: {name}")
        result = run_part(paper, paper.parts[name], context)
        files += result.files
        differs += result.differs
        claims = [claim for claim in paper.claims if claim.part == name]
        for outcome in (*(judged(c, result) for c in claims), *elsewhere(claims, result)):
            kept[outcome.claim.id, outcome.place] = outcome
    order = [claim.id for claim in paper.claims]
    kept = {key: kept[key] for key in sorted(kept, key=lambda key: (order.index(key[0]), key[1]))}
    files += records.write_outcomes(folder, kept)
    kept = {(c.id, ""): rules.Outcome(c, rules.NOT_RUN) for c in paper.claims} | kept
    every = [
        rules.over_settings({context.setting: outcome, other: of_other.get(key, outcome)})
        for key, outcome in zip(kept, rules.corrected(list(kept.values())))
    ]
    every.sort(key=lambda o: NATURES.index(o.claim.nature))
    here, beside = (tuple(o for o in every if bool(o.place) == there) for there in (False, True))
    differs = list(dict.fromkeys(differs))
    lines = [paper.reference, "", "What differs from the paper's setting:"]
    text = "".join(f"{line}\n" for line in (*lines, *(f"- {each}" for each in differs)))
    files.append(records.write_file(folder / "setting.txt", text))
    return Reproduction(paper, here, beside, tuple(dict.fromkeys(files)), tuple(differs))


def run_part(paper: Paper, part: Part, context: Context) -> PartResult:
    """Run one part on the data at hand."""
    if part.form == "module":
        return _run_module(paper, part, context)
    here = [name for name in (*part.data, *part.other_data) if context.has(name)]
    methods = [paper.methods[each] for each in part.methods]
    ways = specifications(part, context.setting)
    values = _run_specifications(part, ways, methods, here, context)
    redrawn = _run_on_new_draws(paper, part, ways[0], here, context)
    # tables are of our specification, by every protocol
    protocols = dict.fromkeys(way.choices.get("selection", "") for way in ways)
    shown = {name: values[way.name] for name, way in zip(protocols, ways)}
    files = figures.files(paper, part, shown, context.folder(paper.name))
    absent = ", ".join(name for name in part.data if name not in here)
    lines = [f"without {absent}, not at hand"] if absent else []
    lines += [line for name in here for line in kept_products(context, name, methods)]
    differs = tuple(f"{part.title}: {line}" for line in lines)
    choices = {way.name: way.choices for way in ways}
    return PartResult(values, {}, tuple(files), differs, choices, redrawn)


def _run_module(paper: Paper, part: Part, context: Context) -> PartResult:
    """Run a function of the paper's module; numbers alone are written as a table."""
    returned = paper.code[part.name](context)
    if isinstance(returned, PartResult):
        return returned
    rows = [[name, f"{each.value:.6g}"] for name, each in returned.items()]
    stem = context.folder(paper.name) / part.name
    return PartResult(
        numbers=returned, files=write_table(stem, part.title, ["what", "value"], rows)
    )


def _run_specifications(
    part: Part, ways: Sequence[Specification], methods: Sequence[Method], here: Sequence[str],
    context: Context,
) -> dict[str, ByMethod]:  # fmt: skip
    """The values of each specification: the same, not equal ones, where it changes nothing."""
    known = dict[str, PerQuery]()

    def on(dataset: str, way: Specification) -> dict[str, PerQuery]:
        specified = [method.where_known(way.settings) for method in methods]
        how = way.convention, part.repeats, way.select, way.protocol
        keys = {each.label: f"{dataset} {how} {each}" for each in specified}
        new = [each for each in specified if keys[each.label] not in known]
        results = context.runs(dataset, new, part.measures, *how)
        known.update({keys[label]: each for label, each in results.items()})
        return {label: known[key] for label, key in keys.items() if key in known}

    return {way.name: {name: on(name, way) for name in here} for way in ways}


def _run_on_new_draws(
    paper: Paper, part: Part, ours: Specification, here: Sequence[str], context: Context
) -> tuple[ByMethod, ...]:
    """The values of what claims compare, in our specification, on new draws of the folds."""
    compared = dict[str, list[Method]]()
    for name in filter(context.rotates, here):
        claims = (c for c in paper.claims if c.part == part.name and (name in c.data or c.on(name)))
        labels = dict.fromkeys(m for c in claims for t in c.tests if t.compares for m in t.methods)
        compared[name] = [paper.methods[label].where_known(ours.settings) for label in labels]
    how = part.measures, ours.convention, 1, ours.select, ours.protocol
    return tuple(
        {d: context.runs(with_resplit(d, k), each, *how) for d, each in compared.items()}
        for k in range(1, 1 + part.resplits * (context.setting == "default"))
    )


def kept_products(context: Context, dataset: str, methods: Iterable[Method]) -> list[str]:
    """A line on the numbers of products that quadratic models keep by the paper's share."""
    benchmark, counts = context.benchmark(dataset), dict[str, None]()  # losses share their counts
    n = benchmark.folds[0].train.n_features
    for each in (each for each in methods if "keep" in each.settings):
        rho = float(str(context.settled(each, dataset).settings["rho"]))
        n_kept = [int((fold >= rho).sum()) for fold in correlations(benchmark)]
        span = f"{min(n_kept):,}" + f" to {max(n_kept):,}" * (min(n_kept) < max(n_kept))
        counts[f"{span} (rho {rho:g}) for the paper's {each.row or each.label}"] = None
    line = f"of {n * (n + 1) // 2:,} products the folds of {dataset} keep {'; '.join(counts)}"
    return [line] if counts else []


def elsewhere(claims: Iterable[Claim], result: PartResult) -> list[rules.Outcome]:
    """The outcomes on other data than the claims', without generated data."""
    outcomes, values = [], next(iter(result.values.values()), {})
    for claim, name in product(claims, values):
        moved = None if name in claim.data or generated(name) else claim.on(name)
        if moved is not None:
            outcomes.append(replace(judged(moved, result), claim=claim, place=name))
    return [each for each in outcomes if each.answer != rules.NOT_TRIED]
