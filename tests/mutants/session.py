"""A session of drawn mutants: each is applied to its file, tried, and its verdict kept."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path

from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult
from near_tests import Tests
from sampled import draw
from scratch import TREE, git
from trial import trial


def run(path: Path, number: int, seed: int) -> None:
    """Draw the mutants where the session is new, and try those that were not tried yet."""
    new = not path.is_file()
    with use_db(str(path)) as db:
        if new:
            drawn = draw(number, seed)
            db.add_work_items(WorkItem.single(f"{i:05d}", each) for i, each in enumerate(drawn))
        tests = Tests()
        waiting = sorted(db.pending_work_items, key=lambda item: item.job_id)
        for count, item in enumerate(waiting, 1):
            start = time.monotonic()
            (mutation,) = item.mutations
            result = tried(tests, mutation)
            db.set_result(item.job_id, result)
            took = time.monotonic() - start
            place = f"{mutation.module_path}:{mutation.start_pos[0]}"
            print(f"{count}/{len(waiting)} {result.test_outcome.value} {place} {took:.1f} s")
            sys.stdout.flush()


def tried(tests: Tests, mutation: MutationSpec) -> WorkResult:
    """Apply a mutant for as long as its trial takes, and return what it came to."""
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    lines = range(mutation.start_pos[0], mutation.end_pos[0] + 1)
    with ExitStack() as stack:
        try:
            stack.enter_context(use_mutation(mutation.module_path, operator, mutation.occurrence))
        except AttributeError as error:  # Cosmic Ray cannot replace `except package.Error`
            return WorkResult(
                WorkerOutcome.NORMAL,
                output=f"{mutation.operator_name}: {error}",
                test_outcome=TestOutcome.INCOMPETENT,
                diff="",
            )
        diff = git("diff", "--unified=0", "--no-color", cwd=TREE)
        verdict = trial(tests, str(mutation.module_path), lines)
    if verdict.invalid:
        outcome = TestOutcome.INCOMPETENT
    else:
        outcome = TestOutcome.KILLED if verdict.noticed else TestOutcome.SURVIVED
    return WorkResult(WorkerOutcome.NORMAL, output=verdict.why, test_outcome=outcome, diff=diff)


def report(path: Path) -> int:
    """Print every survivor and the share that was noticed; return how many were not."""
    with use_db(str(path)) as db:
        done = [r for _, r in db.completed_work_items if r.worker_outcome == WorkerOutcome.NORMAL]
    by = {kind: [each for each in done if each.test_outcome == kind] for kind in TestOutcome}
    survived, invalid = by[TestOutcome.SURVIVED], by[TestOutcome.INCOMPETENT]
    for each in sorted(survived, key=lambda result: result.diff):
        print(each.diff, each.output, sep="\n", end="\n\n")
    noticed = len(by[TestOutcome.KILLED])
    stopped = sum(each.output.startswith("stopped") for each in by[TestOutcome.KILLED])
    print(
        f"{noticed} of {len(done)} mutants noticed ({noticed / max(1, len(done)):.1%}), "
        f"{stopped} of them because they ran for ever or crashed"
    )
    if invalid:
        print(f"{len(invalid)} could not be tried, the first: {invalid[0].output}")
    return len(survived) + len(invalid)
