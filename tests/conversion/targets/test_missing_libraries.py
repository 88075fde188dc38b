"""What is said where the library that writes a target is not there."""

from __future__ import annotations

import io
import sys

import pytest

import serialpack

#: A target, its library, and the extra that brings it.
_TARGETS = [
    ("parquet", "pyarrow", "arrow"),
    ("arrow", "pyarrow", "arrow"),
    ("avro", "fastavro", "avro"),
    ("bson", "bson", "bson"),
    ("cbor", "cbor2", "cbor"),
    ("toml", "tomli_w", "toml"),
    ("yaml", "yaml", "yaml"),
    ("hdf5", "h5py", "hdf5"),
]


@pytest.mark.parametrize(("target", "library", "extra"), _TARGETS)
def test_it_is_named_with_what_it_writes(
    monkeypatch: pytest.MonkeyPatch, target: str, library: str, extra: str
) -> None:
    """It spoke of a serializer, or said that a file of text is not readable."""
    monkeypatch.setattr("serialpack.stages.stage._installed", set())  # what was found before
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(serialpack.MissingLibraryError, match=f"{library} is not") as missing:
        serialpack.convert(io.BytesIO(b'[{"a":1}]'), io.BytesIO(), to=target, format="json")
    assert "serializer" not in missing.value.message
    assert "readable" not in missing.value.message
    assert missing.value.hint == f"pip install 'serialpack[{extra}]'"
    assert missing.value.exit_code == 1
