"""``--fields``: from columns only what is needed is read, and all else gives the same."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import IO, Any

import pytest

import serialpack
from serialpack.bench.samples import parse_sample
from serialpack.columns.fields.wanted import wanted
from serialpack.conversion.sources.fields import Fields, Projector
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets.sinks import HeldWrite
from serialpack.conversion.targets.writers import written
from serialpack.errors import DamagedError, RefusedError, UsageError, ValueRefusedError
from serialpack.formats import FORMATS
from serialpack.serializers.columns import ColumnsSerializer
from tests.columns.projections import naive, parse
from tests.counting import Counting

CONTACTS = b"".join(parse_sample("contacts:4000")[0].chunks(4000))
RECORDS = [json.loads(line) for line in CONTACTS.splitlines()]
TABLE = b"id,name,note\r\n" + b"".join(
    b'%d,"Zo\xc3\xab, %d",%b\r\n' % (n, n % 90, b"x" * (n % 3)) for n in range(3000)
)
ODD: list[dict[str, Any]] = [
    {"a": 1, "b": {"c": [1, {"d": 2}, None, {"e": 3}], "x": {}}, "b.c": "dotted"},
    {"b": 3, "a": {"deep": [[{"d": 1}, []], 4]}},
    {},
    {"a": [], "b": {"c": None}},
]


def packed(data: bytes, format: str, **how: Any) -> bytes:
    out = io.BytesIO()
    serialpack.pack(io.BytesIO(data), out, format=format, **how)
    return out.getvalue()


def converted(source: bytes | IO[bytes], to: str, **how: Any) -> bytes:
    out = io.BytesIO()
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    serialpack.convert(file, out, to=to, **how)
    return out.getvalue()


def only(records: list[dict[str, Any]], *fields: str) -> list[Any]:
    """By the naive projection of the columns' own tests."""
    paths = [path for name in fields for path in {(name,), tuple(name.split("."))}]
    return [naive(parse(json.dumps(record)), paths) for record in records]


def read_as(data: bytes) -> list[Any]:
    return [parse(line) for line in data.decode().splitlines()]


@pytest.mark.parametrize("fields", [("age",), ("id", "name.first"), ("tags", "note", "absent")])
@pytest.mark.parametrize("block_size", [1, 50_000, 4 << 20])
@pytest.mark.parametrize("format", ["ndjson", "json"])
def test_columns_give_only_the_fields(
    fields: tuple[str, ...], block_size: int, format: str
) -> None:
    some = RECORDS[:1000] if block_size > 1 else RECORDS[:40]
    data = b"".join(CONTACTS.splitlines(keepends=True)[: len(some)])
    if format == "json":
        data = json.dumps(some).encode()
    container = packed(data, format, serializer="columns", block_size=block_size)
    found = converted(container, "ndjson", fields=fields, lossy=["fields"])
    assert read_as(found) == only(some, *fields)


def test_only_their_columns_are_read() -> None:
    container = packed(CONTACTS * 4, "ndjson", serializer="columns", block_size=1_500_000)
    file = Counting(container)
    found = converted(file, "ndjson", fields=["age"])
    assert read_as(found) == only(RECORDS * 4, "age")
    columns = serialpack.inspect(io.BytesIO(container), columns=True).members[0].columns
    assert columns is not None
    (age,) = (info for info in columns.columns if info.path == "age")
    assert age.packed < 0.03 * len(container)
    # The index at its end is looked for in 64 KiB. The rest is parts of a few kilobytes that it
    # shares with others, and what says how blocks are made.
    assert file.total - (64 << 10) < 0.12 * len(container)
    every = Counting(container)
    converted(every, "ndjson")
    assert every.total >= len(container)


@pytest.mark.parametrize("to", ["json", "msgpack", "csv", "yaml"])
def test_fields_go_to_any_format(to: str) -> None:
    source = b"".join(CONTACTS.splitlines(keepends=True)[:50])
    container = packed(source, "ndjson", serializer="columns")
    lossy = ["types"] if to == "csv" else []
    found = converted(container, to, fields=["id", "age"], lossy=lossy)
    again = converted(found, "ndjson", format=to)
    rows = [{"id": each["id"], "age": each["age"]} for each in RECORDS[:50]]
    if to == "csv":
        rows = [{**row, "age": str(row["age"])} for row in rows]
    assert [json.loads(line) for line in again.splitlines()] == rows


@pytest.mark.parametrize("name", sorted(set(written()) - {"npy"}))
def test_a_source_in_any_format_gives_the_same_fields(name: str) -> None:
    """By values, for what has no columns: the same rules."""
    columns = name in ("npz", "hdf5")  # of which none has a null
    nothing = True if columns else None
    records = [{"a": n, "b": f"x{n}", "c": nothing if n % 2 else True} for n in range(20)]
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    if FORMATS.get(name).name in ("toml", "csv", "tsv"):
        text = b"".join(text.splitlines(keepends=True)[: 1 if name == "toml" else None])
    lossy = ["types", "nan"] if name in ("csv", "tsv") else []
    out = io.BytesIO()
    report = serialpack.convert(io.BytesIO(text), out, format="ndjson", to=name, lossy=lossy)
    how = {"shaping": Shaping(at=report.back[-1])} if "--at" in report.back else {}
    found = converted(out.getvalue(), "ndjson", format=name, fields=["b"], trust=True, **how)
    rows = [json.loads(line) for line in found.splitlines()]
    if columns:
        assert rows == [{"b": [record["b"] for record in records]}]
        return
    assert rows == [{"b": record["b"]} for record in records[: len(rows)]]
    assert len(rows) in (1, 20)


@pytest.mark.parametrize("fields", [["a"], ["b.c"], ["b.c.d", "a.deep"], ["b.x", "a.deep.d"]])
def test_values_and_columns_follow_the_same_rules(fields: list[str]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in ODD * 300).encode()
    container = packed(text, "ndjson", serializer="columns")
    by_columns = read_as(converted(container, "ndjson", fields=fields))
    assert by_columns == only(ODD * 300, *fields)
    # A pipe cannot be sought, and a plain file has no columns.
    assert read_as(converted(text, "ndjson", format="ndjson", fields=fields)) == by_columns
    projector = Projector(wanted(Fields(fields).paths))
    by_values = projector.records(ODD, 0)
    assert [parse(json.dumps(value)) for value in by_values] == by_columns[: len(ODD)]


@pytest.mark.parametrize("serializer", ["columns", "raw", "json"])
def test_a_document_and_a_map_are_projected_as_such(serializer: str) -> None:
    document = json.dumps({"a": {"b": 1, "c": 2}, "d": [3]}).encode()
    found = converted(packed(document, "json", serializer=serializer), "json", fields=["a.b"])
    assert json.loads(found) == {"a": {"b": 1}}
    many = {f"key {n}": {"x": n, "y": "z" * 50} for n in range(300)}
    container = packed(json.dumps(many).encode(), "json", serializer=serializer, block_size=2000)
    assert json.loads(converted(container, "json", fields=["key 7.x"])) == {"key 7": {"x": 7}}


@pytest.mark.parametrize("block_size", [1, 3000, 4 << 20])
def test_fields_of_a_table(block_size: int) -> None:
    some = TABLE if block_size > 1 else b"".join(TABLE.splitlines(keepends=True)[:30])
    container = packed(some, "csv", serializer="columns", block_size=block_size)
    found = converted(container, "csv", fields=["name", "id"])
    lines = some.splitlines(keepends=True)
    # Of columns, as it stands there; written anew, with LF.
    assert found == b"".join(line[: line.rindex(b",")] + b"\r\n" for line in lines)
    rows = [json.loads(line) for line in converted(container, "ndjson", fields=["id"]).splitlines()]
    assert rows == [{"id": str(n)} for n in range(len(lines) - 1)]


@pytest.mark.parametrize("format", ["ndjson", "csv"])
def test_a_block_kept_as_text_gives_its_fields_too(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, fields = (CONTACTS, ["age"]) if format == "ndjson" else (TABLE, ["name"])
    good, turn = ColumnsSerializer.apart, itertools.count()
    monkeypatch.setattr(
        ColumnsSerializer, "apart", lambda *args: good(*args) if next(turn) % 2 else None
    )
    block_size = len(data) // 7
    container = packed(data, format, serializer="columns", block_size=block_size, threads=1)
    monkeypatch.undo()
    (member,) = serialpack.inspect(io.BytesIO(container)).members
    assert member.forms is not None
    assert {"columns", "shapeless"} <= member.forms.keys()
    found = converted(container, format, fields=fields)
    assert found == converted(packed(data, format, serializer="columns"), format, fields=fields)


def test_a_record_that_is_no_map_is_refused() -> None:
    text = b'{"a":1}\n' * 50 + b"[1]\n" + b'{"a":1}\n' * 50
    for source, how in (
        (packed(text, "ndjson", serializer="columns", block_size=100), {}),
        (text, {"format": "ndjson"}),
    ):
        with pytest.raises(RefusedError, match="record 50") as refused:
            converted(source, "ndjson", fields=["a"], **how)
        assert refused.value.hint


def test_names_that_no_record_has_are_told(tmp_path: Path) -> None:
    container = packed(CONTACTS, "ndjson", serializer="columns")
    report = serialpack.convert(
        io.BytesIO(container),
        io.BytesIO(),
        to="ndjson",
        fields=["age,nme", "no.such"],
        lossy=["fields"],
    )
    assert report.missing == ["nme", "no.such"]
    for source in (container, packed(CONTACTS, "ndjson", serializer="raw")):
        target = tmp_path / "out.ndjson"
        with pytest.raises(ValueRefusedError, match="no record has a field nme or nmf") as refused:
            serialpack.convert(io.BytesIO(source), target, to="ndjson", fields=["nme", "nmf"])
        assert refused.value.kind == "fields"
        assert not target.exists()
    for to in ("csv", "sqlite"):  # not that a table has columns
        with pytest.raises(ValueRefusedError, match="no record has a field nme") as refused:
            converted(CONTACTS, to, format="ndjson", fields=["nme"])
    assert converted(b"", "ndjson", format="ndjson", fields=["a"]) == b""
    for name in ("", "a..b", ".a", "a,,b"):
        with pytest.raises(UsageError, match="without a name"):
            converted(container, "ndjson", fields=[name])


@pytest.mark.parametrize("serializer", ["", "raw", "columns"])
@pytest.mark.parametrize("fields", ["nme", "age,nme"])
def test_nothing_goes_to_a_pipe_before_all_fields_were_found(serializer: str, fields: str) -> None:
    """It wrote an empty map for each record, and then refused."""
    data = packed(CONTACTS, "ndjson", serializer=serializer) if serializer else CONTACTS
    out = io.BytesIO()
    with pytest.raises(ValueRefusedError, match="no record has a field nme"):
        serialpack.convert(io.BytesIO(data), out, to="ndjson", fields=[fields])
    assert out.getvalue() == b""


def test_a_pipe_waits_for_the_fields_and_no_longer() -> None:
    class Pipe(io.BytesIO):
        pieces = 0

        def write(self, data: Any) -> int:
            self.pieces += 1
            return super().write(data)

    rows = b'{"a": 1}\n' * 20000
    pieces = []
    for fields, lossy in ((["a"], []), (["a", "no"], ["fields"])):
        out = Pipe()
        how: dict[str, Any] = {"format": "ndjson", "threads": 1, "block_size": 4096}
        serialpack.convert(
            io.BytesIO(b'{"b": 1}\n' + rows), out, to="ndjson", fields=fields, lossy=lossy, **how
        )
        assert out.getvalue() == b"{}\n" + rows.replace(b" ", b"")
        pieces.append(out.pieces)
    assert pieces[0] > 2 > pieces[1]
    held, end = HeldWrite(out.write), out.tell()
    for size, there in ((1 << 20, 0), (1, (1 << 20) + 1), (1, (1 << 20) + 2)):
        held(bytes(size))
        assert out.tell() - end == there


@pytest.mark.parametrize("block_size", [1, 4 << 20])
def test_a_name_in_quotes_behind_a_byte_order_mark_is_without_them(block_size: int) -> None:
    rows = b"".join(b"%d,%d\r\n" % (n, 7 * n) for n in range(40))
    data = b'\xef\xbb\xbf"x ""1""",b\r\n' + rows
    container = packed(data, "csv", serializer="columns", block_size=block_size)
    found = converted(container, "ndjson", fields=['"x ""1"""'])
    assert found == converted(data, "ndjson", format="csv", fields=['"x ""1"""'])
    assert json.loads(found.splitlines()[-1]) == {'x "1"': "39"}


@pytest.mark.parametrize(
    "text",
    [
        '[{"a":1}, {"a":2}]\n',
        '[{"a":1}, {"a":"x"}]  \r\n',
        '\n[\n{"a":1},\n{"a":2}\n \n]\n\n',
        "[ ]\n\n",
    ],
)
def test_white_space_behind_an_array_may_be_a_block_of_its_own(text: str) -> None:
    for block_size in range(1, len(text) + 1):
        container = packed(text.encode(), "json", serializer="columns", block_size=block_size)
        found = converted(container, "ndjson", fields=["a"])
        assert [json.loads(line) for line in found.splitlines()] == json.loads(text)


@pytest.mark.parametrize("serializer", ["columns", "raw"])
def test_a_field_inside_of_another_counts_as_that_one(serializer: str) -> None:
    text = b"".join(b'{"a":%d,"b":{"c":1}}\n' % n for n in range(300))
    container = packed(text, "ndjson", serializer=serializer)
    report = serialpack.convert(
        io.BytesIO(container),
        io.BytesIO(),
        to="ndjson",
        fields=["a", "a.x", "b", "b.c", "c"],
        lossy=["fields"],
    )
    assert report.missing == ["c"]


@pytest.mark.parametrize("text", ["a\nb", '"a', '"a"b', "x" * 200_000])
def test_names_that_are_spelled_wrong_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="fields"):
        Fields([text])


def test_names_are_quoted_as_in_a_table() -> None:
    assert Fields(['"a,b",c', '"x ""y"""', '"two\nlines"']).names == [
        "a,b",
        "c",
        'x "y"',
        "two\nlines",
    ]


@pytest.mark.parametrize("value", [b"01", b"tru", b'"\\x"', b'"\t"', b'"\xff"', b"NaN", b"-"])
def test_a_field_that_is_no_json_is_refused(value: bytes) -> None:
    """Columns hold any text; what is written as JSON must be JSON."""
    text = b"".join(b'{"a":%b,"b":%d}\n' % (value, n) for n in range(900))
    container = packed(text, "ndjson", serializer="columns")
    with pytest.raises(RefusedError, match="not valid JSON"):
        converted(container, "ndjson", fields=["a"])
    assert converted(container, "ndjson", fields=["b"]).count(b"\n") == 900


def test_records_are_counted_and_what_is_proved_is_told() -> None:
    container = packed(CONTACTS, "ndjson", serializer="columns")
    for verify in (True, False):
        report = serialpack.convert(
            io.BytesIO(container), io.BytesIO(), to="ndjson", fields=["age"], verify=verify
        )
        assert (report.records, report.proved, report.exact) == (len(RECORDS), verify, False)


def test_blank_lines_are_no_records_of_a_table_of_one_column() -> None:
    table = b"a,b\n\n1,2\n\n3,4\n,5\n\n"
    for serializer in ("columns", "raw"):
        container = packed(table, "csv", serializer=serializer)
        rows = [json.loads(x) for x in converted(container, "ndjson", fields=["a"]).splitlines()]
        assert rows == [{"a": "1"}, {"a": "3"}, {"a": ""}]
    lines = b"".join(b"%d,%d\r\n\r\n" % (n, n) for n in range(500))
    container = packed(b"a,b\r\n" + lines, "csv", serializer="columns")
    found = converted(container, "csv", fields=["b"])
    assert found == b"b\r\n" + b"".join(b"%d\r\n" % n for n in range(500))


def test_damage_is_found_where_it_is_read() -> None:
    container = packed(CONTACTS, "ndjson", serializer="columns")
    asked = Recording(container)
    good = converted(asked, "ndjson", fields=["age"])
    touched = untouched = 0
    # In the last 64 KiB only the index is looked for.
    for at in range(200, len(container) - (64 << 10), 4999):
        broken = bytearray(container)
        broken[at] ^= 4
        if any(start <= at < stop for start, stop in asked.spans):
            touched += 1
            with pytest.raises(DamagedError):
                converted(bytes(broken), "ndjson", fields=["age"])
        else:
            untouched += 1
            assert converted(bytes(broken), "ndjson", fields=["age"]) == good
    assert touched
    assert untouched > touched


class Recording(io.BytesIO):
    """Knows which of its bytes were read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.spans: list[tuple[int, int]] = []

    def read(self, size: int | None = -1) -> bytes:
        start = self.tell()
        data = super().read(size)
        self.spans.append((start, start + len(data)))
        return data


def test_real_files_give_the_same_by_columns_and_by_values(shared_data: Path) -> None:
    seen = 0
    for name, field in (("tabular/flights-10k.json", "delay"), ("json/gsoc-2018.json", "name")):
        data = (shared_data / name).read_bytes()
        values = json.loads(data)
        if not isinstance(values, list):
            continue
        container = packed(data, "json", serializer="columns", block_size=200_000)
        found = [json.loads(x) for x in converted(container, "ndjson", fields=[field]).splitlines()]
        assert found == [{k: v for k, v in each.items() if k == field} for each in values]
        seen += 1
    assert seen
