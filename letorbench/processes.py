"""Calls in other processes of this machine, which leave nothing behind, however they end.

A process hangs on a socket that has no name, and its large arrays lie in a file without a name.
The usual pools have semaphores and folders with names, which stay in the memory of the machine
when all processes of a run are killed at once. Here a process ends as soon as the other end of
its socket is gone, and one that is lost costs the call that it was at.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from queue import SimpleQueue
from typing import IO, Any, Generic, TypeVar

import cloudpickle

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")

#: libraries' own threads in a process, of which there are as many as there is work for
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
    ),
    "1",
)  # fmt: skip
#: where an array may begin in shared memory
ALIGNMENT = 64
#: the seconds that a process has to end by itself
GRACE = 5.0
#: what ends the receiver of calls
_END = b""
_START = "import sys; from letorbench.processes import serve; serve(*map(int, sys.argv[1:]))"


def in_processes(
    function: Callable[[Common, Item], Result],
    common: Common,
    items: Sequence[Item],
    number: int,
    lost: Callable[[Item, str], Result],
) -> Iterator[Result]:
    """Yield function(common, item) of each item, in the order in which the calls end.

    Functions and classes of a script or a notebook may be among what is sent.

    Parameters
    ----------
    function : callable
    common : object
        What all calls share. Each process gets it once; its arrays are in memory that they
        share, and read-only.
    items : sequence
        What the calls differ in.
    number : int
        How many processes there are.
    lost : callable
        Called with an item and a word on how its process ended, where that is not with a result.
        What it returns is yielded instead. The other items go to another process.
    """
    with _Package((function, common)) as package:
        waiting = deque(items)
        free: list[_Process[Item]] = []
        busy: list[_Process[Item]] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < number:
                    process = free.pop() if free else _Process(package)
                    busy.append(process)
                    process.give(waiting.popleft())
                ready = wait([process.connection for process in busy])
                for process in [each for each in busy if each.connection in ready]:
                    busy.remove(process)
                    try:
                        answer = process.answer()
                    except (EOFError, OSError):
                        yield lost(process.item, process.end())
                        continue
                    free.append(process)
                    yield answer
        finally:
            for process in free:
                process.dismiss()
            for process in busy:
                process.stop()
            for process in (*free, *busy):
                process.end()


class _Package:
    """What every process gets first: pickled, its arrays in a file that has no name."""

    def __init__(self, content: object) -> None:
        buffers: list[pickle.PickleBuffer] = []
        pickled = cloudpickle.dumps(content, protocol=5, buffer_callback=buffers.append)
        self.file = _nameless_file()
        spans = []
        for buffer in buffers:
            start = -(-self.file.tell() // ALIGNMENT) * ALIGNMENT
            self.file.seek(start)
            spans.append((start, self.file.write(buffer.raw())))
        self.file.flush()
        self.message = pickle.dumps((pickled, spans))

    def __enter__(self) -> _Package:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


def _nameless_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("letorbench"), "w+b")
    return tempfile.TemporaryFile()


class _Process(Generic[Item]):
    """A process that waits for calls."""

    item: Item

    def __init__(self, package: _Package) -> None:
        self.connection, theirs = Pipe()
        handles = (theirs.fileno(), package.file.fileno())
        path = os.pathsep.join(each or os.getcwd() for each in sys.path)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, *map(str, handles)], stdin=subprocess.DEVNULL,
                pass_fds=handles, env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            )  # fmt: skip
        self._send(package.message)

    def give(self, item: Item) -> None:
        """Let it call the function with an item."""
        self.item = item
        self._send(cloudpickle.dumps(item))

    def answer(self) -> Any:
        """Return the result of the call, or raise its error; EOFError or OSError if it is dead."""
        done, result = pickle.loads(self.connection.recv_bytes())
        if not done:
            raise result
        return result

    def dismiss(self) -> None:
        """Let it end, which has nothing to do."""
        self._send(_END)

    def stop(self) -> None:
        """Let it leave the call that it is at, tidy up and end."""
        self._process.terminate()

    def end(self) -> str:
        """Wait for its end; return how it ended."""
        try:
            status = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self.connection.close()
        if status < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # where it is dead, there will be no answer
            self.connection.send_bytes(message)


def serve(handle: int, shared: int) -> None:
    """Answer calls, in the process that `in_processes` starts.

    Parameters
    ----------
    handle : int
        The socket.
    shared : int
        The file with the arrays.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the other end decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # files that are being written go
    connection = Connection(handle)
    inbox: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    function, common = _unpacked(inbox.get(), shared)
    while (message := inbox.get()) != _END:
        try:
            answer = True, function(common, pickle.loads(message))
        except Exception as error:
            answer = False, error
        connection.send_bytes(cloudpickle.dumps(answer))


def _receive(connection: Connection, inbox: SimpleQueue[bytes]) -> None:
    """Pass on what comes; end the process where nobody is left who waits for its work."""
    try:
        while True:
            inbox.put(connection.recv_bytes())
    except (EOFError, OSError):
        os._exit(1)


def _unpacked(message: bytes, shared: int) -> Any:
    pickled, spans = pickle.loads(message)
    if not spans:
        return pickle.loads(pickled)
    memory = memoryview(mmap.mmap(shared, 0, access=mmap.ACCESS_READ))
    return pickle.loads(pickled, buffers=[memory[a : a + size] for a, size in spans])
