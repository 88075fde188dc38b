"""columns: what is odd costs only itself, and every encoding is reached by some text."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable

import pytest

import serialpack.columns.stored.read
from serialpack.auto.choice import choose
from serialpack.bench.samples import parse_sample
from serialpack.columns.encodings import DECODERS, ENCODINGS, NAMES
from serialpack.columns.stored import block
from serialpack.columns.stored.block import Form
from serialpack.columns.stored.source import ColumnSource, Decoder
from serialpack.columns.stored.structure import Column
from serialpack.columns.texts import Texts
from serialpack.serializers.columns import ColumnsSerializer
from tests.columns.test_encodings import COLUMNS
from tests.columns.test_encodings import WORDS as NAMES_OF_THINGS
from tests.columns.test_shape_pack import packed as message
from tests.serializers.test_columns import packed, unpacked
from tests.spec_decoder import decode

R = random.Random(12)
NUMBER = 10_000
WORDS = [word.encode() for word in NAMES_OF_THINGS]


def blocks_of(container: bytes) -> list[bytes]:
    """The serialized bytes of each block."""
    (member,) = decode(container)
    return [each.serialized or b"" for each in member.blocks]


def values_of(data: bytes) -> dict[Column, int]:
    """The columns of a block, and how many values each has."""
    assert data[0] == Form.COLUMNS
    found = block.ColumnBlock(memoryview(data))
    return dict(zip(found.shape.columns, found.shape.numbers, strict=True))


LINES = [
    b'{"id": %d, "name": "%b", "at": [%.2f, %d], "on": %b, "note": null}\n'
    % (n, R.choice(WORDS), R.uniform(0, 99), R.randrange(99), R.choice([b"true", b"false"]))
    for n in range(NUMBER)
]
ROWS = [b"id,name,price,on\r\n"] + [
    b'%d,"n, %b",%.2f,%b\r\n' % (n, R.choice(WORDS), R.uniform(0, 99), R.choice([b"yes", b"no"]))
    for n in range(NUMBER)
]
MESSAGES = [
    message({"id": n, "name": R.choice(NAMES_OF_THINGS), "at": [R.random(), n % 99], "note": None})
    for n in range(NUMBER)
]
USUAL = {"ndjson": LINES, "csv": ROWS, "msgpack": MESSAGES}
MIDDLE = NUMBER // 2

#: What of the record in the middle is turned into what.
ODD: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "another order": (
        "ndjson",
        lambda line: re.sub(rb'("id": \d+), ("name": "\w+")', rb"\2, \1", line),
    ),
    "an extra key": ("ndjson", lambda line: line.replace(b"}", b', "more": "yes"}')),
    "a key less": ("ndjson", lambda line: line.replace(b', "note": null', b"")),
    "a key twice": ("ndjson", lambda line: line.replace(b'"name"', b'"id": 7, "name"')),
    "a string for a number": ("ndjson", lambda line: re.sub(rb"(\d+),", rb'"\1",', line, count=1)),
    "a map for a list": ("ndjson", lambda line: re.sub(rb"\[.*\]", b'{"x": 1.50}', line)),
    "a huge number": ("ndjson", lambda line: line.replace(b" ", b" " + b"9" * 300, 1)),
    "other numbers": ("ndjson", lambda line: re.sub(rb"\[.*\]", b"[1E5, -0]", line)),
    "white space": ("ndjson", lambda line: line.replace(b": ", b" :\t").replace(b"\n", b" \r\n")),
    "escapes": (
        "ndjson",
        lambda line: line.replace(b"name", b"n\\u0061me").replace(b'": "', b'": "\\/'),
    ),
    "a blank line": ("ndjson", lambda line: b" \r\n" + line),
    "no UTF-8": ("ndjson", lambda line: line.replace(b'": "', b'": "\xff\xfe')),
    "a line cut off": ("ndjson", lambda line: line[: line.index(b'", "at')] + b"\n"),
    "no UTF-8 in CSV": ("csv", lambda line: line.replace(b"n, ", b"n, \xff\xc3")),
    "a field more": ("csv", lambda line: line.replace(b"\r", b",more\r")),
    "a field less": ("csv", lambda line: line[: line.rindex(b",")] + b"\r\n"),
    "no quotes": ("csv", lambda line: line.replace(b'"n, ', b"").replace(b'"', b"")),
    "doubled quotes": ("csv", lambda line: line.replace(b"n, ", b'n, ""so""')),
    "a bare CR": ("csv", lambda line: line.replace(b"n, ", b"n,\r ")),
    "a message less": ("msgpack", lambda _: b""),
    "a message of another order": ("msgpack", lambda _: message({"name": "Ann", "id": MIDDLE})),
    "an extra key in a message": (
        "msgpack",
        lambda each: b"\x85" + each[1:] + message("more") + message("yes"),
    ),
    "a string for a number in a message": (
        "msgpack",
        lambda each: each.replace(message(MIDDLE), message("5")),
    ),
    "a number in a longer form": (
        "msgpack",
        lambda each: each.replace(message(MIDDLE), b"\xd2" + MIDDLE.to_bytes(4)),
    ),
    "an extension": ("msgpack", lambda each: each.replace(b"\xc0", b"\xd6\xff\0\0\0\1")),
    "another line end": ("csv", lambda line: line.replace(b"\r", b"")),
}


@pytest.fixture(scope="session")
def regular() -> dict[str, bytes]:
    return {format: packed(b"".join(lines), format) for format, lines in USUAL.items()}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_record_costs_only_itself(name: str, regular: dict[str, bytes]) -> None:
    """The others keep their columns, and these their encodings."""
    format, change = ODD[name]
    lines = USUAL[format].copy()
    odd = change(lines[MIDDLE])
    assert odd != lines[MIDDLE]
    lines[MIDDLE] = odd
    data = b"".join(lines)
    small = packed(data, format, verify=False)
    assert unpacked(small) == data
    assert len(small) <= len(regular[format]) + len(odd) + 80
    (before,), (after,) = blocks_of(regular[format]), blocks_of(small)
    numbers = values_of(after)
    assert all(numbers[column] >= number - 1 for column, number in values_of(before).items())


STRETCHES = {
    "contacts": parse_sample("contacts:600")[0].make_file(600),
    "tweets": b"".join(
        b'{"id":%d,"text":"%b","user":{"name":"%b","followers":%d},"tags":[%b],"geo":null}\n'
        % (
            10**17 + n * 7919,
            b" ".join(R.choices(WORDS, k=15)),
            R.choice(WORDS),
            R.randrange(10**5),
            b",".join(b'{"t":"%b"}' % R.choice(WORDS) for _ in range(R.randrange(4))),
        )
        for n in range(1200)
    ),
    "numbers": b"".join(b"%.3f\n" % R.gauss(50, 9) for _ in range(30_000)),
    "text": b"".join(b" ".join(R.choices(WORDS, k=12)) + b", and so on.\n" for _ in range(2500)),
    "noise": R.randbytes(200_000),
    "contacts again": parse_sample("contacts:600")[0].make_file(600),
}


def test_a_stream_whose_shape_changes() -> None:
    """Each block is stored as it would be were it alone."""
    data = b"".join(STRETCHES.values())
    small = packed(data, "ndjson", block_size=1 << 15, verify=False)
    assert unpacked(small) == data
    (member,) = decode(small)
    at = 0
    seen: dict[str, list[int]] = {name: [] for name in STRETCHES}
    for each in member.blocks:
        assert each.serialized is not None
        stop = at + each.row[4]
        first = 0
        for name, stretch in STRETCHES.items():
            if first <= at and stop <= first + len(stretch):
                seen[name].append(each.serialized[0])
            first += len(stretch)
        at = stop
    assert at == len(data)
    for name, forms in seen.items():
        assert len(forms) > 3
        if name not in ("text", "noise"):
            assert set(forms) == {Form.COLUMNS}, name
    assert Form.COLUMNS not in seen["noise"]


def test_a_block_whose_shape_changes() -> None:
    """All in one: it takes hardly more than its parts alone."""
    data = b"".join(STRETCHES.values())
    small = packed(data, "ndjson", verify=False)
    assert unpacked(small) == data
    (one,) = blocks_of(small)
    assert one[0] == Form.COLUMNS
    alone = sum(len(packed(each, "ndjson")) for each in STRETCHES.values())
    assert len(small) < 1.05 * alone


def lines_of(values: list[bytes], quote: bytes = b'"') -> bytes:
    """With a column beside it for which columns are worth their while."""
    return b"".join(
        b'{"n":%d,"v":%b%b%b}\n' % (n * n * n, quote, value, quote)
        for n, value in enumerate(values)
    )


USERS = [R.randrange(50) for _ in range(900)]

#: For each encoding a text whose columns use it, themselves or within others.
TEXTS: dict[str, bytes] = {
    "plain": lines_of(COLUMNS["names"][1]),
    "constant": b"".join(b'{"a":"same","b":%d}\n' % (n * n) for n in range(300)),
    "dictionary": lines_of(COLUMNS["names"][1]),
    "integer": lines_of(COLUMNS["integers"][1], b""),
    "digits": lines_of(COLUMNS["eighteen digits"][1]),
    "decimal": lines_of(COLUMNS["cents"][1], b""),
    "exceptions": lines_of([*COLUMNS["integers"][1], b"1E5"], b""),
    "float": lines_of(COLUMNS["doubles"][1], b""),
    "fixed": lines_of(COLUMNS["UUIDs"][1]),
    "letters": lines_of(COLUMNS["DNA"][1]),
    "affix": lines_of(COLUMNS["many words"][1]),
    "capitals": lines_of(COLUMNS["names"][1]),
    "front": lines_of(COLUMNS["prose"][1]),
    "base64": lines_of([base64.b64encode(R.randbytes(n % 40)) for n in range(400)]),
    "patterns": lines_of(COLUMNS["addresses"][1]),
    "prose": lines_of(COLUMNS["prose"][1]),
    "reference": b"".join(
        b'{"id":%d,"text":"%d"}\n' % (n * n % 997, n * n % 997) for n in range(900)
    ),
    "follows": b"".join(b'{"id":%d,"name":"%b"}\n' % (u * 7919, WORDS[u]) for u in USERS),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_is_reached_by_a_text(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By packing and unpacking alone; a new one needs a text here."""
    reached = set()

    def noted(number: int, decoder: Decoder) -> Decoder:
        def run(source: ColumnSource, values: int, limit: int) -> Texts:
            reached.add(NAMES[number])
            return decoder(source, values, limit)

        return run

    decoders: dict[int, Decoder] = {n: noted(n, decoder) for n, decoder in DECODERS.items()}
    monkeypatch.setattr(serialpack.columns.stored.read, "DECODERS", decoders)
    small = packed(TEXTS[name], "ndjson", verify=False)
    assert unpacked(small) == TEXTS[name]
    assert name in reached


def test_text_is_tried_where_a_sample_does_not_see_what_comes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Columns of small files of one kind won by a sample of the text, and were a quarter larger
    than all of it."""
    once = b"".join(b'{"a":"%b"}\n' % R.randbytes(30).hex().encode() for _ in range(5000))
    columns = bytes([Form.COLUMNS]) + bytes(len(once))
    monkeypatch.setattr(ColumnsSerializer, "apart", lambda *_: columns)
    assert ColumnsSerializer("columns", (3,)).encode(once * 4, "json")[0] == Form.LARGER


def test_the_text_of_a_large_block_finds_copies_as_far_off_as_under_the_codec() -> None:
    """Its window was that of the level: columns seemed smaller than text that was in truth not."""
    text = random.Random(1).randbytes(3_000_000).hex().encode()
    columns = ColumnsSerializer(*choose("columns", effort=6).chain.serializer)
    once, twice = (columns.plain(text * times) for times in (1, 2))
    assert len(twice) < 1.1 * len(once)
    assert columns.decode(twice) == text * 2
