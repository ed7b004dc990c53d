"""A dask scheduler's workers as a backend.

Each worker has one job at a time, a task of dask with a key of its own and without any array. So
a worker that dies takes one job with it; dask would count its death against all tasks that it has.
A worker opens the data set itself, shows that its result would be that of this process, and leaves
it in the shared folder.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from letorbench.errors import DataError, LetorError, UsageError
from letorbench.experiment.plan import Job, Protocol, benchmark_of, identity
from letorbench.experiment.task import Outcome, attempt
from letorbench.files import unfinished_folder
from letorbench.jit import instruction_set
from letorbench.rankers import plugins, ranker
from letorbench.results.store import versions

if TYPE_CHECKING:
    from distributed import Client, Future

#: what dask takes as a scheduler's address
ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?[^\s/]+:[0-9]{1,5}", re.ASCII)
#: a job fails when so many workers have died with it
MOST_DEATHS = 3
#: seconds in which a scheduler answers
ANSWERS = 10
#: seconds between two looks at who is there
LOOKS = 1.0
#: where a worker finds its own copy of the data folder, if it has one
LOCAL_DATA = "LETORBENCH_DATA"

#: jobs of one process would share the limit on BLAS' threads
_ONE_JOB = threading.Lock()


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

        UsageError says that a job's data or ranker is known to this process only, that no
        scheduler answers, or that none of its workers fits; DataError that the scheduler is gone.
        """
        for job in jobs:
            if not job.on_disk:
                raise UsageError(
                    f"{job.task.dataset}: found data in memory, expected a data set in the data "
                    "folder: dask's workers open it themselves"
                )
            if not job.by_name:
                raise UsageError(
                    f"{job.task.algo}: found a class of this program, expected one of a plug-in "
                    "file: dask's workers import it themselves"
                )
        # for processes that run elsewhere; links in the folders stay links
        data_dir, out = protocol.data_dir.absolute(), protocol.out.absolute()
        protocol = replace(protocol, data_dir=data_dir, out=out)
        with unfinished_folder(out / f".run-{uuid4().hex}") as sign:
            run = partial(
                run_job, protocol=protocol, files=plugins.files(), expected=software(), sign=sign
            )
            try:
                with _client(self.scheduler) as client:
                    yield from _Dispatch(client, run, jobs).outcomes()
            except LetorError:
                raise
            except OSError as error:
                raise DataError(
                    f"{self.scheduler}: the scheduler is gone; what is stored stays, and the same "
                    "command goes on from there"
                ) from error


def _client(address: str) -> Client:
    """Open a client of a scheduler; UsageError where none answers."""
    from distributed import Client

    # a client that fails stays open until Python collects it, which can block the next one
    if not ADDRESS.fullmatch(address):
        raise UsageError(f"scheduler {address!r}: expected an address like tcp://HOST:8786")
    try:
        return Client(address, timeout=ANSWERS, set_as_default=False)
    except OSError as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"scheduler {address!r}: no dask scheduler answers ({reason})") from None


def _say(line: str) -> None:
    """Print a line on stderr, above the progress bar where there is one."""
    from tqdm import tqdm

    tqdm.write(f"dask: {line}", file=sys.stderr)


@dataclass
class _Node:
    """A worker, with its job where it has one."""

    threads: int
    fits: bool = True
    job: Job | None = None
    future: Future | None = None


class _Dispatch:
    """Hands out the jobs of one run, and takes back those of workers that died or do not fit."""

    def __init__(
        self, client: Client, run: Callable[..., Outcome | str], jobs: Sequence[Job]
    ) -> None:
        self.client = client
        self.run = run
        self.waiting = deque(job.sent() for job in jobs)
        self.deaths = {job.task.key: 0 for job in jobs}
        self.nodes: dict[str, _Node] = {}
        self.ended: SimpleQueue[tuple[str, Future]] = SimpleQueue()

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes as the jobs end."""
        if not self.client.nthreads():
            _say("the scheduler has no worker; waiting for one")
        while self.waiting or any(node.job for node in self.nodes.values()):
            yield from self._look_at_workers()
            for address, node in self.nodes.items():
                if self.waiting and node.fits and node.job is None:
                    self._submit(address, node, self.waiting.popleft())
            with suppress(Empty):
                yield from self._take(*self.ended.get(timeout=LOOKS))

    def _look_at_workers(self) -> Iterator[Outcome]:
        """Note new workers; take back the jobs of those that are gone."""
        there = self.client.nthreads()
        for address in set(self.nodes) - set(there):
            node = self.nodes.pop(address)
            if node.job is not None:
                yield from self._again(address, node.job, "is gone")
        for address in sorted(set(there) - set(self.nodes)):
            self.nodes[address] = _Node(there[address])

    def _submit(self, address: str, node: _Node, job: Job) -> None:
        """Let a worker run a job, and no other; keys never meet those of another run."""
        node.job = job
        node.future = self.client.submit(
            partial(self.run, job, threads=node.threads), key=f"letorbench-{uuid4().hex}",
            workers=[address], allow_other_workers=False, pure=False,
        )  # fmt: skip
        node.future.add_done_callback(lambda future: self.ended.put((address, future)))

    def _take(self, address: str, future: Future) -> Iterator[Outcome]:
        """Take what a worker returns; yield an outcome if it ends a job."""
        node = self.nodes.get(address)
        if node is None or node.job is None or node.future is not future:
            return  # the worker was given up before
        job, node.job, node.future = node.job, None, None
        try:
            outcome = future.result(timeout=ANSWERS)
        except Exception as raised:  # dask's own errors, and those of a worker that died
            why = f"did not end it ({type(raised).__name__}: {raised})"
            yield from self._again(address, job, why)
            return
        if isinstance(outcome, Outcome):
            yield outcome
            return
        node.fits = False
        self.waiting.appendleft(job)
        _say(f"worker left out: {address}: {outcome}")
        if not any(node.fits for node in self.nodes.values()):
            raise UsageError(f"none of the scheduler's workers fits: {address}: {outcome}")

    def _again(self, address: str, job: Job, why: str) -> Iterator[Outcome]:
        """Put a job back that did not end; yield its outcome if that was too often."""
        self.deaths[job.task.key] += 1
        if self.deaths[job.task.key] < MOST_DEATHS:
            _say(f"worker {address} {why}; {job.task} is run again")
            self.waiting.appendleft(job)
        else:
            text = f"{MOST_DEATHS} workers were lost while they ran it (too little memory?)"
            yield Outcome(job.task, error=text, exit_status=1)


def software() -> dict[str, str]:
    """Return what equal results need beside equal identities: versions, the instructions."""
    return {**versions(), "instructions": instruction_set()}


def run_job(
    job: Job,
    protocol: Protocol,
    files: tuple[Path, ...],
    expected: Mapping[str, str],
    sign: Path,
    threads: int,
) -> Outcome | str:
    """Run a job, after others of this process; or return why its result would be another here.

    `expected` is the software of the process that hands out the jobs, `sign` a folder in the
    results folder as long as the run goes on.
    """
    with _ONE_JOB:
        copy = os.environ.get(LOCAL_DATA)
        protocol = replace(protocol, data_dir=Path(copy)) if copy else protocol
        if not sign.exists():
            return f"found another folder at {protocol.out}, expected the shared results folder"
        here: dict[str, Any] = dict(software())
        try:
            for path in files:
                plugins.use(path)
            if job.identity is not None:
                benchmark = benchmark_of(job.task.dataset, protocol)
                here |= identity(job.task, protocol, benchmark, ranker(job.task.algo))
        except (LetorError, OSError) as error:
            return str(error)
        for name, value in {**expected, **(job.identity or {})}.items():
            if here.get(name) != value:
                return f"it has {name} {here.get(name)}, where the run was started it is {value}"
        return attempt(job, protocol, files, threads)
