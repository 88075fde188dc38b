"""A file of no bytes: no records, or not valid, which says that there is nothing in it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import serialpack
from serialpack.errors import InputError

_NEEDS = {"avro": "fastavro", "parquet": "pyarrow", "arrow": "pyarrow", "hdf5": "h5py"}


@pytest.mark.parametrize("name", ["json", "xml", "avro", "parquet", "arrow", "npy", "npz", "hdf5"])
@pytest.mark.parametrize("to", ["ndjson", "npz"])
@pytest.mark.parametrize("from_path", [False, True])
def test_what_must_not_be_empty_is_called_empty(
    name: str, to: str, from_path: bool, tmp_path: Path
) -> None:
    """It was said not to begin as such a file does, or to end too early."""
    pytest.importorskip(_NEEDS.get(name, "json"))
    path = tmp_path / "empty"
    path.write_bytes(b"")
    source = path if from_path else io.BytesIO()
    with pytest.raises(InputError, match="there is nothing in it"):
        serialpack.convert(source, io.BytesIO(), format=name, to=to)


@pytest.mark.parametrize("name", ["ndjson", "csv", "yaml", "msgpack", "cbor", "bson"])
def test_records_may_be_none(name: str) -> None:
    out = io.BytesIO()
    serialpack.convert(io.BytesIO(), out, format=name, to="json")
    assert out.getvalue() == b"[]\n"
