"""Loops that threads share: each step once, with the arguments of its loop, by whoever comes."""

import time
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

from letorbench import shared_loop
from letorbench.jit import kernel
from letorbench.shared_loop import Share
from letorbench.threads import limited_threads, run_tasks

STEPS = 6


@kernel()
def count(
    pause: int, loops: int, first: int, by: np.ndarray, early: np.ndarray, share: Share
) -> int:
    """Take the steps of loops: each thread from `first` on, or from its own, where that is -1.

    pause: nanoseconds or so before the owner begins. by: (2, STEPS), which steps the owner and
    others took. early: how often the owner went on before a helper's step was done, which takes
    longer than its own.
    """
    own = share if first < 0 else Share(share.board, share.bell, first, share.begun)
    helps, begun, loop = min(share.first, 1), share.begun, 0
    for i in range(pause * (1 - helps)):
        early[0] += i * 1e-300
    while True:
        if helps == 0:
            shared_loop.begin(share)
        while True:
            step = shared_loop.take(own)
            if step < 0:
                break
            by[helps, step] += 1
            early[1 + share.first] = helps
            for i in range(2000 * helps):
                early[0] += i * 1e-300
            early[1 + share.first] = 0.0
            shared_loop.finish(share)
        if helps == 1:
            mine, begun = shared_loop.next_loop(share, begun)
        else:
            shared_loop.wait(share)
            early[0], loop = early[0] + early[1:].sum(), loop + 1
            mine = loop < loops
        if not mine:
            return begun


def counted(loops: int, first: int = -1, pause: int = 0) -> tuple[np.ndarray, float]:
    """Run the kernel on a board and arrays of its own."""
    by, early = np.zeros((2, STEPS), int), np.zeros(1 + STEPS)
    shared_loop.run(count, (pause, loops, first, by, early), shared_loop.new_board(STEPS))
    return by, early[0]


@pytest.mark.parametrize("first", [-1, 0])
@pytest.mark.parametrize("threads", [2, 3])
def test_each_step_is_taken_once_a_loop_and_helpers_take_some(threads, first, crew) -> None:
    """Loops of other boards follow at once: a helper that is late must leave them alone."""
    helped, at_once, end = 0, 0, time.monotonic() + 60.0
    with limited_threads(threads):
        while (helped < 1000 or at_once < 50) and time.monotonic() < end:
            for loops in (1, 2, 300):
                by, early = counted(loops, first)
                assert by.sum(axis=0).tolist() == [loops] * STEPS
                assert early < 1.0
                helped, at_once = helped + by[1].sum(), max(at_once, by[1].sum())
    assert helped >= 1000 and at_once >= 50


def test_a_thread_takes_its_first_step_and_those_behind_it_and_then_the_others() -> None:
    for first, expected in ((0, [0, 1, 2, 3, 4, 5, -1]), (4, [4, 5, 0, 1, 2, 3, -1])):
        share = Share(shared_loop.new_board(STEPS), np.zeros(2, int), first, 0)
        shared_loop.begin(share)
        assert [shared_loop.take(share) for _ in range(STEPS + 1)] == expected


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> shared_loop._Crew:
    """Helpers of this test alone."""
    own = shared_loop._Crew()
    monkeypatch.setattr(shared_loop, "_crew", lambda process: own)
    return own


def test_no_helper_is_needed(crew: shared_loop._Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = SimpleNamespace(submit=lambda *_: Future())
    monkeypatch.setattr(shared_loop, "pool", lambda: busy)
    with limited_threads(3):
        by, _ = counted(100)
    assert by[0].tolist() == [100] * STEPS and sorted(crew._running) == [1, 2]


def test_a_thread_that_is_alone_calls_no_helper(crew: shared_loop._Crew) -> None:
    """Such as one of several that each have a task."""
    with limited_threads(2):
        assert run_tasks([lambda: counted(2)[0][0].sum()] * 4) == [2 * STEPS] * 4
    assert crew._running == {}


def test_helpers_leave_where_no_loop_begins_and_come_again(crew: shared_loop._Crew) -> None:
    with limited_threads(2):
        counted(1)
        helper = crew._running[1]
        assert helper.result(20.0) is None and crew._work is None
        counted(1)
    assert crew._running[1] is not helper and crew._running[1].result(20.0) is None


def test_helpers_stay_while_an_owner_may_begin_a_loop(crew: shared_loop._Crew) -> None:
    with limited_threads(2):
        assert any(counted(100_000, pause=50_000_000)[0][1].sum() for _ in range(20))
