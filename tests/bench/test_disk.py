"""Measuring through files: real ones, brought to disk, and cold where that was asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import serialpack
from serialpack.bench.material import Subject
from serialpack.bench.measuring import disk
from serialpack.bench.measuring.anchors import TOOLS, stock_tools
from serialpack.bench.measuring.disk import (
    HOW,
    Files,
    Through,
    cached,
    check_through,
    drop,
    source_file,
)
from serialpack.bench.measuring.workbench import Workbench as LabBench
from serialpack.bench.results import Results, Row
from serialpack.bench.run import Bench, Question
from serialpack.errors import FileError, UsageError
from serialpack.files.output import Output
from tests.bench.found import PLENTY

LINES = b"".join(b'{"id":%d,"text":"%x"}\n' % (n, n * n * n) for n in range(60_000))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "lines.ndjson"
    path.write_bytes(LINES)
    return path


@pytest.fixture
def droppable(tmp_path: Path) -> None:
    """Skips where files here cannot be dropped from the page cache, or nobody tells."""
    if not hasattr(os, "posix_fadvise"):
        pytest.skip("needs posix_fadvise")
    path = tmp_path / "probe"
    with Output(path) as output:
        output.write(bytes(1 << 20))
    before = cached(str(path))
    if not before:
        pytest.skip("this system does not tell what is in its page cache")
    drop(str(path))
    if cached(str(path)) == before:
        pytest.skip("this file system keeps files in memory")


def bench(source: Path | str, through: Through, **changes: object) -> Results:
    question = Question(
        str(source),
        through=through,
        serializers=["raw", "msgpack"],
        codecs=["zstd:3"],
        budget=PLENTY,
    )
    return Bench(question._replace(**changes)).run()  # type: ignore[arg-type]


def rows_of(results: Results) -> dict[str, Row]:
    return {row.chain: row for row in results.rows}


@pytest.mark.parametrize("through", ["disk", "cold-files"])
def test_rows_are_of_real_files(source: Path, tmp_path: Path, through: Through) -> None:
    if through != "disk":
        check_cold_here(tmp_path)
    results = bench(source, through, folder=str(tmp_path))
    for chain, row in rows_of(results).items():
        assert row.status == "measured", row.why
        packed = tmp_path / "packed.spk"
        serializer, codec = chain.split("+")
        report = serialpack.pack(source, packed, serializer=serializer, codec=codec, force=True)
        assert row.size == packed.stat().st_size
        assert row.overhead == report.packed - report.payload
        assert row.kept == "exact"
        assert row.pack_seconds
        assert row.unpack_seconds
        # What the steps do not explain is the disk.
        steps = ("serialize", "prove", "compress", "undo")
        assert 0 < sum(row.seconds[step] for step in steps) <= row.pack_seconds * 1.001
        assert row.seconds["decompress"] + row.seconds["deserialize"] <= row.unpack_seconds * 1.001
    assert results.records == 60_000
    assert f"measured {HOW[through]}" in results.notes
    # Nothing of ours is left.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.ndjson", "packed.spk"]


def check_cold_here(folder: Path) -> None:
    """Skip where --cold is refused."""
    try:
        with source_file(Subject(path=__file__), "cold-files", str(folder)):
            pass
    except FileError as error:
        pytest.skip(str(error))


def test_memory_is_measured_in_memory(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_made_in", lambda _: pytest.fail("a folder was made"))
    results = bench(source, "memory")
    assert not any("through files" in note for note in results.notes)


def test_all_of_a_source_that_is_not_held_goes_through_files(source: Path, tmp_path: Path) -> None:
    """Samples come from what is held; rows measured whole are of all of it."""
    results = bench(source, "disk", folder=str(tmp_path), most_held=800_000)
    assert results.sampled < results.size / 4
    row = rows_of(results)["msgpack+zstd:3"]
    assert row.status == "measured"
    packed = tmp_path / "packed.spk"
    serialpack.pack(source, packed, serializer="msgpack", codec="zstd:3")
    assert row.size == packed.stat().st_size
    assert all(choice.whole for choice in results.recommendations)


def test_what_is_sampled_is_said_to_come_from_memory(source: Path, tmp_path: Path) -> None:
    """A budget that has no room for files: how much that is depends on what else is running."""
    source.write_bytes(LINES * 8)
    for budget in 0.5, 1, 2, 4, 8, 16:
        results = bench(source, "disk", folder=str(tmp_path), serializers=["xml"], budget=budget)
        if sampled := [row for row in results.rows if row.status == "sampled"]:
            break
    assert [row.serializer for row in sampled] == ["xml"]
    assert any("1 row (~) was sampled in memory" in note for note in results.notes)
    # What was sampled in memory is no rival of what went through files.
    # A machine under load may have had time for none.
    measured = any(row.status == "measured" for row in results.rows)
    assert not (measured and sampled[0].front)


def test_a_sample_is_written_to_a_file(tmp_path: Path) -> None:
    results = bench("dna:20000", "disk", is_sample=True, folder=str(tmp_path))
    memory = bench("dna:20000", "memory", is_sample=True)
    for chain, row in rows_of(results).items():
        assert row.status == "measured"
        assert row.size == rows_of(memory)[chain].size
    assert not list(tmp_path.iterdir())


def test_objects_go_through_no_files() -> None:
    with pytest.raises(UsageError, match="measured as Python objects"):
        bench("documents:10", "disk", is_sample=True)


def test_a_refusal_is_a_row_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    path.write_text(f'[{{"n": 1}}, {{"n": {2**70}}}]')
    results = bench(path, "disk", folder=str(tmp_path))
    row = rows_of(results)["msgpack+zstd:3"]
    assert row.status == "refused"
    assert "$.n" in row.why
    assert [path.name for path in tmp_path.iterdir()] == ["big.json"]


@pytest.mark.usefixtures("planted", "nothing_left")
def test_what_crashes_on_the_way_leaves_no_file(source: Path, tmp_path: Path) -> None:
    results = bench(
        source, "disk", folder=str(tmp_path), serializers=["raw", "latecrash"], threads=[1]
    )
    rows = rows_of(results)
    assert rows["latecrash+zstd:3"].why == "crashed (signal 6)"
    assert rows["raw+zstd:3"].status == "measured"
    assert [path.name for path in tmp_path.iterdir()] == ["lines.ndjson"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "read only"
    folder.mkdir(0o500)
    with pytest.raises(FileError, match="cannot make a folder in it"):
        bench(source, "disk", folder=str(folder))


def test_a_folder_that_is_not_there(source: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot make a folder in it: no such file") as failed:
        bench(source, "disk", folder=str(tmp_path / "missing"))
    assert failed.value.path == str(tmp_path / "missing")


def test_the_stock_tools_go_through_the_same_files(source: Path, tmp_path: Path) -> None:
    cooled: list[str] = []

    class Watched(Files):
        def cool(self, path: str) -> None:
            cooled.append(Path(path).name)

    files = Watched("cold-files", str(source), True, str(tmp_path))
    anchors = stock_tools(str(source), len(LINES), 60, lambda _: None, files)
    assert len(anchors) == len(TOOLS)
    ran = [anchor for anchor in anchors if not anchor.why]
    if not ran:
        pytest.skip("no stock tool is installed")
    assert cooled == ["lines.ndjson", "packed"] * len(ran)
    assert all("." in anchor.version for anchor in ran)
    assert [path.name for path in tmp_path.iterdir()] == ["lines.ndjson"]


@pytest.mark.usefixtures("droppable")
def test_a_dropped_file_is_in_the_page_cache_no_more(source: Path) -> None:
    size = source.stat().st_size
    source.read_bytes()
    assert cached(str(source)) == size
    drop(str(source))
    assert cached(str(source)) == 0
    with source.open("rb") as file:
        file.read(1)
    assert 0 < (cached(str(source)) or 0) <= size


@pytest.mark.usefixtures("droppable")
def test_what_is_read_comes_from_the_disk(source: Path) -> None:
    """The kernel counts the bytes that this process had fetched from storage (proc(5))."""
    if not (counts := Path("/proc/self/io")).exists():
        pytest.skip("needs /proc/self/io")

    def fetched(read: Callable[[], object]) -> int:
        def count() -> int:
            lines = counts.read_text("ascii").splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))

        before = count()
        read()
        return count() - before

    files = Files("cold-files", str(source), True, "")
    source.read_bytes()
    assert fetched(source.read_bytes) == 0
    files.cool(str(source))
    assert fetched(source.read_bytes) >= source.stat().st_size
    files._replace(through="disk").cool(str(source))
    assert fetched(source.read_bytes) == 0


@pytest.mark.usefixtures("droppable")
def test_source_and_container_are_cold_before_each_run(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen by what takes the place of pack and unpack, in this process."""
    seen: list[tuple[str, int | None]] = []

    def watched(work: Callable[..., object], name: str) -> Callable[..., object]:
        def run(path: Path | str, *args: object, **options: object) -> object:
            seen.append((name, cached(str(path))))
            return work(path, *args, **options)

        return run

    monkeypatch.setattr(disk, "pack", watched(serialpack.pack, "pack"))
    monkeypatch.setattr(disk, "unpack", watched(serialpack.unpack, "unpack"))
    folder = tmp_path / "made"
    folder.mkdir()
    bench = LabBench(Subject(str(source), format="ndjson", name=source.name))
    for through, left in (("cold-files", {0}), ("disk", {source.stat().st_size})):
        files = Files(through, str(source), True, str(folder))  # type: ignore[arg-type]
        trial = disk.FileTrial("raw+none", 1, 4 << 20, files)
        source.read_bytes()
        seen.clear()
        figures = trial.run(bench)
        assert {size for name, size in seen if name == "pack"} == left
        unpacked = {size for name, size in seen if name == "unpack"}
        assert unpacked == ({0} if through == "cold-files" else {figures.size})


def test_what_cannot_be_dropped_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file system in memory has it: a cold row would be a warm one."""
    check_cold_here(tmp_path)
    monkeypatch.setattr(disk, "cached", lambda path: Path(path).stat().st_size)
    with pytest.raises(FileError, match="stays in memory when it is dropped") as failed:
        bench(source, "cold-files", folder=str(tmp_path))
    assert failed.value.path == str(source)


def test_a_real_file_system_in_memory_is_refused() -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or not os.path.ismount(memory):  # noqa: PTH116, RUF100
        pytest.skip("no tmpfs at /dev/shm")
    if not hasattr(os, "posix_fadvise") or cached(__file__) is None:
        pytest.skip("this system does not tell what is in its page cache")
    with pytest.raises(FileError, match="stays in memory when it is dropped") as failed:
        bench(__file__, "cold-files", folder=str(memory), format="bytes")
    assert str(failed.value.path).startswith(str(memory))


def test_cold_is_refused_where_the_system_cannot(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    check_through("disk")
    with pytest.raises(FileError, match="no call that drops a file from its page cache"):
        bench(source, "cold-files")


def test_the_whole_cache_is_for_root(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "posix_fadvise"):
        pytest.skip("needs posix_fadvise")
    monkeypatch.setattr(disk, "_DROP_ALL", tmp_path / "missing")
    with pytest.raises(FileError, match="only root can drop the whole page cache"):
        bench(source, "cold-all")


def test_dropping_everything_writes_what_the_kernel_wants(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the real file: the other programs of the machine would wait for their files."""
    switch = tmp_path / "drop_caches"
    switch.touch()
    monkeypatch.setattr(disk, "_DROP_ALL", switch)
    Files("cold-all", str(source), True, str(tmp_path)).cool(str(source))
    assert switch.read_text() == "3"


def test_what_is_cached_of_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert cached(str(path)) in (0, None)
