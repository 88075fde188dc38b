"""NaN and infinities in JSON, as Python's json.dump writes them: read as the floats they are."""

from __future__ import annotations

import io
import math

import msgpack
import pytest

import serialpack
from serialpack.errors import ValueRefusedError
from tests.conversion.test_fields import converted

#: With a number that Python spells otherwise, and text that only looks like one.
RECORDS = b'{"a": 1.50, "b": NaN, "c": "NaN"}', b'{"a": Infinity, "b": -Infinity, "c": "Infinity,"}'
SOURCES = {
    "json": b"[%b, %b]" % RECORDS,
    "ndjson": b"%b\n%b\n" % RECORDS,
}


@pytest.mark.parametrize("source", SOURCES)
def test_they_are_values_where_the_target_has_them(source: str) -> None:
    table = b'a,b,c\n1.50,NaN,"NaN"\nInfinity,-Infinity,"Infinity,"\n'
    assert converted(SOURCES[source], "csv", format=source) == table
    messages = msgpack.Unpacker(io.BytesIO(converted(SOURCES[source], "msgpack", format=source)))
    first, second = messages.unpack() if source == "json" else messages
    assert math.isnan(first.pop("b"))
    assert (first, second) == (
        {"a": 1.5, "c": "NaN"},
        {"a": math.inf, "b": -math.inf, "c": "Infinity,"},
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", SOURCES)
def test_json_itself_has_none(source: str, target: str) -> None:
    """The value that is to blame is named, and what lets it go."""
    with pytest.raises(ValueRefusedError, match=r'\$\.b: .*NaN.*lossy=\["nan"\]'):
        converted(SOURCES[source], target, format=source)
    text = converted(SOURCES[source], target, format=source, lossy=["nan"])
    assert text.count(b"null") == 3
    assert b"1.50" in text
    tagged = converted(SOURCES[source], target, format=source, tagged=True)
    assert b'{"$numberDouble":"-Infinity"}' in tagged


@pytest.mark.parametrize("text", [RECORDS[0] + b"\n", b'[{"a": 1.5, "b": NaN}]\n', b"NaN\n"])
def test_serializers_keep_them(text: bytes) -> None:
    """Where the text is written as Python does, the very bytes; else, as 1.50, the values."""
    packed = io.BytesIO()
    report = serialpack.pack(io.BytesIO(text), packed, format="ndjson", serializer="msgpack")
    again = io.BytesIO()
    serialpack.unpack(io.BytesIO(packed.getvalue()), again)
    assert report.exact == (b"1.50" not in text)
    assert again.getvalue() == text.replace(b"1.50", b"1.5")
