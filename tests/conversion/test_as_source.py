"""A table of text that stays one has the ends of lines and the byte-order mark of its source."""

from __future__ import annotations

import io
from typing import IO

import pytest

from serialpack.conversion.files import convert

MARK = b"\xef\xbb\xbf"
WINDOWS = MARK + b'a;b\r\n1;x\r\n2;"y\nz"\r\n'


def converted(source: bytes, to: str = "csv", **how: object) -> bytes:
    target: IO[bytes] = io.BytesIO()
    convert(io.BytesIO(source), target, to=to, **how)  # type: ignore[arg-type]
    target.seek(0)
    return target.read()


@pytest.mark.parametrize(
    "source",
    [
        WINDOWS,
        WINDOWS.removeprefix(MARK),
        WINDOWS.replace(b"\r\n", b"\n"),
        WINDOWS.replace(b";", b","),
        WINDOWS + b"".join(b"%d;%d\r\n" % (n, n) for n in range(200)),
    ],
    ids=["both", "unmarked", "line feeds", "commas", "by columns"],
)
def test_the_very_bytes_come_back(source: bytes) -> None:
    assert converted(source, format="csv") == source


def test_so_have_some_of_its_columns_and_other_records() -> None:
    assert converted(WINDOWS, format="csv", fields=["b"]) == MARK + b'b\r\nx\r\n"y\nz"\r\n'
    assert converted(b"a\tb\r\n1\t2\r\n", "tsv", format="tsv", fields=["b"]) == b"b\r\n2\r\n"
    bare = converted(WINDOWS, format="csv", no_header=True)
    assert bare == MARK + b"column1;column2\r\n" + WINDOWS.removeprefix(MARK)


def test_other_formats_are_written_as_usual() -> None:
    assert converted(WINDOWS, "tsv", format="csv") == b'a\tb\n1\tx\n2\t"y\nz"\n'
    json = converted(WINDOWS, "json", format="csv")
    assert converted(json) == b'a,b\n"1",x\n"2","y\nz"\n'
    assert converted(WINDOWS, format="csv", as_source=False) == b'a;b\n1;x\n2;"y\nz"\n'
