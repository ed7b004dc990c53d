"""Record which tests execute some places of the package, in every process that a test starts.

Python imports this module as it begins where the folder is on its path. The statements of PLACES
get a call before them as they are imported: the files stay as they are, and compiled kernels too.
"""

import ast
import json
import os
from contextlib import suppress
from importlib.machinery import SourceFileLoader

#: line, column and number of the places of a file
PLACES: dict[str, list[tuple[int, int, int]]] = json.loads(os.environ["PROBED_PLACES"])
SEEN = set[tuple[int, str]]()


def reached(place: int) -> None:
    """Write down that the test that runs executes a place."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if test and (place, test) not in SEEN:
        SEEN.add((place, test))
        # a test may fill the disk
        with suppress(OSError), open(os.environ["PROBED_TESTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps([place, test]) + "\n")


def probed(tree: ast.Module, places: list[tuple[int, int, int]]) -> ast.Module:
    """Put a call before the smallest statement of each place."""
    for line, column, place in places:
        statements = (
            (node, block)
            for parent in ast.walk(tree)
            for block in vars(parent).values()
            if isinstance(block, list)
            for node in block
            if isinstance(node, ast.stmt) and _holds(node, line, column)
        )
        statement, block = max(statements, key=lambda each: (each[0].lineno, each[0].col_offset))
        [call] = ast.parse(f"__import__({__name__!r}).reached({place})").body
        block.insert(block.index(statement), ast.copy_location(call, statement))
    return ast.fix_missing_locations(tree)


def _holds(node: ast.stmt, line: int, column: int) -> bool:
    first = min([node, *getattr(node, "decorator_list", [])], key=lambda each: each.lineno)
    start = first.lineno, 0 if first is not node else node.col_offset
    return start <= (line, column) < (node.end_lineno, node.end_col_offset)


def with_probes(self, data, path, **options):
    if path in PLACES:
        data = probed(ast.parse(data), PLACES[path])
    return original(self, data, path, **options)


original, SourceFileLoader.source_to_code = SourceFileLoader.source_to_code, with_probes
