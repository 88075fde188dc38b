"""Far files over SFTP: a server of a folder, asked by paramiko."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import ExistingFileError, FileError, ForbiddenFileError, MissingFileError
from serialpack.far import systems, upload
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.far.conftest import RECORDS, BrokenSource
from tests.far.server import wait_until

pytest.importorskip("fsspec", reason="the extra sftp is not installed")
pytest.importorskip("paramiko", reason="the extra sftp is not installed")

import paramiko

from tests.far.sftp_server import SftpFolder, sftp_server


@pytest.fixture
def folder(tmp_path: Path, packed: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[SftpFolder]:
    from fsspec.implementations.sftp import SFTPFileSystem

    monkeypatch.setattr(upload, "_PART", 64 << 10)
    root = tmp_path / "root"
    root.mkdir()
    (root / "records.ndjson").write_bytes(RECORDS[:500_000])
    (root / "records.spk").write_bytes(packed)
    with sftp_server(root) as found:
        yield found
    SFTPFileSystem.clear_instance_cache()


def test_only_what_is_needed_is_read(folder: SftpFolder, packed: bytes) -> None:
    assert serialpack.inspect(folder.url("records.spk")).members[0].records == 20_000
    assert sum(length for *_, length in folder.read) == 2 * (64 << 10)
    with serialpack.open(folder.url("records.spk")) as records:
        assert records[12_000]["id"] == 12_000
    assert sum(length for *_, length in folder.read) < 8 * (64 << 10) < len(packed)


def test_no_part_is_asked_for_twice(folder: SftpFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where answers are faster than requests: paramiko takes all for answered then."""
    ask = paramiko.SFTPClient._async_request

    def slow(*args: object) -> int:
        number: int = ask(*args)
        time.sleep(0.01)  # the answer is there before paramiko has noted the request
        return number

    monkeypatch.setattr(paramiko.SFTPClient, "_async_request", slow)
    with systems.opened(folder.url("records.ndjson")) as file:
        assert file.read() == RECORDS[:500_000]
    assert sum(length for *_, length in folder.read) == 500_000


def test_there_and_back(folder: SftpFolder) -> None:
    """It has another name beside its own until it is whole, on one connection a thread."""
    source, target = folder.url("records.ndjson"), folder.url("out.spk")
    serialpack.pack(source, target, codec="none", serializer="raw")
    assert folder.names() == ["out.spk", "records.ndjson", "records.spk"]
    out = io.BytesIO()
    serialpack.unpack(target, out)
    assert out.getvalue() == RECORDS[:500_000]
    with pytest.raises(ExistingFileError):
        serialpack.pack(source, target)
    serialpack.pack(source, target, force=True)
    assert folder.connections <= 3


def test_what_fails_leaves_nothing(folder: SftpFolder) -> None:
    seen: list[list[str]] = []

    def fails() -> bool:
        hidden = [name for name in folder.names() if name.startswith(".serialpack-")]
        if hidden:
            seen.append(hidden)
        return bool(hidden)

    broken = BrokenSource(fails)
    with pytest.raises(FileError, match="the source is gone"):
        serialpack.pack(broken, folder.url("broken.spk"), codec="none", serializer="raw")  # type: ignore[arg-type]
    assert len(seen) == 1
    assert folder.names() == ["records.ndjson", "records.spk"]


def test_another_that_came_first_stays(folder: SftpFolder) -> None:
    theirs = folder.root / "a.spk"

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            theirs.write_bytes(b"theirs")
            return super().read(size)

    with pytest.raises(ExistingFileError, match="it exists already"):
        serialpack.pack(Slow(RECORDS), folder.url("a.spk"))
    assert theirs.read_bytes() == b"theirs"
    assert not [name for name in folder.names() if name.startswith(".")]


def test_what_the_disk_does_not_take_is_said(folder: SftpFolder) -> None:
    """Also where nobody waits for the answers, which paramiko forgets when it closes a file."""
    folder.full_from = 200_000
    with pytest.raises(FileError, match="cannot write"):
        serialpack.pack(
            folder.url("records.ndjson"), folder.url("a.spk"), codec="none", serializer="raw"
        )
    assert folder.names() == ["records.ndjson", "records.spk"]


def test_what_the_server_refuses_is_said(folder: SftpFolder) -> None:
    with pytest.raises(MissingFileError, match="no such file"):
        serialpack.inspect(folder.url("none.spk"))
    with pytest.raises(MissingFileError, match="no such file"):
        serialpack.pack(io.BytesIO(b"[]"), folder.url("none/a.spk"))
    with pytest.raises(ForbiddenFileError, match=r"authentication failed; .*USER:PASSWORD@") as bad:
        serialpack.inspect(folder.url("records.spk", "me:wrong-one@"))
    assert "wrong-one" not in str(bad.value)
    folder.close()
    with pytest.raises(FileError, match="connection refused"):
        serialpack.inspect(folder.url("records.spk", "another:one@"))


def test_a_connection_that_ended_is_made_again(folder: SftpFolder) -> None:
    url = folder.url("records.spk")
    fs, _ = systems.system_of(url)
    folder.hang_up()
    wait_until(lambda: not fs.client.get_transport().is_active())
    assert serialpack.inspect(url).members[0].records == 20_000


def test_the_command(folder: SftpFolder, run: Run) -> None:
    """Outputs stand beside their sources, an error is a line, and no password is shown."""
    urls = [folder.url("records.ndjson"), folder.url("none.ndjson")]
    said = run("pack", "--rm", *urls, code=1).stderr.splitlines()
    assert len(said) == 2
    assert b"none.ndjson: cannot read: no such file" in said[1]
    assert b"secret" not in b"".join(said)
    assert folder.names() == ["records.ndjson.spk", "records.spk"]
