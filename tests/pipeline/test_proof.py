"""What a codec writes is undone and compared before it is written, whatever it is."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import serialpack
from serialpack.codecs import zstd
from serialpack.codecs.zlib import Zlib
from serialpack.errors import CodecError
from serialpack.filters.delta import Delta
from serialpack.formats.base import SourceBlock
from serialpack.pipeline.parts import PartPacker
from serialpack.pipeline.timing import Timer
from serialpack.pipeline.writing import Writing
from serialpack.stages.chain import Extent, parse_chain
from serialpack.stages.stage import Buffer
from tests.noise import noise


def flipped(data: Buffer) -> bytes:
    """``data`` with the last bit before zstd's checksum changed."""
    wrong = bytearray(data)
    wrong[-5] ^= 1
    return bytes(wrong)


@pytest.mark.parametrize("source", [b"text " * 1000, noise(5000)], ids=["shrinks", "stored"])
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


def test_a_part_that_no_reader_takes_is_not_written() -> None:
    """In the envelope of zstd no part has a chain of its own; the proof of its bytes sees none."""
    chain, other = parse_chain("raw+zstd:3"), parse_chain("raw+zstd:7")
    data = b"text " * 1000
    extents = Extent(2000, None), Extent(3000, other)
    with pytest.raises(serialpack.SerialpackError, match="no reader takes it"):
        PartPacker(chain, None, 0, verify=True).several(data, extents, 0, Timer())


@pytest.mark.parametrize(
    ("serializer", "verify", "proofs"), [("json", True, 1), ("json", False, 0), ("raw", True, 0)]
)
def test_values_are_proved_where_they_are_to_be(
    serializer: str, verify: bool, proofs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove, proved = Writing.prove, list[SourceBlock]()

    def counted(self: Writing, source: SourceBlock, *args: Any) -> Any:
        proved.append(source)
        return prove(self, source, *args)

    monkeypatch.setattr(Writing, "prove", counted)
    source = io.BytesIO(b'[1, {"a": 2}]')
    serialpack.pack(
        source, io.BytesIO(), format="json", serializer=serializer, verify=verify, threads=1
    )
    assert len(proved) == proofs


def _failing(data: Buffer, size: int) -> bytes:  # noqa: ARG001
    raise CodecError("is not what it wrote")


#: Every way in that packs, and every way that reads.
WRITERS: dict[str, Callable[[], object]] = {
    "pack": lambda: serialpack.pack(io.BytesIO(b"text " * 1000), io.BytesIO(), codec="zlib"),
    "pack_archive": lambda: serialpack.pack_archive(
        {"a": io.BytesIO(b"text " * 1000)}, io.BytesIO(), codec="zlib"
    ),
    "dump": lambda: serialpack.dump(["text"] * 1000, io.BytesIO(), "json+zlib"),
    "dumps": lambda: serialpack.dumps(["text"] * 1000, "json+zlib"),
    "dumps, larger": lambda: serialpack.dumps(["text"] * 100_000, "json+zlib"),
}
READERS: dict[str, Callable[[bytes], object]] = {
    "unpack": lambda data: serialpack.unpack(io.BytesIO(data), io.BytesIO()),
    "records": lambda data: serialpack.unpack(io.BytesIO(data), io.BytesIO(), record_range=(1, 2)),
    "bytes": lambda data: serialpack.unpack(io.BytesIO(data), io.BytesIO(), byte_range=(1, 2)),
    "convert": lambda data: serialpack.convert(io.BytesIO(data), io.BytesIO(), to="json"),
    "open": lambda data: serialpack.open(io.BytesIO(data))[0],
    "fields": lambda data: serialpack.open(io.BytesIO(data)).fields("a"),
}


@pytest.mark.parametrize("way", WRITERS)
def test_a_codec_that_does_not_read_what_it_wrote(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Zlib, "decompress", staticmethod(_failing))
    with pytest.raises(
        serialpack.SerialpackError, match=r"did not give back .*is not what it wrote"
    ):
        WRITERS[way]()


def _other(data: Buffer, size: int) -> bytes:
    """Something else than what was compressed, of the same size."""
    restored = zlib.decompress(data)
    assert len(restored) == size
    return restored[:-1] + bytes([restored[-1] ^ 1])


def _longer(data: Buffer, size: int) -> bytes:  # noqa: ARG001
    return zlib.decompress(data) + b"x"


@pytest.mark.parametrize("wrong", [_other, _longer])
@pytest.mark.parametrize("way", WRITERS)
def test_a_codec_that_gives_other_bytes_and_no_error(
    way: str, wrong: Callable[[Buffer, int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are compared with those that it was given: most codecs check nothing themselves."""
    monkeypatch.setattr(Zlib, "decompress", staticmethod(wrong))
    with pytest.raises(serialpack.SerialpackError, match=r"did not give back .*other bytes came"):
        WRITERS[way]()


def test_a_filter_that_gives_other_bytes_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Delta, "backward", staticmethod(bytes))
    data = io.BytesIO(bytes(range(256)) * 100)
    with pytest.raises(serialpack.SerialpackError, match=r"did not give back .*other bytes came"):
        serialpack.pack(data, io.BytesIO(), filters=["delta:4"], codec="zlib", serializer="raw")


@pytest.mark.parametrize("way", READERS)
def test_a_codec_that_fails_to_read_is_damage(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    lines = b'{"a":1}\n' * 1000
    serialpack.pack(io.BytesIO(lines), out, serializer="raw", format="ndjson", codec="zlib")
    monkeypatch.setattr(Zlib, "decompress", staticmethod(_failing))
    with pytest.raises(serialpack.DamagedError, match="is not what it wrote"):
        READERS[way](out.getvalue())


def test_an_object_whose_codec_fails_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = serialpack.dumps(["text"] * 1000, "json+zlib")
    monkeypatch.setattr(Zlib, "decompress", staticmethod(_failing))
    for read in (serialpack.loads, lambda data: serialpack.inspect(io.BytesIO(data))):
        with pytest.raises(serialpack.DamagedError, match="is not what it wrote"):
            read(packed)
