"""Far files in Google Storage: a small server of the tests' own, asked by gcsfs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import serialpack
from serialpack.errors import ExistingFileError, FileError, ForbiddenFileError, MissingFileError
from serialpack.far import upload
from tests.far.conftest import RECORDS, BrokenSource
from tests.far.gs_server import Storage, gs_server

# gcsfs sends parts as bytes, which aiohttp has an opinion on.
pytestmark = pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")

NOISE = Random(3).randbytes(3 << 20)


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch, packed: bytes) -> Iterator[Storage]:
    # What gcsfs would ask by gRPC, which the server does not speak.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    gcsfs = pytest.importorskip("gcsfs", reason="the extra gs is not installed")
    import fsspec

    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
    monkeypatch.setattr(upload, "_PART", 1 << 20)
    with gs_server() as found:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", found.address)
        found.files = {"records.ndjson": RECORDS[:100_000], "records.spk": packed}
        yield found
        assert not found.uploads
    gcsfs.GCSFileSystem.clear_instance_cache()


def test_only_what_is_needed_is_read(storage: Storage, packed: bytes) -> None:
    assert serialpack.inspect("gs://far/records.spk").members[0].records == 20_000
    assert sum(sent for *_, sent in storage.asked) == 2 * (64 << 10)
    with serialpack.open("gs://far/records.spk") as records:
        assert records[12_000]["id"] == 12_000
    assert sum(sent for *_, sent in storage.asked) < 8 * (64 << 10) < len(packed)


def test_there_and_back(storage: Storage) -> None:
    """A small output is one request, and there at once."""
    url = "gs://far/records.ndjson"
    serialpack.pack(url, url + ".spk")
    posts = [path for method, path, _ in storage.asked if method != "GET"]
    assert len(posts) == 1
    assert "ifGenerationMatch=0" in posts[0]
    target = io.BytesIO()
    serialpack.unpack(url + ".spk", target)
    assert target.getvalue() == storage.files["records.ndjson"]
    with pytest.raises(ExistingFileError):
        serialpack.pack(url, url + ".spk")
    serialpack.pack(url, url + ".spk", force=True)


def test_a_large_output_is_sent_in_parts(storage: Storage) -> None:
    seen: list[list[str]] = []
    storage.before_end = lambda: seen.append([*storage.files])
    serialpack.pack(io.BytesIO(NOISE), "gs://far/large.spk", serializer="raw", codec="none")
    assert [method for method, path, _ in storage.asked if method != "GET"] == ["POST"] * 3
    assert seen == [["records.ndjson", "records.spk"]]
    target = io.BytesIO()
    serialpack.unpack("gs://far/large.spk", target)
    assert target.getvalue() == NOISE


def test_what_fails_leaves_nothing(storage: Storage) -> None:
    """The upload is cancelled."""
    broken = BrokenSource(lambda: storage.uploads)
    with pytest.raises(FileError, match="the source is gone"):
        serialpack.pack(broken, "gs://far/broken.spk", codec="none", serializer="raw")  # type: ignore[arg-type]
    assert storage.cancelled == 1
    assert "broken.spk" not in storage.files


@pytest.mark.parametrize("data", [NOISE, NOISE[:1000]])
def test_another_that_came_first_stays(storage: Storage, data: bytes) -> None:
    storage.before_end = lambda: storage.files.setdefault("a.spk", b"theirs")
    with pytest.raises(ExistingFileError, match="it exists already"):
        serialpack.pack(io.BytesIO(data), "gs://far/a.spk", serializer="raw", codec="none")
    assert storage.files["a.spk"] == b"theirs"


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (403, ForbiddenFileError, "forbidden"),
        (401, ForbiddenFileError, "the server answers 401"),
        (410, MissingFileError, "the server answers 410"),
    ],
)
def test_what_the_server_refuses_is_said(
    storage: Storage, status: int, kind: type[FileError], words: str, capfd: Any
) -> None:
    storage.statuses = [status] * 9
    with pytest.raises(kind, match=words) as caught:
        serialpack.inspect("gs://far/records.spk")
    assert caught.value.path == "gs://far/records.spk"
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("storage")
def test_no_such_bucket_and_file_are_said() -> None:
    for url in ("gs://far/none.json", "gs://nothing/a.json"):
        with pytest.raises(MissingFileError, match="no such file"):
            serialpack.inspect(url)
    with pytest.raises(MissingFileError):
        serialpack.pack(io.BytesIO(b"[]"), "gs://nothing/a.spk")


def test_a_passing_trouble_is_tried_again(storage: Storage) -> None:
    storage.statuses = [503]  # gcsfs waits for about a second
    assert serialpack.inspect("gs://far/records.spk").members[0].records == 20_000
