"""Servers that take a connection and never answer: one line, in a time that can be set."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import run as run

#: What the manual names for each protocol, in seconds.
SETTINGS = {
    "http": {"client_kwargs": {"timeout": 0.05}},
    "s3": {"config_kwargs": {"read_timeout": 0.05}},
    "sftp": {"timeout": 0.05, "banner_timeout": 0.05},
}


class Silent(NamedTuple):
    host: str
    taken: list[socket.socket]


@pytest.fixture
def silent() -> Iterator[Silent]:
    """A server, and the connections that it took."""
    server = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                taken.append(server.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield Silent(f"127.0.0.1:{server.getsockname()[1]}", taken)
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    for connection in taken:
        connection.close()


@pytest.mark.parametrize(
    ("library", "url", "tries"),
    [
        ("aiohttp", "http://{}/a.spk", 2),  # HEAD and GET
        ("s3fs", "s3://bucket/a.spk", 2),  # as AWS_MAX_ATTEMPTS says
        ("paramiko", "sftp://me:secret@{}/a.spk", 1),
    ],
)
def test_silence_is_one_line(
    silent: Silent, run: Run, library: str, url: str, tries: int, tmp_path: Path
) -> None:
    pytest.importorskip(library, reason="its extra is not installed")
    scheme = url.partition("://")[0]
    variables = {
        "AWS_ENDPOINT_URL": f"http://{silent.host}",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "2",
        f"FSSPEC_{scheme.upper()}": json.dumps(SETTINGS[scheme]),
    }
    done = run("unpack", url.format(silent.host), code=1, env=variables)
    assert done.stderr.count(b"\n") == 1
    assert b"the server does not answer" in done.stderr
    assert len(silent.taken) == tries
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
