"""What does not come back with the values of a source is told when it is packed."""

from __future__ import annotations

import io

import pytest

import serialpack

XML = b'<?xml version="1.0"?>\n<a> <!-- 1 --><b x="1">t</b> </a>\n'
YAML = b"# 1\na: 1 # 2\n---\n# 3\nb: 2\n"
TOML = b"# 1\na = 1 # 2\n"


@pytest.mark.parametrize("serializer", ["json", "msgpack"])
@pytest.mark.parametrize(
    ("format", "data", "words"),
    [
        ("xml", XML, "1 comment dropped, 2 white spaces between elements dropped"),
        ("yaml", YAML, "3 comments dropped"),
        ("toml", TOML, "2 comments dropped"),
        ("xml", b"<a>t</a>", ""),
        ("yaml", b"a: '#'\n", ""),
    ],
)
def test_what_is_no_value_is_counted(serializer: str, format: str, data: bytes, words: str) -> None:
    proved = bool(words)
    report = serialpack.pack(
        io.BytesIO(data), io.BytesIO(), serializer=serializer, format=format, verify=proved
    )
    said = "same values" if words else "values not proved"
    assert report.kept == ", ".join(filter(None, (said, words)))


@pytest.mark.parametrize(("serializer", "format"), [("raw", "xml"), ("yaml", "yaml")])
def test_nothing_is_where_the_bytes_come_back(serializer: str, format: str) -> None:
    data = XML if format == "xml" else YAML
    report = serialpack.pack(io.BytesIO(data), io.BytesIO(), serializer=serializer, format=format)
    assert (report.kept, report.dropped) == ("exact bytes", [])
