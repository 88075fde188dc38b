"""Every format to every other: each treacherous value is the same, or carried and turned back by
the reader that is stated, or lost by name, or refused; never changed.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np
import pytest

import serialpack
from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import ARCHIVES, TABLES, TEXT_TABLES
from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.targets.verdicts import verdict
from serialpack.conversion.targets.writers import is_sequence, writers, written
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, ValueFormat
from serialpack.serializers.base import FAILURES
from serialpack.values.equality import difference
from serialpack.values.kinds import Unheld
from tests.conversion.converting import converted, records_of
from tests.conversion.documents import as_plain, documents
from tests.fidelity.values import USUAL
from tests.formats.xml_documents import as_elements

#: Archives of arrays make columns of a sequence, and one array of them becomes the rows of a table:
#: documents go into them in test_archives.py.
FORMATS_HERE = [name for name in written() if name not in ARCHIVES]
NOT_HELD = (*FAILURES, Unheld, serialpack.SerialpackError, pickle.PicklingError, AttributeError)


@cache
def sources(name: str) -> list[tuple[str, str, Any, bytes]]:
    """Name, kind and value of each case, and a file in the format ``name`` that holds it."""
    writer = writers(name, {})[-1]
    found = []
    for case in USUAL:
        record = {"v": case.make()}
        try:
            data = writer.dump([record])
            again = records_of(data, name)
        except NOT_HELD:
            continue
        if len(again) == 1 and difference(record, again[0]) is None:
            found.append((case.name, case.kind, again[0], data))
    return found


#: Each value goes to every sixth format, and from every sixth; of a format so many are held.
_EVERY, _LEAST = 6, 6


def some_sources(name: str, shift: int) -> list[tuple[str, str, Any, bytes]]:
    """Of ``sources``, one of each kind at least; which ones, ``shift`` says."""
    found = []
    for _, group in groupby(sources(name), lambda case: case[1]):
        cases = list(group)
        found += cases[shift % min(len(cases), _EVERY) :: _EVERY]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("target", FORMATS_HERE)
@pytest.mark.parametrize("source", FORMATS_HERE)
def test_every_value_to_every_format(source: str, target: str) -> None:
    check_values(source, target, FORMATS_HERE.index(source) + FORMATS_HERE.index(target))


def check_values(source: str, target: str, shift: int) -> None:
    """As the verdict of its kind says; and each verdict is met. ``shift``: of ``some_sources``."""
    assert len(sources(source)) >= 40, f"too few values for {source}"
    kept = 0
    for name, kind, record, data in some_sources(source, shift):
        if (source, target, kind) == ("pickle", "npy", "number-array"):
            continue  # the only array of a map is the whole file: test_objects
        cell = f"{source} -> {target}, {name}"
        stated = verdict(kind, target)
        file = io.BytesIO()
        try:
            report = convert_trusted(data, file, source, target)
        except serialpack.ValueRefusedError as refused:
            if stated.word == "same" or (stated.word == "carried" and kind in ALL_CARRIED):
                raise AssertionError(cell) from refused
            continue
        assert not report.losses, cell
        again = read_back(file.getvalue(), target, report)
        assert len(again) == 1, cell
        if any(loss.rule == "arrays" for loss in report.carried):
            record = as_plain(record)
        wanted = as_carried(record) if report.carried else record
        wanted = as_elements(wanted) if target == "xml" else wanted
        if {loss.rule for loss in report.carried} & {"numbers", "missing", "key-order"}:
            wanted, again = as_equal(wanted), [as_equal(again[0])]
        lost = difference(wanted, again[0])
        if lost is not None and report.carried:  # other values of the record are held
            lost = difference(record, again[0])
        assert lost is None, f"{cell}: {lost}"
        if stated.word == "same" and not report.back and target not in TABLES:
            assert not report.carried, cell
        kept += 1
    assert kept >= _LEAST, f"{source} -> {target}: only {kept}"


#: Kinds of which all values are carried, wherever some are.
ALL_CARRIED = frozenset(
    {"bytes", "bytearray", "date", "utc-datetime", "local-datetime", "decimal", "uuid", "timedelta"}
)


def convert_trusted(data: bytes, out: io.BytesIO, source: str, target: str) -> Any:
    """Null told from what is missing, so that all comes back."""
    shaping = Shaping(null="null") if target in TEXT_TABLES else None
    return serialpack.convert(
        *(io.BytesIO(data), out), format=source, to=target, trust=True, shaping=shaping
    )


def read_back(data: bytes, target: str, report: Any) -> list[Any]:
    """The records of what was written, by the words that the report states."""
    if not (report.back or target == "sqlite"):
        return records_of(data, target)
    words = list(report.back)
    assert words[:2] in ([], ["-F", target])
    names = words[words.index("--nest") + 1 :][:1] if "--nest" in words else []
    nest = tuple(names) if names and not names[0].startswith("--") else ()
    shaping = Shaping(
        null="null" if "--null" in words else None,
        typed="--typed" in words,
        nest=nest if "--nest" in words else None,
        separator=words[words.index("--separator") + 1] if "--separator" in words else None,
        at=words[words.index("--at") + 1] if "--at" in words else None,
    )
    out = io.BytesIO()
    how: dict[str, Any] = {"format": target, "to": "pickle", "shaping": shaping}
    serialpack.convert(io.BytesIO(data), out, **how)
    records = records_of(out.getvalue(), "pickle")
    return records[0] if type(records[0]) is list else records  # those of a list in XML


def as_carried(value: Any) -> Any:
    """What a value is in text, said anew: all of it, without its type."""
    if isinstance(value, dict):
        return {as_key(key): as_carried(part) for key, part in value.items()}
    if isinstance(value, set | frozenset):  # in one order in each run
        value = sorted(value)
    if isinstance(value, list | tuple):
        return [as_carried(part) for part in value]
    return as_text(value)


def as_equal(value: Any) -> Any:
    """What a column of doubles, or a row, is equal to."""
    if isinstance(value, dict):
        return {key: as_equal(value[key]) for key in sorted(value) if value[key] is not None}
    if isinstance(value, list):
        return [as_equal(part) for part in value]
    return float(value) if type(value) is int else value


def as_text(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, timedelta):
        return Losses({"timestamps"}).apply([value], frozenset({"timedelta"}), _never, 0)[0]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value))
    if isinstance(value, Decimal | Fraction | UUID | complex):
        return str(value).strip("()")
    if type(value).__module__.startswith("msgpack"):
        return Losses({"timestamps"}).apply([value], frozenset({"tag"}), _never, 0)[0]
    if type(value).__module__.startswith("bson"):
        from bson import json_util

        return json_util.default(value, json_util.RELAXED_JSON_OPTIONS)
    return float("nan") if isinstance(value, float) and value != value else value


def as_key(key: Any) -> Any:
    if isinstance(key, bool | tuple | None):
        return json.dumps(key, separators=(",", ":"))  # tuples of the values are of plain ones
    return str(key) if isinstance(key, int | float) else as_text(key)


def _never(_: Any) -> bool:
    return False


PACKED = [name for name in FORMATS_HERE if not getattr(FORMATS.get(name), "unpacked", ())]


@pytest.mark.slow  # and tests/fidelity packs every value under every serializer, too
@pytest.mark.parametrize("source", PACKED)
def test_every_value_packed_by_every_serializer(source: str) -> None:
    """As above, of ``pack -s``: the file unpacked again has the same value, or none was made."""
    for shift, target in enumerate(sorted(set(PACKED) - {"xml"}), PACKED.index(source)):
        serializer = writers(target, {})[-1].serializer
        kept = 0
        for name, kind, record, data in some_sources(source, shift):
            cell = f"{source} under {serializer.name}, {name}"
            packed, out = io.BytesIO(), io.BytesIO()
            try:
                serialpack.pack(
                    io.BytesIO(data),
                    packed,
                    format=source,
                    serializer=serializer.name,
                    codec="none",
                    trust=True,
                )
            except serialpack.ValueRefusedError as refused:
                if kind in serializer.cannot | serializer.partly:
                    continue
                raise AssertionError(cell) from refused
            packed.seek(0)
            serialpack.unpack(packed, out, trust=True)
            again = records_of(out.getvalue(), source)
            assert len(again) == 1, cell
            lost = difference(record, again[0])
            assert lost is None, f"{cell}: {lost}"
            kept += 1
        assert kept >= _LEAST, f"{source} under {serializer.name}: only {kept}"


#: Values that JSON has no tag for: objects of classes, and what ends nowhere.
UNTAGGED = frozenset({"object", "function", "cycle", "value", "depth"})


@pytest.mark.parametrize(
    "source", [name for name in FORMATS_HERE if not FORMATS.declaration(name).is_json]
)
def test_tagged_json_gives_every_value_back(source: str) -> None:
    """It is valid JSON, and read back exactly what it was, in the format that it came from."""
    kept = 0
    for name, kind, record, data in sources(source):
        try:
            text = converted(data, source, "json", tagged=True)
        except serialpack.ValueRefusedError:
            assert kind in UNTAGGED, f"{source}, {name}"
            continue
        json.loads(text)
        try:
            back = converted(text, "json", source, tagged=True, strict=True)
        except serialpack.ValueRefusedError:
            assert source in ("arrow", "avro", "parquet", "sqlite"), name  # carried, and told
            continue
        lost = difference(record, records_of(back, source)[0])
        assert lost is None, f"{source}, {name}: {lost}"
        kept += 1
    assert kept >= 40


#: Files of one structure each, in a format that every other one can be compared with.
DOCUMENTS = {
    "map": ("json", b'{"a":"1","b":"x"}'),
    "array": ("json", b'[{"a":"1"},{"a":"2"}]'),
    "array of one": ("json", b'[{"a":"1"}]'),
    "sequence": ("ndjson", b'{"a":"1"}\n{"a":"2"}\n'),
    "sequence of one": ("ndjson", b'{"a":"1"}\n'),
}

ONE = {"a": "1", "b": "x"}
TWO = [{"a": "1"}, {"a": "2"}]


@pytest.mark.parametrize(
    "target", sorted(set(FORMATS_HERE) - {"xml", "typed-xml", "marshal", "protobuf"})
)
@pytest.mark.parametrize("shape", DOCUMENTS)
def test_documents_stay_documents(shape: str, target: str) -> None:
    """A document becomes a document, a sequence a sequence; arrays are the rows of those."""
    source, data = DOCUMENTS[shape]
    parts = [json.loads(line) for line in data.splitlines()]
    expected: list[Any]
    if target == "json" and source == "ndjson":
        expected = [parts]
    elif is_sequence(target) and isinstance(parts[0], list):
        expected = parts[0]
    else:
        expected = parts
    if target == "toml" and (len(expected) != 1 or isinstance(expected[0], list)):
        expected = [{"item": expected if len(expected) > 1 else expected[0]}]
    assert documents(converted(data, source, target), target) == expected


def test_block_borders_do_not_show() -> None:
    """What is cut into many blocks is one document of the same records."""
    rows = [{"n": str(n), "s": "é" * (n % 7)} for n in range(400)]
    for source, text in (
        ("json", json.dumps(rows)),
        ("ndjson", "".join(json.dumps(row) + "\n" for row in rows)),
    ):
        for target in sorted(
            set(FORMATS_HERE) - {"xml", "typed-xml", "marshal", "protobuf", "toml"}
        ):
            out = converted(text.encode(), source, target, block_size=500)
            found = documents(out, target)
            arrays = target == "json" or (source == "json" and not is_sequence(target))
            assert found == ([rows] if arrays else rows), (source, target)


def test_members_of_a_large_map_are_one_map() -> None:
    whole = {f"key {n}": [n, {"x": None}] for n in range(400)}
    text = json.dumps(whole).encode()
    for target in ("json", "ndjson", "msgpack", "cbor", "yaml", "pickle", "bson"):
        out = converted(text, "json", target, block_size=500)
        assert documents(out, target) == [whole], target
        assert list(documents(out, target)[0]) == list(whole), target


def test_blocks_of_the_source_are_told_by_their_format() -> None:
    """The structure that a format tells is one that joins are made for."""
    block = SourceBlock(b"[1]", index=0, offset=0, records=1, last=True)
    fmt = FORMATS.get("json")
    assert isinstance(fmt, ValueFormat)
    assert fmt.structure(block, 1) == "a"


def test_records_that_need_another_schema_later_have_one_for_all() -> None:
    """Avro's schema is said first."""
    text = b"".join(b'{"n":%d}\n' % n for n in range(500)) + b'{"n":"x"}\n'
    expected = [{"n": n} for n in range(500)] + [{"n": "x"}]
    for size in (None, 500):
        out = converted(text, "ndjson", "avro", block_size=size)
        assert documents(out, "avro") == expected


#: Files of records that are alike for a while, and then are not.
ALIKE = {
    "other order": (b'{"a":1,"b":2}', b'{"b":2,"a":1}'),
    "a key less": (b'{"a":1,"b":2}', b'{"a":1}'),
    "a key more": (b'{"a":1,"b":2}', b'{"a":1,"b":2,"c":3}'),
    "another type": (b'{"a":1,"b":"x"}', b'{"a":"1","b":null}'),
    "with a fraction": (b'{"a":1,"b":[1]}', b'{"a":1.0,"b":[1.0,true]}'),
    "odd keys": (b'{"a b":{"\\"":1},"":[]}', b'{"a b":{"\\"":1},"":[{}]}'),
    "not a map": (b'{"a":1}', b"[1]"),
    "spaces": (b'{"a":1,"b":{"c":-0.0}}', b'{ "a" : 1, "b":{"c":-0.0} }'),
    "escapes": (b'{"a":"\\u00e9"}', '{"a":"é"}'.encode()),
}


@pytest.mark.parametrize("source", ["ndjson", "json"])
@pytest.mark.parametrize("name", ALIKE)
def test_records_that_are_alike_and_then_are_not(name: str, source: str) -> None:
    usual, odd = ALIKE[name]
    records = [usual] * 60 + [odd] + [usual] * 60 + [odd] * 60
    text = b"\n".join(records) + b"\n"
    if source == "json":
        text = b"[" + b",\n".join(records) + b"]"
    expected = [json.loads(record) for record in records]
    for target in ("msgpack", "ndjson", "json"):
        out = converted(text, source, target, block_size=300)
        found = documents(out, target)
        arrays = target == "json" or (source == "json" and target != "ndjson")
        assert (found[0] if arrays else found) == expected
        assert repr(found[0] if arrays else found) == repr(expected)


def test_a_key_twice_among_records_that_are_alike() -> None:
    text = b'{"a":1,"b":2}\n' * 100 + b'{"a":1,"b":2,"a":1}\n' + b'{"a":1,"b":2}\n' * 100
    with pytest.raises(serialpack.ValueRefusedError) as caught:
        converted(text, "ndjson", "msgpack", block_size=300)
    assert (caught.value.kind, caught.value.record) == ("duplicate-keys", 100)
