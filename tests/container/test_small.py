"""The small form: what is around a message, who reads it, and what damage gets."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import serialpack
from serialpack.container import small
from serialpack.container.small import MOST_WRITTEN, START_SMALL, Small
from serialpack.errors import DamagedError, FileError, SerialpackError, UnsupportedError, UsageError
from tests.fidelity.measure import spellings

MESSAGES = [None, 1, "", {"a": 1}, [1, 2.5, "é"] * 50, {"text": "x" * 5000}]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: repr(m)[:20])
@pytest.mark.parametrize("chain", ["auto", "json", "msgpack+none", "json+delta:1+shuffle:2+xz:1"])
def test_at_most_48_bytes_stand_around_a_message(message: object, chain: str) -> None:
    data = serialpack.dumps(message, chain)
    assert data.startswith(START_SMALL)
    assert serialpack.loads(data) == message
    assert len(data) - len(Small.decode(data).payload) <= 48


@pytest.mark.parametrize("spelling", spellings())
def test_every_serializer_fits(spelling: str) -> None:
    for message in ([{"a": "b"}], {"a": "b"}, "a"):
        try:
            data = serialpack.dumps(message, spelling)
        except SerialpackError:
            continue
        assert serialpack.loads(data, trust=True) == message
        assert data.startswith(START_SMALL)


def test_what_is_large_or_has_meta_is_an_ordinary_container() -> None:
    for data in (
        serialpack.dumps("x" * MOST_WRITTEN, "json"),
        serialpack.dumps("x", "json", meta={"a": "b"}),
    ):
        assert not data.startswith(START_SMALL)
        assert serialpack.inspect(io.BytesIO(data)).members[0].format == "object"


def test_inspect_and_unpack_take_it_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "message.spk"
    data = serialpack.dumps({"a": [1] * 300}, "json+zstd:3")
    path.write_bytes(data)
    (member,) = serialpack.inspect(path).members
    assert (str(member.chain), member.format, member.records) == ("json+zstd:3", "object", 1)
    assert member.packed == len(data)
    assert member.container == len(data) - len(Small.decode(data).payload)
    block = member.blocks[0]
    assert data[block.start : block.end] == Small.decode(data).payload
    serialpack.unpack(path, tmp_path / "message")
    text = b'{"a":[' + b"1," * 299 + b"1]}\n"
    assert (tmp_path / "message").read_bytes() == text
    out = io.BytesIO()
    serialpack.unpack(path, out, byte_range=(2, 5))
    assert out.getvalue() == text[2:5]
    run = [sys.executable, "-m", "serialpack"]
    done = subprocess.run([*run, "unpack", path, "-o", "-"], capture_output=True, check=True)
    assert done.stdout == text
    piped = subprocess.run([*run, "unpack"], input=data, capture_output=True, check=True)
    assert piped.stdout == text
    with pytest.raises(FileError, match="already"):
        serialpack.pack(path, tmp_path / "again.spk")


def test_every_flipped_bit_and_every_truncation_is_refused() -> None:
    data = serialpack.dumps({"a": [1, 2, 3] * 40}, "json")
    for at in range(8 * len(START_SMALL), 8 * len(data)):
        broken = bytearray(data)
        broken[at // 8] ^= 1 << at % 8
        with pytest.raises(DamagedError):
            serialpack.loads(broken)
    for end in range(len(START_SMALL), len(data)):
        with pytest.raises(DamagedError):
            serialpack.loads(data[:end])
    with pytest.raises(DamagedError):
        serialpack.loads(data + data)


SEVERAL = [[[1], [2]], [[0], list(range(50_000)), [3]], [serialpack.dumps([1]), "x", [2]]]


@pytest.mark.parametrize("objects", SEVERAL, ids=["small", "large", "nested"])
@pytest.mark.parametrize("buffering", [None, 0, -1])
def test_several_in_one_file_are_read_one_by_one(
    objects: list[Any], buffering: int | None, tmp_path: Path
) -> None:
    """The first was said to be damaged: the second was taken for the end of it."""
    path = tmp_path / "several"
    path.write_bytes(b"".join(map(serialpack.dumps, objects)))
    data = path.read_bytes()
    with io.BytesIO(data) if buffering is None else path.open("rb", buffering) as file:
        assert [serialpack.load(file) for _ in objects] == objects
        assert file.tell() == len(data)
        with pytest.raises(EOFError):
            serialpack.load(file)


def test_several_are_no_one_file(tmp_path: Path) -> None:
    path = tmp_path / "several"
    path.write_bytes(serialpack.dumps([1]) + serialpack.dumps([2]))
    told = r"holds several that dumps made, one after another, not one object; load\(file\)"
    for read in (serialpack.load, serialpack.inspect, lambda p: serialpack.loads(p.read_bytes())):
        with pytest.raises(DamagedError, match=told):
            read(path)


@pytest.mark.parametrize("hurt", [0, 1, 2])
def test_those_behind_a_damaged_one_are_read(tmp_path: Path, hurt: int) -> None:
    """They were lost with it: to read it took all that was left of the file."""
    objects: list[Any] = [{"n": n, "x": [*range(50)]} for n in range(3)]
    parts = [bytearray(serialpack.dumps(each)) for each in objects]
    parts[hurt][20] ^= 1
    path = tmp_path / "several.spk"
    path.write_bytes(b"".join(parts))
    with path.open("rb") as file:
        for number, obj in enumerate(objects):
            if number == hurt:
                said = f"bytes 0-{len(parts[hurt])}: the checksum does not match"
                with pytest.raises(DamagedError, match=said):
                    serialpack.load(file)
            else:
                assert serialpack.load(file) == obj
            assert file.tell() == sum(map(len, parts[: number + 1]))


def test_that_there_are_several_is_said_to_who_salvages(tmp_path: Path) -> None:
    """That nothing of them is whole was said; and of a damaged one, nothing of those behind it."""
    path, one = tmp_path / "several.spk", serialpack.dumps([1])
    path.write_bytes(one * 2)
    with pytest.raises(DamagedError, match=r"holds several that dumps made.*; load\(file\)"):
        serialpack.unpack(path, tmp_path / "out", salvage=True)
    path.write_bytes(bytes([*one[:-1], one[-1] ^ 1]) + one)
    for salvage in (False, True):
        with pytest.raises(DamagedError, match=r"does not match; load\(file\).* behind it"):
            serialpack.unpack(path, tmp_path / "out", salvage=salvage)
    path.write_bytes(bytes([*one[:-1], one[-1] ^ 1]))
    with pytest.raises(DamagedError, match="nothing to salvage"):
        serialpack.unpack(path, tmp_path / "out", salvage=True)


def test_of_several_in_a_pipe_none_is_read() -> None:
    """The others would be lost with what was read of them."""
    out, into = os.pipe()
    with os.fdopen(out, "rb") as file, os.fdopen(into, "wb") as writer:
        writer.write(serialpack.dumps([1]) + serialpack.dumps([2]))
        writer.close()
        with pytest.raises(UsageError, match=r"; dump\(obj, file\) writes what"):
            serialpack.load(file)


def test_another_thread_may_read_a_new_kind_of_message_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """RuntimeError once: what is known of messages was changed while it was looked through."""
    first, second = serialpack.dumps([1], "json"), serialpack.dumps([1], "msgpack")
    other = serialpack.dumps([1], "json+zlib:9")
    serialpack.loads(first)
    serialpack.loads(second)
    looked = small._number_at

    def interrupted(*_: Any) -> None:
        monkeypatch.setattr(small, "_number_at", looked)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(serialpack.loads, other).result() == [1]

    known = {
        length: {head: said for head, said in heads.items() if not other.startswith(head)}
        for length, heads in small._known.items()
    }
    monkeypatch.setattr(small, "_known", known)
    monkeypatch.setattr(small, "_number_at", interrupted)
    assert serialpack.loads(first) == [1]


def _small(**changes: Any) -> bytes:
    said = Small(((33,), (0,)), 0, 5, {}, b"[1,2]")
    return said._replace(**changes).encode()


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (_small(size=4), DamagedError),
        (_small(size=1 << 40), DamagedError),
        (_small(size=-1), DamagedError),
        (_small(flags=4), DamagedError),
        (_small(flags=-1), DamagedError),
        (_small(flags="a"), DamagedError),
        (_small(chain=((33,),)), UnsupportedError),
        (_small(chain=((33,), (63,))), UnsupportedError),
        (_small(chain=((31,), (0,))), UnsupportedError),
        (_small(chain=((33,), (1, 99))), UnsupportedError),
        (_small(chain=((33,), (1, 3))), DamagedError),
        (_small(settings=[1]), DamagedError),
        (_small(payload=b"[1,2"), DamagedError),
    ],
)
def test_lies_are_refused(data: bytes, error: type[Exception]) -> None:
    assert serialpack.loads(_small()) == [1, 2]
    with pytest.raises(error):
        serialpack.loads(data)
    with pytest.raises(error):
        serialpack.inspect(io.BytesIO(data))
