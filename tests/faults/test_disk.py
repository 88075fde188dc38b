"""Disks that are full, read-only or broken.

INV: the output path holds what it held before or the whole new file; exit 0 only with the latter;
the source is untouched unless the new file is whole; one line on standard error.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import FileError
from tests.faults.conftest import KIB, MIB, Start, finish, hidden
from tests.faults.disk import injecting, limited
from tests.noise import noise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")


ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def packed(source: Path, tmp_path: Path) -> Path:
    path = tmp_path / "packed.spk"
    serialpack.pack(source, path, block_size=64 * KIB)
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if not ROOT or mount is None:
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("verb", ["pack", "unpack"])
@pytest.mark.parametrize("old", [None, b"old"], ids=["new", "over an old one"])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(
    start: Start, source: Path, packed: Path, small_disk: Path, verb: str, old: bytes | None
) -> None:
    given = source if verb == "pack" else packed
    before, output = given.read_bytes(), small_disk / "out"
    if old is not None:
        output.write_bytes(old)
    said = finish(start(verb, "-f", "--rm", given, "-o", output), 1)
    assert said == f"serialpack: {output}: cannot write: no space left on device\n"
    assert (output.read_bytes() if output.exists() else None) == old
    assert not hidden(small_disk)
    assert given.read_bytes() == before


@pytest.mark.parametrize("args", ["pack -r in -o disk/out", "unpack all.spk -o disk/out"])
def test_of_many_files_those_are_kept_that_a_disk_has_room_for(
    start: Start, small_disk: Path, tmp_path: Path, args: str
) -> None:
    """Each is whole or is not there, each that is not is named, and no source is lost."""
    given = {str(n): noise(60 * KIB, n) for n in range(12)}
    (tmp_path / "in").mkdir()
    for name, data in given.items():
        (tmp_path / "in" / name).write_bytes(data)
    finish(start("pack", "-qr", "in", "--archive", "-o", "all.spk"), 0)
    said = finish(start(*args.split(), "--rm"), 1, most=30)
    made = [path for path in (small_disk / "out").rglob("*") if path.is_file()]
    lost = re.findall(r"disk/out/(?:in/)?(\d+)(?:\.spk)?: cannot write: no space left", said)
    assert made
    assert lost
    assert sorted([path.stem for path in made] + lost) == sorted(given)
    for path in made:
        if path.suffix == ".spk":
            serialpack.unpack(path, path := tmp_path / path.stem)
        assert path.read_bytes() == given[path.name]
    kept = lost if args.startswith("pack") else given
    assert {path.name: path.read_bytes() for path in (tmp_path / "in").iterdir()} == {
        name: given[name] for name in kept
    }
    assert (tmp_path / "all.spk").exists()


@pytest.mark.parametrize("args", ["pack -r in -o disk/out", "unpack all.spk -o disk/out"])
def test_of_many_files_without_room_twenty_are_named(
    start: Start, small_disk: Path, tmp_path: Path, args: str
) -> None:
    """The others are a line, and not thousands that all say the same; under -v each is named."""
    (tmp_path / "in").mkdir()
    for number in range(40):
        (tmp_path / "in" / str(number)).write_bytes(noise(60 * KIB, number))
    finish(start("pack", "-qr", "in", "--archive", "-o", "all.spk"), 0)
    said = finish(start(*args.split()), 1, most=50).splitlines()
    assert (
        sum("disk/out" in line and line.endswith("no space left on device") for line in said) == 20
    )
    more = [re.fullmatch(r"serialpack: (\d+) more outputs (.*)", line) for line in said]
    (last,) = filter(None, more)
    made = sum(path.is_file() for path in (small_disk / "out").rglob("*"))
    assert made + 20 + int(last[1]) == 40
    assert last[2] == "cannot be written: no space left on device; -v names them"
    shutil.rmtree(small_disk / "out")
    said = finish(start(*args.split(), "-v"), 1, most=99).splitlines()
    assert sum(line.endswith("no space left on device") for line in said) >= 40 - made
    assert not any("more outputs" in line for line in said)


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_a_limit_of_file_sizes_is_an_error_not_a_signal(
    start: Start, source: Path, packed: Path, tmp_path: Path, verb: str
) -> None:
    output = tmp_path / "out"
    output.write_bytes(b"old")
    given = source if verb == "pack" else packed
    process = start(verb, "-f", "--rm", given, "-o", output, before=limited("-f 200"))
    assert finish(process, 1) == f"serialpack: {output}: cannot write: file too large\n"
    assert output.read_bytes() == b"old"
    assert not hidden(tmp_path)
    assert given.exists()


def unprivileged(folder: Path) -> list[str]:
    """The command held to the modes of files, which root is not; skipped where that cannot be."""
    if not ROOT:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root without setpriv may read and write everything")
    drop = [setpriv, "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]
    probe = folder / "probe"
    probe.touch(mode=0)
    if subprocess.run([*drop, "cat", probe], capture_output=True, check=False).returncode == 0:
        pytest.skip("root cannot give up its privileges here")
    probe.unlink()
    return drop


def test_a_folder_where_one_may_not_write_is_refused(start: Start, tmp_path: Path) -> None:
    before = unprivileged(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "source").write_bytes(b"data")
    folder.chmod(0o555)
    said = finish(start("pack", "--rm", "source", cwd=folder, before=before), 1)
    assert said == "serialpack: source.spk: cannot write: permission denied\n"
    assert [p.name for p in folder.iterdir()] == ["source"]
    folder.chmod(0o755)


def test_a_read_only_file_system_is_refused(start: Start, small_disk: Path, tmp_path: Path) -> None:
    (small_disk / "source").write_bytes(b"data")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    said = finish(start("pack", small_disk / "source"), 1)
    assert "source.spk: cannot write: read-only file system" in said
    finish(start("pack", small_disk / "source", "-o", tmp_path / "out"), 0)
    assert "cannot remove: read-only" in finish(
        start("pack", "-q", "--rm", small_disk / "source", "-o", tmp_path / "out2"), 1
    )
    assert (tmp_path / "out2").exists()


def test_a_current_folder_that_is_removed_is_named(start: Start, source: Path) -> None:
    """It was no file that there was not: which one, nobody said."""
    removed = ["sh", "-c", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', "sh"]
    said = "serialpack: the current folder: no such file or directory\n"
    for args in ("-r", "."), ("a.json", "-o", "out/"):
        assert finish(start("pack", *args, before=removed), 1) == said
    finish(start("pack", source, before=removed), 0)


def test_one_file_of_many_that_may_not_be_read_is_named_and_the_rest_go_on(
    start: Start, tmp_path: Path
) -> None:
    before = unprivileged(tmp_path)
    names = [f"f{number}" for number in range(10)]
    for name in names:
        (tmp_path / name).write_bytes(b"data")
    (tmp_path / "f5").chmod(0)
    said = finish(start("pack", "-q", *names, before=before), 1)
    assert said == "serialpack: f5: cannot read: permission denied\n"
    assert sorted(p.name for p in tmp_path.glob("*.spk")) == [
        f"{name}.spk" for name in names if name != "f5"
    ]
    assert not hidden(tmp_path)


class Broken(io.RawIOBase):
    """A file that fails after ``good``."""

    name = "the input"

    def __init__(self, good: bytes) -> None:
        self._good = io.BytesIO(good)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._good.read(size)
        if not data:
            raise OSError(errno.EIO, "Input/output error")
        return data


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_a_read_that_fails_names_the_input_and_leaves_the_old_output(
    source: Path, packed: Path, tmp_path: Path, verb: str, share: float
) -> None:
    whole = (source if verb == "pack" else packed).read_bytes()
    broken, output = Broken(whole[: int(len(whole) * share)]), tmp_path / "out"
    output.write_bytes(b"old")
    with pytest.raises(FileError, match="cannot read: input/output error") as caught:
        if verb == "pack":
            serialpack.pack(broken, output, force=True, block_size=64 * KIB)  # type: ignore[arg-type]
        else:
            serialpack.unpack(broken, output, force=True)  # type: ignore[arg-type]
    assert caught.value.path == "the input"
    assert output.read_bytes() == b"old"
    assert not hidden(tmp_path)


@pytest.mark.parametrize("when", [1, 2, 4])
def test_an_error_of_the_input_device_names_the_input(
    start: Start, source: Path, tmp_path: Path, when: int
) -> None:
    strace = injecting("read", f"error=EIO:when={when}", "-P", str(source))
    args = ("pack", "--rm", "--block-size", "64K", source, "-o", tmp_path / "out")
    said = finish(start(*args, before=strace), 1)
    assert said == f"serialpack: {source}: cannot read: input/output error\n"
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)
    assert source.exists()


@pytest.mark.parametrize(
    ("call", "error"),
    [("fsync", "EIO"), ("fchmod", "EIO"), ("linkat,link,rename,renameat,renameat2", "EIO")],
    ids=["fsync", "fchmod", "link"],
)
def test_an_error_on_the_last_steps_removes_the_new_file_and_keeps_the_source(
    start: Start, source: Path, tmp_path: Path, call: str, error: str
) -> None:
    strace = injecting(call, f"error={error}")
    process = start("pack", "--rm", source, "-o", tmp_path / "out", before=strace)
    said = finish(process, 1)
    assert said == f"serialpack: {tmp_path / 'out'}: cannot write: input/output error\n"
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)
    assert source.exists()


def test_a_folder_that_cannot_be_brought_to_disk_keeps_the_source(
    start: Start, source: Path, tmp_path: Path
) -> None:
    """The new name may be gone after a power cut; the old file must not be."""
    strace = injecting("fsync", "error=EIO:when=2")
    process = start("pack", "--rm", source, "-o", tmp_path / "out", before=strace)
    assert "cannot write: input/output error" in finish(process, 1)
    assert source.exists()
    assert not hidden(tmp_path)


def test_a_file_system_that_syncs_no_folders_is_no_error(
    start: Start, source: Path, tmp_path: Path
) -> None:
    strace = injecting("fsync", "error=EINVAL:when=2")
    finish(start("pack", "-q", source, "-o", tmp_path / "out", before=strace), 0)


def test_a_file_system_without_hard_links_still_never_overwrites(
    start: Start, source: Path, tmp_path: Path
) -> None:
    strace = injecting("linkat,link", "error=EPERM")
    finish(start("pack", "-q", source, "-o", tmp_path / "out", before=strace), 0)
    assert serialpack.unpack(tmp_path / "out", None).size == MIB
    assert not hidden(tmp_path)


def test_short_writes_lose_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real short write; strace's retval=1 writes nothing at all and lies."""
    real, counts = os.write, []

    def short(descriptor: int, data: bytes) -> int:
        counts.append(real(descriptor, data[:7777]))
        return counts[-1]

    monkeypatch.setattr(os, "write", short)
    serialpack.pack(source, tmp_path / "out")
    serialpack.unpack(tmp_path / "out", tmp_path / "again")
    assert len(counts) > 2 * MIB / 7777
    assert (tmp_path / "again").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_an_interrupted_call_loses_nothing(
    start: Start, source: Path, tmp_path: Path, call: str
) -> None:
    strace = injecting(call, "error=EINTR:when=1+2")
    finish(start("pack", "-q", source, "-o", tmp_path / "out", before=strace), 0)
    assert serialpack.unpack(tmp_path / "out", tmp_path / "again").size == MIB
    assert (tmp_path / "again").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("output", ["out.csv", "out.json"])
def test_nothing_is_told_of_inputs_of_an_output_that_does_not_stand(
    start: Start, tmp_path: Path, output: str
) -> None:
    """Of each it was said that it is in there, with the same values, before it could not be
    written."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a\n" + "1\n" * 4000)
    args = ("unpack", "a.csv", "b.csv", "-o", output)
    said = finish(start(*args, before=limited("-f 8")), 1)
    assert said == f"serialpack: {output}: cannot write: file too large\n"
    assert not (tmp_path / output).exists()
    assert not hidden(tmp_path)
    told = finish(start(*args), 0, most=3).splitlines()
    assert [line[:5] for line in told[:2]] == ["a.csv", "b.csv"]
