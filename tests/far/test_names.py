"""What a URL is, what is shown of it, and what is named after it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import serialpack
from serialpack.cli.naming import converted_name, packed_name, unpacked_name
from serialpack.far import is_far
from serialpack.far.urls import address, base_name, shown
from serialpack.files.folders import FarWalk
from serialpack.files.paths import entry_path
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.far.server import FileServer
from tests.test_imports import _MAIN, loaded


@pytest.mark.parametrize(
    ("path", "far"),
    [
        ("s3://b/x", True),
        ("simplecache::s3://b/x", True),
        ("svn+ssh://b/x", True),
        ("./s3://b/x", False),
        ("C://b", False),
        ("a b://c", False),
        ("://", False),
        ("x", False),
        (b"s3://b/x", False),
    ],
)
def test_a_scheme_makes_a_url(path: object, far: bool) -> None:
    assert is_far(path) is far


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("sftp://me:secret@host:22/a", "sftp://host:22/a"),
        ("https://secret@host/a@b.json", "https://host/a@b.json"),
        ("https://me:sec@ret@host/a", "https://host/a"),
        ("zip://a@b::https://me:secret@host/b.zip", "zip://a@b::https://host/b.zip"),
        ("https://h/a?v=1&X-Amz-Signature=secret", "https://h/a?v=1&X-Amz-Signature=..."),
        ("https://h/a?sig=secret&v=1#x", "https://h/a?sig=...&v=1#x"),
        ("s3://bucket/a@b?c", "s3://bucket/a@b?c"),
    ],
)
def test_no_password_is_shown(url: str, safe: str) -> None:
    """And who opens it still knows it, also for what stands beside it."""
    assert shown(url) == shown(safe) == safe
    assert address(safe) == url
    if "?" not in url and "::" not in url:
        assert address(safe + ".spk") == url + ".spk"


@pytest.mark.parametrize(
    ("url", "packed", "converted"),
    [
        ("s3://b/in/x.json", "s3://b/in/x.json.spk", "s3://b/in/x.csv"),
        ("https://h/in/x%20y.json?v=1#z", "x y.json.spk", "x y.csv"),
        ("zip://in/x.json::s3://b/y.zip", "x.json.spk", "x.csv"),
        ("https://h/..%2F..%2Fx.json", "x.json.spk", "x.csv"),
    ],
)
def test_outputs_stand_beside_what_can_be_written(url: str, packed: str, converted: str) -> None:
    assert packed_name(url) == packed
    assert converted_name(url, "csv", stored=False) == converted
    assert unpacked_name(packed, stored=False) == packed.removesuffix(".spk")


@pytest.mark.parametrize("url", ["https://h", "https://h/", "https://h/?a=b.json"])
def test_what_has_no_name_needs_one(url: str) -> None:
    with pytest.raises(serialpack.FileError, match="names the output"):
        packed_name(url)
    assert base_name(url) == ""


def test_entries_of_archives_have_no_host() -> None:
    assert entry_path("s3://bucket/in/x.json") == ("in/x.json", "s3://bucket/")


def test_the_library_shows_no_password(server: FileServer) -> None:
    url = f"http://me:secret@{server.host}/records.ndjson"
    target = io.BytesIO()
    report = serialpack.pack(url, target)
    assert "secret" not in f"{report}"
    assert b"secret" not in target.getvalue()
    assert "Basic bWU6c2VjcmV0" in server.authorized
    with pytest.raises(serialpack.FileError) as caught:
        serialpack.pack(url + ".not", io.BytesIO())
    assert "secret" not in f"{caught.value} {caught.value.path}"


def test_the_command_shows_no_password(server: FileServer, run: Run, tmp_path: Path) -> None:
    names = ("records.spk", "none.spk?token=secret")
    urls = [f"http://me:secret@{server.host}/{name}" for name in names]
    done = run("unpack", "-v", "--json", *urls, code=1)
    assert b"secret" not in done.stdout + done.stderr
    first, none = map(json.loads, done.stdout.splitlines())
    assert first["source"] == f"http://{server.host}/records.spk"
    assert "the server answers 404" in none["error"]
    assert (tmp_path / "records").stat().st_size == first["size"]
    done = run("pack", "records", "--rm", "-o", "memory://records.spk", code=2)
    assert b"ends with the command" in done.stderr
    with pytest.raises(serialpack.FileError, match="is only read"):
        serialpack.pack(tmp_path / "records", urls[0])


def test_a_far_folder_is_walked_as_one_on_a_disk() -> None:
    """By name, with globs, and without what is written to."""
    fsspec = pytest.importorskip("fsspec", reason="the extra remote is not installed")
    memory = fsspec.filesystem("memory")
    for name in ("a.json", "b.spk", "low/c.json", "low/d.csv", "out/e.json", "raw/f.json"):
        memory.pipe_file(f"/walked/{name}", b"[]")
    walk = FarWalk(
        "memory://walked",
        include=["*.json", "*.spk"],
        exclude=["raw/"],
        takes=lambda name: not name.endswith(".spk"),
        without=["memory://walked/out/"],
    )
    assert [*walk] == [("memory://walked/a.json", ""), ("memory://walked/low/c.json", "low")]
    assert (walk.not_taken, walk.passed_over) == (1, ["memory://walked/out/"])


def test_an_archive_stays_out_of_far_folders(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]")
    archive = tmp_path / "all.spk"
    serialpack.pack_archive({"a.json": tmp_path / "a.json"}, archive)
    with pytest.raises(serialpack.FileError, match="far folder"):
        serialpack.unpack_archive(archive, "memory://far")


def test_paths_load_nothing_of_it(tmp_path: Path) -> None:
    """And without the extra a URL is one line, with what to install."""
    (tmp_path / "a.json").write_text("[1]")
    _, modules = loaded(_MAIN, "pack", tmp_path / "a.json")
    assert not {"fsspec", "aiohttp", "logging", "serialpack.far.urls"} & modules
    code = (
        "import serialpack\n"
        "    try: serialpack.inspect('s3://a/b')\n"
        "    except serialpack.MissingLibraryError as error: print(error)"
    )
    said, _ = loaded(code, blocked=("fsspec",))
    assert "pip install 'serialpack[remote]'" in said


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [
        ("gs://b/x", "gcsfs", "gs"),
        ("zip://a::sftp://h/x", "fsspec.implementations.sftp", "sftp"),
        ("s3://b/x", "s3fs", "remote"),
    ],
)
def test_what_is_missing_has_an_extra(
    url: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = pytest.importorskip("fsspec.registry", reason="the extra remote is not installed")
    for protocol in (extra, "s3", "ssh", "gcs"):
        monkeypatch.delitem(registry._registry, protocol, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(serialpack.MissingLibraryError) as caught:
        serialpack.inspect(url)
    assert str(caught.value).endswith(f"; pip install 'serialpack[{extra}]'")
    assert "\n" not in str(caught.value)
