"""Draw at random which mutants of a Cosmic Ray session are run; the others are marked skipped.

A place of the code is drawn first and one of its mutants then: a sum has eleven mutants, most of
them alike, and would else be drawn eleven times as often as a condition.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from random import Random

from cosmic_ray.tools.filters.filter_app import FilterApp
from cosmic_ray.work_item import MutationSpec, WorkerOutcome, WorkResult
from near_tests import is_kernel

Place = tuple[str, tuple[int, int], tuple[int, int]]
Span = tuple[tuple[int, int], tuple[int, int]]


class Sample(FilterApp):
    """Keeps so many mutants, drawn by a seed."""

    def description(self) -> str | None:
        return __doc__

    def add_args(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--number", type=int, required=True)
        parser.add_argument("--seed", type=int, required=True)

    def filter(self, work_db, args) -> None:
        places: dict[Place, list] = defaultdict(list)
        for item in work_db.work_items:
            (mutation,) = item.mutations
            if not out_of_scope(mutation):
                at = (str(mutation.module_path), mutation.start_pos, mutation.end_pos)
                places[at].append((mutation.operator_name, mutation.occurrence, item.job_id))
        rng = Random(args.seed)
        chosen = rng.sample(sorted(places), min(args.number, len(places)))
        kept = {rng.choice(sorted(places[place]))[-1] for place in chosen}
        skipped = WorkResult(WorkerOutcome.SKIPPED, output="not drawn")
        rest = [item.job_id for item in work_db.work_items if item.job_id not in kept]
        work_db.set_multiple_results(rest, skipped)
        print(f"{len(kept)} of the mutants of {len(places):,} places are drawn")


def out_of_scope(mutation: MutationSpec) -> bool:
    """Return whether a mutant lies in an annotation, which is never evaluated, or in a kernel."""
    return any(
        first <= mutation.start_pos and mutation.end_pos <= last
        for first, last in _spans(mutation.module_path)
    )


@cache
def _spans(path: Path) -> list[Span]:
    """The annotations and the kernels of a file."""
    spans = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            spans.append(_span(node.annotation))
        elif isinstance(node, ast.FunctionDef):
            if node.returns is not None:
                spans.append(_span(node.returns))
            if is_kernel(node):
                spans.append(((node.decorator_list[0].lineno, 0), _span(node)[1]))
    return spans


def _span(node: ast.expr | ast.stmt) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


if __name__ == "__main__":
    Sample().main()
