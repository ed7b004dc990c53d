"""Draw at random which of all mutants are tried.

Cosmic Ray knows them. A place of the code is drawn first and one of its mutants then: a sum has
eleven mutants, most of them alike, and would else be drawn eleven times as often as a condition.

Out of scope, because no test can tell them from the code or because they are broken by hand:

- annotations, which are never evaluated;
- kernels, which take up to a minute to compile: faults.toml has faults inside them;
- `is` in place of `==` and `is not` of `!=`: for small integers, None, True and most short texts
  they are the same, and where they are not is a matter of the interpreter.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec
from kernels import is_kernel
from scratch import sources

Place = tuple[str, tuple[int, int], tuple[int, int]]
Span = tuple[tuple[int, int], tuple[int, int]]

#: what no operator changes: most of a file, left out for the time it takes to ask them all
PLAIN = frozenset({"name", "string", "newline", "endmarker", "fstring_string"})
PUNCTUATION = frozenset("()[]{},:.=")

SAME = ("ReplaceComparisonOperator_Eq_Is", "ReplaceComparisonOperator_NotEq_IsNot")


def draw(number: int, seed: int) -> list[MutationSpec]:
    """Return so many mutants of the package, drawn by a seed, in random order."""
    places: dict[Place, list[MutationSpec]] = defaultdict(list)
    for file in sources():
        for mutation in mutations(Path(file)):
            if not out_of_scope(mutation):
                places[file, mutation.start_pos, mutation.end_pos].append(mutation)
    rng = Random(seed)
    chosen = rng.sample(sorted(places), min(number, len(places)))
    print(f"{len(chosen)} of the mutants of {len(places):,} places are drawn")
    return [rng.choice(places[place]) for place in chosen]


def mutations(path: Path) -> Iterator[MutationSpec]:
    """Yield every mutant of a file: what `cosmic-ray init` lists, in one pass for all operators."""
    named = {name: get_operator(name) for name in operator_names()}
    operators = {name: each() for name, each in named.items() if not each.arguments()}
    seen: Counter[str] = Counter()
    for node in ast_nodes(get_ast_from_path(path)):
        if node.type in PLAIN or getattr(node, "value", "") in PUNCTUATION:
            continue
        for name, operator in operators.items():
            for start, end in operator.mutation_positions(node):
                yield MutationSpec(path, name, seen[name], start, end)
                seen[name] += 1


def out_of_scope(mutation: MutationSpec) -> bool:
    """Return whether no test is asked about a mutant."""
    return mutation.operator_name.endswith(SAME) or any(
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
