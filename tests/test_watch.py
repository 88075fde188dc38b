"""What is known of the work while it goes on, where somebody looks on."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import serialpack
from serialpack.conversion.files import convert
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.blocks import BlockPacker
from serialpack.pipeline.plan import Plan
from serialpack.pipeline.processes import ProcessWorker
from serialpack.stages.chain import parse_chain
from serialpack.watch import Job, Watch, at, telling, told, told_of, watching, within

TEXT = b"".join(b'{"id": %d, "name": "n%d", "x": %d.5}\n' % (n, n * 7, n % 97) for n in range(9000))
LESS = TEXT[: TEXT.index(b"\n", 1000) + 1]


class SeenJob(Job):
    """A job that keeps what it was told."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.told: list[float] = []

    def tell(self, share: float) -> None:
        super().tell(share)
        self.told.append(share)


class Seen(Watch):
    """A watch that keeps its jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[SeenJob] = []

    def begin(self, size: int) -> Job:
        job = SeenJob(size)
        self.jobs.append(job)
        self._jobs[job] = None
        return job


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.ndjson").write_bytes(TEXT)
    (tmp_path / "b.ndjson").write_bytes(LESS)
    (tmp_path / "a.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "a.bz2").write_bytes(bz2.compress(TEXT))
    (tmp_path / "a.xz").write_bytes(lzma.compress(TEXT))
    serialpack.pack(tmp_path / "a.ndjson", tmp_path / "a.spk", block_size=64 << 10)
    serialpack.pack_archive({"a": tmp_path / "a.ndjson", "b": io.BytesIO(LESS)}, tmp_path / "both")
    return tmp_path


def unpack_a_stream(folder: Path) -> None:
    with (folder / "a.spk").open("rb") as stream:
        serialpack.unpack(stream, io.BytesIO())


#: What is done, and how many bytes there are in all for a watch that looks on.
WORK: dict[str, tuple[Callable[[Path], object], int]] = {
    "pack": (lambda f: serialpack.pack(f / "a.ndjson", f / "out"), len(TEXT)),
    "pack in columns": (
        lambda f: serialpack.pack(f / "a.ndjson", f / "out", serializer="columns", effort=9),
        len(TEXT),
    ),
    "pack values": (
        lambda f: serialpack.pack(f / "a.ndjson", f / "out", serializer="msgpack", threads=1),
        len(TEXT),
    ),
    "pack many blocks": (
        lambda f: serialpack.pack(f / "a.ndjson", f / "out", block_size=4096),
        len(TEXT),
    ),
    "pack an archive": (
        lambda f: serialpack.pack_archive({n: f / f"{n}.ndjson" for n in "ab"}, f / "out"),
        len(TEXT + LESS),
    ),
    "unpack": (lambda f: serialpack.unpack(f / "a.spk", f / "out"), len(TEXT)),
    "check": (lambda f: serialpack.unpack(f / "a.spk", None), len(TEXT)),
    "unpack a stream": (unpack_a_stream, len(TEXT)),
    "unpack an archive": (
        lambda f: serialpack.unpack_archive(f / "both", f / "out"),
        len(TEXT + LESS),
    ),
    "convert": (lambda f: convert(f / "a.ndjson", f / "out", to="msgpack"), len(TEXT)),
    "convert to one document": (lambda f: convert(f / "a.ndjson", f / "out", to="yaml"), len(TEXT)),
    "convert a container": (lambda f: convert(f / "a.spk", f / "out", to="msgpack"), len(TEXT)),
    "convert gzip": (lambda f: convert(f / "a.gz", f / "out", to="msgpack"), len(TEXT)),
    "convert bzip2": (lambda f: convert(f / "a.bz2", f / "out", to="msgpack"), len(TEXT)),
    "convert xz": (lambda f: convert(f / "a.xz", f / "out", to="msgpack"), len(TEXT)),
}


@pytest.mark.parametrize("what", WORK)
def test_whoever_looks_on_knows_how_much_there_is_and_how_far_the_work_is(
    folder: Path, what: str
) -> None:
    work, size = WORK[what]
    watch = Seen()
    with watch.looking():
        work(folder)
    # Asked late, as a bar does.
    assert watch.total() == size
    assert sum(job.size for job in watch.jobs) == size
    assert watch.far() == (size, 0)
    for job in watch.jobs:
        assert job.told == sorted(job.told)
        assert all(0 <= share <= 1 for share in job.told)
        assert job.share == 1
    assert watching() is None


@pytest.mark.parametrize("serializer", ["columns", "msgpack", "raw"])
def test_a_block_tells_how_far_it_is_while_it_is_worked_on(folder: Path, serializer: str) -> None:
    watch = Seen()
    with watch.looking():
        serialpack.pack(folder / "a.ndjson", folder / "out", serializer=serializer, effort=9)
    (job,) = watch.jobs
    assert len({share for share in job.told if 0 < share < 1}) >= (
        6 if serializer == "columns" else 1
    )


@pytest.mark.parametrize("looked_at", [True, False])
def test_a_process_tells_too_where_somebody_looks_on(looked_at: bool) -> None:
    shares: list[float] = []
    plan = Plan(parse_chain("columns:9+none"), "ndjson", {})
    block = SourceBlock(TEXT, index=0, offset=0, records=9000, last=True)
    with told(shares.append if looked_at else None):
        worker = ProcessWorker(partial(BlockPacker, plan))
        try:
            packed = worker(block)
        finally:
            worker.close()
    assert packed.block.size == len(TEXT)
    assert shares == sorted(shares)
    assert bool(shares) is looked_at


def test_nobody_is_told_where_nobody_looks_on(folder: Path) -> None:
    assert not telling()
    serialpack.pack(folder / "a.ndjson", folder / "out")
    assert list(told_of([1, 2], lambda _: pytest.fail("a size was asked for"))) == [1, 2]


def test_parts_of_parts_are_told_as_shares_of_the_whole() -> None:
    shares: list[float] = []
    with told(shares.append):
        with within(0, 0.5):
            for _ in told_of([1, 3], lambda size: size):
                pass
        with within(0.5, 1), within(0.5, 1):
            at(0.5)
    assert shares == [0.125, 0.5, 0.5, 0.875, 1, 1]


def test_a_job_that_tells_nothing_is_taken_to_be_as_fast_as_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("serialpack.watch.monotonic", lambda: now[0])
    watch = Watch()
    first = watch.begin(1000)
    now[0] = 10
    assert watch.far() == (0, 1000)
    watch.done(first)
    assert watch.far() == (1000, 0)
    watch.end(first)
    watch.begin(1000)
    now[0] = 15
    assert watch.far() == (1500, 500)
    now[0] = 100
    assert watch.far() == (1900, 100)
