"""Worker processes for stages that hold the GIL.

A process is Python running ``main`` below, with a pipe on each side, not a child of
multiprocessing: spawn and forkserver run the caller's main module again, which a library must
not ask of it, and fork of a threaded process deadlocks. Both ends are this program, so pickle
is as safe as the program itself.
"""

from __future__ import annotations

import io
import operator
import os
import pickle
import select
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from serialpack import hidden
from serialpack.errors import SerialpackError
from serialpack.pipeline.workers import MakeWorker
from serialpack.stages.stage import Buffer
from serialpack.unstarted import WorkerNotStartedError
from serialpack.watch import at, telling, told

if TYPE_CHECKING:
    import subprocess

#: Settings of glibc's malloc, by which memory of a block is kept for the next one: that saves a
#: third of the time that the system spends on giving it anew. With them Arrow needs no other.
MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
#: The variable that names the ledger of hidden files to a worker process.
_LEDGER = "SERIALPACK_LEDGER"
_LENGTH = struct.Struct("<Q")
#: The least bytes of a value that is sent on its own, behind the message.
_LARGE = 64 << 10


#: What the child runs. It looks for modules last where this serialpack is, and never in the current
#: folder, whose files are data: a json.py among them must not be run.
_CHILD = (
    "import sys; sys.path.append({root!r}); import "
    + __name__
    + " as child; child.main(*{imported!r})"
)


class _Done(NamedTuple):
    """Message of a worker process: a job is done, and this came of it."""

    result: Any


class _At(NamedTuple):
    """Message of a worker process: this share of a job is done. Only where somebody looks on."""

    share: float


class WorkerEnded(SerialpackError):
    """A worker process ended before it had an answer; ``how`` it ended in words."""

    def __init__(self, code: int) -> None:
        self.how = f"signal {-code}" if code < 0 else f"exit {code}"
        super().__init__(
            f"a worker process ended unexpectedly ({self.how})",
            hint="try -j 1; if it was killed, memory may have run out",
        )


#: Processes that were started ahead, which the next workers take.
_ahead: list[subprocess.Popen[bytes]] = []


def start_processes(count: int, *imported: str) -> None:
    """Start processes ahead for the next ``count`` workers, as far as the system starts them; they
    import the modules ``imported`` meanwhile."""
    with suppress(OSError):
        while len(_ahead) < count:
            _ahead.append(_started(*imported))


def end_processes() -> None:
    """End the processes that were started ahead and that no worker took."""
    while _ahead:
        _end(_ahead.pop())


def _started(*imported: str) -> subprocess.Popen[bytes]:
    """A new process, which waits for what to do, and imports the modules ``imported`` meanwhile."""
    kept = [] if (ledger := hidden.ledger()) is None else [ledger]
    given = {_LEDGER: str(ledger)} if kept else {}
    import subprocess  # not above: the process itself needs neither
    from pathlib import Path

    root = str(Path(__file__).resolve().parents[2])
    own_group: dict[str, Any] = (
        {"process_group": 0}
        if os.name == "posix"
        else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    )
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD.format(root=root, imported=imported)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**MEMORY, **os.environ, **given},
        pass_fds=kept,
        # Ctrl-C goes to the whole group; the parent alone decides, and closes our pipe.
        **own_group,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    process.wait()


class ProcessWorker:
    """A worker in its own process. Belongs to one thread; WorkerNotStartedError where the system
    starts no process."""

    def __init__(self, make: MakeWorker) -> None:
        try:
            self._process = _ahead.pop() if _ahead else _started()
        except OSError as error:
            raise WorkerNotStartedError(error) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = cast(io.RawIOBase, cast(io.BufferedWriter, self._process.stdin).raw)
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe.fileno())
        self._send((make, telling()))

    def __call__(self, job: Any) -> Any:
        self._send(job)
        assert self._process.stdout is not None
        while isinstance(answer := _receive(self._process.stdout), _At):
            at(answer.share)
        if isinstance(answer, BaseException):
            raise answer
        if not isinstance(answer, _Done):
            raise WorkerEnded(self._process.wait())
        return answer.result

    def kill(self) -> None:
        """End the process at once, and those that it started (where /proc names them).

        A job that is waited for raises WorkerEnded.
        """
        if os.name == "posix":
            with suppress(OSError):
                # Stopped, it starts no more of them.
                os.kill(self._process.pid, signal.SIGSTOP)
                for pid in _descendants(self._process.pid):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        self._process.kill()

    def stop(self, seconds: float) -> None:
        """Tell the process to end; kill it where it has not after so many seconds."""
        assert self._process.stdin is not None
        import subprocess

        self._process.stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self._process.wait()

    def close(self) -> None:
        _end(self._process)

    def _send(self, what: Any) -> None:
        with suppress(BrokenPipeError):  # the process is gone; the missing answer says so
            _send(self._stdin, what)


def _descendants(pid: int) -> list[int]:
    """The processes that ``pid`` has started, and those that they have: proc(5)."""
    from pathlib import Path

    found = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # that thread has ended meanwhile
            for child in map(int, tasks.read_text("ascii").split()):
                found += [child, *_descendants(child)]
    return found


def _widen(pipe: int) -> None:
    """Let a pipe hold more, where the system can: both processes then wait less for each other."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


def _send(pipe: io.RawIOBase, what: Any) -> None:
    """Send an object. Large bytes in it, or in tuples in it, are sent behind it without a copy."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(out_of_band(what), protocol=5, buffer_callback=buffers.append)
    pieces: list[Buffer] = [data, *(buffer.raw() for buffer in buffers)]
    lengths = b"".join(_LENGTH.pack(len(piece)) for piece in pieces)
    for piece in (_LENGTH.pack(len(pieces)), lengths, *pieces):
        view = memoryview(piece)
        while view:
            view = view[pipe.write(view) :]


def out_of_band(value: Any) -> Any:
    """``value`` with large bytes, also those within tuples, marked to be sent behind it."""
    if isinstance(value, tuple):
        apart = tuple(map(out_of_band, value))
        if all(map(operator.is_, apart, value)):
            return value
        return cast(Any, type(value))._make(apart) if hasattr(value, "_fields") else apart
    if isinstance(value, memoryview) or (isinstance(value, bytes) and len(value) > _LARGE):
        return pickle.PickleBuffer(value)
    return value


def _receive(pipe: IO[bytes]) -> Any:
    """The next object, or None at the end."""
    count = _numbers(pipe, 1)
    lengths = _numbers(pipe, count[0]) if count else None
    if not lengths:
        return None
    pieces = [pipe.read(length) for length in lengths]
    if list(map(len, pieces)) != lengths:
        return None
    return pickle.loads(pieces[0], buffers=pieces[1:])


def _numbers(pipe: IO[bytes], count: int) -> list[int] | None:
    data = pipe.read(count * _LENGTH.size)
    if len(data) != count * _LENGTH.size:
        return None
    return [number for (number,) in _LENGTH.iter_unpack(data)]


def stop_with_parent(*_: object) -> None:
    """End a worker process whose parent is gone, so that no file of its job appears after that.

    To be called as progress. A living parent sends nothing before it has its answer: anything there
    is to read is the end of its pipe.
    """
    if os.name == "posix" and select.select([0], [], [], 0)[0]:
        sys.exit(1)


class _Teller:
    """Tells the parent of each hundredth of a job that is done."""

    def __init__(self, sink: io.RawIOBase) -> None:
        self._sink = sink
        self._told = 0.0

    def __call__(self, share: float) -> None:
        if share - self._told >= 0.01:
            self._told = share
            _send(self._sink, _At(share))


def main(*imported: str) -> None:
    """Serve one parent until it closes the pipe. ``imported``: modules that it will want."""
    source = open(0, "rb", closefd=False)  # noqa: SIM115
    sink = open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
    if (ledger := os.environ.pop(_LEDGER, "")) != "":
        hidden.begin_ledger(int(ledger))
    for module in imported:
        import_module(module)
    if (begun := _receive(source)) is None:
        return  # the parent has ended before it said what to do
    make, telling = begun
    worker: Callable[[Any], Any] | None = None
    while (job := _receive(source)) is not None:
        try:
            worker = worker or make()
            with told(_Teller(sink) if telling else None):
                answer: _Done | BaseException = _Done(worker(job))
        except Exception as error:
            answer = error
        try:
            _send(sink, answer)
        except BrokenPipeError:
            return
