"""Fields as arrays: the values of the records, whichever way they are stored and read."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import serialpack
from serialpack.bench.samples import parse_sample
from serialpack.errors import RefusedError, UsageError, ValueRefusedError
from serialpack.records.arrays import put_together, typed
from serialpack.values.equality import difference
from tests.counting import Counting
from tests.records.containers import lines, opened, packed

CONTACTS = b"".join(parse_sample("contacts:3000")[0].chunks(3000))
RECORDS = [json.loads(line) for line in CONTACTS.splitlines()]
ODD: list[dict[str, Any]] = [
    {"a": 1, "b": {"c": [1, {"d": 2}, None, {"e": 3}], "x": {}}, "b.c": "dotted"},
    {"b": 3, "a": {"deep": [[{"d": 1}, []], 4]}},
    {},
    {"a": [], "b": {"c": None}},
    {"b": [{"c": True}, {"c": {"d": "\u00e9\n"}}, {}]},
] * 5

WAYS = [("columns", "ndjson"), ("columns", "json"), ("raw", "ndjson"), ("msgpack", "json")]


def stored(records: list[Any], serializer: str, format: str, block_size: int) -> bytes:
    source = lines(records) if format == "ndjson" else json.dumps(records).encode()
    return packed(source, format, serializer=serializer, block_size=block_size)


@pytest.mark.parametrize("block_size", [50_000, 1 << 20])
@pytest.mark.parametrize(("serializer", "format"), WAYS)
def test_fields_are_typed(serializer: str, format: str, block_size: int) -> None:
    records = opened(stored(RECORDS, serializer, format, block_size))
    names = ("id", "index", "balance", "active", "tags", "note", "name.first", "name")
    found = records.fields(*names)
    assert [*found] == [*names]
    kinds = [np.dtype(kind) for kind in ("O", "i8", "f8", "?", "O", "O", "O", "O")]
    assert [array.dtype for array in found.values()] == kinds
    for name, array in found.items():
        outer, _, inner = name.partition(".")
        want = [record[outer][inner] if inner else record[outer] for record in RECORDS]
        assert array.shape == (len(RECORDS),)
        assert difference(want, array.tolist()) is None


@pytest.mark.parametrize("block_size", [1, 200, 1 << 20])
@pytest.mark.parametrize(("serializer", "format"), WAYS)
def test_what_is_not_there_is_none_and_lists_on_the_way_are_lists(
    serializer: str, format: str, block_size: int
) -> None:
    records = opened(stored(ODD, serializer, format, block_size))
    found = records.fields("a", "b.c", "b.c.d", "a.deep.d")
    assert found["a"].tolist() == [1, {"deep": [[{"d": 1}, []], 4]}, None, [], None] * 5
    assert (
        found["b.c"].tolist() == ["dotted", None, None, None, [True, {"d": "\u00e9\n"}, None]] * 5
    )
    inner = [[None, 2, None, None], None, None, None, [None, "\u00e9\n", None]]
    assert found["b.c.d"].tolist() == inner * 5
    assert found["a.deep.d"].tolist() == [None, [[1, []], None], None, [], None] * 5


@pytest.mark.parametrize("serializer", ["columns", "raw"])
@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_fields_of_a_table_are_text(name: str, serializer: str) -> None:
    mark = "," if name == "csv" else "\t"
    rows = [["id", 'the "name"', "x.y"]]
    rows += [[str(n), f"Zo\u00eb, {n % 9}", "" if n % 3 else "1"] for n in range(500)]
    quoted = [[f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in row] for row in rows]
    for cells, block_size in ((rows, 900), (quoted, 900), (quoted, 1 << 20)):
        if cells is rows and name == "csv":
            cells = [[cell.replace(",", ";").replace('"', "'") for cell in row] for row in rows]
        text = "".join(mark.join(row) + "\r\n" for row in cells).encode()
        records = opened(packed(text, name, serializer=serializer, block_size=block_size))
        names = [*records[0]]
        found = records.fields("id", "x.y")
        assert found["id"].dtype == np.dtype("O")
        assert found["id"].tolist() == [row[0] for row in rows[1:]]
        assert found["x.y"].tolist() == [row[2] for row in rows[1:]]
        assert names[0] == "id"
        with pytest.raises(UsageError, match="no record has a field no"):
            records.fields("id", "no")


@pytest.mark.parametrize("serializer", ["columns", "raw"])
def test_a_row_without_the_field_is_refused(serializer: str) -> None:
    table = [b"%d,%d,x" % (n, n % 3) for n in range(90)]
    for row in (b"7,1", b"7", b"7,1,x,y"):
        source = b"a,b,c\n" + b"\n".join([*table[:70], row, *table[70:]])
        data = packed(source, "csv", serializer=serializer, block_size=300)
        for name in ("a", "c"):
            with pytest.raises(ValueRefusedError, match=r"record 70.* fields?, not 3"):
                opened(data).fields(name)


def test_several_containers_are_one_sequence() -> None:
    data = b"".join(
        stored(part, serializer, "ndjson", 300)
        for serializer, part in (
            ("columns", [{"n": n} for n in range(200)]),
            ("raw", [{"n": 2**63 + n} for n in range(9)]),
            ("columns", [{"n": n, "only": n / 2} for n in range(200)]),
        )
    )
    found = opened(data).fields("n", "only")
    assert found["n"].dtype == np.uint64
    assert found["n"].tolist() == [*range(200), *range(2**63, 2**63 + 9), *range(200)]
    assert found["only"].dtype == np.dtype("O")
    assert found["only"].tolist()[:209] == [None] * 209


def test_only_the_columns_of_the_fields_are_read() -> None:
    data = packed(CONTACTS, "ndjson", serializer="columns")
    file = Counting(data)
    records = serialpack.open(file)
    file.total = 0
    records.fields("age")
    assert 0 < file.total < len(data) / 5
    random = Random(1)
    table = b"id,one,name,two\n" + b"".join(
        b"%d,%032x,x%d,%032x\n" % (n, random.getrandbits(128), n, random.getrandbits(128))
        for n in range(9000)
    )
    data = packed(table, "csv", serializer="columns", block_size=400_000)
    file = Counting(data)
    records = serialpack.open(file)
    file.total = 0
    records.fields("name")
    assert 0 < file.total < len(data) / 3


def test_a_field_that_no_record_has_is_a_usage_error() -> None:
    for serializer, format in WAYS:
        records = opened(stored(RECORDS[:50], serializer, format, 5000))
        for name in ("ages", "name.middle", "tags.x", "age.x"):
            with pytest.raises(UsageError, match=f"no record has a field {name}"):
                records.fields("age", name)
        with pytest.raises(UsageError, match="without a name"):
            records.fields("a..b")
        assert records.fields() == {}
    empty = opened(packed(b"[]", "json")).fields("a")["a"]
    assert (empty.dtype, empty.shape) == (np.dtype("O"), (0,))


@pytest.mark.parametrize("serializer", ["columns", "raw"])
def test_a_record_that_is_no_map_is_refused(serializer: str) -> None:
    data = stored([{"a": 1}] * 30 + [[1]] + [{"a": 2}] * 30, serializer, "ndjson", 100)
    with pytest.raises(RefusedError, match="record 30 is no map"):
        opened(data).fields("a")


@pytest.mark.parametrize("serializer", ["columns", "raw"])
@pytest.mark.parametrize(
    "text",
    ['{"a": 0.10000000000000000001}', '{"a": -0}', '{"a": 1, "a": 1}', '{"b": 1, "a": 1e999}'],
)
def test_what_python_cannot_hold_is_refused(text: str, serializer: str) -> None:
    records = [b'{"a": %d, "b": 1.5}' % n for n in range(40)]
    records[33] = text.encode()
    before = packed(b'{"a": 1}\n', "ndjson")
    data = packed(b"\n".join(records), "ndjson", serializer=serializer, block_size=300)
    with pytest.raises(ValueRefusedError) as caught:
        opened(before + data).fields("a")
    assert caught.value.record == 34


def test_damage_is_an_error() -> None:
    data = bytearray(packed(CONTACTS, "ndjson", serializer="columns"))
    file = Counting(bytes(data))
    serialpack.open(file).fields("id")
    for at in range(500, len(data), len(data) // 40):
        data[at] ^= 4
        try:
            found = opened(bytes(data)).fields("id")
        except serialpack.DamagedError:
            pass
        else:  # of a column that was not read
            assert found["id"].tolist() == [record["id"] for record in RECORDS]
        data[at] ^= 4


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -2], "i8"),
        ([-(2**63), 2**63 - 1], "i8"),
        ([0, 2**64 - 1], "u8"),
        ([-1, 2**63], "O"),
        ([2**64], "O"),
        ([1.5, float("inf")], "f8"),
        ([1, 1.5], "f8"),
        ([2**53 + 1, 1.5], "O"),
        ([2**53 + 2, 1.5], "f8"),
        ([10**400, 1.5], "O"),
        ([True, False], "?"),
        ([True, 1], "O"),
        ([None, 1], "O"),
        (["a"], "O"),
        ([b"a"], "O"),
        ([[1], [2]], "O"),
        ([[1], [2, 3]], "O"),
        ([], "O"),
    ],
)
def test_types_hold_all_values_as_they_are(values: list[Any], kind: str) -> None:
    array = typed(values)
    assert array.dtype == np.dtype(kind)
    assert array.shape == (len(values),)
    assert array.tolist() == values


@given(
    st.lists(
        st.one_of(
            *map(
                st.lists,
                (
                    st.integers(-(2**65), 2**65),
                    st.integers(2**62, 2**64 - 1),
                    st.floats(allow_nan=False),
                    st.booleans(),
                    st.one_of(st.none(), st.lists(st.integers(), max_size=2)),
                    st.one_of(st.integers(-(2**55), 2**55), st.floats(allow_nan=False)),
                ),
            )
        ),
        max_size=5,
    )
)
def test_pieces_are_put_together_as_if_they_were_one(pieces: list[list[Any]]) -> None:
    values = [value for piece in pieces for value in piece]
    array = put_together([typed(piece) for piece in pieces])
    assert array.shape == (len(values),)
    assert array.tolist() == values
    if array.dtype != np.dtype("O"):
        assert array.dtype == typed(values).dtype
    elif values:
        assert [*map(type, array.tolist())] == [*map(type, values)] or float in map(type, values)


def test_messages_give_their_fields_too() -> None:
    import msgpack

    source = b"".join(msgpack.packb({"n": n, "b": b"x"}) for n in range(50))
    for serializer in ("raw", "columns", "msgpack"):
        found = opened(packed(source, "msgpack", serializer=serializer, block_size=99)).fields(
            "n", "b"
        )
        assert found["n"].tolist() == [*range(50)]
        assert found["b"].tolist() == [b"x"] * 50
