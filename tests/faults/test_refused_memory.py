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
from serialpack.files.output import Output

def work():
    output = Output(sys.argv[1])
    output.write(b"some")
    os.kill(os.getpid(), int(sys.argv[2]))
    return 0

sys.exit(guarded(work))
"""


#: A command in which a library says what it has to say, and ends the process as it likes.
_EXIT = """
import ctypes, os, sys
from serialpack.cli.guard import guarded

def work():
    print("a note", file=sys.stderr)
    os.write(2, b"memory allocation failed\\n")
    if int(sys.argv[1]):
        ctypes.CDLL(None).exit(int(sys.argv[1]))
    return 3

sys.exit(guarded(work))
"""


@pytest.mark.parametrize(("code", "ends", "said"), [("0", 3, ""), ("1", 1, "out of memory")])
def test_what_a_library_says_or_does_at_its_end_is_ours_to_say(
    tmp_path: Path, code: str, ends: int, said: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _EXIT, code], stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    _, told = process.communicate(timeout=60)
    assert process.returncode == ends
    first, *rest = told.decode().splitlines()
    assert first == "a note"
    assert len(rest) == bool(said)
    assert said in told.decode()


def test_a_library_of_rust_makes_no_backtrace(tmp_path: Path) -> None:
    """It would wait for ever for the lock that it has, where memory is refused to that, too."""
    code = (
        "import subprocess, sys\n"
        "from serialpack.cli.guard import guarded\n"
        "seen = ('sh', '-c', 'exit \"$RUST_BACKTRACE\"')\n"
        "sys.exit(guarded(lambda: 10 + subprocess.call(seen)))\n"
    )
    asked = environment(tmp_path, RUST_BACKTRACE="1")
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, env=asked)
    finish(process, 10)


def test_a_panic_of_rust_is_one_line(tmp_path: Path) -> None:
    """cbor2 raises it where Python's memory is refused to it; it is no Exception."""
    code = (
        "import sys\n"
        "from serialpack.cli.guard import guarded\n"
        "class PanicException(BaseException): pass\n"
        "def work(): raise PanicException('PyObject pointer is null')\n"
        "sys.exit(guarded(work))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    assert "out of memory" in finish(process, 1)


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
    path.write_bytes(b"".join(b'{"a":%d,"b":"x%d","c":[%d]}\n' % (n, n, n) for n in range(20_000)))
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
            assert b"memory" in said.lower(), (kib, said)
            assert said.count(b"\n") == 1, (kib, said)
            assert not target.exists()
    right = tmp_path / "right"
    finish(start(*args, "-q", "-o", right, lines), 0)
    assert found <= {hashlib.sha256(right.read_bytes()).digest()}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same records as a container, CBOR and CSV in a container."""
    folder = tmp_path_factory.mktemp("forms")
    records = b"".join(b'{"a":%d,"b":"x%d","c":%d}\n' % (n, n, n) for n in range(8_000))
    (folder / "x.ndjson").write_bytes(records)
    serialpack.pack(folder / "x.ndjson", folder / "x.spk", serializer="columns")
    serialpack.convert(folder / "x.ndjson", folder / "x.cbor", to="cbor")
    return folder


#: KiB: too little for Python's libraries, too little for the work, and enough for most.
_RUNGS = (30_000, 60_000, 84_000, 120_000)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("unpack --to csv", "x.spk"),
        ("unpack --to json", "x.cbor"),
        ("inspect --columns", "x.spk"),
        pytest.param("unpack", "x.spk", marks=_SLOW),
        pytest.param("unpack --to msgpack", "x.spk", marks=_SLOW),
        pytest.param("unpack --to cbor", "x.spk", marks=_SLOW),
        pytest.param("unpack --to parquet", "x.spk", marks=_SLOW),
        pytest.param("inspect", "x.spk", marks=_SLOW),
        pytest.param("inspect --head 2", "x.spk", marks=_SLOW),
        pytest.param("pack -s columns", "x.ndjson", marks=_SLOW),
        pytest.param("pack -s json", "x.ndjson", marks=_SLOW),
    ],
)
def test_every_verb_on_every_rung(
    start: Start, forms: Path, tmp_path: Path, command: str, name: str
) -> None:
    """All is well, or one line is said and nothing is left."""
    target = tmp_path / "out"
    options = () if "inspect" in command else ("-q", "-j", "2", "-o", target)
    codes = {}
    for kib in _RUNGS:
        process = start(*command.split(), *options, forms / name, before=_limited(kib))
        _, said = process.communicate(timeout=120)
        codes[kib] = process.returncode
        assert process.returncode in (0, 1), (kib, said)
        assert said.count(b"\n") == process.returncode, (kib, said)
        assert not process.returncode or b"memory" in said.lower(), (kib, said)
        assert target.exists() == (process.returncode == 0 and bool(options)), kib
        assert hidden(tmp_path) == []
        target.unlink(missing_ok=True)
    assert codes[_RUNGS[0]] == 1


#: A signal in the middle of what cannot raise, as the end of an import may be.
_LOST = """
import os, signal, sys, time, weakref
from serialpack.cli import app
from serialpack.cli.guard import guarded

class Thing:
    pass

def work(_):
    thing = Thing()
    there = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM) or sorted([2, 1]))
    del thing
    time.sleep(1)
    return 0

app._answer = work
sys.exit(guarded(lambda: app.run([])))
"""


def test_no_signal_is_lost_where_nothing_can_be_raised(tmp_path: Path) -> None:
    """The work went on to its end once, and no other signal was heard."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LOST], stderr=subprocess.PIPE, env=environment(tmp_path)
    )
    finish(process, 128 + signal.SIGTERM)


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
