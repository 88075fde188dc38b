"""Far files in buckets: a server that speaks S3 (moto), asked by s3fs."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import pytest

import serialpack
from serialpack.errors import ExistingFileError, FileError, MissingFileError
from serialpack.far import upload
from tests.cli.conftest import Run, environment
from tests.cli.conftest import run as run
from tests.far.conftest import RECORDS, BrokenSource
from tests.far.server import wait_until

s3fs = pytest.importorskip("s3fs", reason="the extra remote is not installed")
moto_server = pytest.importorskip("moto.server", reason="moto is not installed")

pytestmark = pytest.mark.xdist_group("s3")

#: What of the environment leads to the server.
_KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}


class Bucket(NamedTuple):
    """A bucket ``s3://far``: its server's address, and each request: method, path, its range."""

    environment: dict[str, str]
    asked: list[tuple[str, str, str | None]]
    sent: list[int]
    fs: Any
    before: list[Callable[[dict[str, Any]], object]]

    def uploads(self) -> list[Any]:
        """Those that were begun, and neither ended nor given up."""
        found: dict[str, Any] = self.fs.call_s3("list_multipart_uploads", Bucket="far")
        return list(found.get("Uploads", []))

    def put(self, name: str, data: bytes) -> str:
        self.fs.pipe_file(f"far/{name}", data)
        self.asked.clear()
        self.sent.clear()
        return f"s3://far/{name}"

    def get(self, name: str) -> bytes:
        found: bytes = self.fs.cat_file(f"far/{name}")
        return found


@pytest.fixture(scope="module")
def _server() -> Iterator[tuple[dict[str, str], Bucket]]:
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    asked: list[tuple[str, str, str | None]] = []
    sent: list[int] = []
    before: list[Callable[[dict[str, Any]], object]] = []
    app = server._server.app

    def counted(environ: dict[str, Any], start: Any) -> Any:
        asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE")))
        for call in before:
            call(environ)
        for piece in app(environ, start):
            if environ["REQUEST_METHOD"] == "GET":
                sent.append(len(piece))
            yield piece

    server._server.app = counted
    host, port = server.get_host_and_port()
    variables = {**_KEYS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        fs = s3fs.S3FileSystem(skip_instance_cache=True)
        fs.mkdir("far")
        yield variables, Bucket(variables, asked, sent, fs, before)
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture
def bucket(_server: tuple[dict[str, str], Bucket]) -> Iterator[Bucket]:
    _, found = _server
    yield found
    found.before.clear()
    found.asked.clear()
    assert not found.uploads()
    for path in found.fs.find("far"):
        found.fs.rm_file(path)


def test_only_what_is_needed_is_read(bucket: Bucket, packed: bytes) -> None:
    url = bucket.put("records.spk", packed)
    assert serialpack.inspect(url).members[0].records == 20_000
    assert [(method, part is None) for method, _, part in bucket.asked] == [
        ("HEAD", True), ("GET", False), ("GET", False),
    ]  # fmt: skip
    assert sum(bucket.sent) == 2 * (64 << 10)
    with serialpack.open(url) as records:
        assert records[12_000]["id"] == 12_000
    assert len(bucket.asked) <= 3 + 5
    assert sum(bucket.sent) < 8 * (64 << 10) < len(packed)


def test_there_and_back(bucket: Bucket) -> None:
    """A small output is one request, and there at once."""
    url = bucket.put("records.ndjson", RECORDS)
    serialpack.pack(url, url + ".spk")
    assert [each for each in bucket.asked if each[0] in ("PUT", "POST")] == [
        ("PUT", "/far/records.ndjson.spk", None)
    ]
    target = io.BytesIO()
    serialpack.unpack(url + ".spk", target)
    assert target.getvalue() == RECORDS
    with pytest.raises(ExistingFileError):
        serialpack.pack(url, url + ".spk")
    serialpack.pack(url, url + ".spk", force=True)
    with pytest.raises(FileError, match="is the input itself"):
        serialpack.pack(url, url, force=True)


def test_a_large_output_is_sent_in_parts(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "_PART", 5 << 20)
    source = io.BytesIO(bytes(12 << 20))
    serialpack.pack(source, "s3://far/large.spk", codec="none", serializer="raw")
    posts = [each for each in bucket.asked if each[0] in ("PUT", "POST")]
    assert [method for method, _, _ in posts] == ["POST", "PUT", "PUT", "POST"]
    target = io.BytesIO()
    serialpack.unpack("s3://far/large.spk", target)
    assert target.getvalue() == bytes(12 << 20)


def test_what_fails_leaves_nothing(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the parts that were sent."""
    monkeypatch.setattr(upload, "_PART", 5 << 20)
    seen: list[int] = []

    def fails() -> bool:
        begun = any("uploadId" in str(query) for query in queries)
        if begun:
            seen.append(len(bucket.uploads()))
        return begun

    queries: list[str] = []
    bucket.before.append(lambda environ: queries.append(environ["QUERY_STRING"]))
    with pytest.raises(FileError, match="the source is gone"):
        serialpack.pack(BrokenSource(fails), "s3://far/broken.spk", codec="none", serializer="raw")  # type: ignore[arg-type]
    assert seen == [1]
    assert not bucket.uploads()
    assert not bucket.fs.exists("far/broken.spk")


def test_another_that_came_first_stays(bucket: Bucket) -> None:
    """Made between the look and the end: S3 itself refuses the second."""

    def first(environ: dict[str, Any]) -> None:
        if environ["REQUEST_METHOD"] == "PUT" and not done:
            done.append(True)
            theirs = f"{bucket.environment['AWS_ENDPOINT_URL']}/far/a.spk"
            urlopen(
                Request(
                    theirs, b"theirs", {"Content-Type": "application/octet-stream"}, method="PUT"
                ),
                timeout=10,
            ).close()

    done: list[bool] = []
    bucket.before.append(first)
    with pytest.raises(ExistingFileError):
        serialpack.pack(io.BytesIO(RECORDS[:1000]), "s3://far/a.spk")
    assert bucket.get("a.spk") == b"theirs"


def test_ctrl_c_leaves_nothing(bucket: Bucket, tmp_path: Path) -> None:
    """In the middle of an upload, whose parts are given up."""
    command = [
        sys.executable, "-m", "serialpack", "pack", "-s", "raw", "-c", "none", "-", "-o",
        "s3://far/endless.spk",
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, **bucket.environment),
    )
    assert process.stdin is not None
    process.stdin.write(bytes(40 << 20))
    process.stdin.flush()
    wait_until(lambda: len(bucket.uploads()) == 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said) == (130, b"")
    assert not bucket.fs.exists("far/endless.spk")


def test_no_such_bucket_and_key_are_said(bucket: Bucket) -> None:
    bucket.put("a", b"")
    for url in ("s3://far/none.json", "s3://nothing-here/a.json"):
        with pytest.raises(MissingFileError) as caught:
            serialpack.inspect(url)
        assert caught.value.path == url
    with pytest.raises(FileError, match=r"no such|does not exist"):
        serialpack.pack(io.BytesIO(b"[]"), "s3://nothing-here/a.spk")


def test_the_command(bucket: Bucket, run: Run) -> None:
    """Outputs stand beside their sources, in the bucket; --rm and --skip-existing work there."""
    bucket.put("in/a.ndjson", RECORDS[:1000])
    bucket.put("in/b.ndjson", RECORDS[:2000])
    env = bucket.environment
    said = run("pack", "s3://far/in/a.ndjson", "s3://far/in/b.ndjson", "--rm", env=env).stderr
    assert b"s3://far/in/a.ndjson: " in said
    assert sorted(bucket.fs.ls("far/in")) == ["far/in/a.ndjson.spk", "far/in/b.ndjson.spk"]
    bucket.put("out/b.ndjson", b"done before")
    said = run(
        "unpack", "-r", "s3://far/in", "-o", "s3://far/out/", "--skip-existing", env=env
    ).stderr
    assert said.count(b"left as it is") == 1
    assert bucket.get("out/a.ndjson") == RECORDS[:1000]
