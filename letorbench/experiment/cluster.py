"""A dask scheduler's workers as a backend.

Each worker has one job at a time, a task of dask with a key of its own and without any array. So
a worker that dies takes one job with it; dask would count its death against all tasks that it has.
A worker gets its first job when it has shown that its results would be those of this process. It
opens the data set itself, and leaves the results in the shared folder.
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

from letorbench.checksum import digest
from letorbench.errors import DataError, LetorError, UsageError
from letorbench.experiment.plan import Job, Protocol, benchmark_of
from letorbench.experiment.task import Outcome, attempt
from letorbench.files import unfinished_folder
from letorbench.jit import instruction_set
from letorbench.rankers import plugins
from letorbench.results.store import versions
from letorbench.source import reached, source_digest

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
        data = {j.task.dataset: str(j.benchmark.provenance["digest"]) for j in jobs if j.benchmark}
        files = {path: digest(path.read_bytes()) for path in plugins.files()}
        with unfinished_folder(out / f".run-{uuid4().hex}") as sign:
            expected = Expected(software(), files, data, protocol, sign)
            try:
                with _client(self.scheduler) as client:
                    yield from _Dispatch(client, expected, jobs).outcomes()
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
    """A worker: it first answers whether it fits, then has jobs."""

    threads: int
    fits: bool | None = None
    job: Job | None = None
    future: Future | None = None


class _Dispatch:
    """Hands out the jobs of one run, and takes back those of workers that died."""

    def __init__(self, client: Client, expected: Expected, jobs: Sequence[Job]) -> None:
        self.client = client
        self.expected = expected
        self.waiting = deque(job.sent() for job in jobs)
        self.deaths = {job.task.key: 0 for job in jobs}
        self.nodes: dict[str, _Node] = {}
        self.ended: SimpleQueue[tuple[str, Future]] = SimpleQueue()
        self.refused: list[str] = []

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes as the jobs end."""
        protocol, files = self.expected.protocol, tuple(self.expected.plugins)
        if not self.client.nthreads():
            _say("the scheduler has no worker; waiting for one")
        while self.waiting or any(node.job for node in self.nodes.values()):
            yield from self._look_at_workers()
            for address, node in self.nodes.items():
                if self.waiting and node.fits and node.future is None:
                    node.job = job = self.waiting.popleft()
                    self._submit(address, partial(run_job, job, protocol, files, node.threads))
            with suppress(Empty):
                yield from self._take(*self.ended.get(timeout=LOOKS))

    def _look_at_workers(self) -> Iterator[Outcome]:
        """Ask new workers whether they fit; take back the jobs of those that are gone."""
        there = self.client.nthreads()
        for address in set(self.nodes) - set(there):
            node = self.nodes.pop(address)
            if node.job is not None:
                yield from self._again(address, node.job, "is gone")
        for address in sorted(set(there) - set(self.nodes)):
            self.nodes[address] = _Node(there[address])
            self._submit(address, partial(unfit, self.expected))
        if self.nodes and all(node.fits is False for node in self.nodes.values()):
            raise UsageError(f"none of the scheduler's workers fits: {self.refused[0]}")

    def _submit(self, address: str, call: Callable[[], Any]) -> None:
        """Let a worker do something, and no other; keys never meet those of another run."""
        future = self.client.submit(
            call, key=f"letorbench-{uuid4().hex}", workers=[address],
            allow_other_workers=False, pure=False,
        )  # fmt: skip
        self.nodes[address].future = future
        future.add_done_callback(lambda future: self.ended.put((address, future)))

    def _take(self, address: str, future: Future) -> Iterator[Outcome]:
        """Take what a worker returns; yield an outcome if it ends a job."""
        node = self.nodes.get(address)
        if node is None or node.future is not future:
            return  # the worker was given up before
        job, node.job, node.future = node.job, None, None
        try:
            value = future.result(timeout=ANSWERS)
        except Exception as raised:  # dask's own errors, and those of a worker that died
            error = f"{type(raised).__name__}: {raised}"
            if job is not None:
                yield from self._again(address, job, f"did not end it ({error})")
                return
            value = f"it did not answer: {error}"
        if job is not None:
            yield value
        elif value:
            node.fits = False
            self.refused.append(f"{address}: {value}")
            _say(f"worker left out: {self.refused[-1]}")
        else:
            node.fits = True

    def _again(self, address: str, job: Job, why: str) -> Iterator[Outcome]:
        """Put a job back that did not end; yield its outcome if that was too often."""
        self.deaths[job.task.key] += 1
        if self.deaths[job.task.key] < MOST_DEATHS:
            _say(f"worker {address} {why}; {job.task} is run again")
            self.waiting.appendleft(job)
        else:
            text = f"{MOST_DEATHS} workers were lost while they ran it (too little memory?)"
            yield Outcome(job.task, error=text, exit_status=1)


@dataclass(frozen=True)
class Expected:
    """What a worker must have in common with the process that hands out the jobs."""

    software: Mapping[str, str]
    #: the digests of the plug-in files and of the data sets
    plugins: Mapping[Path, str]
    data: Mapping[str, str]
    protocol: Protocol
    #: a folder in the results folder as long as the run goes on
    sign: Path


def software() -> dict[str, str]:
    """Return what equal results need: versions, letorbench's own source, the instructions."""
    source = source_digest(reached(["experiment", "rankers"]))[:16]
    return {**versions(), "letorbench's source": source, "instructions": instruction_set()}


def unfit(expected: Expected) -> str:
    """Return why this worker's results would not be those of the run, empty where they are."""
    here, protocol = software(), _local(expected.protocol)
    for what, wanted in expected.software.items():
        if here.get(what) != wanted:
            return f"it has {what} {here.get(what)}, expected {wanted} as where the run was started"
    if not expected.sign.exists():
        return f"found another folder at {protocol.out}, expected the shared results folder"
    try:
        for path, wanted in expected.plugins.items():
            if digest(path.read_bytes()) != wanted:
                return f"{path}: found another plug-in than where the run was started"
        for name, wanted in expected.data.items():
            if benchmark_of(name, protocol).provenance["digest"] != wanted:
                return f"{protocol.data_dir}: found other data in {name} than the run has"
    except (LetorError, OSError) as error:
        return str(error)
    return ""


def run_job(job: Job, protocol: Protocol, files: tuple[Path, ...], threads: int) -> Outcome:
    """Run a job, after others of this process."""
    with _ONE_JOB:
        return attempt(job, _local(protocol), files, threads)


def _local(protocol: Protocol) -> Protocol:
    """Return the protocol with this machine's copy of the data folder, where it has one."""
    copy = os.environ.get(LOCAL_DATA)
    return replace(protocol, data_dir=Path(copy)) if copy else protocol
