"""Parquet and Arrow as sources: what no map has, and what is more than its numbers, is told."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import serialpack
from serialpack.conversion.tables.shaping import Shaping

pa = pytest.importorskip("pyarrow")


def written(table: Any, format: str) -> bytes:
    """A file that pyarrow itself writes."""
    import pyarrow.parquet

    sink = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, sink)
        return sink.getvalue()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return sink.getvalue()


def converted(data: bytes, format: str, to: str, **how: Any) -> tuple[bytes, Any]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to=to, format=format, **how)
    return made.getvalue(), report


def twice(rows: int) -> Any:
    columns = [pa.array(range(rows)), pa.array(["x"] * rows), pa.array(["{}"] * rows)]
    fields = [pa.field("a", pa.int64()), pa.field("a", pa.string()), pa.field("a", pa.json_())]
    columns[2] = pa.ExtensionArray.from_storage(pa.json_(), columns[2])
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("to", ["json", "ndjson", "csv", "arrow", "sqlite"])
def test_columns_of_one_name_are_numbered(format: str, to: str) -> None:
    """Such files, which joins make, were refused by all formats."""
    # What becomes a table by its types keeps them.
    how = {"skip_bad": True} if to == "arrow" else {}
    made, report = converted(written(twice(3000), format), format, to, block_size=16 << 10, **how)
    (told,) = (loss for loss in report.carried if loss.rule == "renamed")
    assert (told.count, told.value_path) == (2, "$.a")
    again = converted(made, to, "ndjson")[0].splitlines()
    assert len(again) == 3000
    assert {*json.loads(again[-1])} == {"a", "a_2", "a_3"}
    assert json.loads(again[-1])["a_2"] == "x"


def test_strictly_they_are_refused_and_the_marks_of_json_are_kept() -> None:
    data = written(twice(1), "arrow")
    with pytest.raises(serialpack.ValueRefusedError, match="'a' twice"):
        converted(data, "arrow", "json", strict=True)
    made = converted(data, "arrow", "json", shaping=Shaping(nest=()))[0]
    assert json.loads(made) == [{"a": 0, "a_2": "x", "a_3": {}}]


@pytest.mark.parametrize("format", ["parquet", "csv", "sqlite"])
def test_json_columns_that_are_not_there_are_refused(format: str) -> None:
    """They were passed over, and those of --types not."""
    text = b"a,b\n{},1\n2,3,4\n"
    data = text if format == "csv" else converted(text, "csv", format)[0]
    with pytest.raises(serialpack.UsageError, match=r"no column nothing.*there are a, b"):
        converted(data, format, "json", shaping=Shaping(nest=("a", "nothing")))
    found = converted(data, format, "json", shaping=Shaping(nest=("a", "column3")))[0]
    assert [row["a"] for row in json.loads(found)] == [{}, 2]


@pytest.mark.parametrize("format", ["parquet", "csv", "sqlite"])
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("{}", "x", r"record 1, \$\.a: .*JSON text \(x\)"),
        ("{}\n1", "{}", r"record 0, .*\({}\\n1\)"),
    ],
)
def test_a_column_named_to_nest_that_holds_no_json(
    format: str, first: str, second: str, said: str
) -> None:
    """That no format can hold it was said, which would be read without its name."""
    text = f'a,b\n"{first}",1\n{second},"[2]"\n'.encode()
    data = text if format == "csv" else converted(text, "csv", format)[0]
    with pytest.raises(serialpack.ValueRefusedError, match=said) as caught:
        converted(data, format, "json", shaping=Shaping(nest=("a", "b")))
    assert caught.value.hint == "leave 'a' out of --nest: it stays text"
    found = converted(data, format, "json", shaping=Shaping(nest=("b",)))[0]
    assert json.loads(found) == [{"a": first, "b": 1}, {"a": second, "b": [2]}]


def read_as(data: bytes, **how: Any) -> tuple[Any, list[Any]]:
    made = io.BytesIO()
    report = serialpack.convert(io.BytesIO(data), made, to="json", lossy=["utf8"], **how)
    return json.loads(made.getvalue()), [loss for loss in report.losses if loss.rule == "utf8"]


@pytest.mark.parametrize("how", [{"typed": True}, {"nest": ()}, {"nest": ("d",)}])
def test_bytes_that_are_no_text_are_let_go_as_in_plain_cells(how: Any) -> None:
    """They were refused with ``--typed`` and ``--nest``."""
    rows = b'1,"x\xff",[]\n2,"3","[""\xe9\xe9""]"\n'
    data = b"a\xff,b,d\n" + rows
    found, losses = read_as(data, format="csv", shaping=Shaping(**how))
    plain, before = read_as(data, format="csv")
    assert losses == before
    assert [list(row) for row in found] == [list(row) for row in plain]
    assert [row["b"] for row in found] == ["x\ufffd", "3"]
    if "nest" in how:
        assert [row["d"] for row in found] == [[], ["\ufffd\ufffd"]]
    many, losses = read_as(data + rows * 9, format="csv", block_size=64, shaping=Shaping(**how))
    assert many == found * 10
    assert losses[0].count == 1 + 2 * 10
    short, _ = read_as(data + b"5,\xfe\n", format="csv", shaping=Shaping(**how))
    assert short[-1]["b"] == "\ufffd"
    assert "d" not in short[-1]


def test_numbers_in_elements_are_text_as_cells_are() -> None:
    rows = [("1", "0.5", "true", "007"), ("2", "", "false", "1")]
    items = "".join("<i><a>{}</a><b>{}</b><c>{}</c><d>{}</d></i>".format(*row) for row in rows)
    data = f"<r>{items}</r>".encode()
    typed = [
        {"a": 1, "b": 0.5, "c": True, "d": "007"},
        {"a": 2, "b": None, "c": False, "d": "1"},
    ]
    how = Shaping(infer=True, at="r.i")
    assert read_as(data, format="xml", shaping=how)[0] == typed
    made = io.BytesIO()
    serialpack.convert(io.BytesIO(data), made, format="xml", to="parquet", shaping=how)
    assert read_as(made.getvalue(), format="parquet")[0] == typed
    texts = json.dumps([{"a": "1"}, {"a": "2"}]).encode()
    assert read_as(texts, format="json", shaping=Shaping(infer=True))[0] == json.loads(texts)
