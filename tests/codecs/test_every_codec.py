"""What every codec in the registry must do. A new one is tested here the day it is added."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator

import pytest

import serialpack.codecs
from serialpack.codecs import CODECS
from serialpack.codecs.base import Codec
from serialpack.errors import CodecError, UsageError

#: In the registry for where the library was built with it; the wheels are not.
DEPENDS_ON_BUILD = {"blosc-snappy"}

TEXT = b"".join(
    b'{"id": %d, "name": "n%d", "tag": "t%d"}\n' % (i, i * 7919, i % 9) for i in range(9000)
)
INPUTS = {
    "empty": b"",
    "one byte": b"x",
    "255 bytes": bytes(range(255)),
    "256 bytes": bytes(range(256)),
    "zeros": bytes(1 << 20),
    "random": random.Random(3).randbytes(1 << 20),
    "text": TEXT,
}


def levels(name: str) -> list[tuple[int, ...]]:
    """The parameters with the first at its lowest, default and highest value."""
    cls = CODECS.cls(name)
    if not cls.params:
        return [()]
    first, *others = cls.params
    rest = tuple(p.default for p in others)
    return [(v, *rest) for v in sorted({first.low, first.default, first.high})]


NAMES = CODECS.names()
CHAINS = [
    pytest.param(name, values, id=name + CODECS.cls(name).spell_params(values))
    for name in NAMES
    for values in levels(name)
]


def create(name: str, values: tuple[int, ...] = ()) -> Codec:
    """The codec, or a skip that says what to install; a missing core library is a failure."""
    cls = CODECS.cls(name)
    install = cls.missing(name)
    if install is not None:
        assert cls.extra is not None or name in DEPENDS_ON_BUILD, f"{name} is core: {install}"
        pytest.skip(f"{name}: {install}")
    return CODECS.create(name, values)


def refuses(codec: Codec, stored: bytes | memoryview, size: int) -> None:
    with pytest.raises(CodecError) as caught:
        codec.decompress(stored, size)
    assert str(caught.value)


@pytest.mark.parametrize("content", INPUTS)
@pytest.mark.parametrize("name", NAMES)
def test_memory_that_is_there_holds_what_was_stored(name: str, content: str) -> None:
    """Or the codec has it elsewhere; nothing around is written to, and no other size taken."""
    codec = create(name)
    data = INPUTS[content]
    stored = codec.compress(data)
    around = bytearray(b"\xaa" * (len(data) + 128))
    room = memoryview(around)[64 : 64 + len(data)]
    assert codec.decompress_into(stored, room) == data
    assert around[:64] == around[-64:] == b"\xaa" * 64
    for size in (len(data) + 1, len(data) - 1):
        if size >= 0:
            with pytest.raises(CodecError):
                codec.decompress_into(stored, memoryview(bytearray(size)))


@pytest.mark.parametrize("content", INPUTS)
@pytest.mark.parametrize("name", NAMES)
def test_pieces_are_the_whole(name: str, content: str) -> None:
    codec = create(name)
    data = INPUTS[content]
    stored = codec.compress(data)
    for told in (False, True):
        if told:
            codec.for_records()
        pieces = list(codec.decompress_pieces(stored, len(data)))
        assert b"".join(bytes(piece) for piece in pieces) == data
    assert codec.decompress(codec.compress(data), len(data)) == data


def small_stored(codec: Codec) -> Iterator[tuple[bytes, bytes]]:
    for data in (b"", b"x", TEXT[:300], bytes(500)):
        yield data, bytes(codec.compress(data))


def test_registry_names_every_codec_in_the_folder() -> None:
    assert NAMES
    for module in pkgutil.iter_modules(serialpack.codecs.__path__, "serialpack.codecs."):
        for name, cls in vars(importlib.import_module(module.name)).items():
            if not inspect.isclass(cls) or cls.__module__ != module.name:
                continue
            if issubclass(cls, Codec) and not inspect.isabstract(cls):
                assert f"{module.name}:{name}" in {entry.where for entry in CODECS}


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is_and_how_it_is_bounded(name: str) -> None:
    cls = CODECS.cls(name)
    assert issubclass(cls, Codec)
    assert cls.about
    assert cls.bound.endswith(".")


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize(("name", "values"), CHAINS)
def test_round_trip(name: str, values: tuple[int, ...], kind: str) -> None:
    data = INPUTS[kind]
    codec = create(name, values)
    stored = codec.compress(data)
    assert bytes(codec.decompress(stored, len(data))) == data
    if len(data) < 1 << 20:
        assert bytes(create(name, values).compress(data)) == bytes(stored), "not deterministic"


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_of_megabytes(name: str) -> None:
    """Longer than any buffer inside a library or a codec, and changing from dull to dense."""
    data = b"".join((TEXT * 8, bytes(3 << 20), INPUTS["random"], TEXT, b"end"))
    values = levels(name)[0]
    codec = create(name, values)
    assert bytes(codec.decompress(codec.compress(data), len(data))) == data


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_buffer(name: str, kind: type) -> None:
    codec = create(name)
    for data in (b"", TEXT[:5000]):
        stored = codec.compress(kind(data))
        assert bytes(codec.decompress(kind(bytes(stored)), len(data))) == data
    inside = memoryview(b"--" + TEXT + b"--")[2:-2]
    stored = b"--" + bytes(codec.compress(inside)) + b"--"
    assert bytes(codec.decompress(memoryview(stored)[2:-2], len(TEXT))) == TEXT


@pytest.mark.parametrize(("name", "values"), CHAINS)
def test_wrong_size_is_refused(name: str, values: tuple[int, ...]) -> None:
    codec = create(name, values)
    for data, stored in small_stored(codec):
        for size in {0, len(data) - 1, len(data) + 1, 2**30, 2**31, 2**32 + len(data), 2**40}:
            if size in (-1, len(data)):
                continue
            tracemalloc.start()
            refuses(codec, stored, size)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 4 << 20, f"took {peak} bytes for a false size of {size}"


@pytest.mark.parametrize("name", NAMES)
def test_truncated_and_trailing_bytes_are_refused(name: str) -> None:
    codec = create(name)
    for data in (b"", b"x", TEXT[:3000], INPUTS["random"][:3000], bytes(3000)):
        stored = bytes(codec.compress(data))
        for end in range(0, len(stored), 7):
            refuses(codec, stored[:end], len(data))
        if stored:
            refuses(codec, stored[:-1], len(data))
        for tail in (b"\0", b"\xff", b"ab", stored, bytes(100)):
            if tail:
                refuses(codec, stored + tail, len(data))


@pytest.mark.parametrize(("name", "values"), CHAINS)
def test_flipped_bits_never_give_another_length(name: str, values: tuple[int, ...]) -> None:
    codec = create(name, values)
    for data, stored in small_stored(codec):
        for bit in range(8 * len(stored)):
            bad = bytearray(stored)
            bad[bit // 8] ^= 1 << bit % 8
            try:
                restored = codec.decompress(bad, len(data))
            except CodecError:
                continue
            assert len(restored) == len(data)
        assert bytes(codec.decompress(stored, len(data))) == data, "an error spoilt the codec"


@pytest.mark.parametrize("name", NAMES)
def test_noise_is_refused_or_gives_the_size(name: str) -> None:
    codec = create(name)
    draw = random.Random(5)
    stored = bytes(codec.compress(TEXT[:2000]))
    for _ in range(300):
        bad = bytearray(stored)
        start = draw.randrange(len(bad))
        bad[start : start + draw.randrange(9)] = draw.randbytes(draw.randrange(9))
        for candidate in (bad, draw.randbytes(draw.randrange(60))):
            with contextlib.suppress(CodecError):
                assert len(codec.decompress(candidate, 2000)) == 2000


BOMB = """
import resource, sys
from serialpack.codecs import CODECS
from serialpack.errors import CodecError
name, *values = sys.argv[1:]
stored = sys.stdin.buffer.read()
codec = CODECS.create(name, tuple(map(int, values)))
codec.decompress(codec.compress(b"warm"), 4)
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (24 << 20), -1))
for size in (0, 1000):
    try:
        codec.decompress(stored, size)
    except CodecError as error:
        print("refused:", error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
@pytest.mark.parametrize("name", NAMES)
def test_bomb_is_refused_in_little_memory(name: str) -> None:
    values = levels(name)[0]
    # The lowest level that compresses at all.
    if name != "none" and values and values[0] == 0:
        values = (1, *values[1:])
    stored = create(name, values).compress(bytes(64 << 20))
    if name == "none":
        stored = bytes(stored)[: 1 << 20]
    child = subprocess.run(
        [sys.executable, "-c", BOMB, name, *map(str, values)],
        input=stored,
        capture_output=True,
        check=False,
    )
    assert [line[:8] for line in child.stdout.splitlines()] == [b"refused:"] * 2, child.stderr


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_spelled_as_they_are_parsed(name: str) -> None:
    cls = CODECS.cls(name)
    assert cls.parse_params(name, "") == tuple(p.default for p in cls.params)
    for at, param in enumerate(cls.params):
        for value in {param.low, param.default, param.high}:
            values = tuple(value if i == at else p.default for i, p in enumerate(cls.params))
            assert cls.check_params(values)
            assert cls.parse_params(name, cls.spell_params(values)) == values


@pytest.mark.parametrize("name", NAMES)
def test_parameters_out_of_range_are_refused(name: str) -> None:
    cls = CODECS.cls(name)
    bad = [":x", "::", "3", ":1:1", "%1"] + ([] if cls.params else [":1"])
    for param in cls.params:
        bad.append(param.mark)
        if not param.words:
            bad.append(param.spell(param.high + 1))
        if param.words:
            bad += [f"{param.mark}{word.upper()}" for word in param.words]
        elif not param.is_size:
            bad.append(param.spell(param.low - 1))
        values = tuple(param.high + 1 if p is param else p.default for p in cls.params)
        assert not cls.check_params(values)
    for text in bad:
        with pytest.raises(UsageError):
            cls.parse_params(name, text)
    assert not cls.check_params((*(p.default for p in cls.params), 1))
