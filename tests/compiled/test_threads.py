"""Tasks on several threads: each once, in their order, and what an error does to the others."""

import os
import threading
import time

import pytest

from letorbench.compiled import threads as module
from letorbench.compiled.threads import (
    cancelled,
    limited_threads,
    parallel_for,
    run_tasks,
    thread_count,
)
from letorbench.errors import UsageError
from letorbench.solvers.stopping import NEVER


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_task_runs_once_on_its_own_thread_and_results_keep_their_order(threads):
    ran: list[int] = []

    def task(number: int) -> int:
        time.sleep(0.01 if number % 3 == 0 else 0.0)
        ran.append(number)
        return 10 * number + thread_count()

    with limited_threads(threads):
        results = run_tasks([lambda n=n: task(n) for n in range(20)])
    assert results == [10 * n + 1 for n in range(20)]
    assert (ran if threads == 1 else sorted(ran)) == list(range(20))


def test_an_error_ends_the_others_and_the_first_one_is_raised():
    began: list[int] = []
    both = threading.Barrier(2, timeout=10.0)

    def fails(number: int) -> None:
        began.append(number)
        both.wait()
        time.sleep(0.1 * (1 - number))  # the second task fails first
        raise ValueError(f"task {number}")

    with limited_threads(2), pytest.raises(ValueError, match="task 0"):
        run_tasks([lambda n=n: fails(n) for n in range(10)])
    assert sorted(began) == [0, 1]


@pytest.mark.parametrize("where", ["task", "wait"])
def test_ctrl_c_ends_the_others_and_leaves_nothing(where, monkeypatch):
    """After it, as in a notebook, a task that fails late cuts off no later training."""
    began, ended = threading.Event(), threading.Event()

    def interrupt(*_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            assert began.wait(10.0)
            raise KeyboardInterrupt

    if where == "wait":
        monkeypatch.setattr(module, "wait", interrupt)

    def task() -> None:
        if threading.current_thread() is threading.main_thread():
            assert began.wait(10.0)
            return interrupt() if where == "task" else None
        began.set()
        start = time.monotonic()
        while not NEVER.passed and time.monotonic() < start + 10.0:  # as a training asks
            time.sleep(0.01)
        if NEVER.passed:
            ended.set()
        raise ValueError("late")

    with limited_threads(2), pytest.raises(KeyboardInterrupt):
        run_tasks([task] * 2)
    monkeypatch.undo()
    assert ended.wait(10.0)
    assert not cancelled()


def test_a_limit_holds_inside_its_block_and_is_one_at_least(monkeypatch):
    monkeypatch.setenv("LETORBENCH_THREADS", "009999")
    for limit, count in ((1, 1), (2, 2), (0, 1), (9, 9), (None, 9999)):
        with limited_threads(limit), limited_threads(None):
            assert thread_count() == count, limit
    assert thread_count() == 9999
    for text in ("two", "0", "-1", "10000", "1.5"):
        monkeypatch.setenv("LETORBENCH_THREADS", text)
        with pytest.raises(UsageError, match=f"LETORBENCH_THREADS={text}: .* 1 to 9999"):
            thread_count()
    monkeypatch.setenv("LETORBENCH_THREADS", "")
    assert thread_count() == len(os.sched_getaffinity(0))


def test_few_items_are_for_few_threads():
    def slices(total: int, *options: object) -> list[tuple[int, int]]:
        return parallel_for(lambda start, stop: (start, stop), total, *options)

    with limited_threads(4):
        assert slices(3, 10) == [(0, 3)]
        assert slices(25, 10) == [(0, 12), (12, 25)]
        assert slices(4, 1) == [(0, 1), (1, 2), (2, 3), (3, 4)]
        assert slices(4, 1, [5, 1, 1, 0]) == [(0, 1), (1, 4)]
        assert slices(8, 1, [1, 1, 1, 1, 2, 2, 2, 2]) == [(0, 2), (2, 4), (4, 6), (6, 8)]
        assert slices(0, 1) == [(0, 0)]
