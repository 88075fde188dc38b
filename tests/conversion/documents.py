"""The documents in a file, read by somebody else's library."""

from __future__ import annotations

import csv
import io
import json
import pickle
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest


def documents(data: bytes, name: str) -> list[Any]:
    """The documents in a file, read by somebody else's library."""
    readers: dict[str, Callable[[bytes], list[Any]]] = {
        "json": lambda data: [json.loads(data)],
        "ndjson": lambda data: [json.loads(line) for line in data.splitlines()],
        "csv": lambda data: list(csv.DictReader(io.StringIO(data.decode()))),
        "tsv": lambda data: list(csv.DictReader(io.StringIO(data.decode()), delimiter="\t")),
        "toml": lambda data: [tomllib.loads(data.decode())],
        "msgpack": _read_msgpack,
        "cbor": _read_cbor,
        "yaml": _read_yaml,
        "bson": lambda data: pytest.importorskip("bson").decode_all(data),
        "avro": lambda data: list(pytest.importorskip("fastavro").reader(io.BytesIO(data))),
        "parquet": lambda data: _pyarrow("parquet").read_table(io.BytesIO(data)).to_pylist(),
        "arrow": lambda data: _pyarrow("ipc").open_file(io.BytesIO(data)).read_all().to_pylist(),
        "pickle": _read_pickles,
        "sqlite": _read_database,
        "npy": _read_array,
    }
    return readers[name](data)


def _read_database(data: bytes) -> list[Any]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(data)
        connection.row_factory = sqlite3.Row
        return list(map(dict, connection.execute("SELECT * FROM data")))


def _read_array(data: bytes) -> list[Any]:
    import numpy as np

    array = np.load(io.BytesIO(data))
    names = array.dtype.names
    return [dict(zip(names, row, strict=True)) if names else row for row in array.tolist()]


def _pyarrow(module: str) -> Any:
    return pytest.importorskip(f"pyarrow.{module}")


def _read_msgpack(data: bytes) -> list[Any]:
    import msgpack

    return list(msgpack.Unpacker(io.BytesIO(data)))


def _read_cbor(data: bytes) -> list[Any]:
    file = io.BytesIO(data)
    decoder = pytest.importorskip("cbor2").CBORDecoder(file)
    found = []
    while file.tell() < len(data):
        found.append(decoder.decode())
    return found


def _read_yaml(data: bytes) -> list[Any]:
    return list(pytest.importorskip("yaml").safe_load_all(data))


def _read_pickles(data: bytes) -> list[Any]:
    file, found = io.BytesIO(data), []
    while file.tell() < len(data):
        found.append(pickle.load(file))
    return found


def as_plain(value: Any) -> Any:
    """An array, or a scalar of NumPy's, as what NumPy itself has for Python."""
    import numpy as np

    if isinstance(value, dict):
        return {key: as_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(map(as_plain, value))
    if isinstance(value, np.datetime64) and type(value.tolist()) is int:
        return value  # in nanoseconds, of which Python has no time
    return value.tolist() if hasattr(value, "tolist") else value
