"""Signals end the program at once, leave no half output and no child, and are told by the code."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

import serialpack
from tests.faults.conftest import (
    KIB,
    MIB,
    Command,
    Start,
    catches_signals,
    feed,
    finish,
    hidden,
    records,
    wait_for,
    written,
)
from tests.injected import HIDDEN, has_unnamed, injected
from tests.noise import noise

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="watches the program through /proc"
)

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
ids = [number.name for number in SIGNALS]
each_signal = pytest.mark.parametrize("number", SIGNALS, ids=ids)


def end_of(process: Command, number: signal.Signals) -> None:
    """It ends with 128+n and without a word."""
    assert finish(process, 128 + number) == ""


@each_signal
def test_a_signal_in_the_middle_of_packing_leaves_nothing(
    start: Start, large: Path, tmp_path: Path, number: signal.Signals
) -> None:
    before = large.read_bytes()
    random = Random(number)
    for _ in range(2):
        process = start("pack", "-9", "--block-size", "512K", large, "-o", tmp_path / "out")
        wait_for(lambda: hidden(tmp_path), "the hidden file")
        time.sleep(random.random() * 0.5)
        process.send_signal(number)
        end_of(process, number)
        assert not (tmp_path / "out").exists()
        assert not hidden(tmp_path)
    assert large.read_bytes() == before


@each_signal
def test_a_signal_in_the_middle_of_unpacking_leaves_nothing_or_what_was_there(
    start: Start, packed_large: Path, tmp_path: Path, number: signal.Signals
) -> None:
    before = packed_large.read_bytes()
    (tmp_path / "old").write_bytes(b"old")
    random = Random(number)
    for turn in range(3):
        output = tmp_path / ("old" if turn else "new")
        process = start("unpack", "-f", "-j", "1", packed_large, "-o", output)
        wait_for(lambda: written(tmp_path), "data in the hidden file")
        time.sleep(random.random() * 0.1)
        process.send_signal(number)
        end_of(process, number)
        assert not hidden(tmp_path)
        assert not (tmp_path / "new").exists()
        assert (tmp_path / "old").read_bytes() == b"old"
    assert packed_large.read_bytes() == before


@each_signal
def test_a_signal_at_any_time_from_the_start_on(
    start: Start, large: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Also while modules are loaded: the program says 128+n, or the signal itself ends it."""
    random = Random(100 + number)
    for _ in range(2):
        process = start("pack", "-9", large, "-o", tmp_path / "out")
        time.sleep(0.06 + random.random() * 0.35)
        if not catches_signals(process) and number == signal.SIGINT:
            # Before its first line Python itself has the word, with a traceback.
            wait_for(lambda process=process: catches_signals(process), "handlers")  # type: ignore[misc]
        process.send_signal(number)
        process.wait(120)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.returncode in (128 + number, -number)
        assert not (tmp_path / "out").exists()
        assert not hidden(tmp_path)


@each_signal
def test_again_and_again_is_as_once(
    start: Start, large: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Signals that come while the first is answered do not break into the cleaning up."""
    env = injected(
        tmp_path / "slow",
        f"{HIDDEN}import time\n"
        "real = os.unlink\n"
        "def unlink(path):\n"
        f"    open({str(tmp_path / 'cleaning')!r}, 'w').close()\n"
        "    time.sleep(0.3)\n"
        "    real(path)\n"
        "os.unlink = unlink\n",
    )
    process = start("pack", "-9", large, "-o", tmp_path / "out", env=env)
    wait_for(lambda: hidden(tmp_path), "the hidden file")
    process.send_signal(number)
    wait_for((tmp_path / "cleaning").exists, "the cleaning up")
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.02)
    end_of(process, number)
    assert not hidden(tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("fed", [0, 100, 2 * MIB], ids=["nothing", "a little", "some blocks"])
@pytest.mark.parametrize("output", [True, False], ids=["to a file", "to a pipe"])
def test_ctrl_c_while_a_silent_pipe_is_waited_for_ends_at_once(
    start: Start, tmp_path: Path, fed: int, output: bool
) -> None:
    """However much came before: then a thread waits in a read, and may not keep the process."""
    args = ["-o", tmp_path / "out"] if output else []
    process = start("pack", "--block-size", "64K", *args, stdout=subprocess.DEVNULL)
    pipe = feed(process, noise(fed))
    wait_for(lambda: catches_signals(process), "handlers")
    if fed and output:
        # All but what may be on its way was read: it waits, or is about to.
        wait_for(lambda: fed < MIB or written(tmp_path), "blocks")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert not pipe.closed
    end_of(process, signal.SIGINT)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


def test_ctrl_c_in_the_middle_of_a_conversion_leaves_nothing(start: Start, tmp_path: Path) -> None:
    """Its input has not ended, so that it is at work whenever the signal comes."""
    process = start("unpack", "--to", "json", "-o", tmp_path / "out.json")
    feed(process, records(9 * MIB))
    wait_for(lambda: hidden(tmp_path), "the hidden file")
    process.send_signal(signal.SIGINT)
    process.wait(60)
    end_of(process, signal.SIGINT)
    assert not (tmp_path / "out.json").exists()
    assert not hidden(tmp_path)


def test_ctrl_c_while_a_silent_fifo_is_waited_for_ends_at_once(
    start: Start, tmp_path: Path
) -> None:
    """A named pipe is a file that is closed on the way out: that may not wait for its writer."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = start("pack", "--block-size", "64K", fifo, "-o", tmp_path / "out")
    with fifo.open("wb") as writer:
        writer.write(noise(2 * MIB))
        writer.flush()
        wait_for(lambda: written(tmp_path), "blocks")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        end_of(process, signal.SIGINT)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


def test_an_error_while_a_silent_pipe_is_waited_for_ends_at_once(
    start: Start, tmp_path: Path
) -> None:
    """Damage found while the reading thread waits is told, and the program does not abort."""
    packed = tmp_path / "x.spk"
    source = tmp_path / "x"
    source.write_bytes(noise(4 * MIB))
    serialpack.pack(source, packed, block_size=64 * KIB)
    damaged = bytearray(packed.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    process = start("unpack", "-o", tmp_path / "out")
    # The damaged block, and the next, and a half: the thread is left waiting for its end.
    feed(process, bytes(damaged[: len(damaged) // 2 + 100_000]))
    process.wait(60)
    assert "block" in finish(process, 3)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


def test_ctrl_c_while_modules_are_loaded_says_nothing(start: Start, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    root = Path(__file__).parents[2]
    process = start("pack", env={"PYTHONPATH": os.pathsep.join(map(str, (tmp_path, root)))})
    assert finish(process, -signal.SIGINT) == ""


def test_what_nohup_ignores_stays_ignored(start: Start, tmp_path: Path) -> None:
    ignoring = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"]
    process = start("pack", "-q", "-o", tmp_path / "out", before=ignoring)
    wait_for(lambda: catches_signals(process), "handlers")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    feed(process, b"data")
    assert finish(process, 0) == ""
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize("hides", [True, False], ids=["hidden", "unnamed"])
def test_sigkill_leaves_the_old_output_and_at_most_one_hidden_file(
    start: Start, large: Path, tmp_path: Path, hides: bool
) -> None:
    """Nobody can clean up after SIGKILL; the next run goes through all the same."""
    env = injected(tmp_path / "site", HIDDEN * hides)
    output = tmp_path / "out"
    output.write_bytes(b"old")
    random = Random(9)
    for turn in range(4):
        process = start("pack", "-f", "-9", "--block-size", "1M", large, "-o", output, env=env)
        wait_for(lambda: hidden(tmp_path), "the hidden file")
        time.sleep(random.random() * 0.4)
        process.kill()
        process.wait()
        assert output.read_bytes() == b"old", turn
        left = hidden(tmp_path)
        assert len(left) == (hides or not has_unnamed(tmp_path))
        for each in left:
            assert each.stat().st_mode & 0o777 == 0o600
            each.unlink()


def children(process: Command) -> list[int]:
    """Worker processes of ``process`` (children of all its threads)."""
    found = []
    for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
        found += [int(number) for number in path.read_text().split()]
    return found


def running(numbers: list[int]) -> list[int]:
    def state(number: int) -> str:
        try:
            return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "Z"

    return [number for number in numbers if state(number) != "Z"]


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL], ids=[*ids, "SIGKILL"])
def test_no_worker_process_is_left_behind(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    """The signal goes to the whole group, as Ctrl-C does, from the moment children begin."""
    source = tmp_path / "rows.ndjson"
    with source.open("wb") as file:
        page = records(MIB)
        for _ in range(80):
            file.write(page)
    process = start(
        "pack", "-s", "json", "-j", "2", source, "-o", tmp_path / "out", start_new_session=True
    )
    workers = wait_for(lambda: children(process), "worker processes")
    time.sleep(Random(number).random() * 0.3)
    workers = sorted({*workers, *children(process)})
    os.killpg(process.pid, number)
    finish(process, -number if number == signal.SIGKILL else 128 + number, most=0)
    wait_for(lambda: not running(workers), "the end of the workers")
    assert not (tmp_path / "out").exists()
    left = number == signal.SIGKILL and not has_unnamed(tmp_path)
    assert len(hidden(tmp_path)) == left


@each_signal
def test_a_signal_where_nothing_can_be_raised_ends_the_program(
    start: Start, source: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """Python drops what is raised in ``__del__``, and whatever else it calls on the way."""
    env = injected(
        tmp_path / "deaf",
        "import os\n"
        "class Dies:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "        len([])\n"
        "real = os.fsync\n"
        "def fsync(fd):\n"
        "    Dies()\n"
        "    real(fd)\n"
        "os.fsync = fsync\n",
    )
    process = start("pack", source, "-o", tmp_path / "out", env=env)
    assert finish(process, -number) == ""
    assert not hidden(tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["TypeError", "OSError"])
def test_a_signal_that_code_in_c_makes_an_error_of_another_kind_is_a_signal(
    start: Start, source: Path, tmp_path: Path, kind: str
) -> None:
    """CPython's import of an absent name makes a TypeError of it, if it comes just then. Nor is
    the next file gone on with."""
    env = injected(
        tmp_path / "turned",
        "import os\n"
        "def fsync(fd):\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "        len([])\n"
        "    except BaseException:\n"
        f"        raise {kind}('expected a message argument') from None\n"
        "os.fsync = fsync\n",
    )
    other = source.with_name("other.ndjson")
    other.write_bytes(source.read_bytes())
    folder = tmp_path / "out"
    folder.mkdir()
    process = start("pack", "--sync", "each", source, other, "-o", folder, env=env)
    assert finish(process, 130) == ""
    assert not [*folder.iterdir()]


def test_one_that_code_in_c_drops_is_answered(start: Start, source: Path, tmp_path: Path) -> None:
    """CPython's compiler drops all but KeyboardInterrupt where it computes a constant, as when
    modules are compiled: the program went on to its end, and heard no signal any more."""
    env = injected(
        tmp_path / "dropped",
        "import os, time\n"
        "def fsync(fd):\n"
        "    try:\n"
        f"        os.kill(os.getpid(), {int(signal.SIGINT)})\n"
        "        len([])\n"
        "    except BaseException:\n"
        "        pass\n"
        "    time.sleep(5)\n"
        "os.fsync = fsync\n",
    )
    end_of(start("pack", source, "-o", tmp_path / "out", env=env), signal.SIGINT)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


#: Sends a signal in Python that a native module calls: as it is imported, and in its first call, in
#: which one of Rust asks for NumPy's version; and before the class is there that it asks.
_FIRST_STEPS = {
    "imported": (
        "def steps(frame, event, argument):\n"
        "    if frame.f_code.co_filename == '<string>':\n"
        "        sys.settrace(None)\n"
        "        os.kill(os.getpid(), number)\n"
        "def loads(event, named):\n"
        "    if event == 'import' and named[0] == 'pcodec.pcodec':\n"
        "        sys.settrace(steps)\n"
        "sys.addaudithook(loads)\n"
    ),
    "called": (
        "def steps(frame, event, argument):\n"
        "    code = frame.f_code\n"
        "    if code.co_name == '__init__' and code.co_filename.endswith('lib/_version.py'):\n"
        "        sys.settrace(None)\n"
        "        os.kill(os.getpid(), number)\n"
        "sys.settrace(steps)\n"
    ),
    "not there": (
        "def steps(frame, event, argument):\n"
        "    code = frame.f_code\n"
        "    if code.co_name == '<module>' and code.co_filename.endswith('lib/_version.py'):\n"
        "        sys.settrace(None)\n"
        "        os.kill(os.getpid(), number)\n"
        "sys.settrace(steps)\n"
    ),
}


@each_signal
@pytest.mark.parametrize("step", _FIRST_STEPS)
def test_a_signal_in_the_first_steps_of_a_native_module_waits_for_them(
    start: Start, tmp_path: Path, number: signal.Signals, step: str
) -> None:
    """What is raised in these becomes a panic of Rust's, with a page of traceback and exit 1."""
    pytest.importorskip("pcodec")
    begin = f"import os, sys\nnumber = {int(number)}\n"
    env = injected(tmp_path / "steps", begin + _FIRST_STEPS[step])
    (tmp_path / "rows.ndjson").write_bytes(records(100 * KIB))
    end_of(start("pack", "-j", "1", "-s", "columns", "rows.ndjson", env=env), number)
    assert not hidden(tmp_path)
