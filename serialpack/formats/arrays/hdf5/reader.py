"""HDF5 files of others, read in a process of its own.

That is Python, running ``child``. It is told what to do in a line of JSON. It answers in frames:
first what is told of the file, then bytes, then that these ended.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from serialpack import errors
from serialpack.errors import InputError, MissingLibraryError, SerialpackError
from serialpack.formats.shared.random_access import FileRead
from serialpack.stages.stage import is_installed
from serialpack.unstarted import WorkerNotStartedError

#: The head of a frame: its kind, and how many bytes it has.
FRAME = struct.Struct("<cI")
KNOWN, DATA, FAILED, MISTAKEN, END = b"k", b"d", b"f", b"!", b"."

#: The folder of this serialpack. The child looks there last, and never in the current folder.
_ROOT = str(Path(__file__).resolve().parents[4])
_CHILD = (
    "import sys; sys.path.append({root!r});"
    " from serialpack.formats.arrays.hdf5 import child; child.main()"
)
_OWN_GROUP: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}

#: What it means that a signal ended the child.
_SIGNALS = {
    "SIGPROF": "it worked for a minute without an end",
    "SIGKILL": "memory may have run out",
}


def check_installed() -> None:
    """MissingLibraryError where h5py is not there."""
    if not is_installed("h5py"):
        raise MissingLibraryError(
            "HDF5 is not readable here: h5py is not installed",
            hint="pip install 'serialpack[hdf5]'",
        )


def asked(read: FileRead, do: str, **how: Any) -> Iterator[Any]:
    """What is told of the file whose bytes ``read`` gives, then the bytes that were asked for.

    ``do``, ``how``: a function of ``child`` and its arguments. MissingLibraryError, InputError for
    a file that is not sound, UsageError and RefusedError for what is asked of it.
    """
    check_installed()
    with read.file() as path, _child({"do": do, "path": os.fsdecode(path), **how}) as out:
        while (frame := _frame(out)) is not None:
            kind, data = frame
            if kind == END:
                return
            if kind == FAILED:
                raise _error(*json.loads(data))
            if kind == MISTAKEN:
                raise _mistake(data.decode())
            yield json.loads(data) if kind == KNOWN else data
        raise _Ended


class MistakenError(Exception):
    """The child came upon an error in this program, not in the file."""


class _Ended(Exception):
    """The child ended before it had answered."""


@contextmanager
def _child(request: dict[str, Any]) -> Iterator[IO[bytes]]:
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD.format(root=_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # the library's own words about damage
            env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
            **_OWN_GROUP,
        )
    except OSError as error:
        raise WorkerNotStartedError(error) from error
    assert process.stdin is not None
    assert process.stdout is not None
    with process, closing(process.stdout):
        try:
            with process.stdin as told:
                told.write(json.dumps(request).encode())
            yield process.stdout
        except (_Ended, BrokenPipeError):
            raise _broken_down(process.wait()) from None
        finally:
            process.kill()


def _frame(out: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The kind and the bytes of the next frame; None where there is no whole one."""
    head = out.read(FRAME.size)
    if len(head) < FRAME.size:
        return None
    kind, size = FRAME.unpack(head)
    data = out.read(size)
    return (kind, data) if len(data) == size else None


def _error(kind: str, message: str, hint: str | None) -> SerialpackError:
    cls: type[SerialpackError] = getattr(errors, kind)
    return cls(message, hint=hint)


def _mistake(trace: str) -> MistakenError:
    """The error for ``trace``, a traceback of the child."""
    error = MistakenError(trace.rstrip().rpartition("\n")[2])
    error.add_note(trace)
    return error


def _broken_down(code: int) -> InputError:
    name = signal.Signals(-code).name if code < 0 else f"exit {code}"
    return InputError(
        f"no sound HDF5 file: the library broke down over it ({_SIGNALS.get(name, name)})",
        hint="pack keeps its bytes",
    )
