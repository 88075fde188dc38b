"""The command in a process of its own, without the time that starting Python takes.

A server that has imported the command forks for each call: the child has its own streams, folder
and environment, and ends as the command does, but for taking its modules down where all went well,
which is half the time of a short call. What is about starting or ending starts it from nothing.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What a call of any verb loads before it reads a byte, and what many load then. Nothing that
#: starts threads, which no child would have.
_VERBS = ("packing", "unpacking", "inspecting", "inspect", "unpack", "pack", "convert", "bench")
_FORMATS = ("csv.csv", "json.json", "json.join", "msgpack.values", "cbor.cbor", "yaml.read")
_MODULES = (
    *(f"serialpack.cli.{name}" for name in ("app", "words", *(f"verbs.{v}" for v in _VERBS))),
    *(f"serialpack.formats.{name}" for name in _FORMATS),
    *(
        f"serialpack.{name}"
        for name in ("inspection.inspect", "pipeline.pack", "auto.extents", "bench.run")
    ),
    *("serialpack.codecs.zstd", "serialpack.serializers.raw", "serialpack.serializers.json"),
    *("serialpack.serializers.msgspec_json", "cbor2", "difflib", "msgspec", "yaml", "zstandard"),
)

_SIZE = struct.Struct("!I")
_CODE = struct.Struct("!i")


class WarmCommand:
    """Calls of the command, one after another; ``libraries``: what its server imports, too."""

    def __init__(self, *libraries: str) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno()), *libraries],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._pool = ThreadPoolExecutor(3)

    def close(self) -> None:
        self._socket.close()
        self._server.wait()
        self._pool.shutdown()

    def run(
        self, args: list[str], stdin: bytes, cwd: Path, env: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """As ``subprocess.run``, output captured; a call that takes longer is killed."""
        pipes = [os.pipe() for _ in range(3)]
        (theirs_in, mine_in), (mine_out, theirs_out), (mine_err, theirs_err) = pipes
        said = json.dumps([args, str(cwd), env]).encode("ascii")
        fds = [theirs_in, theirs_out, theirs_err]
        socket.send_fds(self._socket, [_SIZE.pack(len(said))], fds)
        self._socket.sendall(said)
        for fd in fds:
            os.close(fd)
        fed = self._pool.submit(_feed, mine_in, stdin)
        out, err = (self._pool.submit(_read, fd) for fd in (mine_out, mine_err))
        (pid,) = _CODE.unpack(_received(self._socket, _CODE.size))
        self._socket.settimeout(timeout)
        try:
            (code,) = _CODE.unpack(_received(self._socket, _CODE.size))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            self._socket.settimeout(None)
        fed.result()
        return subprocess.CompletedProcess(args, code, out.result(), err.result())


def _feed(fd: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(fd, "wb") as pipe:
        pipe.write(data)


def _read(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as pipe:
        return pipe.read()


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("the server of the command has ended")
        data += part
    return data


def _stream(fd: int, name: str, mode: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = io.FileIO(fd, mode, closefd=False)
    raw.name = name
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    errors = "backslashreplace" if line_buffering else "strict"
    return io.TextIOWrapper(buffer, errors=errors, line_buffering=line_buffering)


def _serve(connection: socket.socket, libraries: list[str]) -> bool:
    """Whether this is a child, which is to be the command."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command sets it: no child has them
    for name in (*_MODULES, *libraries):
        importlib.import_module(name)
    gc.freeze()  # else each child makes a copy of all memory when it looks for garbage
    while True:
        head, fds, _, _ = socket.recv_fds(connection, _SIZE.size, 3)
        if not head:
            return False
        (size,) = _SIZE.unpack(head)
        args, cwd, env = json.loads(_received(connection, size))
        child = os.fork()
        if not child:
            connection.close()
            for target, fd in enumerate(fds):
                os.dup2(fd, target)
                os.close(fd)
            # As at the start of Python: what they are, not what those of the server were.
            sys.stdin = _stream(0, "<stdin>", "r")
            sys.stdout = _stream(1, "<stdout>", "w")
            sys.stderr = _stream(2, "<stderr>", "w", line_buffering=True)
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(env)
            sys.argv[1:] = args
            return True
        for fd in fds:
            os.close(fd)
        connection.sendall(_CODE.pack(child))
        _, status = os.waitpid(child, 0)
        connection.sendall(_CODE.pack(os.waitstatus_to_exitcode(status)))


def _leave(went_well: list[bool]) -> None:
    """End this process where all went well: the last call at exit, when no thread is left."""
    if went_well:
        with suppress(Exception):  # Python's own ending tells of what cannot be written
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def _be_the_command() -> None:
    went_well: list[bool] = []
    atexit.register(_leave, went_well)
    try:
        runpy.run_module("serialpack", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code:
            raise
    went_well.append(True)


if __name__ == "__main__" and _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]):
    _be_the_command()
