"""Run the tests nearest to the changed line of the scratch copy; status 1 where one fails.

Cosmic Ray calls this for each mutant.
"""

from __future__ import annotations

import ast
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import by_name
from scratch import TREE, changed, environment, machine_code

#: seconds of processor time for one step of tests, and of time on a busy machine: a test that
#: takes longer runs for ever
CPU_LIMIT, LIMIT = 240, 1800
#: what is printed of a mutant that a test noticed: Cosmic Ray takes any failure for that
NOTICED = "noticed"
STOPPED = "stopped: ran for ever, or crashed"


def main() -> int:
    ((file, lines),) = changed().items()
    with machine_code({file}, in_kernels=reaches_kernels(TREE / file, lines)):
        for step in filter(None, by_name.steps(file)):
            if not passes(step):
                print(NOTICED)
                return 1
    return 0


def reaches_kernels(path: Path, lines: list[int]) -> bool:
    """Return whether lines may be part of machine code: in a kernel, or in no function at all."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_text())))
    except SyntaxError:
        return True
    around = [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= min(lines) and max(lines) <= (node.end_lineno or 0)
    ]  # fmt: skip
    return not around or any(is_kernel(node) for node in around)


def is_kernel(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).startswith("kernel(") for each in node.decorator_list)


def passes(files: list[str]) -> bool:
    """Return whether the tests pass; an endless run does not."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header",
         "--tb=line", *files],
        cwd=TREE, env=environment(), start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT)),
    )  # fmt: skip
    try:
        status = process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    if status < 0:
        print(f"{STOPPED} (signal {-status})")
    if status in (3, 4):
        raise RuntimeError(f"pytest could not run {' '.join(files)}")
    return status in (0, 5)  # 5: nothing to run


if __name__ == "__main__":
    sys.exit(main())
