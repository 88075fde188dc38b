"""Disks that are full, read-only or broken, sources that change, memory that runs out.

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
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import FileError
from serialpack.files import remove_source
from tests.faults.conftest import (
    COMMAND,
    KIB,
    MIB,
    Command,
    Start,
    finish,
    hidden,
    noise,
    records,
    wait_for,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX limits, mounts and users")

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def limited(limit: str) -> list[str]:
    """The command under ``ulimit limit``."""
    return ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A megabyte that does not shrink."""
    path = tmp_path / "source"
    path.write_bytes(noise(MIB))
    return path


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


# --- no space --------------------------------------------------------------------------------


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


# --- what may not be read or written ---------------------------------------------------------


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


# --- reading fails ---------------------------------------------------------------------------


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


def traced(*options: str) -> list[str]:
    """The command under strace; skipped where that cannot be."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace here")
    if subprocess.run([strace, "-qq", "-o", "/dev/null", "true"], check=False).returncode:
        pytest.skip("strace may not trace here")
    return [strace, "-f", "-qq", "-o", "/dev/null", *options]


def injecting(call: str, fault: str, *options: str) -> list[str]:
    return traced("-e", f"trace={call}", "-e", f"inject={call}:{fault}", *options)


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


# --- writing fails ---------------------------------------------------------------------------


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


# --- sources that change ---------------------------------------------------------------------


def test_a_source_that_grows_while_it_is_read_is_noticed(source: Path, tmp_path: Path) -> None:
    def grow(read: int, written: int) -> None:
        if read > 100 * KIB:
            assert written
            with source.open("ab") as file:
                file.write(b"more")

    with pytest.raises(FileError, match="changed while it was read"):
        serialpack.pack(source, tmp_path / "out", block_size=64 * KIB, progress=grow)
    assert not (tmp_path / "out").exists()
    assert not hidden(tmp_path)


def test_a_source_that_grows_while_the_command_reads_it_is_an_error(
    start: Start, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.write_bytes(noise(4 * MIB))
    process = start("pack", "--block-size", "64K", source, "-o", "-")
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)  # the pipe is full soon: it waits in the middle
    with source.open("ab") as file:
        file.write(b"more")
    assert "changed while it was read; try again" in finish(process, 1)


def test_a_source_written_to_after_it_was_read_is_not_removed(source: Path) -> None:
    before = source.stat()
    with source.open("ab") as file:
        file.write(b"more")
    with pytest.raises(FileError, match="no longer the file"):
        remove_source(str(source), before)
    assert source.exists()


# --- memory ----------------------------------------------------------------------------------


def one_line(process: Command, output: Path) -> int:
    """INV under a limit of memory; the exit code. NumPy's OpenBLAS may add lines of its own."""
    _, told = process.communicate(timeout=120)
    said = [x for x in told.decode().splitlines() if "OpenBLAS" not in x]
    assert process.returncode in (0, 1), (process.returncode, said)
    assert len(said) <= 1, said
    assert "Traceback" not in told.decode()
    assert "internal error" not in told.decode(), said
    if process.returncode:
        assert not output.exists()
    return process.returncode


def test_out_of_memory_is_one_line_and_no_output(start: Start, tmp_path: Path) -> None:
    """A ladder of limits from where Python just starts to where all is well."""
    source, output = tmp_path / "source", tmp_path / "out"
    source.write_bytes(noise(6 * MIB))
    codes = []
    for mib in range(32, 400, 12):
        output.unlink(missing_ok=True)
        process = start(
            "pack", "-q", "--block-size", "2M", source, "-o", output,
            before=limited(f"-v {mib * 1024}"),
        )  # fmt: skip
        codes.append(one_line(process, output))
        assert not hidden(tmp_path)
        if codes[-3:] == [0, 0, 0]:
            break
    assert 1 in codes
    assert codes[-1] == 0
    assert serialpack.unpack(output, None).size == 6 * MIB


@pytest.mark.soak
@pytest.mark.parametrize(
    "args",
    [["-9"], ["-c", "xz:9"], ["-c", "bz2"], ["-c", "blosc-zstd"], ["-s", "json", "-j", "1"]],
    ids=" ".join,
)
def test_out_of_memory_in_every_stage_leaves_no_half_output(
    start: Start, tmp_path: Path, args: list[str]
) -> None:
    """msgspec and OpenBLAS may end the process themselves: then a hidden file stays, no more."""
    source, output = tmp_path / "source.ndjson", tmp_path / "out"
    source.write_bytes(records(6 * MIB) if "-s" in args else noise(6 * MIB))
    codes = []
    for mib in range(32, 900, 8):
        output.unlink(missing_ok=True)
        before = limited(f"-v {mib * 1024}")
        process = start("pack", "-q", *args, source, "-o", output, before=before)
        if "json" in args or "blosc-zstd" in args:
            _, said = process.communicate(timeout=120)
            assert b"Traceback" not in said
            assert output.exists() == (process.returncode == 0)
            codes.append(process.returncode)
        else:
            codes.append(one_line(process, output))
            assert not hidden(tmp_path)
        if codes[-4:] == [0] * 4:
            break
    assert codes[-1] == 0
    assert serialpack.unpack(output, None).size == source.stat().st_size


# --- the sweep -------------------------------------------------------------------------------

CALLS = {
    "write": ("write", ["error=ENOSPC", "error=EIO", "error=EINTR"]),
    "fsync": ("fsync", ["error=EIO", "error=ENOSPC"]),
    "openat": ("openat", ["error=ENOSPC", "error=EIO", "error=EMFILE"]),
    "link": ("link,linkat,rename,renameat,renameat2", ["error=EIO", "error=ENOSPC"]),
    "unlink": ("unlink,unlinkat", ["error=EIO"]),
    "close": ("close", ["error=EIO", "error=EINTR"]),
    "fchmod": ("fchmod", ["error=EIO"]),
    "utime": ("utimensat", ["error=EIO"]),
    "read": ("read", ["error=EIO"]),
    "fstat": ("fstat,newfstatat,lstat,stat", ["error=EIO"]),
}
KILLS = ["signal=KILL", "signal=INT", "signal=TERM"]


def touched(strace: list[str], call: str, args: list[str | Path], needle: Path) -> range:
    """Which calls (counted from 1, as strace does) come after the first that names ``needle``."""
    with tempfile.NamedTemporaryFile("r") as log:
        command = [strace[0], "-f", "-qq", "-o", log.name, "-e", f"trace={call},openat"]
        subprocess.run([*command, *COMMAND, *args], capture_output=True, check=True)
        names = call.split(",")
        count = first = 0
        for line in log:
            found = re.match(r"\d+\s+(\w+)\(", line)
            if found is None:
                continue
            count += found[1] in names
            if not first and f'"{needle}"' in line and found[1] == "openat":
                first = max(count, 1)
        return range(first, count + 1)


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("old", [False, True], ids=["new", "over an old one"])
@pytest.mark.parametrize("name", CALLS)
def test_a_fault_at_every_call_after_the_source_was_opened(
    tmp_path: Path, name: str, old: bool
) -> None:
    """Each call fails in turn, and each is the last before SIGKILL, SIGINT, SIGTERM: INV."""
    call, faults = CALLS[name]
    strace = traced()
    source, output, data = tmp_path / "source", tmp_path / "out", noise(1000)
    args: list[str | Path] = ["pack", "-q", "-j", "1", "--rm", source, "-o", output]
    args += ["-f"] if old else []
    source.write_bytes(data)
    if old:
        output.write_bytes(b"old")
    points = touched(strace, call, args, source)
    assert points, "nothing to break"
    for fault in [*faults, *KILLS]:
        for when in points:
            point = f"{call} {fault} {when}"
            source.write_bytes(data)
            output.unlink(missing_ok=True)
            if old:
                output.write_bytes(b"old")
            done = subprocess.run(
                [*injecting(call, f"{fault}:when={when}"), *COMMAND, *args],
                capture_output=True,
                timeout=60,
                check=False,
            )
            holds = output.read_bytes() if output.exists() else None
            if holds != (b"old" if old else None):
                again = io.BytesIO()
                serialpack.unpack(output, again)
                assert again.getvalue() == data, point
                whole = True
            else:
                whole = False
            said = done.stderr.decode()
            if done.returncode == 0:
                assert whole, point
            if not source.exists():
                assert whole, point
            else:
                assert source.read_bytes() == data, point
            left = hidden(tmp_path)
            assert len(left) <= 1, point
            if "KILL" not in fault and name != "unlink":
                assert not left, (point, done.returncode, said)
            if "signal" not in fault:
                assert done.returncode in (0, 1, 3), (point, done.returncode, said)
            if fault == "signal=INT":
                assert done.returncode in (0, 130), (point, done.returncode, said)
            assert "Traceback" not in said, (point, said)
            assert len(said.splitlines()) <= 1, (point, said)
            for path in left:
                path.unlink()


# --- several writers -------------------------------------------------------------------------

_WRITER = """
import os, sys, time
import serialpack
from serialpack.errors import FileError

number, writers, rounds, force = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for turn in range(rounds):
    open(f"ready-{turn}-{number}", "x").close()
    while not all(os.path.exists(f"ready-{turn}-{n}") for n in range(writers)):
        time.sleep(0.0005)
    try:
        serialpack.pack(f"source-{number}", f"out-{turn}", force=force == "force")
        print(turn, flush=True)
    except FileError as error:
        assert "exists already" in str(error), error
"""
WRITERS, ROUNDS = 8, 20


@pytest.mark.parametrize("force", [False, True], ids=["without -f", "with -f"])
def test_eight_writers_of_one_output(tmp_path: Path, force: bool) -> None:
    """One wins without -f and is told so; with -f the last one's stands, whole. 20 times over."""
    sources = [noise(50_000, seed) for seed in range(WRITERS)]
    for number, data in enumerate(sources):
        (tmp_path / f"source-{number}").write_bytes(data)
    words = ["force" if force else "never"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(n), str(WRITERS), str(ROUNDS), *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for n in range(WRITERS)
    ]
    won = [process.communicate(timeout=120)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * WRITERS
    for turn in range(ROUNDS):
        winners = [n for n in range(WRITERS) if b"%d" % turn in won[n]]
        again = io.BytesIO()
        serialpack.unpack(tmp_path / f"out-{turn}", again)
        assert again.getvalue() in [sources[n] for n in winners]
        assert len(winners) == (WRITERS if force else 1)
    assert not hidden(tmp_path)


def test_eight_commands_at_once(start: Start, tmp_path: Path) -> None:
    for number in range(WRITERS):
        (tmp_path / f"source-{number}").write_bytes(noise(50_000, number))
    running = [start("pack", "-q", f"source-{number}", "-o", "out") for number in range(WRITERS)]
    wait_for(lambda: all(process.poll() is not None for process in running), "all writers")
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0] + [1] * (WRITERS - 1)
    again = io.BytesIO()
    serialpack.unpack(tmp_path / "out", again)
    assert again.getvalue() == noise(50_000, codes.index(0))
    assert not hidden(tmp_path)
