"""Entries that share blocks: packed side by side, each had alone, and each proved."""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

import pytest

import serialpack
from serialpack import api
from serialpack.archive import gather
from serialpack.archive.gather import other_blocks
from serialpack.container.entries import EntryRow
from serialpack.container.header import DEFAULT_BLOCK_SIZE
from serialpack.container.rows import decode_rows, encode_rows
from serialpack.container.seek import find_listed, find_members
from serialpack.errors import FileError
from serialpack.files.globs import include
from serialpack.files.output import Output, OutputGroup
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.pack import pack_blocks
from serialpack.pipeline.packing import Packing
from serialpack.stages.chain import Chain, StageSpec
from tests.container.mutants import mutants
from tests.container.test_archive import FILES, archive, members, tree
from tests.counting import Counting
from tests.noise import noise
from tests.pipes import Pipe

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX modes, links and owners")


def documents(folder: Path, count: int = 60, indent: int | None = 2) -> dict[str, Path]:
    """So many JSON files of a kind, each of 0.4 kB."""
    given = {}
    for n in range(count):
        path = folder / f"item-{n:04}.json"
        value = {"id": n, "name": f"n {n * 7919 % 1000}", "tags": [n % 3, n % 5] * 20, "x": n / 8}
        path.write_text(json.dumps(value, indent=indent) + "\n")
        given[f"in/{path.name}"] = path
    return given


def packed(given: dict[str, Path], **how: object) -> bytes:
    out = io.BytesIO()
    serialpack.pack_archive({**given}, out, **how)  # type: ignore[arg-type]
    return out.getvalue()


def contents(given: dict[str, Path]) -> dict[str, bytes]:
    return {path: source.read_bytes() for path, source in given.items()}


@pytest.mark.parametrize("indent", [None, 2])
def test_columns_work_across_files(tmp_path: Path, indent: int | None) -> None:
    """They are smaller together than as one stream of text, and each comes back as it was."""
    given = documents(tmp_path, 300, indent)
    data = packed(given)
    together = io.BytesIO()
    text = b"".join(contents(given).values())
    serialpack.pack(io.BytesIO(text), together, serializer="raw", codec="zstd:19")
    assert len(data) < len(together.getvalue()) + 15 * len(given)
    serialpack.unpack_archive(io.BytesIO(data), tmp_path / "out")
    assert tree(tmp_path / "out") == contents(given)
    rows = find_listed(io.BytesIO(data))[0].index.rows
    assert sum(len(row.entries or b"") for row in rows) < 15 * len(given)


def test_a_hundred_tiny_files_take_three_kilobytes(tmp_path: Path) -> None:
    given = {}
    for n in range(100):
        given[f"{n:03}.txt"] = tmp_path / f"{n:03}.txt"
        given[f"{n:03}.txt"].write_bytes(b"tiny %03d\n" % n)
    assert len(packed(given)) <= 3 << 10


def test_what_is_no_json_goes_with_its_kind(tmp_path: Path) -> None:
    given = documents(tmp_path, 5)
    for name, data in (("lines.json", b"[1]\n[2]\n"), ("none.json", b"\0\1\2"), ("bare", b"[1]")):
        given[name] = tmp_path / name
        given[name].write_bytes(data)
    data = packed(given)
    found = {e.path: e.format for m in serialpack.inspect(io.BytesIO(data)).members
             for e in m.entries or ()}  # fmt: skip
    assert found["in/item-0000.json"] == "json"
    assert (found["lines.json"], found["none.json"], found["bare"]) == ("ndjson", "bytes", "json")
    serialpack.unpack_archive(io.BytesIO(data), tmp_path / "out")
    assert tree(tmp_path / "out") == contents(given)


def test_one_entry_is_had_by_reading_its_block_and_no_other(tmp_path: Path) -> None:
    given = documents(tmp_path, 80)
    for n, path in enumerate(given.values()):
        path.write_bytes(path.read_bytes() + noise(2000, n).hex().encode())
    data = packed(given, block_size=16 << 10, format="bytes")
    assert len(find_members(io.BytesIO(data))[0].index.rows) > 15
    file = Counting(data)
    serialpack.unpack_archive(file, tmp_path / "out", include=["*-0050.json"])
    assert list(tree(tmp_path / "out")) == ["in/item-0050.json"]
    assert file.total < (64 << 10) + 3 * (16 << 10)  # the last bytes, two blocks, headers
    serialpack.unpack_archive(
        Pipe(data), tmp_path / "pipe", include=["in/"], exclude=["*-00[1-9]*"]
    )
    assert list(tree(tmp_path / "pipe")) == [f"in/item-000{n}.json" for n in range(10)]
    with pytest.raises(serialpack.UsageError, match="no entry fits the globs"):
        serialpack.unpack_archive(io.BytesIO(data), tmp_path / "none", include=["x"])


def test_what_is_read_of_the_file_for_an_entry_is_its_part_of_a_block(tmp_path: Path) -> None:
    """It was the size of the entry, of whatever the archive takes for it."""
    data = packed(documents(tmp_path, 80), block_size=4 << 10)
    blocks = [b for m in serialpack.inspect(io.BytesIO(data)).members for b in m.blocks if b.size]
    assert len(blocks) > 3
    report = serialpack.unpack_archive(io.BytesIO(data), tmp_path / "out")
    read = [each.read for each in report.entries]
    assert sum(read) == sum(block.end - block.start for block in blocks)
    assert 0 < min(read) <= max(read) < min(each.size for each in report.entries) / 2


@needs_posix
def test_folders_links_modes_and_times_come_back(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "empty").mkdir(parents=True)
    (inside / "file").write_bytes(b"x")
    (inside / "large").write_bytes(bytes(100_000))
    (inside / "link").symlink_to("file")
    (inside / "empty/up").symlink_to("../file")
    for name, mode in (("file", 0o751), ("large", 0o400), ("empty", 0o555)):
        (inside / name).chmod(mode)
        os.utime(inside / name, ns=(5, 1_600_000_000_000_000_000))
    names = ["file", "large", "empty", "link", "empty/up"]
    out = tmp_path / "out"
    data = packed({name: inside / name for name in names}, owner=True)
    report = serialpack.unpack_archive(io.BytesIO(data), out)
    assert not report.notes
    for name in names:
        was, now = ((folder / name).lstat() for folder in (inside, out))
        assert (was.st_mode, was.st_uid) == (now.st_mode, now.st_uid)
        assert name in ("link", "empty/up") or was.st_mtime_ns == now.st_mtime_ns
    assert os.readlink(out / "empty/up") == "../file"  # noqa: PTH115
    with pytest.raises(serialpack.ArchiveError, match="exists already"):
        serialpack.unpack_archive(io.BytesIO(data), out)
    (out / "empty").chmod(0o700)  # as it is, only root replaces what is in it
    serialpack.unpack_archive(io.BytesIO(data), out, force=True)
    (out / "empty").chmod(0o700)  # a folder that is there stays as it is, but with force
    only = packed({"empty": inside / "empty"})
    serialpack.unpack_archive(io.BytesIO(only), out)
    assert (out / "empty").stat().st_mode & 0o777 == 0o700
    serialpack.unpack_archive(io.BytesIO(only), out, force=True)
    assert (out / "empty").stat().st_mode & 0o777 == 0o555
    (out / "empty").chmod(0o755)
    (inside / "empty").chmod(0o755)


@needs_posix
def test_owners_that_the_system_does_not_permit_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of both kinds, a folder and a link are there nevertheless, and are ours."""
    inside, out = tmp_path / "in", tmp_path / "out"
    (inside / "folder").mkdir(parents=True)
    (inside / "file").write_bytes(b"x")
    (inside / "file").chmod(0o640)
    (inside / "large").write_bytes(bytes(100_000))
    (inside / "link").symlink_to("file")
    names = ["file", "large", "folder", "link"]
    data = packed({name: inside / name for name in names}, owner=True)
    asked = []

    def refused(file: int | str, uid: int, gid: int, **_: object) -> None:
        asked.append((uid, gid))
        raise PermissionError(1, "Operation not permitted", file)

    monkeypatch.setattr(os, "chown", refused)
    report = serialpack.unpack_archive(io.BytesIO(data), out)
    assert report.notes == (
        "4 of 4 entries are yours: the system does not permit to give them their owners",
    )
    owner = (inside / "file").stat()
    assert asked == [(owner.st_uid, owner.st_gid)] * 4
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    assert (out / "file").stat().st_mode & 0o777 == 0o640
    assert not serialpack.unpack_archive(
        io.BytesIO(packed({"file": inside / "file"})), tmp_path / "without"
    ).notes
    assert len(asked) == 4
    (out / "file").unlink()
    with pytest.raises(serialpack.ArchiveError, match="2 of 4 entries") as failed:
        serialpack.unpack_archive(io.BytesIO(data), out)
    assert [each.entry for each in failed.value.report.entries] == ["file", "folder"]
    (note,) = failed.value.report.notes
    assert note.startswith("1 of 2 entries is yours: the system does not permit to give it its")


@needs_posix
def test_modes_that_are_more_than_permissions_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "in/shared").mkdir(parents=True)
    (tmp_path / "in/shared").chmod(0o2770)
    for name in ("small", "large.csv"):
        (tmp_path / "in" / name).write_bytes(b"1,2\n" * (1 if name == "small" else 25_000))
        (tmp_path / "in" / name).chmod(0o4755)
    assert (tmp_path / "in/shared").stat().st_mode & 0o7777 == 0o2770
    data = packed({name: tmp_path / "in" / name for name in ("small", "large.csv", "shared")})
    report = serialpack.unpack_archive(io.BytesIO(data), tmp_path / "out")
    three = f"3 entries (first {tmp_path / 'out/small'})"
    assert report.notes == (f"set-user-ID, set-group-ID and sticky bits are not given to {three}",)
    assert (tmp_path / "out/large.csv").stat().st_mode & 0o7777 == 0o755


def an_archive(*entries: EntryRow) -> bytes:
    """One closing member that holds these, and no bytes."""
    out = io.BytesIO()
    chain = Chain(StageSpec("raw", ()), (), StageSpec("zstd", (3,)))
    packing = Packing(chain, "bytes", DEFAULT_BLOCK_SIZE, archive=True, before=0)
    pack_blocks(iter([SourceBlock(b"", 0, 0)]), out.write, packing, entries=lambda: entries)
    return out.getvalue()


@needs_posix
@pytest.mark.parametrize(
    "target", ["/etc", "/TO", "..", "../x", "a/../../x", "in/../../x", "within/..", "out", "out/x"]
)
def test_no_link_leads_out_of_the_folder(tmp_path: Path, target: str) -> None:
    (tmp_path / "to/in").mkdir(parents=True)
    (tmp_path / "to/out").symlink_to(tmp_path)
    entry = EntryRow("link", 0o120777, 5, target=target.replace("/TO", f"{tmp_path}/to/in"))
    with pytest.raises(serialpack.ArchiveError, match="a link out of the folder") as failed:
        serialpack.unpack_archive(io.BytesIO(an_archive(entry)), tmp_path / "to")
    assert failed.value.exit_code == 4
    assert not (tmp_path / "to/link").is_symlink()


@needs_posix
def test_nothing_is_written_or_changed_through_a_link(tmp_path: Path) -> None:
    """Neither through one of the archive's own, nor through one that is there."""
    (tmp_path / "to").mkdir()
    (tmp_path / "theirs").mkdir(0o755)
    (tmp_path / "to/there").symlink_to(tmp_path / "theirs")
    entries = [
        EntryRow("real", 0o40755, 5),
        EntryRow("a", 0o120777, 5, target="real"),
        EntryRow("a/b", 0o40700, 5),
        EntryRow("there", 0o40700, 5),
        EntryRow("a", 0o120777, 5, target="real"),
    ]
    with pytest.raises(serialpack.ArchiveError) as failed:
        serialpack.unpack_archive(io.BytesIO(an_archive(*entries)), tmp_path / "to")
    assert [entry for entry, _ in failed.value.failures] == ["there", "a"]
    assert (tmp_path / "theirs").stat().st_mode & 0o777 == 0o755


@needs_posix
@pytest.mark.parametrize("names", [("A", "a"), ("d/A", "D/a"), ("\u00e9", "e\u0301")])
def test_where_case_does_not_count_the_first_of_two_entries_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    """With ``force``, and brought to disk together, the second took the place of the first."""
    (tmp_path / "d").mkdir()

    def here(path: object) -> object:
        """As it is called in a file system that takes all for small letters, in one form."""
        if not isinstance(path, str) or not path.startswith(root := f"{tmp_path}/"):
            return path
        return root + normalize("NFC", path.removeprefix(root).lower())

    for name in ("lstat", "stat", "replace", "open", "link"):
        real = getattr(os, name)

        def folded(*paths: object, real: Callable[..., object] = real, **more: object) -> object:
            return real(*(here(path) for path in paths), **more)

        monkeypatch.setattr(os, name, folded)
    files = dict(zip(names, (b"first", b"second"), strict=True))
    with pytest.raises(serialpack.ArchiveError, match="1 of 2 entries") as failed:
        serialpack.unpack_archive(io.BytesIO(archive(files)), tmp_path, force=True)
    ((entry, error),) = failed.value.failures
    assert entry == names[1]
    assert error.message == f"another entry has the same path here, {names[0]}"
    assert error.hint == f"{include(names[1])} -o FOLDER takes it alone"
    assert [*tree(tmp_path).values()] == [b"first"]


@needs_posix
@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("kinds", ["file link", "link file", "link link"])
def test_of_a_file_and_a_link_of_one_path_the_first_stays(
    tmp_path: Path, kinds: str, force: bool
) -> None:
    """With ``force`` the second took the place of the first, and both were said to be there."""
    (tmp_path / "x").write_bytes(b"bytes")
    of = {"file": packed({"x": tmp_path / "x"})}
    of["link"] = an_archive(EntryRow("x", 0o120777, 5, target="y"))
    other = an_archive(EntryRow("x", 0o120777, 5, target="z"))
    kind, then = kinds.split()
    joined = of[kind] + (other if then == kind else of[then])
    with pytest.raises(serialpack.ArchiveError, match="1 of 2 entries") as failed:
        serialpack.unpack_archive(io.BytesIO(joined), tmp_path / "to", force=force)
    assert "another entry has the same path" in str(failed.value.failures[0][1])
    if kind == "link":
        assert (tmp_path / "to/x").readlink() == Path("y")
    else:
        assert (tmp_path / "to/x").read_bytes() == b"bytes"


@pytest.mark.parametrize("mine", [b"", b"other"])
def test_what_another_run_writes_meanwhile_is_left_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: bytes
) -> None:
    """As by ``pack``: one of two runs of unpack --skip-existing had failed for what both wrote."""
    real = OutputGroup._on_disk

    def meanwhile(group: OutputGroup, failed: dict[str, FileError]) -> list[Output]:
        for output in group.outputs:
            output._flush()
            Path(output.path).write_bytes(mine or Path(output.hidden_path).read_bytes())
        return real(group, failed)

    monkeypatch.setattr(OutputGroup, "_on_disk", meanwhile)
    data, failures = io.BytesIO(archive()), []
    try:
        serialpack.unpack_archive(data, tmp_path, skip_existing=True)
    except serialpack.ArchiveError as error:
        failures = [entry for entry, _ in error.failures]
    assert failures == ([*FILES] if mine else [])
    assert tree(tmp_path) == {path: mine or content for path, content in FILES.items()}


def test_sources_that_vanish_or_change_are_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = documents(tmp_path, 6)
    look, seen = gather.look, []

    def looked(path: Path, entry: str, *, owner: bool) -> gather.ArchiveSource:
        found = look(path, entry, owner=owner)
        seen.append(path)
        if len(seen) == 2:
            given["in/item-0000.json"].unlink()
            with given["in/item-0001.json"].open("ab") as file:
                file.write(b" more")
        return found

    monkeypatch.setattr("serialpack.archive.write.look", looked)
    out, told = tmp_path / "all.spk", []
    report = serialpack.pack_archive(
        {**given}, out, each=lambda entry, found: told.append((entry, type(found).__name__))
    )
    assert [entry for entry, _ in report.failures] == ["in/item-0000.json", "in/item-0001.json"]
    assert ["no such file" in report.failures[0][1].message] == [True]
    assert "changed while it was read" in report.failures[1][1].message
    assert len(told) == 6
    assert len(serialpack.unpack_archive(out, tmp_path / "out").entries) == 4


def test_a_full_target_fails_the_archive(tmp_path: Path) -> None:
    """It is no source's fault: nothing goes on."""

    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    large = tmp_path / "large"
    large.write_bytes(bytes(100_000))
    with pytest.raises((serialpack.FileError, OSError), match=r"(?i)no space"):
        serialpack.pack_archive({"large": large}, Full())


def test_many_rows_stand_in_several_blocks() -> None:
    """However small the files are: the rows of a block are bounded."""
    folders = [EntryRow(f"{'long ' * 400}{n}", 0o40755, n) for n in range(300)]
    counts = [len(decode_rows(encode_rows(block))) for block in other_blocks(folders)]
    assert sum(counts) == 300
    assert len(counts) > 1


def test_a_changed_value_harms_no_reader(tmp_path: Path) -> None:
    """Whatever it becomes, what comes out is right or is refused; nothing is put elsewhere."""
    said = serialpack.SerialpackError
    *shared, closing = members(packed(documents(tmp_path, 8), block_size=1 << 10, serializer="raw"))
    for kind, container in (("shared", shared[0]), ("closing", closing)):
        for number, (what, mutant) in enumerate(mutants(container, 40, zlib.crc32(kind.encode()))):
            data = mutant + closing if kind == "shared" else shared[0] + mutant
            try:
                with suppress(said):
                    api.inspect(io.BytesIO(data))
                with suppress(said):
                    api.unpack(io.BytesIO(data), None, threads=1)
                with suppress(said):
                    out = tmp_path / f"out {kind} {number}"
                    serialpack.unpack_archive(io.BytesIO(data), out, threads=1)
            except Exception as error:
                error.add_note(f"{kind}: {what}")
                raise
