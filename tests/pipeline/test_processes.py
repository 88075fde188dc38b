"""Stages that hold the GIL run in processes of their own, and nobody can tell by the result."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import serialpack
from serialpack.formats.base import SourceBlock
from serialpack.pipeline import line
from serialpack.pipeline.blocks import BlockPacker
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.processes import ProcessWorker, end_processes, start_processes
from serialpack.pipeline.workers import MakeWorker
from serialpack.stages.chain import parse_chain

LINES = b"".join(b'{"n":%d,"s":"%x"}\n' % (n, n * n) for n in range(20_000))


def children() -> set[int]:
    """Processes that this one started and that have not ended."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found |= {int(pid) for pid in (task / "children").read_text().split()}
    return found


def packed(**options: object) -> bytes:
    out = io.BytesIO()
    serialpack.pack(
        io.BytesIO(LINES),
        out,
        serializer="json",
        format="ndjson",
        block_size=50_000,
        **options,  # type: ignore[arg-type]
    )
    return out.getvalue()


def test_processes_give_the_same_bytes_as_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    here = packed(threads=2)
    started = []
    real = ProcessWorker.__init__

    def counting(self: ProcessWorker, make: MakeWorker) -> None:
        started.append(self)
        real(self, make)

    monkeypatch.setattr(ProcessWorker, "__init__", counting)
    monkeypatch.setattr(line, "PROCESSES_FROM", 200_000)
    assert packed(threads=2) == here
    assert 1 <= len(started) <= 2


def test_a_refusal_comes_back_from_a_process_with_its_facts() -> None:
    plan = Plan(parse_chain("msgpack+zstd:3"), "ndjson", {})
    source = SourceBlock(b'{"a":1}\n{"a":%d}\n' % 2**70, 0, 0, records=2, last=True)
    worker = ProcessWorker(partial(BlockPacker, plan))
    try:
        with pytest.raises(serialpack.ValueRefusedError) as caught:
            worker(source)
        good = SourceBlock(b'{"a":1}\n', 0, 0, records=1, last=True)
        assert worker(good)[:3] == BlockPacker(plan)(good)[:3]
    finally:
        worker.close()
    with pytest.raises(serialpack.ValueRefusedError) as here:
        BlockPacker(plan)(source)
    assert str(caught.value) == str(here.value)
    assert caught.value.record == 1


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_process_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "PROCESSES_FROM", 1)
    before = children()
    packed(threads=2)
    with pytest.raises(serialpack.ValueRefusedError):
        serialpack.pack(
            io.BytesIO(LINES + b'{"a":1,"a":2}\n' + LINES),
            io.BytesIO(),
            serializer="json",
            format="ndjson",
            block_size=50_000,
            threads=2,
        )
    for _ in range(200):  # the threads that wait for them need a moment
        if children() <= before:
            break
        time.sleep(0.05)
    assert children() <= before


def test_processes_that_were_started_ahead_are_used_or_ended() -> None:
    before = children()
    start_processes(2, "json")
    ahead = children() - before
    assert len(ahead) == 2
    worker = ProcessWorker(partial(partial, len))
    assert worker(("a", "b", "c")) == 3
    assert children() - before == ahead  # no other was started for it
    end_processes()
    (left,) = children() - before
    assert left == worker._process.pid
    worker.close()
    assert children() <= before


def test_a_process_that_dies_is_an_error_and_no_hang() -> None:
    worker = ProcessWorker(partial(BlockPacker, Plan(parse_chain("json+zstd:3"), "ndjson", {})))
    worker._process.kill()
    with pytest.raises(serialpack.SerialpackError, match="ended unexpectedly"):
        worker(SourceBlock(b'{"a":1}\n', 0, 0, records=1, last=True))
    worker.close()


def test_a_program_without_a_main_guard_can_pack_in_processes(tmp_path: Path) -> None:
    """Worker processes never run the caller's own program again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import io, serialpack\n"
        "from serialpack.pipeline import line\n"
        "line.PROCESSES_FROM = 1\n"
        "print('once')\n"
        "data = b'[1, 2, 3]' + b' ' * 100\n"
        "lines = b''.join(b'{\"n\":%d}\\n' % n for n in range(1000))\n"
        "out = io.BytesIO()\n"
        "serialpack.pack(io.BytesIO(lines), out, serializer='json', format='ndjson',\n"
        "                block_size=1000, threads=2)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "once\n"


def test_the_current_folder_is_never_searched_for_code(tmp_path: Path) -> None:
    """Files beside the data are data: a json.py among them is not run."""
    for name in ("json.py", "msgpack.py", "queue.py"):
        (tmp_path / name).write_text("open('ran', 'w').close(); raise SystemExit(7)\n")
    worker = "from serialpack.pipeline.processes import ProcessWorker as P; "
    code = (
        worker + "from functools import partial; "
        "from serialpack.pipeline.blocks import BlockPacker, Plan; "
        "from serialpack.stages.chain import parse_chain; "
        "from serialpack.formats.base import SourceBlock; "
        "p = P(partial(BlockPacker, Plan(parse_chain('msgpack+zstd:3'), 'ndjson', {}))); "
        "print(p(SourceBlock(b'{}\\n', 0, 0, records=1, last=True)).block.records); p.close()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert done.stdout == "1\n", done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("said", [0, 3, 8, 12, 16, 18])
def test_a_parent_that_is_gone_ends_a_worker_without_a_word(said: int) -> None:
    """Wherever in its first message it went: before, in the number of pieces, in a piece."""
    message = struct.pack("<QQ", 1, 5) + b"12345"
    done = subprocess.run(
        [sys.executable, "-c", "from serialpack.pipeline.processes import main; main()"],
        input=message[:said],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
