"""Far files over HTTP: how much is asked for, and what a bad server gets."""

from __future__ import annotations

import io
import logging
import socket
from pathlib import Path

import pytest

import serialpack
from serialpack.cli.files.rerun import is_done
from serialpack.errors import DamagedError, FileError, ForbiddenFileError, MissingFileError
from serialpack.far import systems
from tests.far.conftest import RECORDS
from tests.far.server import FileServer

pytest.importorskip("aiohttp", reason="the extra remote is not installed")

#: What is fetched at a place that nothing led to.
LEAST = 64 << 10


def unpacked(url: str, **how: tuple[int, int]) -> bytes:
    target = io.BytesIO()
    serialpack.unpack(url, target, **how)  # type: ignore[arg-type]
    return target.getvalue()


def cost(server: FileServer) -> tuple[int, int]:
    """The requests and the bytes that were asked for since the last time."""
    asked, server.asked = server.asked, []
    return len(asked), sum(each.sent for each in asked)


def test_inspect_reads_the_two_ends(server: FileServer, packed: bytes) -> None:
    found = serialpack.inspect(server.url("records.spk"))
    assert found.members[0].records == 20_000
    assert cost(server) == (3, 2 * LEAST)
    assert len(packed) > 8 * LEAST


def test_a_range_reads_its_blocks(server: FileServer) -> None:
    lines = RECORDS.splitlines(keepends=True)
    assert unpacked(server.url("records.spk"), record_range=(9000, 9010)) == b"".join(
        lines[9000:9010]
    )
    requests, size = cost(server)
    assert requests <= 5
    assert size <= 5 * LEAST
    assert (
        unpacked(server.url("records.spk"), byte_range=(700_000, 700_010))
        == (RECORDS[700_000:700_010])
    )
    requests, size = cost(server)
    assert requests <= 5
    assert size <= 5 * LEAST


def test_an_opened_one_reads_its_blocks(server: FileServer) -> None:
    with serialpack.open(server.url("records.spk")) as records:
        assert records[-1]["id"] == 19_999
        assert records[10_000]["id"] == 10_000
        requests, size = cost(server)
        assert requests <= 6
        assert size <= 5 * LEAST
        assert [record["id"] for record in records[4000:4003]] == [4000, 4001, 4002]
        assert cost(server)[0] == 1
        assert records[4001:4004][2]["id"] == 4003
        assert cost(server) == (0, 0)


def test_fields_read_their_columns(server: FileServer) -> None:
    """Of columns larger than what a request is worth, only those that are asked for."""
    lines = [
        f'{{"a": "{n * 7919 % 99991:x}{hash((n, 1)):x}", "id": {n}, "b": "{hash((n, 2)):x}z"}}\n'
        for n in range(20_000)
    ]
    target = io.BytesIO()
    source = io.BytesIO("".join(lines).encode())
    serialpack.pack(source, target, format="ndjson", serializer="columns")
    server.files["columns.spk"] = target.getvalue()
    with serialpack.open(server.url("columns.spk")) as records:
        assert records.fields("id")["id"].sum() == sum(range(20_000))
    requests, size = cost(server)
    assert requests <= 5
    assert size < len(target.getvalue()) * 0.7


def test_all_of_it_is_read_once(server: FileServer, packed: bytes) -> None:
    assert unpacked(server.url("records.spk")) == RECORDS
    requests, size = cost(server)
    assert requests <= 8
    assert size == len(packed)


def test_pack_stores_name_and_time(server: FileServer) -> None:
    target = io.BytesIO()
    report = serialpack.pack(server.url("records.ndjson?x=1"), target)
    (member,) = serialpack.inspect(io.BytesIO(target.getvalue())).members
    assert (member.name, member.mtime) == ("records.ndjson", 784111777 * 10**9)
    assert report.format == "ndjson"
    server.times = False
    target = io.BytesIO()
    serialpack.pack(server.url("records.ndjson"), target)
    assert serialpack.inspect(io.BytesIO(target.getvalue())).members[0].mtime is None


def test_an_output_has_the_time_of_its_source(server: FileServer, tmp_path: Path) -> None:
    """By which a run that is begun again knows it; where a server tells none, nobody does."""
    url, output = server.url("records.spk"), tmp_path / "out"
    serialpack.unpack(url, output)
    assert output.stat().st_mtime == 784111777
    assert is_done(url, str(output), packed=False, force=False)
    server.times = False
    serialpack.unpack(url, output, force=True)
    assert output.stat().st_mtime > 784111777
    with pytest.raises(serialpack.FileError, match="nobody tells whether it is older"):
        is_done(url, str(output), packed=False, force=False)
    assert not is_done(url, str(output), packed=False, force=True)


def test_a_file_in_an_archive_is_read(server: FileServer) -> None:
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("in/records.ndjson", RECORDS[: RECORDS.index(b"\n") + 1])
    server.files["a.zip"] = target.getvalue()
    out = io.BytesIO()
    serialpack.convert(f"zip://in/records.ndjson::{server.url('a.zip')}", out, to="csv")
    assert out.getvalue().startswith(b"id,text\r\n0,") or out.getvalue().startswith(b"id,text\n0,")


def test_a_format_that_needs_a_file_gets_one(server: FileServer) -> None:
    """SQLite opens a path: a far file is copied first."""
    target = io.BytesIO()
    serialpack.convert(io.BytesIO(b'[{"a": 1}]'), target, to="sqlite")
    server.files["a.sqlite"] = target.getvalue()
    out = io.BytesIO()
    serialpack.convert(server.url("a.sqlite"), out, to="json")
    assert b'"a"' in out.getvalue()


def failure(server: FileServer, name: str = "records.spk") -> FileError:
    """What unpacking raises: of one line, which names the file."""
    with pytest.raises(FileError) as caught:
        unpacked(server.url(name))
    assert caught.value.path == server.url(name)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (404, MissingFileError, "404"),
        (403, ForbiddenFileError, "403"),
        (401, ForbiddenFileError, "401"),
        (500, FileError, "500"),
    ],
)
def test_an_answer_that_is_no_file_is_said(
    server: FileServer, status: int, kind: type[FileError], words: str
) -> None:
    server.statuses = [status] * 20
    error = failure(server)
    assert type(error) is kind
    assert f"the server answers {words}" in str(error)


def test_a_passing_trouble_is_tried_again(
    server: FileServer, caplog: pytest.LogCaptureFixture
) -> None:
    """5xx, and lines that break in the middle of an answer; each is told of at INFO."""
    server.statuses, server.cuts = [200, 502], [100, 1 << 20, 50_000]
    with caplog.at_level(logging.INFO, "serialpack.far"):
        assert unpacked(server.url("records.spk")) == RECORDS
    assert len(caplog.records) == 3
    assert all("trying again" in each.message for each in caplog.records)
    assert "502" in caplog.text


def test_trying_again_has_an_end(server: FileServer) -> None:
    server.cuts = [10] * 50
    failure(server)
    assert len(server.gets) == 3


def test_a_server_that_stalls_is_left(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.http import HTTPFileSystem

    HTTPFileSystem.clear_instance_cache()  # sessions keep the time that they were made with
    monkeypatch.setattr(systems, "SILENCE", 0.1)
    server.stalls.set()
    assert "the server does not answer" in str(failure(server))
    HTTPFileSystem.clear_instance_cache()


def test_folders_are_not_listed() -> None:
    with pytest.raises(FileError, match="HTTP lists no folders"):
        systems.files_below("http://127.0.0.1:1/folder/")


def test_a_host_that_is_not_there_is_said() -> None:
    with pytest.raises(FileError, match=r"there is no such host"):
        serialpack.inspect("http://nobody.invalid/a.json")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(FileError, match="connection refused"):
            serialpack.inspect(f"http://127.0.0.1:{port}/a.json")


@pytest.mark.parametrize("what", ["ranges", "sizes"])
def test_a_server_without_ranges_is_read_through(
    server: FileServer, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And that is said, once. What needs a place in it is refused in one line."""
    setattr(server, what, False)
    url = server.url("records.spk")
    assert unpacked(url) == RECORDS
    assert serialpack.inspect(url).members[0].records == 20_000
    assert unpacked(url, record_range=(5, 6)) == RECORDS.splitlines(keepends=True)[5]
    assert caplog.text.count("no parts of it") == 1
    with pytest.raises(serialpack.UsageError, match="cannot be sought"):
        serialpack.open(url)


def test_what_answers_the_first_look_is_read_on(server: FileServer, packed: bytes) -> None:
    """Of a server without ranges: one transfer, where the answer was dropped and asked for anew."""
    server.ranges = False
    assert unpacked(server.url("records.spk")) == RECORDS
    assert cost(server) == (2, len(packed))  # HEAD and GET


def test_a_server_that_stops_giving_parts_is_said(server: FileServer) -> None:
    with serialpack.open(server.url("records.spk")) as records:
        server.ranges = False
        with pytest.raises(FileError, match="cannot read: the server gives no parts of it"):
            records[10_000]


def test_a_stream_that_breaks_is_no_end(server: FileServer) -> None:
    """What is read through is not tried again in its middle: the rest would be taken for all."""
    server.ranges = False
    server.cuts = [1 << 20, 300_000]
    with pytest.raises(serialpack.SerialpackError):
        serialpack.pack(server.url("records.ndjson"), io.BytesIO())


@pytest.mark.parametrize("tagged", [True, False])
def test_a_file_that_changes_between_requests_is_refused(server: FileServer, tagged: bool) -> None:
    """By its ETag or its time with the next request, by anything when it was read."""
    server.files["big.ndjson"] = RECORDS * 4
    if not tagged:
        server.tag = '"same"'

    def change() -> None:
        if len(server.gets) == 1:
            server.files["big.ndjson"] = RECORDS * 3 + RECORDS[::-1]
        if not tagged:
            server.times = len(server.gets) < 1

    server.on_get = change
    with pytest.raises(FileError, match="changed while it was read"):
        serialpack.pack(server.url("big.ndjson"), io.BytesIO())


def test_a_container_that_changes_is_damaged_or_refused(server: FileServer, packed: bytes) -> None:
    with serialpack.open(server.url("records.spk")) as records:
        assert records[0]["id"] == 0
        server.files["records.spk"] = packed[: len(packed) // 2] + bytes(len(packed) // 2)
        with pytest.raises((FileError, DamagedError)):
            list(records)
