"""What a cluster's worker does: show that it fits, and run cells.

A worker gets names and numbers, never arrays. It opens the data set itself and leaves the results
in the shared folder itself. It runs one cell at a time, with all its threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from letorbench.errors import DataError, LetorError
from letorbench.experiment.plan import Protocol, Task, benchmark_of
from letorbench.experiment.task import Outcome, Worker, attempt
from letorbench.jit import instruction_set
from letorbench.results.fold_result import check_writable, versions
from letorbench.source import reached, source_digest

#: where a worker finds its own copy of the data folder, if it has one
LOCAL_DATA = "LETORBENCH_DATA"

#: cells of one process would share the limit on BLAS' threads
_ONE_CELL = threading.Lock()


@dataclass(frozen=True)
class Expected:
    """What a worker must have in common with the process that hands out the cells.

    Attributes
    ----------
    software : mapping
        What `software` returns.
    plugins : mapping
        The digest of each plug-in file.
    data : mapping
        The digest of each data set.
    protocol : Protocol
        What all cells share; its folders are absolute.
    sign : Path
        A file in the results folder, there as long as the run goes on.
    """

    software: Mapping[str, str]
    plugins: Mapping[Path, str]
    data: Mapping[str, str]
    protocol: Protocol
    sign: Path


def software() -> dict[str, str]:
    """Return what equal results need: versions, letorbench's own source, the instructions."""
    source = source_digest(reached(["experiment", "rankers"]))[:16]
    return {**versions(), "letorbench's source": source, "instructions": instruction_set()}


def file_digest(path: Path) -> str:
    """Return a digest of a small file."""
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def unfit(expected: Expected) -> str:
    """Return why this worker's results would not be those of the run, empty where they are."""
    try:
        return _other_software(expected) or _other_files(expected)
    except (LetorError, OSError) as error:
        return str(error)


def run_cell(task: Task, worker: Worker) -> Outcome:
    """Run a cell, after others of this process."""
    with _ONE_CELL:
        return attempt(task, replace(worker, protocol=_local(worker.protocol)))


def _local(protocol: Protocol) -> Protocol:
    """Return the protocol with this machine's copy of the data folder, where it has one."""
    copy = os.environ.get(LOCAL_DATA)
    return replace(protocol, data_dir=Path(copy)) if copy else protocol


def _other_software(expected: Expected) -> str:
    here = software()
    for what, wanted in expected.software.items():
        if here.get(what) != wanted:
            return f"it has {what} {here.get(what)}, expected {wanted} as where the run was started"
    return ""


def _other_files(expected: Expected) -> str:
    protocol = _local(expected.protocol)
    if not expected.sign.exists():
        return f"found another folder at {protocol.out}, expected the shared results folder"
    check_writable(protocol.out)
    for path, digest in expected.plugins.items():
        if file_digest(path) != digest:
            return f"{path}: found another plug-in than where the run was started"
    for name, digest in expected.data.items():
        try:
            found = benchmark_of(name, protocol).provenance["digest"]
        except DataError as error:
            return f"cannot open {name}: {error}"
        if found != digest:
            return f"{protocol.data_dir}: found other data in {name} than where the run was started"
    return ""
