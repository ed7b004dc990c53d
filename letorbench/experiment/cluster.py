"""A dask scheduler's workers as a backend.

Each worker has one cell at a time, a task of dask with a key of its own and without any array.
So a worker that dies takes one cell with it. Dask itself would count the death against all tasks
that the worker had been given, and end them as `KilledWorker` one after the other. A worker gets
its first cell when it has shown that its results would be those of this process; one that comes
later is asked then.
"""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from letorbench.errors import DataError, LetorError, UsageError
from letorbench.experiment.backends import Job
from letorbench.experiment.on_worker import Expected, file_digest, run_cell, software, unfit
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.task import Outcome, Worker
from letorbench.files import unfinished_folder
from letorbench.rankers import plugins

if TYPE_CHECKING:
    from distributed import Client, Future

#: what dask takes as a scheduler's address
ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?[^\s/]+:[0-9]{1,5}", re.ASCII)
#: a cell fails when so many workers have died with it
MOST_DEATHS = 3
#: seconds in which a scheduler answers
ANSWERS = 10
#: seconds between two looks at who is there
LOOKS = 1.0
#: seconds after which the user is told that a worker is not ready yet
PATIENCE = 10.0


@dataclass(frozen=True)
class Cluster:
    """Runs jobs on the workers of the dask scheduler at an address."""

    scheduler: str

    def __post_init__(self) -> None:
        if find_spec("distributed") is None:
            raise UsageError(
                "backend dask: needs the package distributed; "
                "`python -m pip install 'letorbench[distributed]'` installs it"
            )

    def outcomes(self, jobs: Sequence[Job], protocol: Protocol) -> Iterator[Outcome]:
        """Yield what became of the jobs, in the order in which they end.

        Raises
        ------
        UsageError
            A job's data or ranker is known to this process only, no scheduler answers, or none of
            its workers fits.
        DataError
            The scheduler is gone. What is stored until then stays.
        """
        protocol = _with_absolute_folders(protocol)
        data = {_name(job): str(job.benchmark.provenance["digest"]) for job in jobs}
        with (
            unfinished_folder(protocol.out / f".run-{uuid4().hex}") as sign,
            _client(self.scheduler) as client,
        ):
            expected = Expected(
                software(),
                {path: file_digest(path) for path in plugins.files()},
                data,
                protocol,
                sign,
            )
            try:
                yield from _Dispatch(client, expected, [job.task for job in jobs]).outcomes()
            except OSError as error:
                if isinstance(error, LetorError):
                    raise
                raise DataError(
                    f"{self.scheduler}: the scheduler is gone; what is stored stays, and the same "
                    "command goes on from there"
                ) from error


def _with_absolute_folders(protocol: Protocol) -> Protocol:
    """Return the protocol for processes that run elsewhere; links in the folders stay links."""
    return replace(protocol, data_dir=protocol.data_dir.absolute(), out=protocol.out.absolute())


def _name(job: Job) -> str:
    """Return the name of a job's data set; UsageError for what a worker cannot open or import."""
    if not job.on_disk:
        raise UsageError(
            f"{job.benchmark.name}: found data in memory, expected a data set in the data folder: "
            "dask's workers open it themselves"
        )
    if job.ranker is not None:
        raise UsageError(
            f"{job.task.algo}: found a class of this program, expected one of a plug-in file: "
            "dask's workers import it themselves"
        )
    return job.benchmark.name


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """Open a client of a scheduler; UsageError where none answers."""
    from distributed import Client

    if not ADDRESS.fullmatch(address):
        raise UsageError(f"scheduler {address!r}: expected an address like tcp://HOST:8786")
    try:
        client = Client(address, timeout=ANSWERS, set_as_default=False)
    except OSError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"scheduler {address!r}: no dask scheduler answers ({reason})") from None
    try:
        yield client
    finally:
        with suppress(OSError):
            client.close()


def _say(line: str) -> None:
    """Print a line on stderr, above the progress bar where there is one."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)


@dataclass
class _Cell:
    """A task, and how many workers died with it."""

    task: Task
    deaths: int = 0


@dataclass
class _Node:
    """A worker that is there: it is asked first, then has cells, unless it does not fit."""

    threads: int
    fits: bool | None = None
    cell: _Cell | None = None
    future: Future | None = None
    since: float = field(default_factory=time.monotonic)

    @property
    def is_free(self) -> bool:
        return self.fits is True and self.future is None

    @property
    def is_late(self) -> bool:
        return self.fits is None and time.monotonic() - self.since > PATIENCE


class _Dispatch:
    """Hands out the cells of one run, and takes back those of workers that died."""

    def __init__(self, client: Client, expected: Expected, tasks: Sequence[Task]) -> None:
        self.client = client
        self.expected = expected
        self.waiting = deque(map(_Cell, tasks))
        self.nodes: dict[str, _Node] = {}
        self.ended: SimpleQueue[tuple[str, Future]] = SimpleQueue()
        self.refused: list[str] = []
        self.lost: list[float] = []
        self.alone = self.told = self.fitted = False

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes as the cells end."""
        while self.waiting or any(node.cell for node in self.nodes.values()):
            yield from self._look_at_workers()
            self._hand_out()
            with suppress(Empty):
                outcome = self._take(*self.ended.get(timeout=LOOKS))
                if outcome is not None:
                    yield outcome
        if self.lost:
            _say(
                f"dask: cells run again, since their workers were lost: {len(self.lost)} "
                f"({sum(self.lost):.1f} s of work lost)"
            )

    def _look_at_workers(self) -> Iterator[Outcome]:
        """Ask new workers whether they fit; take back the cells of those that are gone."""
        there = self.client.nthreads()
        for address in set(self.nodes) - set(there):
            yield from self._lose(address)
        for address in sorted(set(there) - set(self.nodes)):
            self.nodes[address] = _Node(there[address])
            self._submit(address, partial(unfit, self.expected), "fits")
        late = [node for node in self.nodes.values() if node.is_late]
        if late and not self.told:
            _say(f"dask: {len(late)} workers are not ready yet; the first on a machine compiles")
            self.told = True
        usable = [node for node in self.nodes.values() if node.fits is not False]
        if self.nodes and not usable and not self.fitted:
            raise UsageError(f"none of the scheduler's workers fits: {self.refused[0]}")
        if not usable and not self.alone:
            _say("dask: the scheduler has no worker for this run; waiting for one")
        self.alone = not usable

    def _hand_out(self) -> None:
        for address, node in self.nodes.items():
            if self.waiting and node.is_free:
                node.cell = self.waiting.popleft()
                worker = Worker(self.expected.protocol, tuple(self.expected.plugins), node.threads)
                self._submit(address, partial(run_cell, node.cell.task, worker), node.cell.task)

    def _submit(self, address: str, call: Callable[[], Any], what: object) -> None:
        """Let a worker do something, and no other; keys never meet those of another run."""
        node = self.nodes[address]
        node.since = time.monotonic()
        node.future = self.client.submit(
            call, key=f"letorbench: {what}, {uuid4().hex}", workers=[address],
            allow_other_workers=False, pure=False,
        )  # fmt: skip
        node.future.add_done_callback(lambda future: self.ended.put((address, future)))

    def _take(self, address: str, future: Future) -> Outcome | None:
        """Take what a worker returns; return an outcome where it ends a cell."""
        node = self.nodes.get(address)
        if node is None or node.future is not future:
            return None  # the worker was given up before
        cell, error, value = node.cell, _error(future), None
        if error is None:
            try:
                value = future.result(timeout=ANSWERS)
            except Exception as raised:  # it died between its end and this
                error = raised
        node.cell = node.future = None
        if cell is None:
            self._judge(address, node, value if error is None else f"cannot ask it: {error}")
            return None
        if error is None:
            return _said(value)
        return self._again(address, cell, node, error)

    def _judge(self, address: str, node: _Node, complaint: str) -> None:
        node.fits = not complaint
        self.fitted |= node.fits
        if complaint:
            self.refused.append(f"{address}: {complaint}")
            _say(f"dask: worker left out: {self.refused[-1]}")

    def _lose(self, address: str) -> Iterator[Outcome]:
        """Forget a worker that is gone, and take back its cell."""
        node = self.nodes.pop(address)
        if node.future is not None:
            node.future.cancel()
        if node.cell is not None:
            outcome = self._again(address, node.cell, node, None)
            if outcome is not None:
                yield outcome

    def _again(
        self, address: str, cell: _Cell, node: _Node, error: BaseException | None
    ) -> Outcome | None:
        """Put a cell back that did not end; return its outcome where that was too often."""
        seconds = time.monotonic() - node.since
        cell.deaths += 1
        why = "is gone" if error is None else f"did not end it ({type(error).__name__}: {error})"
        _say(f"dask: worker {address} {why}; {cell.task}: {seconds:.1f} s are lost")
        if cell.deaths < MOST_DEATHS:
            self.lost.append(seconds)
            self.waiting.appendleft(cell)
            return None
        text = f"{cell.deaths} workers were lost while they ran it (too little memory?)"
        return _said(Outcome(cell.task, error=text, exit_status=1))


def _error(future: Future) -> BaseException | None:
    """Return why a task of dask has no result, None where it has one."""
    if future.status == "finished":
        return None
    if future.status == "error":
        return future.exception(timeout=ANSWERS)
    return RuntimeError(f"dask has {future.status} it")


def _said(outcome: Outcome) -> Outcome:
    """Log a cell that failed; the others go on."""
    if outcome.error:
        _say(f"dask: {outcome.task} failed: {outcome.error}")
    return outcome
