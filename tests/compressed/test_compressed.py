"""Compressed sources: what is in them comes out, or one error with the place."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard

from serialpack import convert, pack
from serialpack.compressed.source import decompressed
from serialpack.errors import (
    DamagedError,
    FileError,
    InputError,
    MissingLibraryError,
    TruncatedError,
    UnsupportedError,
)
from serialpack.files.source import Source
from tests.pipeline.damage import flipped

DATA = b"".join(b'{"id": %d, "name": "n%d"}\n' % (n, n * n) for n in range(40))

Compress = Callable[[bytes], bytes]


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def _zstd_streamed(data: bytes) -> bytes:
    """Without the size of its content, in many blocks."""
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    parts = [compressor.compress(data[i : i + 100]) for i in range(0, len(data), 100)]
    blocks = [compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)]
    return b"".join([*parts, *blocks, compressor.flush()])


def _lz4(data: bytes) -> bytes:
    lz4 = pytest.importorskip("lz4.frame")
    compressed: bytes = lz4.compress(data, content_checksum=True)
    return compressed


COMPRESS: dict[str, Compress] = {
    "gz": lambda data: gzip.compress(data, mtime=1),
    "zst": _zstd,
    "zstd": _zstd_streamed,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "lz4": _lz4,
}

every = pytest.mark.parametrize("extension", COMPRESS)


def read(data: bytes, name: str = "data.json", size: int = 1000) -> bytes:
    """All that ``data`` restores to, read piece by piece."""
    source = decompressed(Source(io.BytesIO(data), name))
    return b"".join(iter(lambda: source.read(size), b""))


@every
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_what_is_in_it(extension: str, size: int) -> None:
    assert read(COMPRESS[extension](DATA), size=size) == DATA


@every
def test_nothing_in_it(extension: str) -> None:
    packed = COMPRESS[extension](b"")
    assert packed
    assert read(packed) == b""


@every
@pytest.mark.parametrize("named", [True, False])
def test_source(extension: str, named: bool, tmp_path: Path) -> None:
    """It is used as the source that it was: path and stat stay, the name is that of the data."""
    path = tmp_path / (f"a.b.json.{extension.upper()}" if named else "a.b.json")
    path.write_bytes(COMPRESS[extension](DATA))
    with Source(path) as file:
        source = decompressed(file)
        assert source.name == "a.b.json"
        assert source.path == str(path)
        assert source.stat is not None
        assert os.path.samestat(source.stat, path.stat())
        assert source.size is None
        assert not source.seekable()
        assert source.peek(10) == DATA[:10]
        assert source.peek(20) == DATA[:20]
        view = memoryview(bytearray(len(DATA) + 5))
        assert source.read_into(view) == len(DATA)
        assert view[: len(DATA)] == DATA
        assert source.read(1) == b""
        again = source.again()
        assert again is not None
        with again:
            assert again.read(len(DATA) + 1) == DATA
        source.check_unchanged()
        with path.open("ab") as more:
            more.write(b"x")
        with pytest.raises(FileError, match="changed while it was read"):
            source.check_unchanged()
        source.close()
        assert file.file.closed


@pytest.mark.parametrize("data", [b"", b"{", b"[1]\n", b"\x1f", b"BZ,1\n", b"(\xb5/", b"PM*\x18"])
def test_not_compressed(data: bytes) -> None:
    """Any other source is left alone, with what was read of it to be read."""
    source = Source(io.BytesIO(data), "data.json")
    assert decompressed(source) is source
    assert source.read(100) == data


@pytest.mark.parametrize("codec", ["zstd", "zlib"])
def test_containers_are_not_undone(codec: str) -> None:
    """Those of serialpack are zstd frames, too."""
    file = io.BytesIO()
    pack(io.BytesIO(DATA), file, codec=codec)
    file.seek(0)
    source = Source(file, "data.json.zst")
    assert decompressed(source) is source


def test_undone_once() -> None:
    inner = gzip.compress(DATA)
    assert read(gzip.compress(inner), "data.json.gz") == inner


@every
def test_several_members(extension: str) -> None:
    compress = COMPRESS[extension]
    members = [compress(DATA[:100]), compress(b""), compress(DATA[100:])]
    assert read(b"".join(members)) == DATA


@pytest.mark.parametrize("extension", ["gz", "zst", "bz2", "lz4"])
def test_many_short_members(extension: str) -> None:
    """They are read one by one, and so large that reading ahead goes beyond many of them."""
    packed = COMPRESS[extension](b"ab")
    assert read(packed * 20_000, size=1 << 20) == b"ab" * 20_000


@pytest.mark.parametrize("extension", ["zst", "lz4"])
@pytest.mark.parametrize("length", [0, 4, 100_000])
def test_skippable_frames(extension: str, length: int) -> None:
    """In front (as pzstd writes them), between and behind; both formats have the same."""
    skippable = b"\x5a\x2a\x4d\x18" + length.to_bytes(4, "little") + bytes(length)
    packed = COMPRESS[extension](DATA)
    name = f"data.json.{extension}"
    assert read(packed + skippable + packed + skippable, name) == DATA * 2
    if extension == "zst" or length < 1000:
        assert read(skippable + skippable + packed, name) == DATA
    with pytest.raises(TruncatedError, match="ends too early"):
        read(packed + skippable[:-1], name)


@pytest.mark.parametrize("zeros", [1, 4, 512, 300_000])
def test_zeros_behind(zeros: int) -> None:
    """gzip ignores them, as tapes have them; xz has them in fours; the others have none."""
    for extension, compress in COMPRESS.items():
        packed = compress(DATA)
        padded = packed + bytes(zeros)
        if extension == "gz" or (extension == "xz" and zeros % 4 == 0):
            assert read(padded) == DATA
            assert read(padded + packed) == DATA * 2
        else:
            with pytest.raises(DamagedError) as caught:
                read(padded)
            assert caught.value.start == len(packed)


@every
@pytest.mark.parametrize("rubbish", [b"x", b"rubbish behind the end", b"\0\0\0\0x"])
def test_rubbish_behind(extension: str, rubbish: bytes) -> None:
    packed = COMPRESS[extension](DATA)
    with pytest.raises(DamagedError, match="bytes follow that are no") as caught:
        read(packed + rubbish, size=1 << 20)
    padding = 4 if extension in ("gz", "xz") and rubbish[:1] == b"\0" else 0
    assert caught.value.start == len(packed) + padding


@every
def test_every_truncation(extension: str) -> None:
    """One error that says where the file ends, whatever is left of it."""
    packed = COMPRESS[extension](DATA)
    for end in range(len(packed)):
        with pytest.raises(TruncatedError) as caught:
            read(packed[:end], f"data.json.{extension}")
        assert caught.value.exit_code == 3
        assert caught.value.start == end
        assert caught.value.path == f"data.json.{extension}"
        assert str(caught.value).endswith("data that ends too early; get the file again")


@every
def test_every_truncation_without_a_name(extension: str) -> None:
    """What is too short to be told is the data itself; all else is an error."""
    packed, told = COMPRESS[extension](DATA), 13 if extension == "lzma" else 4
    for end in range(told):
        assert read(packed[:end]) == packed[:end]
    for end in range(told, len(packed)):
        with pytest.raises(TruncatedError):
            read(packed[:end])


@every
def test_bit_flips(extension: str) -> None:
    """Never other data without an error, but of lzma, which has no checksum; no error but ours."""
    packed = COMPRESS[extension](DATA)
    for bit in range(8 * len(packed)):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            data = read(bytes(flipped), f"data.json.{extension}")
        except InputError:
            continue
        assert data == DATA or extension == "lzma", f"bit {bit}"


@every
def test_random_damage(extension: str) -> None:
    random = Random(extension)
    packed = COMPRESS[extension](DATA)
    for _ in range(300):
        at, size = random.randrange(len(packed)), random.randrange(1, 20)
        damaged = packed[:at] + random.randbytes(size) + packed[at + random.randrange(size + 1) :]
        try:
            data = read(damaged, f"data.json.{extension}")
        except InputError:
            continue
        assert data == DATA


@every
def test_error_again(extension: str) -> None:
    """Who goes on reading after an error is not told that all is well."""
    packed = COMPRESS[extension](DATA)
    source = decompressed(Source(io.BytesIO(packed[:-1]), f"data.json.{extension}"))
    for _ in range(2):
        with pytest.raises(TruncatedError):
            while source.read(100):
                pass


@every
def test_name_that_does_not_fit(extension: str) -> None:
    """What is called compressed and is not was damaged at its start, or has a wrong name."""
    with pytest.raises(DamagedError, match="its name says"):
        read(DATA, f"data.json.{extension}")
    if extension != "xz":
        assert read(lzma.compress(DATA), f"data.json.{extension}") == DATA


def test_checksum() -> None:
    packed = bytearray(gzip.compress(DATA))
    packed[-8] ^= 1
    with pytest.raises(DamagedError, match="incorrect data check") as caught:
        read(bytes(packed) * 2)
    assert (caught.value.start, caught.value.end) == (0, len(packed) * 2)
    packed[-8] ^= 1
    packed[-1] ^= 1
    with pytest.raises(DamagedError, match="incorrect length check"):
        read(bytes(packed))


def test_window_of_zstd_that_is_too_large() -> None:
    """As zstd itself without --long=28."""
    parameters = zstandard.ZstdCompressionParameters(window_log=28, write_content_size=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    with pytest.raises(UnsupportedError, match="memory") as caught:
        read(compressor.compress(DATA) + compressor.flush())
    assert caught.value.exit_code == 3


def test_dictionary_of_xz_that_is_too_large() -> None:
    """512 MiB, said in a header as a larger preset would write it (The .xz File Format, 5.3.1)."""
    packed = bytearray(lzma.compress(DATA))
    header = slice(12, 12 + 4 * (packed[12] + 1) - 4)
    packed[packed.index(b"\x21\x01") + 2] = 34
    packed[header.stop : header.stop + 4] = zlib.crc32(packed[header]).to_bytes(4, "little")
    with pytest.raises(UnsupportedError, match="Memory usage limit"):
        read(bytes(packed))


def test_dictionary_of_zstd() -> None:
    trained = zstandard.train_dictionary(1000, [DATA[i : i + 60] for i in range(900)])
    packed = zstandard.ZstdCompressor(dict_data=trained).compress(DATA)
    with pytest.raises(UnsupportedError, match=r"[Dd]ictionary"):
        read(packed)


def test_lz4_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = _lz4(DATA)
    # None there makes an import fail as if nothing were found.
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'serialpack\[lz4\]'"):
        read(packed)


TOOLS = {
    "gz": ["gzip", "pigz"],
    "zst": ["zstd", "pzstd"],
    "bz2": ["bzip2"],
    "xz": ["xz"],
    "lzma": ["lzma"],
    "lz4": ["lz4"],
}


@pytest.mark.peers
@pytest.mark.parametrize(
    ("extension", "tool"), [(ext, tool) for ext, tools in TOOLS.items() for tool in tools]
)
@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_what_the_tools_write(extension: str, tool: str, size: int) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool}")
    if extension == "lz4":
        pytest.importorskip("lz4.frame")
    data = (DATA * (size // len(DATA) + 1))[:size]
    for level in ("-1", "-9"):
        done = subprocess.run([tool, level, "-c"], input=data, capture_output=True, check=True)
        assert read(done.stdout, f"data.{extension}", size=1 << 20) == data


#: Peak memory, in KiB, of a new process that reads a compressed file; and how much it read.
_PEAK = """
import sys
from serialpack.compressed.source import decompressed
from serialpack.files.source import Source
def peak():
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("VmHWM")))
with Source(sys.argv[1]) as file:
    source = decompressed(file)
    source.peek(1000)
    before, size = peak(), 0
    while data := source.read(1 << 20):
        size += len(data)
print(size, peak() - before, peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="VmHWM is Linux's")
@every
def test_memory(extension: str, tmp_path: Path) -> None:
    """64 MiB go through in little more than what is read at a time; also of a bomb."""
    path = tmp_path / f"data.json.{extension}"
    path.write_bytes(COMPRESS[extension](bytes(64 << 20)))
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, path], capture_output=True, text=True, check=True
    )
    size, grown, _ = map(int, done.stdout.split())
    assert size == 64 << 20
    assert grown < 12 << 10


def test_what_was_compressed_when_it_was_packed_is_read_through(tmp_path: Path) -> None:
    """As the file itself is: it was said to be no data format."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,x\n2,y\n"))
    pack(path, packed := tmp_path / "a.csv.gz.spk")

    def said(*words: str) -> bytes:
        command = [sys.executable, "-m", "serialpack", *words]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout

    assert said("unpack", "a.csv.gz.spk", "-o", "-") == path.read_bytes()
    assert said("inspect", "--head", "1", "a.csv.gz.spk") == b"a,b\n1,x\n"
    assert said("unpack", "--fields", "b", "a.csv.gz.spk", "-o", "-") == b"b\nx\ny\n"
    said("unpack", "a.csv.gz.spk", "-o", "b.csv")
    said("unpack", "a.csv.gz.spk", "-o", "b.gz")
    said("unpack", "--to", "ndjson", "a.csv.gz.spk", "-o", "b.ndjson")
    assert (tmp_path / "b.csv").read_bytes() == b"a,b\n1,x\n2,y\n"
    assert (tmp_path / "b.gz").read_bytes() == path.read_bytes()
    assert (tmp_path / "b.ndjson").read_bytes() == b'{"a":"1","b":"x"}\n{"a":"2","b":"y"}\n'
    packed.write_bytes(flipped(packed.read_bytes(), -60))
    with pytest.raises(DamagedError):
        convert(packed, io.BytesIO(), to="ndjson")
