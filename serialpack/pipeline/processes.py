"""Worker processes for stages that hold the GIL.

A process is Python running ``main`` below, with a pipe on each side, not a child of
multiprocessing: spawn and forkserver run the caller's main module again, which a library must
not ask of it, and fork of a threaded process deadlocks. Both ends are this program, so pickle
is as safe as the program itself.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from serialpack.errors import SerialpackError
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.blocks import BlockPacker, Packed, Plan

_OWN_GROUP: dict[str, Any] = (
    {"process_group": 0}
    if os.name == "posix"
    else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
)
_LENGTH = struct.Struct("<Q")


#: Where this serialpack is. The child looks there last, and never in the current folder, whose
#: files are data: a json.py among them must not be run.
_ROOT = str(Path(__file__).resolve().parents[2])
_CHILD = "import sys; sys.path.append({root!r}); import " + __name__ + " as child; child.main()"


class ProcessPacker:
    """A BlockPacker in a process of its own. Belongs to one thread."""

    def __init__(self, plan: Plan) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD.format(root=_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            # Ctrl-C goes to the whole group; the parent alone decides, and closes our pipe.
            **_OWN_GROUP,
        )
        self._send(plan)

    def __call__(self, source: SourceBlock) -> Packed:
        self._send(source._replace(data=bytes(source.data)))
        assert self._process.stdout is not None
        answer = _receive(self._process.stdout)
        if isinstance(answer, BaseException):
            raise answer
        if not isinstance(answer, Packed):
            raise SerialpackError(
                f"a worker process ended unexpectedly (exit {self._process.wait()})",
                hint="try -j 1; if it was killed, memory may have run out",
            )
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _send(self, what: Any) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the process is gone; the missing answer says so
            _send(self._process.stdin, what)


def _send(pipe: IO[bytes], what: Any) -> None:
    data = pickle.dumps(what, protocol=5)
    for piece in (_LENGTH.pack(len(data)), data):
        view = memoryview(piece)
        while view:
            view = view[pipe.write(view) :]


def _receive(pipe: IO[bytes]) -> Any:
    """The next object, or None at the end."""
    prefix = _exactly(pipe, _LENGTH.size)
    data = _exactly(pipe, _LENGTH.unpack(prefix)[0]) if prefix else None
    return pickle.loads(data) if data else None


def _exactly(pipe: IO[bytes], size: int) -> bytearray | None:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        count = pipe.readinto(view)  # type: ignore[attr-defined]
        if not count:
            return None
        view = view[count:]
    return data


def main() -> None:
    """Serve one parent until it closes the pipe."""
    source = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
    sink = open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115
    plan = _receive(source)
    packer: BlockPacker | None = None
    while (job := _receive(source)) is not None:
        try:
            packer = packer or BlockPacker(plan)
            answer: Packed | BaseException = packer(job)
        except Exception as error:
            answer = error
        try:
            _send(sink, answer)
        except BrokenPipeError:
            return
