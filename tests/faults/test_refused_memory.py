"""Memory that is refused is one line and exit 1, also where a library does not look."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import serialpack
from tests.cli.conftest import environment
from tests.faults.conftest import KIB, MIB, Start, feed, finish, hidden, records, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")

#: A command that writes some of an output, and then ends as a library ends it.
_CRASH = """
import os, sys
from serialpack.cli.guard import guarded
from serialpack.files import Output

def work():
    output = Output(sys.argv[1])
    output.write(b"some")
    os.kill(os.getpid(), int(sys.argv[2]))
    return 0

sys.exit(guarded(work))
"""


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS"])
def test_a_library_that_crashes_is_one_line_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    process = subprocess.Popen(
        [sys.executable, "-c", _CRASH, tmp_path / "out", str(int(number))],
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        preexec_fn=_no_core,
    )
    assert f"out of memory ({name})" in finish(process, 1)
    assert list(tmp_path.glob("*out*")) == hidden(tmp_path) == []


def _no_core() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limited(kib: int) -> list[str]:
    return ["sh", "-c", f'ulimit -c 0; ulimit -v {kib}; exec "$@"', "sh"]


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lines") / "x.ndjson"
    path.write_bytes(b"".join(b'{"a":%d,"b":"x%d","c":[%d]}\n' % (n, n, n) for n in range(100_000)))
    return path


_SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("args", "threads"),
    [
        (("unpack", "--to", "json"), "2"),
        pytest.param(("unpack", "--to", "json"), "1", marks=_SLOW),
        pytest.param(("unpack", "--to", "msgpack"), "2", marks=_SLOW),
        pytest.param(("pack", "-s", "columns"), "2", marks=_SLOW),
        pytest.param(("pack", "-s", "orjson"), "2", marks=_SLOW),
    ],
)
def test_whatever_is_refused(
    start: Start, lines: Path, tmp_path: Path, args: tuple[str, ...], threads: str
) -> None:
    """From too little to enough: the right output, or one line and nothing else."""
    target = tmp_path / "out"
    found = set()
    for kib in range(60_000, 320_000, 52_000):
        options = ("-q", "-f", "-j", threads, "-o", target)
        process = start(*args, *options, lines, before=_limited(kib))
        _, said = process.communicate(timeout=120)
        assert hidden(tmp_path) == []
        if process.returncode == 0:
            assert said == b""
            found.add(hashlib.sha256(target.read_bytes()).digest())
            target.unlink()
        else:
            assert process.returncode == 1, (kib, said)
            # OpenBLAS, which NumPy loads, says it in words of its own and ends the process.
            assert b"memory" in said.lower(), (kib, said)
            assert said.count(b"\n") == 1, (kib, said)
            assert not target.exists()
    right = tmp_path / "right"
    finish(start(*args, "-q", "-o", right, lines), 0)
    assert found <= {hashlib.sha256(right.read_bytes()).digest()}


def test_signals_and_exit_codes_pass(start: Start, tmp_path: Path) -> None:
    """A command whose memory is limited ends as any other does."""
    (tmp_path / "x").write_bytes(records(64 * KIB))
    finish(start("pack", "-q", "x", before=_limited(4 << 20)), 0)
    finish(start("pack", "x", before=_limited(4 << 20)), 1)  # there already
    finish(start("pack", "--nonsense", before=_limited(4 << 20)), 2)
    options = ("-s", "raw", "--block-size", "64K")
    process = start("pack", *options, "-o", "y.spk", before=_limited(4 << 20))
    feed(process, bytes(MIB))
    wait_for(lambda: hidden(tmp_path), "the hidden file")
    process.send_signal(signal.SIGTERM)
    finish(process, 128 + signal.SIGTERM)
    assert hidden(tmp_path) == []
    assert serialpack.unpack(tmp_path / "x.spk", None).exact
