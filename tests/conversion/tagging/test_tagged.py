"""Tagged records: JSON that reads back the very same values, of every type."""

from __future__ import annotations

import io
import json
import math
import re
import struct
import subprocess
import sys
import warnings
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import serialpack
from serialpack.conversion.tagging import extended_json
from serialpack.conversion.tagging.extended_json import BadTag, TagsTooDeep, Untaggable, tag, untag
from serialpack.conversion.tagging.library_tags import READERS
from serialpack.conversion.tagging.untagger import _MAKERS
from serialpack.depth import MAX_DEPTH
from serialpack.errors import MissingLibraryError
from serialpack.formats.json.values import check_json
from serialpack.values.equality import difference
from tests.conversion.tagging.tags import BAD, MOMENT, READ, WRITTEN, bson_values, cbor_values
from tests.fidelity.values import CASES, Case


def through_json(values: list[Any], **options: Any) -> list[Any]:
    """``values`` tagged, as JSON text, and read again."""
    written = tag(values, **options)
    check_json(written)
    return untag(json.loads(json.dumps(written, allow_nan=False)), **options)


def _in_short(tags: list[Any]) -> list[str]:
    """What tests are called: by text that is the same in every run."""
    return [json.dumps(written)[:60] for written in tags]


def check(value: Any, **options: Any) -> None:
    for records in ([value], [{"a": 1}, {"x": [value, 2], "y": value}]):
        assert difference(records, through_json(records, **options)) is None


#: What no tag is for.
NO_TAG = {"object", "function", "cycle", "depth"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_kind_of_value(case: Case) -> None:
    """The same through JSON text, or refused where the kind of the value says so."""
    if case.kind not in NO_TAG:
        check(case.make())
        return
    value = case.make()
    with pytest.raises(TagsTooDeep if case.kind == "depth" else Untaggable) as caught:
        tag([0, {"a": value}])
    lost = caught.value.difference
    assert lost.record == 1
    assert lost.kind == case.kind
    assert lost.value_path.startswith("$.a") or case.kind == "depth"


@pytest.mark.parametrize(("value", "written"), WRITTEN, ids=_in_short([tag for _, tag in WRITTEN]))
def test_table(value: Any, written: Any) -> None:
    assert difference([written], tag([value])) is None
    check(value)


@pytest.mark.parametrize("values", [bson_values, cbor_values])
def test_table_of_libraries(values: Callable[[], list[tuple[Any, Any]]]) -> None:
    for value, written in values():
        assert tag([value]) == [written]
        check(value)


def test_of_bson() -> None:
    """What MongoDB's tools take for a decimal of BSON is one, where the records are of BSON."""
    bson = pytest.importorskip("bson")
    values = [bson.Decimal128("1.50"), Decimal("1.50"), {"a": bson.Decimal128("NaN")}]
    written = tag(values, decimal128=True)
    assert written == [
        {"$numberDecimal": "1.50"},
        {"$decimal": "1.50"},
        {"a": {"$numberDecimal": "NaN"}},
    ]
    assert difference(values, untag(written, decimal128=True)) is None
    assert difference(values, untag(tag(values))) is None
    assert untag(written)[:2] == [Decimal("1.50"), Decimal("1.50")]


@pytest.mark.parametrize(("written", "value"), READ, ids=_in_short([tag for tag, _ in READ]))
def test_read(written: Any, value: Any) -> None:
    assert difference([{"a": [value]}], untag([{"a": [written]}])) is None


@pytest.mark.parametrize("written", BAD, ids=_in_short(BAD))
def test_bad_tags(written: Any) -> None:
    """What looks like a tag and is none is no data either: an error with the place in the text."""
    with pytest.raises(BadTag) as caught:
        untag([1, {"a b": [0, written]}])
    assert isinstance(caught.value, ValueError)
    assert caught.value.difference[:2] == (1, '$["a b"][1]')
    assert str(caught.value).startswith('record 1, $["a b"][1]: the tag ')
    assert "\n" not in str(caught.value)


def test_place_inside_of_a_tag() -> None:
    written = {"$tuple": [{"$map": [[1, {"$set": [1, 1]}]]}]}
    with pytest.raises(BadTag) as caught:
        untag([written])
    assert caught.value.difference.value_path == '$["$tuple"][0]["$map"][0][1]'


def test_place_of_what_has_no_tag() -> None:
    value = {"a": [1, ({(1, 2): {"b c": object()}},)]}
    with pytest.raises(Untaggable, match="there is no tag for it") as caught:
        tag([0, 1, value])
    assert isinstance(caught.value, TypeError)
    assert caught.value.difference[:2] == (2, '$.a[1][0][(1, 2)]["b c"]')
    with pytest.raises(Untaggable) as caught:
        tag([{"a": {Fraction: 1}}])
    assert caught.value.difference[:3] == (0, "$.a", "the key <class 'fractions.Fraction'>")
    assert caught.value.difference.kind == "key"


def _array_of_characters() -> array[Any]:
    with warnings.catch_warnings():  # that Python 3.16 will have none
        warnings.simplefilter("ignore", DeprecationWarning)
        return array("u", "a")


@pytest.mark.parametrize(
    "value",
    [
        memoryview(b"abcd")[::2],
        memoryview(array("i", [1])),
        array("f", bytes.fromhex("0100a07f")),
        _array_of_characters(),
        np.array([object()]),
        np.array([(1, 2)], "i4,i4"),
        np.frombuffer(b"abcd", "u1"),
        np.zeros(3, "V0"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_tag_would_change(value: Any) -> None:
    """Those of its kind have tags, but none that says all of this one."""
    with pytest.raises(Untaggable):
        tag([value])


@pytest.mark.parametrize("word", SafeUUID)
def test_word_on_the_safety_of_a_uuid(word: SafeUUID) -> None:
    (again,) = untag(tag([UUID(int=1, is_safe=word)]))
    assert again == UUID(int=1)
    assert again.is_safe is word


def test_zone_without_a_name() -> None:
    # RFC 8536: no transitions, one type of local time, an hour before UTC, called CET.
    counts = struct.pack(">6I", 0, 0, 0, 0, 1, 4)
    zone = b"TZif" + bytes(16) + counts + struct.pack(">iBB", 3600, 0, 0) + b"CET\0"
    nameless = ZoneInfo.from_file(io.BytesIO(zone))
    with pytest.raises(Untaggable):
        tag([MOMENT.replace(tzinfo=nameless)])


def test_json_stays_as_it_is() -> None:
    """The very same objects, where there is nothing to do; of the rest, copies."""
    records = [{"a": [1, 2.5, "$x", None, True, 10**4000]}, [], "a", {"": {}}]
    assert tag(records) is records
    assert untag(records) is records
    for odd in (b"", {"$": 1}, 1 << 15000, math.inf, (), {1: 2}):
        before = json.dumps(records)
        assert tag([*records, odd])[:-1] == records
        assert json.dumps(records) == before


def _nested(levels: int, around: Callable[[Any], Any], value: Any = 1) -> Any:
    for _ in range(levels):
        value = around(value)
    return value


@pytest.mark.parametrize(
    ("around", "levels"),
    [
        (lambda v: [v], 1),
        (lambda v: {"a": v}, 1),
        (lambda v: (v,), 2),
        (lambda v: frozenset([v]), 2),
        (lambda v: {1: v}, 3),
    ],
    ids=["list", "map", "tuple", "frozenset", "odd map"],
)
def test_depth(around: Callable[[Any], Any], levels: int) -> None:
    """As deep as the readers of JSON take it, and not a level more; at no cost of recursion."""
    deepest = MAX_DEPTH // levels
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        value = _nested(deepest, around)
        again = untag(tag([value]))
    finally:
        sys.setrecursionlimit(limit)
    assert difference([value], again) is None
    check_json(tag([value]))
    with pytest.raises(TagsTooDeep) as caught:
        tag([0, _nested(deepest + 1, around, b"")])
    assert caught.value.difference[:2] == (1, "$")
    assert caught.value.difference.kind == "depth"


def test_depth_of_leaves() -> None:
    """What a tag of its own takes counts, too."""
    for value, levels in ((math.nan, 1), (b"", 2), ({(): 1}, 5), (Fraction(1, 1 << 15000), 3)):
        inside = _nested(MAX_DEPTH - levels, lambda v: [v], value)
        check_json(tag([inside]))
        with pytest.raises(TagsTooDeep):
            tag([[inside]])


def test_what_holds_itself() -> None:
    value: dict[Any, Any] = {"a": [{}, {1: ()}]}
    value["a"][1][1] = (value,)
    with pytest.raises(Untaggable, match="holds itself") as caught:
        tag([[value]])
    assert caught.value.difference[1] == "$[0].a[1][1][0]"
    assert caught.value.difference.kind == "cycle"


keys = st.one_of(st.sampled_from(["$", "$$", "$date", "$ref", "$id", "$$tuple", "a"]), st.text())
hashable = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary()),
    *(st.datetimes(), st.datetimes(timezones=st.timezones()), st.dates(), st.times()),
    *(st.datetimes(timezones=st.just(UTC)), st.timedeltas(), st.uuids(), st.fractions()),
    *(st.decimals(allow_nan=False), st.complex_numbers(), st.ip_addresses()),
    st.floats(allow_nan=True).map(lambda f: -f),
)
values = st.recursive(
    st.one_of(hashable, st.decimals(), st.binary().map(bytearray)),
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(keys, inner),
        st.dictionaries(hashable, inner),
        st.lists(inner).map(tuple),
        st.frozensets(hashable),
        st.sets(hashable),
        st.sets(st.tuples(hashable, st.frozensets(hashable))),
    ),
    max_leaves=15,
)


@given(values)
@example({"$date": {"$numberLong": "1"}})
@example({"$$date": {"$date": datetime(1970, 1, 1, tzinfo=UTC)}})
def test_any_value(value: Any) -> None:
    check(value)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=10,
)
names = st.sampled_from(sorted({*READERS, *_MAKERS, "$ref", "$scope", "$db", "base64", "text"}))
likely = st.recursive(
    st.one_of(json_values, st.text("0123456789abcdefxT:-+.Z=[]", max_size=30)),
    lambda inner: st.one_of(st.dictionaries(names, inner, max_size=2), st.lists(inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(names, likely, min_size=1, max_size=2))
def test_any_text(written: Any) -> None:
    """Whatever a file holds is read as values that are written and read the same, or refused."""
    try:
        found = untag([written])
    except (BadTag, MissingLibraryError):
        return
    try:
        again = tag(found)
    except (Untaggable, TagsTooDeep):
        return
    assert difference(found, untag(again)) is None


@given(json_values)
def test_json_is_itself(value: Any) -> None:
    """All values of JSON come back; those with no ``$`` in front of a key are not even copied."""
    assert difference([value], untag(tag([value]))) is None


def test_interop_with_bson() -> None:
    """What is written with the names of the specification is read alike by PyMongo, and back."""
    bson = pytest.importorskip("bson")
    from bson import json_util
    from bson.binary import UuidRepresentation

    def options(mode: int) -> Any:
        standard = UuidRepresentation.STANDARD
        return json_util.JSONOptions(
            json_mode=mode, tz_aware=True, tzinfo=UTC, uuid_representation=standard
        )

    oid = bson.ObjectId("65386d2c0123456789abcdef")
    record = {
        "bytes": [b"\0\x01", bson.Binary(b"a", 128), UUID(int=5)],
        "dates": [MOMENT.replace(tzinfo=UTC, microsecond=5000), datetime(1, 1, 1, tzinfo=UTC)],
        "floats": [math.nan, -math.inf, 1.0, -0.0, 5e-324, bson.Decimal128("1.50")],
        "json": [1, 1 << 31, True, None, "\u00e9\ud83d", [[]], {}],
        "ids": [oid, bson.Timestamp(5, 6), bson.DBRef("c", oid, "d", {"x": 1})],
        "code": [bson.Regex('^a"', 90), bson.Code("f()"), bson.Code("f()", {"a": oid})],
        "ends": [bson.MinKey(), bson.MaxKey()],
    }
    written = json.dumps(tag([record], decimal128=True))
    for mode in (json_util.JSONMode.CANONICAL, json_util.JSONMode.RELAXED):
        theirs = json_util.loads(written, json_options=options(mode))
        theirs[0]["code"][0].flags = int(theirs[0]["code"][0].flags)  # a RegexFlag there
        assert difference([record], theirs) is None
        text = json_util.dumps([record], json_options=options(mode))
        assert difference([record], untag(json.loads(text), decimal128=True)) is None


def test_decimal_is_that_decimal128_elsewhere() -> None:
    json_util = pytest.importorskip("bson.json_util")
    found = json_util.loads(json.dumps(tag([Decimal("1.50"), Decimal("-1E-6000")])))
    assert [value.to_decimal() for value in found] == [Decimal("1.50"), Decimal("-1E-6000")]


def test_cbor_vectors(shared_data: Path) -> None:
    """All the values that CBOR has, as its reader gives them."""
    pytest.importorskip("cbor2")
    from serialpack.formats.cbor.cbor import read_items

    vectors = shared_data / "conformance" / "cbor" / "appendix_a.part.json"
    read = 0
    for vector in json.loads(vectors.read_text("utf-8")):
        records = read_items(bytes.fromhex(vector["hex"]))
        assert difference(records, through_json(records)) is None
        read += 1
    assert read > 30


_TELL = """
import json, sys
from serialpack.conversion.tagging.extended_json import tag, untag
import datetime, decimal, uuid
values = [b"a", datetime.datetime.now(datetime.UTC), decimal.Decimal("1"), uuid.UUID(int=1)]
values += [(1,), {1: 2}]
assert untag(json.loads(json.dumps(tag(values)))) == values
print(*{"bson", "cbor2", "msgpack", "numpy"} & {*sys.modules})
"""


def test_imports_no_library() -> None:
    """Values that are of none need none, neither written nor read."""
    done = subprocess.run([sys.executable, "-c", _TELL], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("written", [{"$oid": "0" * 24}, {"$ref": "c", "$id": 1}])
def test_library_that_is_not_installed(written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bson", None)
    with pytest.raises(MissingLibraryError, match=r"serialpack\[bson\]"):
        untag([written])


def test_every_tag_is_in_the_table() -> None:
    assert extended_json.__doc__ is not None
    told = {*re.findall(r'"(\$[A-Za-z]+)"', extended_json.__doc__)}
    assert told == {*READERS, *_MAKERS, "$scope", "$ref", "$id", "$db"}


@pytest.mark.parametrize("options", ["", "i", "imsx"])
def test_regular_expressions_decimal128(options: str) -> None:
    """As they are read from a file, with plain integers, they have the specification's tag."""
    bson = pytest.importorskip("bson")
    data = bson.encode({"r": bson.Regex("^a", options)})
    lines, again = io.BytesIO(), io.BytesIO()
    serialpack.convert(io.BytesIO(data), lines, format="bson", to="ndjson", tagged=True)
    tagged_expression = {"$regularExpression": {"pattern": "^a", "options": options}}
    assert json.loads(lines.getvalue()) == {"r": tagged_expression}
    serialpack.convert(io.BytesIO(lines.getvalue()), again, format="ndjson", to="bson", tagged=True)
    assert again.getvalue() == data
