"""What other libraries say in words alone, and is matched here: they still say it.

A new version with other words fails here by name, and not where a hint is no longer given. Where a
library has a class, an attribute or a number for it, that is asked instead.
"""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import sqlite3
import sys
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from serialpack.depth import says_depth
from serialpack.far import trouble
from serialpack.formats.arrays import zipped
from serialpack.formats.bson import bson as bson_format
from serialpack.formats.cbor import cbor
from serialpack.formats.json import parse
from serialpack.formats.sqlite import database
from serialpack.formats.toml import read as toml
from serialpack.inspection import tar_zip


def error_of(call: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 (of which class is the library's to say)
        call()
    return raised.value


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("module", "write"), [("msgpack", "packb"), ("orjson", "dumps"), ("ormsgpack", "packb")]
)
def test_levels(module: str, write: str) -> None:
    library = pytest.importorskip(module)
    assert says_depth(error_of(lambda: getattr(library, write)(nested(2000))))


@pytest.mark.parametrize(("text", "place"), [("a = 1\nb = ?", ("2", "5")), ("a = ", (None, None))])
def test_the_place_in_toml(text: str, place: tuple[str | None, str | None]) -> None:
    found = toml._PLACE.search(str(error_of(lambda: tomllib.loads(text))))
    assert found is not None
    assert found.groups() == place


@pytest.mark.parametrize(
    ("text", "words"),
    [('["\x01"]', parse._CONTROL), ("{a: 1}", parse._NO_KEY), ("[1,]", parse._TRAILING)],
)
def test_what_is_wrong_in_json(text: str, words: str) -> None:
    if words == parse._TRAILING and sys.version_info < (3, 13):
        pytest.skip("Python says it from 3.13 on")
    error = error_of(lambda: json.loads(text))
    assert isinstance(error, json.JSONDecodeError)
    assert words in error.msg


def test_a_key_twice_and_levels_in_cbor() -> None:
    cbor2 = pytest.importorskip("cbor2")
    twice = bytes.fromhex("a2616101616102")  # {"a": 1, "a": 2}
    error = error_of(lambda: cbor2.loads(twice, allow_duplicate_keys=False))
    assert cbor._TWICE.search(str(error.__cause__ or error))
    error = error_of(lambda: cbor2.loads(b"\x81" * 5000 + b"\x80"))
    assert cbor._TOO_DEEP in f"{error} {error.__cause__}"


def test_text_that_is_not_utf8() -> None:
    bson = pytest.importorskip("bson")
    document = bson.encode({"a": "x"}).replace(b"x", b"\xff")
    assert bson_format._NO_UTF8 in str(error_of(lambda: bson.decode(document)))
    with closing(sqlite3.connect(":memory:")) as connection:
        found = error_of(lambda: connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchall())
    assert database._NO_UTF8 in str(found)


def test_what_is_wrong_in_a_zip() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", b"items")
    data = file.getvalue()
    error = error_of(lambda: zipfile.ZipFile(io.BytesIO(data[:20])))
    assert tar_zip._NO_DIRECTORY in str(error)
    with zipfile.ZipFile(io.BytesIO(data.replace(b"items", b"other"))) as archive:
        assert zipped._NAMES_ENTRY in str(error_of(lambda: archive.read("a")))


def test_lmdb_has_the_words_of_the_system(tmp_path: Path) -> None:
    lmdb = pytest.importorskip("lmdb")
    error = error_of(lambda: lmdb.open(str(tmp_path / "none"), readonly=True))
    assert os.strerror(errno.ENOENT) in str(error)


def test_servers_that_forbid_or_are_silent() -> None:
    retry = pytest.importorskip("gcsfs.retry")
    assert str(error_of(lambda: retry.validate_response(403, b"", "a/b"))).startswith(
        trouble._FORBIDDEN
    )
    transport = pytest.importorskip("paramiko.transport")
    client = pytest.importorskip("paramiko.client")
    said = (inspect.getsource(transport) + inspect.getsource(client)).lower()
    assert all(f'"{words}' in said for words in trouble._SILENT_SSH)
