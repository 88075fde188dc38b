"""What the writer makes is read by a second decoder, written from the page alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from lzma import LZMAError
from pathlib import Path
from typing import TypeVar

import pytest
from zstandard import ZstdDecompressor, ZstdError

from serialpack.columns.encodings import NAMES
from serialpack.columns.encodings.choose import attempt, encode_column
from serialpack.columns.parse.shape import split
from serialpack.columns.stored import structure
from serialpack.columns.stored.coding import Context
from serialpack.columns.stored.streams import effort, unzstd
from serialpack.columns.stored.wire import WireReader, varint
from serialpack.columns.stored.write import encode_all
from serialpack.columns.texts import Texts
from tests import golden
from tests.columns import vectors
from tests.columns.decoded import decode_all
from tests.columns.oracle import Cursor, Description, Stream
from tests.columns.oracle_encodings import ENCODINGS
from tests.columns.oracle_texts import read_columns, read_structure
from tests.columns.test_encodings import COLUMNS, FORCED
from tests.columns.test_pack import NAMES as WORDS
from tests.columns.test_pack import records
from tests.columns.test_shape_pack import EDGES, RECORDS, packed
from tests.columns.test_shape_pack import ODD as ODD_VALUES
from tests.golden.make import listed, sources
from tests.spec_decoder import decode

R = random.Random(11)
TEXTS = {
    "json": b"[\n"
    + b",\n".join(
        b'{"id": %d, "tags": [%b], "on": %b, "by": {"%032x": [%d, {}]}, "at": "%s"}'
        % (
            number,
            b", ".join(b'"x"' for _ in range(R.randrange(4))),
            R.choice([b"true", b"false", b"null", b"1.50"]),
            R.getrandbits(128),
            number,
            R.choice(WORDS).encode(),
        )
        for number in range(1500)
    )
    + b"]\n",
    "csv": b"a,b\n"
    + b"".join(b'%d,"%d"\n' % (n, n) if n % 3 else b"%d,%d\r\n" % (n, n) for n in range(500)),
    "tsv": b"".join(b"%d\tx\n\n" % n for n in range(9)),
    "msgpack": b"".join(map(packed, RECORDS[:60])) + b"".join(ODD_VALUES) + EDGES,
}


@pytest.mark.parametrize("level", [1, 3, 9])
@pytest.mark.parametrize("kind", TEXTS)
def test_texts(kind: str, level: int) -> None:
    found = split(TEXTS[kind], kind)
    assert found is not None
    columns = read_columns(encode_all(found.columns, level)).values
    read = read_structure(structure.write(found.shape, level))
    assert read.text(columns) == TEXTS[kind]


@pytest.mark.parametrize("level", [1, 3, 9])
@pytest.mark.parametrize("number", [3, 40, 900])
def test_columns_of_records(number: int, level: int) -> None:
    columns = records(number)
    packed = encode_all(list(map(Texts.from_list, columns.values())), level, list(columns))
    assert read_columns(packed).values == list(columns.values())


def test_columns_in_bundles() -> None:
    columns = [[b"%d" % R.getrandbits(16) for _ in range(at % 5)] for at in range(600)]
    packed = encode_all(list(map(Texts.from_list, columns)))
    assert read_columns(packed).values == columns


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.parametrize("column", COLUMNS)
def test_any_column_in_any_encoding(name: str, column: str) -> None:
    _, values = COLUMNS[column]
    coded = attempt(name, Texts.from_list(values), Context(effort(3), encode_column))
    if coded is None:
        return
    streams = [Stream(each.coder, each.kind, len(each.raw), each.stored) for each in coded.streams]
    description = Description(coded.description, streams, lambda _: [])
    assert description.column(len(values)) == values
    description.end()


def test_all_encodings_are_there() -> None:
    assert {number: name for number, (name, _) in ENCODINGS.items()} == NAMES


#: What the second decoder, and the libraries that it uses, raise.
REFUSED = (ValueError, IndexError, StopIteration, RuntimeError, ZstdError, LZMAError)

T = TypeVar("T")

ODD = [0, 1, 2, 3, 7, 127, 128, 255]


def changed(parts: list[bytes], chance: random.Random) -> list[bytes]:
    """``parts`` with a byte or two of them changed."""
    found = list(map(bytearray, parts))
    for _ in range(chance.randint(1, 2)):
        part = chance.choice([part for part in found if part])
        part[chance.randrange(len(part))] = chance.choice([*ODD, chance.randrange(256)])
    return list(map(bytes, found))


def outcome(read: Callable[..., T], *data: bytes | int) -> T | None:
    """What it gives; None if it refuses."""
    try:
        return read(*data)
    except REFUSED:
        return None


def values_of(data: bytes) -> list[list[bytes]]:
    return [texts.to_list() for texts in decode_all(data)]


@pytest.mark.parametrize("name", [*vectors.COLUMNS, "records"])
def test_both_refuse_the_same_columns(name: str) -> None:
    """And restore the same values of what they take."""
    many = [vectors.LEADERS.get(name, []), vectors.COLUMNS.get(name, [])]
    columns = list(records(25).values()) if name == "records" else many
    packed = encode_all(list(map(Texts.from_list, columns)))
    start = WireReader(packed, 1)
    size, stored = start.varint(1 << 20), start.counted()
    header = stored if len(stored) == size else unzstd(stored, size)
    chance = random.Random(name)
    for _ in range(150):
        head, body = changed([header, packed[start.position :]], chance)
        wrong = packed[:1] + 2 * varint(len(head)) + head + body
        theirs = outcome(read_columns, wrong)
        assert outcome(values_of, wrong) == (theirs and theirs.values)


@pytest.mark.parametrize("kind", TEXTS)
def test_both_refuse_the_same_structures(kind: str) -> None:
    text = TEXTS[kind]
    if kind != "msgpack":
        text = b"".join(text.splitlines(keepends=True)[:60])
    found = split(text, kind)
    assert found is not None
    packed = structure.write(found.shape, 3)
    start = WireReader(packed, 2)
    numbers = [start.varint(1 << 20) for _ in range(3)]
    size, stored = start.varint(1 << 20), start.counted()
    table = stored if len(stored) == size else unzstd(stored, size)
    chance = random.Random(kind)
    taken = 0
    for _ in range(500):
        wrong_table, decisions = changed([table, packed[start.position :]], chance)
        head = packed[:2] + b"".join(map(varint, (*numbers, *[len(wrong_table)] * 2)))
        wrong = head + wrong_table + decisions
        ours = outcome(structure.read, wrong, 4 * len(text))
        theirs = outcome(read_structure, wrong)
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            taken += 1
            assert ours.walk.tolist() == theirs.walk
            assert ours.trailer == theirs.trailer
            assert [tuple(node) for node in ours.nodes] == theirs.nodes
    assert taken > 20


@pytest.mark.parametrize("name", [name for name in listed() if name.startswith("columns-")])
def test_golden_files(name: str) -> None:
    """From the two pages alone: the container by its decoder, the columns by theirs."""
    (member,) = decode((Path(golden.__path__[0]) / name).read_bytes())
    text = b""
    for block in member.blocks:
        data = block.serialized
        assert data is not None
        if data[:1] in b"\0\2\3":
            text += ZstdDecompressor().decompress(data[1:])
            continue
        assert data[:1] == b"\1"
        size, behind = varint_of(data[1:])
        end = 1 + behind + size
        columns = read_columns(data[end:]).values
        text += read_structure(data[1 + behind : end]).text(columns)
    assert text == sources()[listed()[name][2]][1]


def varint_of(data: bytes) -> tuple[int, int]:
    """A LEB128, and how many bytes it takes."""
    cursor = Cursor(data)
    return cursor.v("size"), cursor.at
