"""Loops that threads share: each step once, with the arguments of its loop, by whoever comes."""

import time
from concurrent.futures import Future

import numpy as np
import pytest

from letorbench import shared_loop
from letorbench.jit import kernel
from letorbench.threads import limited_threads, run_tasks

STEPS = 6


@kernel()
def count(
    loops: int, taken: np.ndarray, by: np.ndarray, sums: np.ndarray, share: shared_loop.Share
) -> int:
    """taken: how often each step was; by: how many steps began with each; sums: of some numbers."""
    loop, begun = 0, share.begun
    while True:
        if share.first == 0:
            shared_loop.begin(share)
        while True:
            step = shared_loop.take(share)
            if step < 0:
                break
            taken[step] += 1
            for i in range(300):
                sums[step] = sums[step] * 1.0000001 + i
            by[step, share.first] += 1
            shared_loop.finish(share)
        if share.first == 0:
            shared_loop.wait(share)
            loop += 1
            if loop == loops:
                return begun
        else:
            own, begun = shared_loop.next_loop(share, begun)
            if not own:
                return begun


def counted(loops: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run the kernel on a board and arrays of its own."""
    taken, by, sums = np.zeros(STEPS, int), np.zeros((STEPS, STEPS), int), np.zeros(STEPS)
    shared_loop.run(count, (loops, taken, by, sums), shared_loop.new_board(STEPS))
    return taken, by, sums


@pytest.fixture
def alone() -> list[np.ndarray]:
    """The sums of one thread."""
    with limited_threads(1):
        return [counted(loops)[2] for loops in range(1, 4)]


@pytest.mark.parametrize("threads", [2, 3, 9])
def test_each_step_is_taken_once_a_loop_and_all_take_some(threads: int, alone, crew) -> None:
    """Loops of other boards follow at once: a helper that is late must leave them alone."""
    steps_by, end = np.zeros(STEPS, int), time.monotonic() + 20.0
    first = np.unique(np.arange(min(threads, STEPS)) * STEPS // min(threads, STEPS))
    with limited_threads(threads):
        while (steps_by[first] == 0).any() and time.monotonic() < end:
            for loops, sums in enumerate(alone, 1):
                taken, by, own = counted(loops)
                np.testing.assert_array_equal(taken, loops)
                np.testing.assert_array_equal(by.sum(axis=1), loops)
                np.testing.assert_array_equal(own, sums)
                steps_by += by.sum(axis=0)
    assert (steps_by[first] > 0).all() and steps_by.sum() == steps_by[first].sum()


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> shared_loop._Crew:
    """Helpers of this test alone."""
    own = shared_loop._Crew()
    monkeypatch.setattr(shared_loop, "_crew", lambda process: own)
    return own


class NobodyComes:
    """A pool whose threads all have something else to do."""

    def submit(self, *_: object) -> Future:
        return Future()


def test_no_helper_is_needed(crew: shared_loop._Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_loop, "pool", NobodyComes)
    with limited_threads(3):
        _, by, _ = counted(100)
    assert by[:, 0].tolist() == [100] * STEPS and sorted(crew._running) == [1, 2]


def test_a_thread_that_is_alone_calls_no_helper(crew: shared_loop._Crew) -> None:
    """Such as one of several that each have a task."""
    with limited_threads(2):
        assert run_tasks([lambda: counted(2)[1][:, 0].sum()] * 4) == [2 * STEPS] * 4
    assert crew._running == {}


def test_helpers_leave_where_no_loop_begins_and_come_again(crew: shared_loop._Crew) -> None:
    with limited_threads(2):
        counted(1)
        helper = crew._running[1]
        assert helper.result(20.0) is None
        counted(1)
    assert crew._running[1] is not helper and crew._running[1].result(20.0) is None
