"""What a codec writes is undone and compared before it is written, whatever it is."""

from __future__ import annotations

import io
import os

import pytest

import serialpack
from serialpack.codecs import zstd
from serialpack.stages.stage import Buffer


def flipped(data: Buffer) -> bytes:
    """``data`` with the last bit before zstd's checksum changed."""
    wrong = bytearray(data)
    wrong[-5] ^= 1
    return bytes(wrong)


@pytest.mark.parametrize("source", [b"text " * 1000, os.urandom(5000)], ids=["shrinks", "stored"])
def test_a_wrong_payload_is_caught(source: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of raw blocks is made by us, and proved like any other."""
    compress, stored = zstd.Zstd.compress, zstd.stored_frame
    monkeypatch.setattr(zstd.Zstd, "compress", lambda self, data: flipped(compress(self, data)))
    monkeypatch.setattr(zstd, "stored_frame", lambda data: flipped(stored(data)))
    out = io.BytesIO()
    with pytest.raises(serialpack.SerialpackError, match="did not give back"):
        serialpack.pack(io.BytesIO(source), out)
    serialpack.pack(io.BytesIO(source), out, verify=False)
    with pytest.raises(serialpack.DamagedError):
        serialpack.unpack(io.BytesIO(out.getvalue()), io.BytesIO())
