"""Brotli, which has no first bytes of its own and no checksum: only its name says what it is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import serialpack
from serialpack.cli.app import run
from serialpack.compressed.source import compression_of, decompressed
from serialpack.errors import DamagedError, TruncatedError
from serialpack.files.source import Source

brotli = pytest.importorskip("brotli")

DATA = json.dumps([{"id": n, "name": f"n{n * n}"} for n in range(9000)]).encode()
PACKED = brotli.compress(DATA)


def read(data: bytes, size: int = 1000) -> bytes:
    source = decompressed(Source(io.BytesIO(data), "a.json.br"))
    return b"".join(iter(lambda: source.read(size), b""))


@pytest.mark.parametrize("data", [b"", b"a", DATA, bytes(9_000_000), bytes(4 << 20)])
def test_what_is_in_it(data: bytes) -> None:
    assert read(brotli.compress(data), 1 << 20) == data


def test_its_name_alone_tells() -> None:
    assert compression_of(Source(io.BytesIO(PACKED), "a.json")) is None
    assert compression_of(Source(io.BytesIO(PACKED), "a.json.br")) == "brotli"
    assert compression_of(Source(io.BytesIO(b"\x3b"), "a.json.br")) == "brotli"


@pytest.mark.parametrize("rubbish", [b"x", b"rubbish behind its end", PACKED, bytes(200_000)])
def test_bytes_behind_its_end(rubbish: bytes) -> None:
    """The library passes over a few of them."""
    for data in (PACKED, brotli.compress(b"")):
        with pytest.raises(DamagedError, match=r"(no|damaged) brotli data"):
            read(data + rubbish)


def test_a_part_of_it() -> None:
    for end in (0, 1, 3, 4, 100, len(PACKED) - 1):
        with pytest.raises(TruncatedError, match="ends too early"):
            read(PACKED[:end])


def test_what_is_none() -> None:
    with pytest.raises(DamagedError, match="damaged brotli data"):
        read(b'{"plain": "text"}')


def test_it_is_read_and_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json.br").write_bytes(PACKED)
    serialpack.pack(tmp_path / "a.json.br", tmp_path / "a.json.br.spk")
    for name in ("a.json.br", "a.json.br.spk"):
        assert run(["inspect", str(tmp_path / name)]) == 0
        assert "json in brotli" in capfd.readouterr().out
        target = str(tmp_path / "b.msgpack.br")
        assert run(["unpack", "-f", str(tmp_path / name), "-o", target]) == 0
        assert run(["unpack", "--to", "json", target, "-o", "-"]) == 0
        assert json.loads(capfd.readouterr().out) == json.loads(DATA)
    serialpack.unpack(tmp_path / "a.json.br.spk", tmp_path / "c.json.br")
    assert (tmp_path / "c.json.br").read_bytes() == PACKED
