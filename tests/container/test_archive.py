"""Archives: entries written, cut out, joined, and never put where they must not go."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import serialpack
from serialpack.archive.compare import fault_of_bytes
from serialpack.container import header
from serialpack.files.paths import entry_path, place_below
from tests.bad.make import HERE as BAD
from tests.bad.make import listed
from tests.noise import noise
from tests.pipes import Pipe

FILES = {
    "a.json": b'{"a": 1}\n',
    "b/c.csv": b"id,name\n" + b"1,x\n" * 5000,
    "b/empty": b"",
    "d e/\u00e9": bytes(range(256)) * 40,
}


def archive(files: dict[str, bytes] = FILES, codec: str = "auto", block_size: int = 4096) -> bytes:
    out = io.BytesIO()
    sources = {path: io.BytesIO(data) for path, data in files.items()}
    serialpack.pack_archive(sources, out, codec=codec, block_size=block_size)
    return out.getvalue()


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def members(data: bytes) -> list[bytes]:
    """The bytes of each member."""
    pieces = []
    for member in serialpack.inspect(io.BytesIO(data)).members[::-1]:
        pieces.append(data[-member.packed :])
        data = data[: -member.packed]
    assert not data
    return pieces[::-1]


@pytest.mark.parametrize("make", [io.BytesIO, Pipe])
@pytest.mark.parametrize("codec", ["auto", "xz"])
def test_entries_come_back_below_the_folder(
    tmp_path: Path, codec: str, make: Callable[[bytes], io.BytesIO]
) -> None:
    report = serialpack.unpack_archive(make(archive(codec=codec)), tmp_path / "deep/out")
    assert tree(tmp_path / "deep/out") == FILES
    assert [entry.entry for entry in report.entries] == list(FILES)
    assert [entry.format for entry in report.entries] == ["json", "csv", "bytes", "bytes"]
    assert report.size == sum(map(len, FILES.values()))
    assert all(entry.exact and entry.proved for entry in report.entries)


def test_cat_joins_archives_and_entries_of_none(tmp_path: Path) -> None:
    """A member of one entry, without what follows it in an archive, is one by itself."""
    loose = io.BytesIO()
    serialpack.pack(io.BytesIO(b"x"), loose, entry="x")
    one, two = archive({"a": b"1"}), archive({"b": b"2", "c": b"3"})
    serialpack.unpack_archive(io.BytesIO(loose.getvalue() + two + one), tmp_path)
    assert tree(tmp_path) == {"x": b"x", "b": b"2", "c": b"3", "a": b"1"}


@pytest.mark.parametrize("make", [io.BytesIO, Pipe])
def test_an_archive_that_lost_members_is_found_out(
    tmp_path: Path, make: Callable[[bytes], io.BytesIO]
) -> None:
    """At its end, and within; what is there is given back."""
    parts = members(archive())
    for number, (left, error) in enumerate(
        (
            (parts[:-1], serialpack.TruncatedError),
            ([parts[0], *parts[2:]], serialpack.DamagedError),
            ([*parts[:2], parts[1], *parts[2:]], serialpack.SerialpackError),
        )
    ):
        data = b"".join(left)
        with pytest.raises(error):
            serialpack.unpack_archive(make(data), tmp_path / str(number))
        with pytest.raises(serialpack.DamagedError):
            serialpack.inspect(make(data))
        with pytest.raises(serialpack.DamagedError):
            serialpack.unpack(make(data), None)
        assert "a.json" in tree(tmp_path / str(number))


def test_inspect_tells_the_paths() -> None:
    found = serialpack.inspect(io.BytesIO(archive())).members
    assert [member.entry for member in found] == [*FILES, None]
    assert {member.name for member in found} == {None}
    assert [m.entry for m in serialpack.inspect(Pipe(archive())).members] == [*FILES, None]
    assert [entry.path for m in found for entry in m.entries or ()] == list(FILES)


def test_a_reader_that_knows_no_archives_names_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = archive()
    monkeypatch.setattr(header, "KNOWN_NEEDS", frozenset())
    with pytest.raises(serialpack.UnsupportedError, match="the feature 'archive'"):
        serialpack.unpack(io.BytesIO(packed), None)


def test_as_one_stream_it_can_only_be_checked() -> None:
    report = serialpack.unpack(io.BytesIO(archive()), None)
    assert report.size == sum(map(len, FILES.values()))
    assert report.entry is None
    with pytest.raises(serialpack.UsageError, match="folder"):
        serialpack.unpack(io.BytesIO(archive()), io.BytesIO())
    for part in ({"byte_range": (0, 1)}, {"record_range": (0, 1)}):
        with pytest.raises(serialpack.UsageError, match=r'unpack_archive\(\.\.\., "FOLDER"\)'):
            serialpack.unpack(io.BytesIO(archive()), io.BytesIO(), **part)  # type: ignore[arg-type]


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    plain = io.BytesIO()
    serialpack.pack(io.BytesIO(b"x"), plain)
    with pytest.raises(serialpack.UsageError, match="no archive"):
        serialpack.unpack_archive(io.BytesIO(plain.getvalue()), tmp_path / "out")
    with pytest.raises(serialpack.NotContainerError):
        serialpack.unpack_archive(io.BytesIO(b"plain"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    for mixed in (archive() + plain.getvalue(), plain.getvalue() + archive()):
        with pytest.raises(serialpack.DamagedError, match="among members"):
            serialpack.inspect(io.BytesIO(mixed))
        with pytest.raises(serialpack.DamagedError, match="among members"):
            serialpack.unpack(Pipe(mixed), None)


@pytest.mark.parametrize(
    "paths",
    [[], [""], ["/a"], ["a/../b"], ["../a"], ["a//b"], ["./a"], ["a/"], ["a\0b"], ["a", "a/b"]],
    ids=repr,
)
def test_what_could_not_be_unpacked_is_not_packed(paths: list[str], tmp_path: Path) -> None:
    target = tmp_path / "all.spk"
    with pytest.raises(serialpack.UsageError):
        serialpack.pack_archive({path: io.BytesIO(b"x") for path in paths}, target)
    for path in paths if len(paths) == 1 else ():
        with pytest.raises(serialpack.UsageError):
            serialpack.pack(io.BytesIO(b"x"), target, entry=path)
    assert list(tmp_path.iterdir()) == []


#: These are found out at their ends.
LATE = {"bad-archive-open.spk", "bad-archive-count.spk"}


@pytest.mark.parametrize("name", sorted(listed().keys() - LATE))
def test_no_bad_file_becomes_an_entry(name: str, tmp_path: Path) -> None:
    """Neither where it should go, nor elsewhere."""
    errors = serialpack.InputError, serialpack.UsageError, serialpack.ArchiveError
    with pytest.raises(errors):
        serialpack.unpack_archive(BAD / name, tmp_path / "below/out")
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_the_target_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "all.spk"
    good = tmp_path / "good"
    good.write_bytes(b"x" * 10_000)
    with pytest.raises(serialpack.ArchiveError, match="1 of 1 entry could not be packed"):
        serialpack.pack_archive({"gone": tmp_path / "gone"}, target)
    sound, bad = tmp_path / "sound.json", tmp_path / "bad.json"
    sound.write_bytes(b"[1, 2]")
    bad.write_bytes(b"[1, 2")
    assert {path.name for path in tmp_path.iterdir()} == {"bad.json", "good", "sound.json"}
    with pytest.raises(serialpack.FileError, match="input itself"):
        serialpack.pack_archive({"bad": bad, "good": good}, good, force=True)
    assert good.read_bytes() == b"x" * 10_000
    given: dict[str, Path | io.BytesIO] = {"sound": sound, "gone": tmp_path / "gone", "bad": bad}
    report = serialpack.pack_archive(given, target, serializer="json")
    assert [entry for entry, _ in report.failures] == ["gone", "bad"]
    assert [error.exit_code for _, error in report.failures] == [1, 3]
    serialpack.unpack_archive(target, tmp_path / "out")
    assert tree(tmp_path / "out") == {"sound": b"[1, 2]"}


def test_what_fails_late_is_taken_back(tmp_path: Path) -> None:
    """Its first blocks were written; into a pipe nothing can be taken back, and all fails."""
    late = tmp_path / "late.json"
    late.write_bytes(b"[" + b"[1],\n" * 4000 + b"nonsense]")
    given: dict[str, Path | io.BytesIO] = {"late": late, "good": io.BytesIO(b"[1]")}
    report = serialpack.pack_archive(
        given, tmp_path / "all.spk", serializer="json", block_size=4096, format="json"
    )
    assert [entry for entry, _ in report.failures] == ["late"]
    serialpack.unpack_archive(tmp_path / "all.spk", tmp_path / "out")
    assert tree(tmp_path / "out") == {"good": b"[1]"}
    with pytest.raises(serialpack.InputError):
        serialpack.pack_archive(
            given, io.BytesIO(), serializer="json", block_size=4096, format="json"
        )


def test_failures_are_told_one_by_one_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/c.csv").write_bytes(b"mine")
    for make in (io.BytesIO, Pipe):
        told: list[tuple[str, bool]] = []
        with pytest.raises(serialpack.ArchiveError, match="1 of 4 entries") as caught:
            serialpack.unpack_archive(
                make(archive()),
                tmp_path,
                each=lambda entry, found, told=told: told.append(  # type: ignore[misc]
                    (entry, isinstance(found, serialpack.SerialpackError))
                ),
            )
        assert told == [(path, path == "b/c.csv") for path in FILES]
        ((entry, error),) = caught.value.failures
        assert (entry, error.exit_code, caught.value.exit_code) == ("b/c.csv", 1, 1)
        assert tree(tmp_path) == {**FILES, "b/c.csv": b"mine"}
        for path in ("a.json", "b/empty", "d e/\u00e9"):
            (tmp_path / path).unlink()
    serialpack.unpack_archive(io.BytesIO(archive()), tmp_path, force=True)
    assert tree(tmp_path) == FILES


def test_an_entry_too_deep_for_a_folder_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A RecursionError, and the good entry behind it was not unpacked."""
    deep = archive({"x/" * 4000 + "f": b"a", "good": b"b"})
    with pytest.raises(serialpack.ArchiveError, match="1 of 2 entries") as caught:
        serialpack.unpack_archive(io.BytesIO(deep), tmp_path)
    ((_, error),) = caught.value.failures
    assert "too long" in str(error)
    assert (tmp_path / "good").read_bytes() == b"b"


def test_a_name_that_the_system_cannot_write_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    """One too long for the file system; one that its encoding has no letters for is written."""
    (tmp_path / "all.spk").write_bytes(archive({"x" * 300: b"a", "\u00e9": b"b", "good": b"c"}))
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "serialpack", "unpack", "all.spk"],
        cwd=tmp_path,
        env={**env, "PYTHONPATH": os.fspath(Path(serialpack.__file__).parents[1])},
        capture_output=True,
        check=False,
    )
    told = done.stderr.decode("ascii")
    assert done.returncode == 1
    assert told.count("x: cannot write: file name too long") == 1
    assert tree(tmp_path / "all") == {"good": b"c", "\u00e9": b"b"}


@pytest.mark.parametrize("force", [True, False])
def test_the_second_of_one_path_does_not_overwrite_the_first(tmp_path: Path, force: bool) -> None:
    twice = archive({"a": b"first"}) + archive({"a": b"second"}) + archive({"b": b"third"})
    with pytest.raises(serialpack.ArchiveError) as caught:
        serialpack.unpack_archive(io.BytesIO(twice), tmp_path, force=force)
    said = str(caught.value.failures[0][1])
    assert "another entry has the same path; of archives that were joined, unpack each" in said
    assert tree(tmp_path) == {"a": b"first", "b": b"third"}


@pytest.mark.parametrize("force", [True, False])
def test_no_entry_stands_under_a_file(tmp_path: Path, force: bool) -> None:
    """Which keeps its name, though it waits for it; nor has one a name that is removed."""
    killed = ".serialpack-0123abcd.tmp"
    parts = ({"a": b"first"}, {"a/b": b"second"}, {killed: b"third"}, {"c": b"fourth"})
    joined = b"".join(map(archive, parts))
    with pytest.raises(serialpack.ArchiveError) as caught:
        serialpack.unpack_archive(io.BytesIO(joined), tmp_path / "to", force=force)
    assert [(entry, error.exit_code) for entry, error in caught.value.failures] == [
        ("a/b", 1),
        (killed, 4),
    ]
    assert str(caught.value.failures[0][1]) == f"{tmp_path / 'to/a'}: is no folder"
    assert tree(tmp_path / "to") == {"a": b"first", "c": b"fourth"}


def damaged(part: bytes, place: float) -> bytes:
    data = bytearray(part)
    data[int(len(data) * place)] ^= 1
    return bytes(data)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_damage_stays_in_its_entry(tmp_path: Path, place: float) -> None:
    """In a file the next entry is found; in a pipe what follows cannot be, and that is said."""
    files = {"a": b"1" * 100, "b": noise(40_000), "c": b"3" * 100}
    one, two, three, closing = members(archive(files))
    three += closing
    path = tmp_path / "all.spk"
    path.write_bytes(one + damaged(two, place) + three)
    with pytest.raises(serialpack.ArchiveError, match="1 of 3 entries") as caught:
        serialpack.unpack_archive(path, tmp_path / "file")
    assert (caught.value.exit_code, caught.value.path) == (3, str(path))
    assert tree(tmp_path / "file") == {"a": files["a"], "c": files["c"]}
    with pytest.raises(serialpack.ArchiveError, match="not from a pipe"):
        serialpack.unpack_archive(Pipe(path.read_bytes()), tmp_path / "pipe")
    assert tree(tmp_path / "pipe") == {"a": files["a"]}
    path.write_bytes(one + two + three[:-5])
    with pytest.raises(serialpack.InputError):
        serialpack.unpack_archive(path, tmp_path / "cut")
    assert tree(tmp_path / "cut") == files


def test_a_limit_is_that_of_all_entries(tmp_path: Path) -> None:
    files = {"a": b"1" * 600, "b": b"2" * 600, "c": b"3" * 300}
    with pytest.raises(serialpack.ArchiveError) as caught:
        serialpack.unpack_archive(io.BytesIO(archive(files)), tmp_path, max_size=1000)
    assert caught.value.exit_code == 4
    assert sum(map(len, tree(tmp_path).values())) <= 1000


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_no_entry_leaves_the_folder_over_a_link(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "in"
    (inside / "real").mkdir(parents=True)
    outside.mkdir()
    (inside / "out").symlink_to(outside)
    (inside / "nowhere").symlink_to(tmp_path / "made")
    (inside / "within").symlink_to("real")
    (inside / "file").symlink_to(outside / "file")
    (outside / "file").write_bytes(b"theirs")
    paths = ["out/a", "out/deep/a", "nowhere/a", "within/a", "file"]
    with pytest.raises(serialpack.ArchiveError, match="3 of 5") as caught:
        serialpack.unpack_archive(
            io.BytesIO(archive(dict.fromkeys(paths, b"x"))), inside, force=True
        )
    assert caught.value.exit_code == 4
    assert tree(outside) == {"file": b"theirs"}
    assert not (tmp_path / "made").exists()
    assert (inside / "real/a").read_bytes() == b"x"
    assert (inside / "file").read_bytes() == b"x"
    assert not (inside / "file").is_symlink()
    # The folder itself may be one: the user named it.
    (tmp_path / "link").symlink_to(outside)
    serialpack.unpack_archive(io.BytesIO(archive({"a": b"x"})), tmp_path / "link")
    assert (outside / "a").read_bytes() == b"x"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_a_path_that_is_not_utf8_comes_back(tmp_path: Path) -> None:
    path = os.fsdecode(b"\xff/\xe9.json")
    serialpack.unpack_archive(io.BytesIO(archive({path: b"1"})), tmp_path)
    assert (tmp_path / path).read_bytes() == b"1"


@pytest.mark.parametrize("when", [0, -1, 1_700_000_000_123_456_789, 2**63 - 1, -(2**63)])
def test_any_time_is_set_or_told(tmp_path: Path, when: int) -> None:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(b"x"), out, identity=("x", when), entry="x")
    try:
        serialpack.unpack_archive(io.BytesIO(out.getvalue()), tmp_path)
    except serialpack.ArchiveError:
        assert tree(tmp_path) == {}
    else:
        assert abs(when) > 2**60 or (tmp_path / "x").stat().st_mtime_ns // 1000 == when // 1000


@pytest.mark.parametrize(
    ("path", "entry", "removed"),
    [
        ("a", "a", ""),
        ("./a", "a", ""),
        ("a//b/./c", "a/b/c", ""),
        ("/a/b", "a/b", "/"),
        ("//a", "a", "/"),
        ("../a", "a", "../"),
        ("a/../../b/c", "b/c", "a/../../"),
        ("/x/../a", "a", "/x/../"),
        ("a..b/...", "a..b/...", ""),
        ("..", "", "../"),
    ],
)
def test_the_path_to_store(path: str, entry: str, removed: str) -> None:
    assert entry_path(path) == (entry, removed)


@pytest.mark.parametrize("path", ["C:a", "a\\b", "a/nul.txt", "COM1", "a ", "x/a:stream"])
def test_what_means_something_else_to_windows_is_refused_there(path: str, tmp_path: Path) -> None:
    with pytest.raises(serialpack.RefusedError):
        place_below(tmp_path, path, windows=True)
    assert place_below(tmp_path, "a/b c.txt", windows=True) == os.path.join(tmp_path, "a/b c.txt")  # noqa: PTH118


def test_no_source_counts_as_compared_that_the_archive_has_no_entry_of(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    serialpack.pack_archive({"a": tmp_path / "a"}, path := str(tmp_path / "all.spk"))
    sources = {name: str(tmp_path / name) for name in "ab"}
    assert fault_of_bytes(path, sources, trust=False, threads=1) == "has no entry b"
